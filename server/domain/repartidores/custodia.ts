import type { Db } from '../../data/db.ts'
import type { Custodia, Estado, EstadoSiguiente } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import { buscarAsignacion } from '../asignaciones/asignacion.ts'
import type { ServiceSettings } from '../deps.ts'
import { custodiaDe, leToca } from '../estados/custodia.ts'
import { exigeUbicacion, motivosDe, reportables } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** Setting that decides which guides a courier may handle (`COURIER_REACH`). */
export type AlcanceDeCustodia = Pick<ServiceSettings, 'alcanceDeRepartidor'>

/**
 * Returns who has a guide's parcel, from the view of a courier. If every courier may handle every guide, each parcel
 * counts as the courier's own.
 */
export const custodiaPara = (
  { alcanceDeRepartidor }: AlcanceDeCustodia,
  guia: Pick<FilaGuia, 'estado' | 'custodio'>,
  repartidor: string,
): Custodia => (alcanceDeRepartidor === 'cualquiera' ? 'propia' : custodiaDe(guia, repartidor))

/** Returns the states that a courier may report next, depending on who has the parcel. */
const siguientesPara = (guia: Pick<FilaGuia, 'estado' | 'custodio'>, custodia: Custodia): Estado[] =>
  reportables(guia.estado).filter((estado) => leToca(custodia, guia, estado))

/** Returns the states that a courier may report next, each with the reasons, proof and position that it requires. */
export const pasosPara = (guia: Pick<FilaGuia, 'estado' | 'custodio'>, custodia: Custodia): EstadoSiguiente[] =>
  siguientesPara(guia, custodia).map((estado) => ({
    estado,
    motivos: [...motivosDe(estado)],
    con_prueba: estado === 'entregado',
    con_ubicacion: exigeUbicacion(estado),
  }))

/**
 * Reports whether a courier may see and take a guide. With `COURIER_REACH=asignado` these are the guides that the courier
 * has, and those that are assigned to the courier.
 * @param asignadaA courier to whose assigned guides the guide belongs; null or undefined if it is not assigned
 */
export const estaAlAlcance = (
  ajustes: AlcanceDeCustodia,
  guia: Pick<FilaGuia, 'estado' | 'custodio'>,
  repartidor: string,
  asignadaA: string | null | undefined,
): boolean =>
  ajustes.alcanceDeRepartidor !== 'asignado' ||
  custodiaPara(ajustes, guia, repartidor) === 'propia' ||
  asignadaA === repartidor

/** Makes the problem for a guide that the courier neither carries nor has been assigned. */
export const sinAsignacion = () =>
  new Problema(
    'sin_asignacion',
    'No tiene asignada esta guía. Pida a la central que se la asigne, y escanéela otra vez.',
  )

/**
 * Returns a check that rejects actions that a courier may not take with a guide. With `estado`, the courier may report
 * that state if the guide's custody and its assignment allow it. Without `estado`, the courier must have the parcel.
 * @throws Problema 403 `sin_custodia` or `sin_asignacion`
 */
export const permitirA =
  ({ db, ajustes }: { db: Pick<Db, 'consultar'>; ajustes: AlcanceDeCustodia }, repartidor: string) =>
  async (guia: FilaGuia, estado?: Estado): Promise<void> => {
    const custodia = custodiaPara(ajustes, guia, repartidor)
    if (!estaAlAlcance(ajustes, guia, repartidor, null)) {
      const asignacion = await buscarAsignacion(db, guia)
      if (!estaAlAlcance(ajustes, guia, repartidor, asignacion?.repartidor)) throw sinAsignacion()
    }
    if (estado === undefined ? custodia === 'propia' : leToca(custodia, guia, estado)) return
    const transiciones = siguientesPara(guia, custodia)
    const cuales = transiciones.join(' o ')
    const mensaje =
      custodia === 'ajena'
        ? `La lleva otro repartidor: pídale que se la entregue o avise a la central.${cuales && ` Si ya la tiene usted, regístrela antes como ${cuales}.`}`
        : `No la lleva nadie todavía. ${cuales ? `Si la tiene usted, regístrela antes como ${cuales}.` : 'Avise a la central.'}`
    throw new Problema('sin_custodia', mensaje, { estado: guia.estado, transiciones })
  }
