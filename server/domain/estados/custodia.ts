import type { Custodia, Estado } from '../../generado/contrato/tipos/index.ts'
import { esFinal, reportables } from './estados.ts'

/** Properties of a guide that decide who has custody of its parcel. */
export interface Llevada {
  estado: Estado
  /** Courier of the guide's latest `recolectado` or `en_ruta`; null before the first of these events. */
  custodio: string | null
}

/** States that give custody of a parcel to the courier who reports them. */
const LO_TOMAN: readonly Estado[] = ['recolectado', 'en_ruta']
/** States in which a parcel is with the company, independent of the courier who brought it. */
const EN_LA_EMPRESA: readonly Estado[] = ['en_bodega', 'en_transito']
/** States in which the courier who took a parcel still carries it. */
export const EN_MANOS: readonly Estado[] = ['recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion']

/** Returns who has custody of a parcel, from the view of a courier: `propia`, `ajena` or `ninguna`. */
export function custodiaDe({ estado, custodio }: Llevada, repartidor: string): Custodia {
  if (custodio === repartidor) return 'propia'
  return custodio === null || EN_LA_EMPRESA.includes(estado) ? 'ninguna' : 'ajena'
}

/** Reports whether a courier takes a parcel by reporting this state. */
export const esToma = (estado: Estado) => LO_TOMAN.includes(estado)

/**
 * Reports whether a courier who reports this state has custody from then on, if no courier took the parcel later. A
 * late scan counts like a timely scan if the courier could take the parcel now. The courier's later reports, made
 * without coverage, depend on that scan.
 */
export const daCustodia = ({ estado, custodio }: Llevada, reportado: Estado): boolean =>
  esToma(reportado) && !esFinal(estado) && (custodio === null || reportables(estado).includes(reportado))

/**
 * Reports whether a courier may report this state. A courier with custody may report every state; any other courier
 * only states that give custody. If another courier has custody, the present state must also allow the reported state.
 * If no courier has custody, `en_bodega` is allowed too.
 */
export function leToca(custodia: Custodia, { estado }: Llevada, reportado: Estado): boolean {
  if (custodia === 'propia') return true
  if (custodia === 'ninguna') return esToma(reportado) || reportado === 'en_bodega'
  return esToma(reportado) && reportables(estado).includes(reportado)
}
