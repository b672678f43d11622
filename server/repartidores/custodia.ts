import type { Custodia, Estado, EstadoSiguiente } from '../contrato/generado/tipos/index.ts'
import type { Ajustes } from '../deps.ts'
import { Problema } from '../errores.ts'
import { custodiaDe, leToca } from '../estados/custodia.ts'
import { exigeUbicacion, motivosDe, reportables } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** The part of the configuration that says how far a courier reaches. */
export type Alcance = Pick<Ajustes, 'alcanceDeRepartidor'>

/** In whose hands a guide is for that courier: where anybody may carry anything, in his. */
export const custodiaPara = (
  { alcanceDeRepartidor }: Alcance,
  guia: Pick<FilaGuia, 'estado' | 'custodio'>,
  repartidor: string,
): Custodia => (alcanceDeRepartidor === 'cualquiera' ? 'propia' : custodiaDe(guia, repartidor))

/** The states that a courier may report next, by what he has to do with the guide. */
const siguientesPara = (guia: Pick<FilaGuia, 'estado' | 'custodio'>, custodia: Custodia): Estado[] =>
  reportables(guia.estado).filter((estado) => leToca(custodia, guia, estado))

/** The same, each with what it asks for. */
export const pasosPara = (guia: Pick<FilaGuia, 'estado' | 'custodio'>, custodia: Custodia): EstadoSiguiente[] =>
  siguientesPara(guia, custodia).map((estado) => ({
    estado,
    motivos: [...motivosDe(estado)],
    con_prueba: estado === 'entregado',
    con_ubicacion: exigeUbicacion(estado),
  }))

/**
 * What refuses a courier what isn't his: to report a state, or, without one, what only whoever carries the parcel does.
 * @throws Problema 403 `sin_custodia`
 */
export const permitirA = (ajustes: Alcance, repartidor: string) => (guia: FilaGuia, estado?: Estado) => {
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
