import type { Decision, Dia, Estado, Franja, QuienResuelve } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { dayIn } from '../../platform/time/day.ts'
import { zonaDe } from '../catalogo/zona.ts'
import { admiteCorreccion } from '../correcciones/correccion.ts'
import type { ServiceSettings } from '../deps.ts'
import { esFinal, siguientes } from '../estados/estados.ts'
import { darPaso } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { DepsDeTomada, Escritor, GuiaTomada } from '../guias/tomada.ts'
import { pasoDeDecision, pasoDeRegreso } from './consecuencias.ts'
import { type Dias, diasDe, esperaDecision, estaTomada, fueraDePlazo, presentarDecision, tomar } from './decision.ts'

// Decisions about the parcel of a locked guide, by a person or by the merchant's policy.

/** Person or rule that takes the decision. */
export interface QuienDecide {
  por: QuienResuelve
  /** Code of the author, stored with the events; null if the merchant's policy decides. */
  autor: string | null
  /** Reason for the decision, shown in its event. */
  descripcion?: string | undefined
}

/** Another delivery attempt, as the request describes it. */
export interface IntentoPedido {
  /** Day of the attempt. Undefined: the first possible day. */
  fecha?: Dia | undefined
  franja?: Franja | undefined
  /** Writes the changes of the guide that the attempt needs, and returns the guide. */
  cambiar: () => Promise<FilaGuia>
}

export type DepsDeDecision = DepsDeTomada & { ajustes: Pick<ServiceSettings, 'zonaHoraria'> }

/**
 * Decides on another delivery attempt for a locked guide, in the lock's transaction.
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada` or `decision_no_admitida`; 422; problems that `cambiar` throws
 */
export async function reintentarTomada(
  { ajustes }: Pick<DepsDeDecision, 'ajustes'>,
  escritor: Escritor,
  { por, autor, descripcion }: QuienDecide,
  tomada: GuiaTomada,
  { fecha, franja, cambiar }: IntentoPedido,
): Promise<FilaGuia> {
  const ahora = escritor.reloj()
  const zona = zonaDe(tomada, ajustes.zonaHoraria)
  const abierta = exigirReintentable(tomada)
  const dia = exigirDia(diasDe(abierta.fecha_desde, dayIn(ahora, zona)), fecha)
  exigirFranja(franja)
  const presente = await cambiar()
  const decision = tomar(abierta, { accion: 'reintentar', por, fecha: dia, franja: franja ?? null })
  const comun = { ocurrido_en: ahora, registrado_en: ahora, autor, descripcion: descripcion ?? null }
  return dar(escritor, presente, pasoDeDecision('guia.decision_tomada', decision, comun))
}

/** States in which no courier is on the way with the parcel, so that its return can begin at once. */
const EN_REPOSO: readonly Estado[] = ['en_bodega', 'intento_fallido']

/**
 * Decides that the parcel of a locked guide returns to the sender, in the lock's transaction.
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada` or `transicion_invalida`
 */
export async function devolverTomada(
  escritor: Escritor,
  { por, autor, descripcion }: QuienDecide,
  tomada: FilaGuia,
): Promise<FilaGuia> {
  if (tomada.estado === 'en_devolucion') return tomada
  exigirDevolvible(tomada)
  exigirSinTomar(tomada)
  const ahora = escritor.reloj()
  const comun = { ocurrido_en: ahora, registrado_en: ahora, autor }
  const decision = tomar(tomada.decision, { accion: 'devolver', por })
  const paso = pasoDeDecision('guia.decision_tomada', decision, { ...comun, descripcion: descripcion ?? null })
  const decidida = await dar(escritor, tomada, paso)
  return EN_REPOSO.includes(tomada.estado) ? dar(escritor, decidida, pasoDeRegreso(decision.valor, comun)) : decidida
}

