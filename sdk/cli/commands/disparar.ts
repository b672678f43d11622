import type { AvanceSimulado, Conocido, DecisionSimulada, Guia, Guias, Motivo } from '@guias/sdk'
import { type CliCommand, type Context, EXIT_CODE, UsageError } from '../command.ts'
import { byCodeOrReference } from '../guiaOrReference.ts'
import { paint, printLine, sanitize } from '../terminal.ts'

/** State that a transition can reach. */
type Paso = NonNullable<AvanceSimulado['estado']> | 'cancelado'
/** Transitions that lead from `aceptado` to each state, in the order in which a courier would make them. */
const PATHS_TO_STATE: Record<string, Paso[]> = {
  aceptado: [],
  recolectado: ['recolectado'],
  en_bodega: ['recolectado', 'en_bodega'],
  en_transito: ['recolectado', 'en_transito'],
  en_ruta: ['recolectado', 'en_ruta'],
  intento_fallido: ['recolectado', 'en_ruta', 'intento_fallido'],
  entregado: ['recolectado', 'en_ruta', 'entregado'],
  en_devolucion: ['recolectado', 'en_devolucion'],
  devuelto: ['recolectado', 'en_devolucion', 'devuelto'],
  extraviado: ['recolectado', 'extraviado'],
  cancelado: ['cancelado'],
}
export const UBICACION_ESTADOS = ['solicitada', 'confirmada', 'vencida', 'fallida']
/** States of a guide, as in the contract. */
export const ESTADOS = Object.keys(PATHS_TO_STATE)
/** Choices of the recipient after a failed attempt, each with the fields that the service requires. */
const FIELDS_BY_CHOICE: Record<DecisionSimulada['eleccion'], Omit<DecisionSimulada, 'eleccion'>> = {
  otro_dia: {},
  otro_lugar: { lugar: { lat: 14.63077, lng: -90.60711 } },
  vecino: { vecino: { nombre: 'Vecino de prueba' } },
  rechazo: {},
  ninguna: {},
}
const CHOICES = Object.keys(FIELDS_BY_CHOICE)
/** States from which a guide is brought to a failed attempt before the recipient decides. */
const STATES_BEFORE_INTENTO: readonly string[] = ['aceptado', 'recolectado', 'en_ruta']
const isChoice = (text: string): text is DecisionSimulada['eleccion'] => CHOICES.includes(text)
const DEFAULT_REASONS: Record<string, Conocido<Motivo>> = {
  intento_fallido: 'destinatario_ausente',
  en_devolucion: 'a_pedido_del_comercio',
  extraviado: 'perdida',
}

export const disparar: CliCommand = {
  summary: 'con una llave de prueba, provoca un evento',
  usage: ['disparar <evento> [opciones]'],
  explanation: `Lleva una guía de prueba hasta ese evento por las mismas reglas que una real, y
sus webhooks lo reciben. Sin --guia crea una. Solo con llaves guia_test_….

Eventos:
  guia.<estado>, o solo el estado:
      ${ESTADOS.slice(0, 6).join(', ')},
      ${ESTADOS.slice(6).join(', ')}
  ubicacion.<estado>:
      ${UBICACION_ESTADOS.join(', ')}
  decision.<elección>, del destinatario tras un intento fallido
  (ninguna: vence el plazo):
      ${CHOICES.join(', ')}

Para enviar un aviso de prueba a un webhook: guias webhooks probar.`,
  options: {
    guia: {
      placeholder: '<código>',
      description: 'una guía de prueba que ya existe, o su referencia; sigue desde donde esté',
    },
    motivo: { placeholder: '<motivo>', description: 'por qué, en intento_fallido, en_devolucion y extraviado' },
    'sin-firma': {
      placeholder: '<porqué>',
      description: 'en entregado, por qué no hay firma: no_puede_firmar, se_nego, sin_contacto',
    },
    fecha: { placeholder: '<día>', description: 'en las decisiones, qué día; el primero que se puede, si falta' },
    vecino: { placeholder: '<nombre>', description: 'en decision.vecino, quién lo recibe' },
  },
  positionals: [1, 1],
  complete: [
    ...ESTADOS.map((estado) => `guia.${estado}`),
    ...UBICACION_ESTADOS.map((estado) => `ubicacion.${estado}`),
    ...CHOICES.map((eleccion) => `decision.${eleccion}`),
  ],
  async run(context) {
    const [evento = ''] = context.positionals
    const estado = evento.replace(/^guia\./, '')
    const ubicacion = evento.startsWith('ubicacion.') ? evento.slice('ubicacion.'.length) : undefined
    const eleccion = evento.replace(/^decision\./, '')
    const decide = eleccion !== evento && isChoice(eleccion)
    if (!decide && (ubicacion === undefined ? !PATHS_TO_STATE[estado] : !UBICACION_ESTADOS.includes(ubicacion))) {
      const remedy = evento.startsWith('webhook.') ? 'guias webhooks probar envía el suyo' : 'vea guias disparar --help'
      throw new UsageError(`No sé provocar «${evento}»: ${remedy}.`)
    }
    const api = context.api()
    const guia = await takeGuia(api, context, ubicacion !== undefined)
    const reachedGuia = decide
      ? await decideAsDestinatario(api, guia, eleccion, context)
      : ubicacion === undefined
        ? await advanceGuia(api, guia, estado, context)
        : await reachUbicacion(api, guia, ubicacion)
    const decision = decide ? `, ${sanitize(reachedGuia.decision?.accion ?? reachedGuia.decision?.estado ?? '')}` : ''
    if (context.json) printLine(JSON.stringify(reachedGuia))
    else
      printLine(
        `${paint('strong', sanitize(reachedGuia.guia))}  ${sanitize(reachedGuia.estado)}, ubicación ${sanitize(reachedGuia.ubicacion.estado)}${decision}`,
      )
    return EXIT_CODE.ok
  },
}

