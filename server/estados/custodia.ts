import type { Custodia, Estado } from '../contrato/generado/tipos/index.ts'
import { esFinal, reportables } from './estados.ts'

/** What decides in whose hands a guide's parcel is. */
export interface Llevada {
  estado: Estado
  /** The courier of the guide's latest `recolectado` or `en_ruta`; null until there is one. */
  custodio: string | null
}

/** The states that put a parcel into the hands of the courier who reports them. */
const LO_TOMAN: readonly Estado[] = ['recolectado', 'en_ruta']
/** The states in which a parcel lies with the company, whoever brought it there. */
const EN_LA_EMPRESA: readonly Estado[] = ['en_bodega', 'en_transito']
/** The states in which whoever took a parcel has it with him. */
export const EN_MANOS: readonly Estado[] = ['recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion']

/** In whose hands a parcel is, as a courier sees it. */
export function custodiaDe({ estado, custodio }: Llevada, repartidor: string): Custodia {
  if (custodio === repartidor) return 'propia'
  return custodio === null || EN_LA_EMPRESA.includes(estado) ? 'ninguna' : 'ajena'
}

/** Whether that state is one in which a courier takes a parcel. */
export const esToma = (estado: Estado) => LO_TOMAN.includes(estado)

/**
 * Whether a courier who reports that state has the parcel from then on, if nobody took it after him. A late scan counts as
 * one in time does, where he could take the parcel now: what he did afterwards without coverage follows it.
 */
export const daCustodia = ({ estado, custodio }: Llevada, reportado: Estado): boolean =>
  esToma(reportado) && !esFinal(estado) && (custodio === null || reportables(estado).includes(reportado))

/**
 * Whether it is a courier's to report that state: anything of what he carries, of the rest only what puts it into his hands.
 * What nobody carries he may also bring to the depot.
 */
export function leToca(custodia: Custodia, { estado }: Llevada, reportado: Estado): boolean {
  if (custodia === 'propia') return true
  if (custodia === 'ninguna') return esToma(reportado) || reportado === 'en_bodega'
  return esToma(reportado) && reportables(estado).includes(reportado)
}