/** Writes an event of a locked guide. */
const dar = async ({ consultar, avisarTrabajo }: Escritor, guia: FilaGuia, paso: Parameters<typeof darPaso>[2]) =>
  (await darPaso({ db: { consultar }, avisarTrabajo }, guia, paso))!.guia

/**
 * Returns the open decision of a guide.
 * @throws Problema 409 if no decision allows another attempt
 */
function exigirReintentable(tomada: GuiaTomada): Decision {
  exigirSinTomar(tomada)
  const { estado, decision: abierta, intentos } = tomada
  if (esperaDecision(abierta) && abierta.opciones.includes('reintentar')) return abierta
  const puedeVolver = siguientes(estado).includes('en_devolucion')
  const mensaje = esperaDecision(abierta)
    ? `Ya se hicieron ${intentos} intentos, los que admite la cuenta. Pida la devolución, o hable con el servicio de mensajería.`
    : `La guía está en ${estado}${remedioSinIntento(estado, puedeVolver)}`
  throw new Problema('decision_no_admitida', mensaje, { estado, opciones: puedeVolver ? ['devolver'] : [] })
}

/** Returns the end of an error message: why the guide has no failed attempt to repeat, and what the user can do. */
function remedioSinIntento(estado: Estado, puedeVolver: boolean): string {
  if (esFinal(estado)) return ', que es un estado final: no hay nada que decidir.'
  if (estado === 'en_devolucion') return ': el paquete ya vuelve, y no se lleva otra vez.'
  const ahora = puedeVolver ? '; ahora puede pedir la devolución' : ''
  return ` y no hay un intento fallido que repetir. Se puede reintentar después de uno${ahora}.`
}

const DECIDIO: Readonly<Record<QuienResuelve, string>> = {
  comercio: 'El comercio',
  operador: 'El servicio de mensajería',
  destinatario: 'El destinatario',
  politica: 'La política de la cuenta',
}

/**
 * Requires that no decision waits to be carried out.
 * @throws Problema 409 `decision_tomada` if there is such a decision
 */
export function exigirSinTomar({ estado, decision }: FilaGuia): void {
  if (!estaTomada(decision)) return
  const { accion, fecha, por } = decision
  const tomada = `${DECIDIO[por!]} ya decidió: ${accion}${fecha ? ` el ${fecha}` : ''}. Vale la primera decisión`
  const corregir =
    accion === 'reintentar' && admiteCorreccion(estado) ? 'Los datos de la entrega se corrigen con PATCH; l' : 'L'
  const mensaje = `${tomada}. ${corregir}a decisión solo la cambia el servicio de mensajería.`
  throw new Problema('decision_tomada', mensaje, { estado, decision: presentarDecision(decision)! })
}

/**
 * Requires that the parcel can be returned.
 * @throws Problema 409 `transicion_invalida` if no courier has collected it yet, or if it has arrived
 */
function exigirDevolvible({ estado }: FilaGuia): void {
  if (siguientes(estado).includes('en_devolucion')) return
  const mensaje = esFinal(estado)
    ? `La guía está en ${estado}, que es un estado final: no hay nada que devolver.`
    : `La guía está en ${estado}: nadie tiene el paquete, así que no se devuelve: se cancela, con cancelar.`
  throw new Problema('transicion_invalida', mensaje, { estado, transiciones: [] })
}

/**
 * Returns the day of the attempt.
 * @throws Problema 422 if it is too early or too late
 */
function exigirDia({ desde, hasta }: Dias, pedido: Dia | undefined): Dia {
  const dia = pedido ?? desde
  if (dia >= desde && dia <= hasta) return dia
  throw fueraDePlazo({ desde, hasta })
}

/**
 * Requires that the window of hours ends after it begins.
 * @throws Problema 422
 */
function exigirFranja(franja: Franja | undefined): void {
  if (franja === undefined || franja.desde < franja.hasta) return
  const mensaje = `debe ser después de desde (${franja.desde})`
  throw problemOfFaults('validacion', [{ campo: '/franja/hasta', codigo: 'fuera_de_rango', mensaje }])
}
