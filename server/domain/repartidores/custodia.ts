import type { Custodia, Estado, EstadoSiguiente } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { ServiceSettings } from '../deps.ts'
import { custodiaDe, leToca } from '../estados/custodia.ts'
import { exigeUbicacion, motivosDe, reportables } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** Setting that decides which guides a courier may handle (`COURIER_REACH`). */
export type AlcanceDeCustodia = Pick<ServiceSettings, 'alcanceDeRepartidor'>

/**
 * Returns who has a guide's parcel, as seen by a courier. If couriers may handle every guide, each parcel counts as the
 * courier's own.
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
 * Returns a check that rejects actions that a courier may not take with a guide. With `estado`, the courier may report
 * that state if the guide's custody allows it. Without `estado`, the courier must have the parcel.
 * @throws Problema 403 `sin_custodia`
 */
export const permitirA = (ajustes: AlcanceDeCustodia, repartidor: string) => (guia: FilaGuia, estado?: Estado) => {
  const custodia = custodiaPara(ajustes, guia, repartidor)
  if (estado === undefined ? custodia === 'propia' : leToca(custodia, guia, estado)) return
  const transiciones = siguientesPara(guia, custodia)
  const cuales = transiciones.join(' o ')
  const mensaje =
    custodia === 'ajena'
      ? `La lleva otro repartidor: pídale que se la entregue o avise a la central.${cuales && ` Si ya la tiene usted, regístrela antes como ${cuales}.`}`
      : `No la lleva nadie todavía. ${cuales ? `Si la tiene usted, regístrela antes como ${cuales}.` : 'Avise a la central.'}`
  throw new Problema('sin_custodia', mensaje, { estado: guia.estado, transiciones })
}