async function takeGuia(api: Guias, context: Context, withoutPlace: boolean): Promise<Guia> {
  const { guias } = api
  const codeOrReference = context.texto('guia')
  if (codeOrReference !== undefined) {
    const { eventos: _, ...guia } = await byCodeOrReference(api, codeOrReference, context.signal, (code) =>
      guias.obtener(code, { limite: 1 }),
    )
    return guia
  }
  const place = withoutPlace ? undefined : { lat: 14.633, lng: -90.606 }
  return guias.crear({
    telefono: '+50255512345',
    departamento: 'Guatemala',
    municipio: 'Mixco',
    destinatario: 'Destinatario de prueba',
    external_ref: `disparar-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`,
    recogida: { nombre: 'Bodega de prueba', lat: 14.583611, lng: -90.548611 },
    lat: place?.lat,
    lng: place?.lng,
  })
}

async function advanceGuia(api: Guias, from: Guia, estado: string, context: Context): Promise<Guia> {
  const path = PATHS_TO_STATE[estado] ?? []
  const currentIndex = path.indexOf(from.estado as Paso)
  // A guide whose state is not on the usual path is moved straight to the requested state. If the rules forbid this
  // change, the service refuses it.
  const steps = currentIndex >= 0 ? path.slice(currentIndex + 1) : from.estado === 'aceptado' ? path : path.slice(-1)
  let guia = from
  for (const step of steps) {
    const motivo = (step === estado ? context.texto<Conocido<Motivo>>('motivo') : undefined) ?? DEFAULT_REASONS[step]
    const sin_firma =
      step === 'entregado' ? context.texto<AvanceSimulado['sin_firma'] & string>('sin-firma') : undefined
    guia =
      step === 'cancelado'
        ? await api.guias.cancelar(guia.guia)
        : await api.simulador.avanzar(guia.guia, {
            estado: step,
            ...(motivo ? { motivo } : {}),
            ...(sin_firma ? { sin_firma } : {}),
          })
  }
  return guia
}

/**
 * Decides as the recipient would. If the guide has no failed attempt yet, first makes one, unless the guide has arrived
 * or is returning.
 */
async function decideAsDestinatario(
  api: Guias,
  guia: Guia,
  eleccion: DecisionSimulada['eleccion'],
  context: Context,
): Promise<Guia> {
  if (STATES_BEFORE_INTENTO.includes(guia.estado)) await advanceGuia(api, guia, 'intento_fallido', context)
  const [fecha, neighbour] = [context.texto('fecha'), context.texto('vecino')]
  return api.simulador.decidir(guia.guia, {
    eleccion,
    ...FIELDS_BY_CHOICE[eleccion],
    ...(fecha === undefined ? {} : { fecha }),
    ...(neighbour === undefined ? {} : { vecino: { nombre: neighbour } }),
  })
}

async function reachUbicacion({ guias, simulador }: Guias, guia: Guia, estado: string): Promise<Guia> {
  if (estado !== 'solicitada') {
    return simulador.confirmarUbicacion(guia.guia, { resultado: estado as 'confirmada' | 'vencida' | 'fallida' })
  }
  return guia.ubicacion.estado === 'solicitada' ? guia : guias.reenviarSolicitud(guia.guia)
}
