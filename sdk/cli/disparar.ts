import type { AvanceSimulado, Conocido, DecisionSimulada, Guia, Guias, Motivo } from '@guias/sdk'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { decir, limpio, pintar } from './terminal.ts'

/** State that a transition can reach. */
type Paso = NonNullable<AvanceSimulado['estado']> | 'cancelado'
/** Transitions that lead from `aceptado` to each state, in the order in which a courier would make them. */
const CAMINOS: Record<string, Paso[]> = {
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
export const UBICACIONES = ['solicitada', 'confirmada', 'vencida', 'fallida']
/** States of a guide, as in the contract. */
export const ESTADOS = Object.keys(CAMINOS)
/** Choices of the recipient after a failed attempt, each with the fields that the service requires. */
const DECISIONES: Record<DecisionSimulada['eleccion'], Omit<DecisionSimulada, 'eleccion'>> = {
  otro_dia: {},
  otro_lugar: { lugar: { lat: 14.63077, lng: -90.60711 } },
  vecino: { vecino: { nombre: 'Vecino de prueba' } },
  rechazo: {},
  ninguna: {},
}
const ELECCIONES = Object.keys(DECISIONES)
/** States from which a guide is brought to a failed attempt before the recipient decides. */
const SIN_INTENTO: readonly string[] = ['aceptado', 'recolectado', 'en_ruta']
const esEleccion = (texto: string): texto is DecisionSimulada['eleccion'] => ELECCIONES.includes(texto)
const MOTIVOS: Record<string, Conocido<Motivo>> = {
  intento_fallido: 'destinatario_ausente',
  en_devolucion: 'a_pedido_del_comercio',
  extraviado: 'perdida',
}

export const disparar: Orden = {
  resumen: 'con una llave de prueba, provoca un evento',
  uso: ['disparar <evento> [opciones]'],
  explica: `Lleva una guía de prueba hasta ese evento por las mismas reglas que una real, y
sus webhooks lo reciben. Sin --guia crea una. Solo con llaves guia_test_….

Eventos:
  guia.<estado>, o solo el estado:
      ${ESTADOS.slice(0, 6).join(', ')},
      ${ESTADOS.slice(6).join(', ')}
  ubicacion.<estado>:
      ${UBICACIONES.join(', ')}
  decision.<elección>, del destinatario tras un intento fallido
  (ninguna: vence el plazo):
      ${ELECCIONES.join(', ')}

Para enviar un aviso de prueba a un webhook: guias webhooks probar.`,
  opciones: {
    guia: { valor: '<código>', dice: 'una guía de prueba que ya existe; sigue desde donde esté' },
    motivo: { valor: '<motivo>', dice: 'por qué, en intento_fallido, en_devolucion y extraviado' },
    'sin-firma': {
      valor: '<porqué>',
      dice: 'en entregado, por qué no hay firma: no_puede_firmar, se_nego, sin_contacto',
    },
    fecha: { valor: '<día>', dice: 'en las decisiones, qué día; el primero que se puede, si falta' },
    vecino: { valor: '<nombre>', dice: 'en decision.vecino, quién lo recibe' },
  },
  posicionales: [1, 1],
  completa: [
    ...ESTADOS.map((estado) => `guia.${estado}`),
    ...UBICACIONES.map((estado) => `ubicacion.${estado}`),
    ...ELECCIONES.map((eleccion) => `decision.${eleccion}`),
  ],
  async ejecutar(contexto) {
    const [evento = ''] = contexto.posicionales
    const estado = evento.replace(/^guia\./, '')
    const ubicacion = evento.startsWith('ubicacion.') ? evento.slice('ubicacion.'.length) : undefined
    const eleccion = evento.replace(/^decision\./, '')
    const decide = eleccion !== evento && esEleccion(eleccion)
    if (!decide && (ubicacion === undefined ? !CAMINOS[estado] : !UBICACIONES.includes(ubicacion))) {
      const remedio = evento.startsWith('webhook.')
        ? 'guias webhooks probar envía el suyo'
        : 'vea guias disparar --help'
      throw new ErrorDeUso(`No sé provocar «${evento}»: ${remedio}.`)
    }
    const api = contexto.api()
    const guia = await tomar(api, contexto, ubicacion !== undefined)
    const llega = decide
      ? await decidir(api, guia, eleccion, contexto)
      : ubicacion === undefined
        ? await llevar(api, guia, estado, contexto)
        : await ubicar(api, guia, ubicacion)
    const decision = decide ? `, ${limpio(llega.decision?.accion ?? llega.decision?.estado ?? '')}` : ''
    if (contexto.json) decir(JSON.stringify(llega))
    else
      decir(
        `${pintar('fuerte', limpio(llega.guia))}  ${limpio(llega.estado)}, ubicación ${limpio(llega.ubicacion.estado)}${decision}`,
      )
    return SALIDA.bien
  },
}

async function tomar({ guias }: Guias, contexto: Contexto, sinLugar: boolean): Promise<Guia> {
  const codigo = contexto.texto('guia')
  if (codigo !== undefined) {
    const { eventos: _, ...guia } = await guias.obtener(codigo, { limite: 1 })
    return guia
  }
  const lugar = sinLugar ? undefined : { lat: 14.633, lng: -90.606 }
  return guias.crear({
    telefono: '+50255512345',
    departamento: 'Guatemala',
    municipio: 'Mixco',
    destinatario: 'Destinatario de prueba',
    external_ref: `disparar-${Date.now()}-${Math.random().toString(36).slice(2, 8)}`,
    recogida: { nombre: 'Bodega de prueba', lat: 14.583611, lng: -90.548611 },
    lat: lugar?.lat,
    lng: lugar?.lng,
  })
}

async function llevar(api: Guias, desde: Guia, estado: string, contexto: Contexto): Promise<Guia> {
  const camino = CAMINOS[estado] ?? []
  const aqui = camino.indexOf(desde.estado as Paso)
  // A guide whose state is not on the usual path is moved straight to the requested state. If the rules forbid this
  // change, the service refuses it.
  const pasos = aqui >= 0 ? camino.slice(aqui + 1) : desde.estado === 'aceptado' ? camino : camino.slice(-1)
  let guia = desde
  for (const paso of pasos) {
    const motivo = (paso === estado ? contexto.texto<Conocido<Motivo>>('motivo') : undefined) ?? MOTIVOS[paso]
    const sin_firma =
      paso === 'entregado' ? contexto.texto<AvanceSimulado['sin_firma'] & string>('sin-firma') : undefined
    guia =
      paso === 'cancelado'
        ? await api.guias.cancelar(guia.guia)
        : await api.simulador.avanzar(guia.guia, {
            estado: paso,
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
async function decidir(
  api: Guias,
  guia: Guia,
  eleccion: DecisionSimulada['eleccion'],
  contexto: Contexto,
): Promise<Guia> {
  if (SIN_INTENTO.includes(guia.estado)) await llevar(api, guia, 'intento_fallido', contexto)
  const [fecha, vecino] = [contexto.texto('fecha'), contexto.texto('vecino')]
  return api.simulador.decidir(guia.guia, {
    eleccion,
    ...DECISIONES[eleccion],
    ...(fecha === undefined ? {} : { fecha }),
    ...(vecino === undefined ? {} : { vecino: { nombre: vecino } }),
  })
}

async function ubicar({ guias, simulador }: Guias, guia: Guia, estado: string): Promise<Guia> {
  if (estado !== 'solicitada') {
    return simulador.confirmarUbicacion(guia.guia, { resultado: estado as 'confirmada' | 'vencida' | 'fallida' })
  }
  return guia.ubicacion.estado === 'solicitada' ? guia : guias.reenviarSolicitud(guia.guia)
}
