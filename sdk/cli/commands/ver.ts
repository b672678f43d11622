import type { Evento, Franja, Guia, Guias } from '@guias/sdk'
import { escribirMetadatos } from '@guias/sdk/hoja'
import { formatAdvertencia } from '../advertencias.ts'
import { type CliCommand, EXIT_CODE } from '../command.ts'
import { LINE_TITLES } from '../fields.ts'
import { byCodeOrReference } from '../guiaOrReference.ts'
import { wrap } from '../help.ts'
import { hora, paint, printLine, sanitize, toneOfState } from '../terminal.ts'
import { formatEvento } from './rastrear.ts'

export const ver: CliCommand = {
  summary: 'muestra una guía entera, con su historial y sus advertencias',
  usage: ['ver <guia> [opciones]', 'ver <external_ref>      (su número de pedido)'],
  explanation: `Muestra la guía como está ahora: su destino, su lugar de entrega, lo que
conviene revisar y su historial. Las horas son las de su destino. El código se
acepta en minúsculas y con guiones; si ninguna lo tiene, se busca como referencia.`,
  options: {},
  positionals: [1, 1],
  readOnly: true,
  examples: ['ver 7K3M9QX2A1B4', 'ver PEDIDO-7', "ver 7K3M9QX2A1B4 --json | jq '.ubicacion'"],
  async run(context) {
    const [code = ''] = context.positionals
    const { signal } = context
    const api = context.api()
    const { eventos, ...guia } = await byCodeOrReference(api, code, signal, (guiaCode) =>
      api.guias.obtener(guiaCode, { limite: 100, signal }),
    )
    const history = [...eventos.datos]
    const cursor = eventos.cursor_siguiente
    if (cursor !== null) history.push(...(await readRemainingEventos(api, guia.guia, cursor, signal)))
    if (context.json) {
      printLine(JSON.stringify({ ...guia, eventos: { datos: history, cursor_siguiente: null } }))
      return EXIT_CODE.ok
    }
    printGuia(guia)
    printLine(paint('grey', 'Historial'))
    for (const evento of history) printLine(formatEvento(evento, guia.zona_horaria))
    return EXIT_CODE.ok
  },
}

async function readRemainingEventos({ guias }: Guias, guia: string, cursor: string, signal: AbortSignal) {
  const remainingEventos: Evento[] = []
  for await (const evento of guias.eventos(guia, { cursor, limite: 100 }, { signal })) remainingEventos.push(evento)
  return remainingEventos
}

/** Maximum width of a value in columns, so that a line fits on a terminal of 80 columns. */
const VALUE_WIDTH = 64

const joinParts = (...parts: (string | null)[]) => parts.filter(Boolean).join(', ')

function printGuia(guia: Guia) {
  const { recogida } = guia
  const modo = guia.modo === 'test' ? '  (de prueba)' : ''
  printLine(
    `${paint('strong', sanitize(guia.guia))}  ${paint(toneOfState(guia.estado) ?? 'strong', sanitize(guia.estado))}${modo}`,
  )
  const fields: [string, string | null][] = [
    ['Referencia', guia.external_ref],
    ['Destinatario', joinParts(guia.destinatario, guia.telefono)],
    ['Destino', joinParts(guia.direccion, guia.municipio, guia.departamento)],
    ...LINE_TITLES.map(([title, member]): [string, string | null] => [
      title,
      guia[member] === null ? null : String(guia[member]),
    ]),
    ['Ubicación', formatUbicacion(guia)],
    ['Recogida', joinParts(recogida.nombre, lugar(recogida))],
    ['', joinParts(recogida.contacto, recogida.telefono)],
    ['', recogida.direccion],
    ['', recogida.indicaciones],
    ['Metadatos', escribirMetadatos(guia.metadatos)],
    ['Rastreo', guia.url_rastreo],
    ['Intentos', guia.intentos > 0 ? String(guia.intentos) : null],
    ['Decisión', formatDecision(guia)],
    ['Creada', hora(guia.creado_en, guia.zona_horaria)],
    ['Cambió', guia.actualizado_en === guia.creado_en ? null : hora(guia.actualizado_en, guia.zona_horaria)],
  ]
  for (const [name, value] of fields)
    for (const [i, line] of (value ? wrap(sanitize(value), VALUE_WIDTH) : []).entries())
      printLine(`  ${paint('grey', (i === 0 ? name : '').padEnd(12))}  ${line}`)
  for (const advertencia of guia.advertencias)
    printLine(`  ${paint('yellow', 'Revise'.padEnd(12))}  ${formatAdvertencia(advertencia)}`)
}

function formatDecision({ decision, zona_horaria }: Guia): string | null {
  if (!decision) return null
  const { estado, accion, fecha, franja, por, opciones, vence_en } = decision
  if (accion) return joinParts(por ? `${estado} por ${por}` : estado, accion, fecha, formatWindow(franja))
  const until = estado === 'pendiente' && vence_en ? `hasta ${hora(vence_en, zona_horaria, 'corta')}` : null
  return joinParts(estado, estado === 'pendiente' ? opciones.join(' o ') : null, until)
}

const formatWindow = (franja: Franja | null) => franja && `de ${franja.desde} a ${franja.hasta}`

const formatUbicacion = ({ ubicacion }: Guia) => {
  const where = lugar(ubicacion)
  return `${ubicacion.estado}${ubicacion.origen ? ` por ${ubicacion.origen}` : ''}${where ? `: ${where}` : ''}`
}

const lugar = ({ lat, lng, maps_url }: { lat: number | null; lng: number | null; maps_url: string | null }) =>
  lat === null ? maps_url : `${lat}, ${lng}`
