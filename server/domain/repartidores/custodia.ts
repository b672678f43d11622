import type { Db } from '../../data/db.ts'
import type { Custodia, Estado, EstadoSiguiente } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { findAsignacion } from '../asignaciones/asignacion.ts'
import type { ServiceSettings } from '../deps.ts'
import { canReport, custodiaOf, isHandover } from '../estados/custodia.ts'
import { reasonsOf, reportableStates, requiresUbicacion } from '../estados/estados.ts'
import type { GuiaRow } from '../records/guiaFields.ts'

/** Setting that decides which guides a courier may handle (`COURIER_REACH`). */
export type CustodiaSettings = Pick<ServiceSettings, 'repartidorReach'>

/**
 * Returns who has a guide's parcel, from the view of a courier. If every courier may handle every guide, each parcel
 * counts as the courier's own.
 */
export const custodiaFor = (
  { repartidorReach }: CustodiaSettings,
  guia: Pick<GuiaRow, 'estado' | 'custodio'>,
  repartidor: string,
): Custodia => (repartidorReach === 'cualquiera' ? 'propia' : custodiaOf(guia, repartidor))

/** Courier who wants to report about a guide. */
export interface Reach {
  repartidor: string
  custodia: Custodia
  /** Courier of the assignment; null or undefined if it is not assigned. */
  assignedTo: string | null | undefined
}

/** Returns the states that a courier may report next: those of the state machine, and the one that receives a parcel. */
const nextStatesFor = (guia: Pick<GuiaRow, 'estado' | 'custodio'>, reach: Reach): Estado[] => [
  ...(isHandover(guia, guia.estado, reach.repartidor, reach.assignedTo) ? [guia.estado] : []),
  ...reportableStates(guia.estado).filter((estado) => canReport(reach.custodia, guia, estado)),
]

/** Returns the states that a courier may report next, each with the reasons, proof and position that it requires. */
export const stepsFor = (guia: Pick<GuiaRow, 'estado' | 'custodio'>, reach: Reach): EstadoSiguiente[] =>
  nextStatesFor(guia, reach).map((estado) =>
    estado === guia.estado
      ? { estado, motivos: [], con_prueba: false, con_ubicacion: false }
      : {
          estado,
          motivos: [...reasonsOf(estado)],
          con_prueba: estado === 'entregado',
          con_ubicacion: requiresUbicacion(estado),
        },
  )

/**
 * Reports whether a courier may see and take a guide. With `COURIER_REACH=asignado` these are the guides that the courier
 * has, and those that are assigned to the courier.
 * @param assignedTo courier to whose assigned guides the guide belongs; null or undefined if it is not assigned
 */
export const isWithinReach = (
  settings: CustodiaSettings,
  guia: Pick<GuiaRow, 'estado' | 'custodio'>,
  repartidor: string,
  assignedTo: string | null | undefined,
): boolean =>
  settings.repartidorReach !== 'asignado' ||
  custodiaFor(settings, guia, repartidor) === 'propia' ||
  assignedTo === repartidor

/** Makes the problem for a guide that the courier neither carries nor has been assigned. */
export const withoutAsignacion = () =>
  new Problema(
    'sin_asignacion',
    'No tiene asignada esta guía. Pida a la central que se la asigne, y escanéela otra vez.',
  )

/**
 * Returns a check that rejects actions that a courier may not take with a guide. With `estado`, the courier may report
 * that state if the guide's custody and its assignment allow it. Without `estado`, the courier must have the parcel.
 * @throws Problema 403 `sin_custodia` or `sin_asignacion`
 */
export const authorizeRepartidor =
  ({ db, settings }: { db: Pick<Db, 'query'>; settings: CustodiaSettings }, repartidor: string) =>
  async (guia: GuiaRow, estado?: Estado): Promise<void> => {
    const custodia = custodiaFor(settings, guia, repartidor)
    const isAllowed = estado === undefined ? custodia === 'propia' : canReport(custodia, guia, estado)
    if (isAllowed && isWithinReach(settings, guia, repartidor, null)) return
    const reach = { repartidor, custodia, assignedTo: (await findAsignacion(db, guia))?.repartidor }
    if (!isWithinReach(settings, guia, repartidor, reach.assignedTo)) throw withoutAsignacion()
    if (isAllowed || (estado !== undefined && isHandover(guia, estado, repartidor, reach.assignedTo))) return
    const transiciones = nextStatesFor(guia, reach)
    const transitionsText = transiciones.join(' o ')
    const mensaje =
      custodia === 'ajena'
        ? `La lleva otro repartidor: pídale que se la entregue o avise a la central.${transitionsText && ` Si ya la tiene usted, regístrela antes como ${transitionsText}.`}`
        : `No la lleva nadie todavía. ${transitionsText ? `Si la tiene usted, regístrela antes como ${transitionsText}.` : 'Avise a la central.'}`
    throw new Problema('sin_custodia', mensaje, { estado: guia.estado, transiciones })
  }
