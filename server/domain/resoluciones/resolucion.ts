// Decisions about a parcel after a failed attempt: what opens one, and what closes it. Pure functions.

import type { Dia, Estado, Motivo, PoliticaDeIntentos, Resolucion } from '../../generado/contrato/tipos/index.ts'
import { type Problema, problemOfFaults } from '../../platform/errors.ts'
import { addDays, dayIn } from '../../platform/time/day.ts'
import { esFinal } from '../estados/estados.ts'

/** Returns a stored decision with its members in a fixed order, because `jsonb` has its own and bodies stay identical. */
export const presentarResolucion = (guardada: Resolucion | null): Resolucion | null =>
  guardada && {
    estado: guardada.estado,
    opciones: guardada.opciones,
    fecha_desde: guardada.fecha_desde,
    vence_en: guardada.vence_en,
    accion: guardada.accion,
    fecha: guardada.fecha,
    franja: guardada.franja && { desde: guardada.franja.desde, hasta: guardada.franja.hasta },
    por: guardada.por,
  }

/** New value of a guide's decision, and the time when the policy decides; null if it does not. */
export interface ResolucionDeGuia {
  valor: Resolucion
  vence: Date | null
}

const DIA = 24 * 3_600_000

/**
 * Returns the decision that a failed attempt opens. After the last attempt of a merchant whose parcels return by
 * themselves, the policy decides at once.
 * @param intentos failed attempts so far, with this one
 * @param zona IANA time zone of the destination
 */
export function abrir(
  { maximos, dias_entre, dias_para_decidir, al_vencer }: PoliticaDeIntentos,
  { intentos, ocurrido_en, registrado_en }: { intentos: number; ocurrido_en: Date; registrado_en: Date },
  zona: string,
): ResolucionDeGuia {
  const quedan = intentos < maximos
  const espera = quedan || al_vencer === 'esperar' ? dias_para_decidir * DIA : 0
  const vence = new Date(registrado_en.getTime() + espera)
  return {
    valor: {
      estado: 'pendiente',
      opciones: quedan ? ['reintentar', 'devolver'] : ['devolver'],
      fecha_desde: quedan ? addDays(dayIn(ocurrido_en, zona), dias_entre) : null,
      vence_en: vence.toISOString(),
      accion: null,
      fecha: null,
      franja: null,
      por: null,
    },
    vence: al_vencer === 'devolver' ? vence : null,
  }
}

/** Decision of somebody who asks for the return although nobody waits for a decision. */
const SIN_PREGUNTA: Resolucion = {
  ...{ estado: 'pendiente', opciones: ['devolver'], fecha_desde: null, vence_en: null },
  ...{ accion: null, fecha: null, franja: null, por: null },
}

/** Decision that somebody took: the action, and who took it. */
export type Decidido = Pick<Resolucion, 'accion' | 'por'> & Partial<Pick<Resolucion, 'fecha' | 'franja'>>

/** Returns the decision after somebody took it. */
export const tomar = (abierta: Resolucion | null, decidido: Decidido): ResolucionDeGuia => ({
  valor: { ...(esperaDecision(abierta) ? abierta : SIN_PREGUNTA), ...decidido, estado: 'tomada' },
  vence: null,
})

/** First and last day on which another attempt may be made. */
export interface Dias {
  desde: Dia
  hasta: Dia
}

/** Latest day of another attempt, in days from today. */
const PLAZO = 30

/** Returns the days on which another attempt may be made. */
export function diasDe(minimo: Dia | null, hoy: Dia): Dias {
  const desde = minimo !== null && minimo > hoy ? minimo : hoy
  const hasta = addDays(hoy, PLAZO)
  return { desde, hasta: hasta < desde ? desde : hasta }
}

/** Makes the 422 for a day on which no attempt may be made. */
export const fueraDePlazo = ({ desde, hasta }: Dias): Problema =>
  problemOfFaults('validacion', [
    { campo: '/fecha', codigo: 'fuera_de_rango', mensaje: `debe ser un día desde ${desde} hasta ${hasta}` },
  ])

/** Description of the event with which the recipient decides for another day. */
export const PIDIO_OTRO_DIA = 'El destinatario pidió otro día'

/**
 * Returns the decision of a recipient who told the courier a day; undefined if no attempt is left. A day before the first
 * possible one stands for that one: reports arrive late.
 * @throws Problema 422 if the day is too late
 */
export function tomarElDia(abierta: Resolucion, pedido: Dia, hoy: Dia): ResolucionDeGuia | undefined {
  const dias = diasDe(abierta.fecha_desde, hoy)
  if (pedido > dias.hasta) throw fueraDePlazo(dias)
  if (!abierta.opciones.includes('reintentar')) return undefined
  const fecha = pedido < dias.desde ? dias.desde : pedido
  return tomar(abierta, { accion: 'reintentar', por: 'destinatario', fecha, franja: null })
}

/** Returns true if somebody may still decide. */
export const esperaDecision = (resolucion: Resolucion | null): resolucion is Resolucion =>
  resolucion?.estado === 'pendiente'

/** Returns true if the decision was taken, and nothing has applied it. */
export const estaTomada = (resolucion: Resolucion | null): resolucion is Resolucion => resolucion?.estado === 'tomada'

/** Action that a state carries out. */
const LA_APLICA: Readonly<Partial<Record<Estado, Resolucion['accion']>>> = {
  en_ruta: 'reintentar',
  en_devolucion: 'devolver',
}

/**
 * Returns what a new state makes of the guide's decision; undefined if the decision stays as it is. A state that carries
 * out the decision applies it. A state that settles the matter otherwise supersedes it.
 */
export function trasEstado(resolucion: Resolucion | null, estado: Estado): ResolucionDeGuia | undefined {
  if (!esperaDecision(resolucion) && !estaTomada(resolucion)) return undefined
  const aplica = LA_APLICA[estado]
  // A courier who leaves with a parcel that must return has not heard of it: the return follows his scan.
  if (vuelveTras(resolucion, estado)) return undefined
  if (!aplica && !esFinal(estado)) return undefined
  const aplicada = estaTomada(resolucion) && resolucion.accion === aplica
  return { valor: { ...resolucion, estado: aplicada ? 'aplicada' : 'superada' }, vence: null }
}

/** States in which a return that was decided has not begun, and cannot begin: the parcel is lost, or returns already. */
const NO_VUELVE: readonly Estado[] = ['en_devolucion', 'extraviado']

/** Returns true if the decided return follows a scan with this state. */
export const vuelveTras = (resolucion: Resolucion | null, estado: Estado): boolean =>
  estaTomada(resolucion) && resolucion.accion === 'devolver' && !NO_VUELVE.includes(estado) && !esFinal(estado)

/** Returns the reason that the event of a decided return has. */
export function motivoDe({ por, opciones }: Resolucion): Motivo {
  if (por === 'destinatario') return 'destinatario_rechaza'
  if (por === 'politica') return opciones.includes('reintentar') ? 'sin_decision' : 'intentos_agotados'
  return por === 'comercio' ? 'a_pedido_del_comercio' : 'otro'
}
