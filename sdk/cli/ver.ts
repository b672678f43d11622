import type { Evento, Franja, Guia, Guias } from '@guias/sdk'
import { escribirMetadatos } from '@guias/sdk/hoja'
import { decirAdvertencia } from './advertencias.ts'
import { doblar } from './ayuda.ts'
import { byCodeOrReference } from './guideOrReference.ts'
import { type Orden, SALIDA } from './orden.ts'
import { decirEvento } from './rastrear.ts'
import { decir, hora, limpio, pintar, tonoDe } from './terminal.ts'

export const ver: Orden = {
  resumen: 'muestra una guía entera, con su historial y sus advertencias',
  uso: ['ver <guia> [opciones]', 'ver <external_ref>      (su número de pedido)'],
  explica: `Muestra la guía como está ahora: su destino, su lugar de entrega, lo que
conviene revisar y su historial. Las horas son las de su destino. El código se
acepta en minúsculas y con guiones; si ninguna lo tiene, se busca como referencia.`,
  opciones: {},
  posicionales: [1, 1],
  muestra: true,
  ejemplos: ['ver 7K3M9QX2A1B4', 'ver PEDIDO-7', "ver 7K3M9QX2A1B4 --json | jq '.ubicacion'"],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const { signal } = contexto
    const api = contexto.api()
    const { eventos, ...guia } = await byCodeOrReference(api, codigo, signal, (suyo) =>
      api.guias.obtener(suyo, { limite: 100, signal }),
    )
    const historial = [...eventos.datos]
    const cursor = eventos.cursor_siguiente
    if (cursor !== null) historial.push(...(await seguir(api, guia.guia, cursor, signal)))
    if (contexto.json) {
      decir(JSON.stringify({ ...guia, eventos: { datos: historial, cursor_siguiente: null } }))
      return SALIDA.bien
    }
    mostrar(guia)
    decir(pintar('gris', 'Historial'))
    for (const evento of historial) decir(decirEvento(evento, guia.zona_horaria))
    return SALIDA.bien
  },
}

async function seguir({ guias }: Guias, guia: string, cursor: string, signal: AbortSignal) {
  const demas: Evento[] = []
  for await (const evento of guias.eventos(guia, { cursor, limite: 100 }, { signal })) demas.push(evento)
  return demas
}

/** Maximum width of a value in columns, so that a line fits on a terminal of 80 columns. */
const ANCHO = 64

const juntar = (...partes: (string | null)[]) => partes.filter(Boolean).join(', ')

function mostrar(guia: Guia) {
  const { recogida } = guia
  const modo = guia.modo === 'test' ? '  (de prueba)' : ''
  decir(
    `${pintar('fuerte', limpio(guia.guia))}  ${pintar(tonoDe(guia.estado) ?? 'fuerte', limpio(guia.estado))}${modo}`,
  )
  const campos: [string, string | null][] = [
    ['Referencia', guia.external_ref],
    ['Destinatario', juntar(guia.destinatario, guia.telefono)],
    ['Destino', juntar(guia.direccion, guia.municipio, guia.departamento)],
    ['Indicaciones', guia.indicaciones],
    ['Contenido', guia.contenido],
    ['Ubicación', decirUbicacion(guia)],
    ['Recogida', juntar(recogida.nombre, lugar(recogida))],
    ['', juntar(recogida.contacto, recogida.telefono)],
    ['', recogida.direccion],
    ['', recogida.indicaciones],
    ['Metadatos', escribirMetadatos(guia.metadatos)],
    ['Rastreo', guia.url_rastreo],
    ['Intentos', guia.intentos > 0 ? String(guia.intentos) : null],
    ['Decisión', decirDecision(guia)],
    ['Creada', hora(guia.creado_en, guia.zona_horaria)],
    ['Cambió', guia.actualizado_en === guia.creado_en ? null : hora(guia.actualizado_en, guia.zona_horaria)],
  ]
  for (const [nombre, valor] of campos)
    for (const [i, linea] of (valor ? doblar(limpio(valor), ANCHO) : []).entries())
      decir(`  ${pintar('gris', (i === 0 ? nombre : '').padEnd(12))}  ${linea}`)
  for (const advertencia of guia.advertencias)
    decir(`  ${pintar('amarillo', 'Revise'.padEnd(12))}  ${decirAdvertencia(advertencia)}`)
}

function decirDecision({ decision, zona_horaria }: Guia): string | null {
  if (!decision) return null
  const { estado, accion, fecha, franja, por, opciones, vence_en } = decision
  if (accion) return juntar(por ? `${estado} por ${por}` : estado, accion, fecha, decirFranja(franja))
  const hasta = estado === 'pendiente' && vence_en ? `hasta ${hora(vence_en, zona_horaria, 'corta')}` : null
  return juntar(estado, estado === 'pendiente' ? opciones.join(' o ') : null, hasta)
}

const decirFranja = (franja: Franja | null) => franja && `de ${franja.desde} a ${franja.hasta}`

const decirUbicacion = ({ ubicacion }: Guia) => {
  const donde = lugar(ubicacion)
  return `${ubicacion.estado}${ubicacion.origen ? ` por ${ubicacion.origen}` : ''}${donde ? `: ${donde}` : ''}`
}

const lugar = ({ lat, lng, maps_url }: { lat: number | null; lng: number | null; maps_url: string | null }) =>
  lat === null ? maps_url : `${lat}, ${lng}`
