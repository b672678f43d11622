import type { Db } from '../../data/db.ts'
import type { Decision, Dia } from '../../generado/contrato/tipos/index.ts'
import { dayIn } from '../../platform/time/day.ts'
import { zonaDe } from '../catalogo/zona.ts'
import { leerIntentos } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import type { PasoConConsecuencias, PasoDeGuia } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { abrir, type DecisionDeGuia, motivoDe, PIDIO_OTRO_DIA, tomarElDia, trasEstado, vuelveTras } from './decision.ts'
import { type DepsDePregunta, preguntar } from './preguntar.ts'

/** Returns the event that reports a decision. */
export const pasoDeDecision = (
  tipo: 'guia.decision_pendiente' | 'guia.decision_tomada',
  decision: DecisionDeGuia,
  comun: Pick<PasoDeGuia, 'ocurrido_en' | 'registrado_en' | 'autor' | 'descripcion'>,
): PasoDeGuia => ({ ...comun, tipo, decision, datos: { decision: decision.valor } })

/**
 * Returns the event that begins a return that was decided. Its time is the time of registration, even after a late
 * scan. The courier may have delivered the parcel before hearing of the decision, and that delivery must still be
 * applied.
 */
export const pasoDeRegreso = (
  tomada: Decision,
  comun: Pick<PasoDeGuia, 'registrado_en' | 'autor' | 'repartidor'>,
): PasoDeGuia => ({
  ...comun,
  ocurrido_en: comun.registrado_en,
  tipo: 'guia.en_devolucion',
  estado: 'en_devolucion',
  motivo: motivoDe(tomada),
  decision: { valor: { ...tomada, estado: 'aplicada' }, vence: null },
})

/**
 * Adds to an event its effects on the decision about the parcel, all in one transaction. A failed attempt opens a
 * decision. If the recipient told the courier a day at the door, that day is the decision. Otherwise the recipient gets
 * a message, if the merchant wants so. A state that carries the decision out, or makes it unnecessary, closes it. If a
 * return was decided, it begins right after a scan.
 * @param pedido day that the recipient asked for at the door
 * @throws Problema 422 if that day is too late
 */
export async function conConsecuencias(
  { db, ajustes, ...deps }: { db: Db } & Pick<Deps, 'ajustes'> & DepsDePregunta,
  guia: FilaGuia,
  paso: PasoDeGuia,
  pedido?: Dia,
): Promise<PasoConConsecuencias> {
  const { estado, ocurrido_en, registrado_en, autor = null, repartidor } = paso
  if (estado === undefined) return paso
  const { decision } = guia
  const comun = { ocurrido_en, registrado_en, autor }
  if (decision && vuelveTras(decision, estado))
    return { ...paso, luego: [pasoDeRegreso(decision, { ...comun, repartidor })] }
  if (estado !== 'intento_fallido') return { ...paso, decision: trasEstado(decision, estado) }
  const intentos = paso.intentos ?? guia.intentos
  const politica = await leerIntentos(db, guia.comercio_id)
  const zona = zonaDe(guia, ajustes.zonaHoraria)
  const abierta = abrir(politica, { intentos, ocurrido_en, registrado_en }, zona)
  const tomada = pedido === undefined ? undefined : tomarElDia(abierta.valor, pedido, dayIn(registrado_en, zona))
  if (tomada) {
    const pendiente = pasoDeDecision('guia.decision_pendiente', abierta, comun)
    const decidida = { ...comun, ocurrido_en: registrado_en, descripcion: PIDIO_OTRO_DIA }
    return { ...paso, luego: [pendiente, pasoDeDecision('guia.decision_tomada', tomada, decidida)] }
  }
  const descripcion = pedido === undefined ? null : `El destinatario pidió el ${pedido}, y ya no quedan intentos`
  const pendiente = pasoDeDecision('guia.decision_pendiente', abierta, { ...comun, descripcion })
  return { ...paso, luego: [{ ...pendiente, escribir: preguntar(deps, politica, guia, abierta, registrado_en) }] }
}
