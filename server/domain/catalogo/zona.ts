import type { Pais } from '../../generado/contrato/tipos/index.ts'
import { buscarDestino } from './catalogo.ts'

/** Time zone of each country, which is the zone of its capital. */
const ZONAS: Readonly<Record<Pais, string>> = {
  GT: 'America/Guatemala',
  SV: 'America/El_Salvador',
  HN: 'America/Tegucigalpa',
  NI: 'America/Managua',
  CR: 'America/Costa_Rica',
  PA: 'America/Panama',
  CO: 'America/Bogota',
  MX: 'America/Mexico_City',
}

/** Returns the IANA time zone of the courier company: `fija` (`TIME_ZONE`), or Guatemala's. */
export const zonaDeLaEmpresa = (fija: string | undefined): string => fija ?? ZONAS.GT

/**
 * Returns the IANA time zone in which documents and pages show the times of a guide: the zone of the destination's
 * country, or Guatemala's if the destination is not in the catalogue. `fija` (`TIME_ZONE`) overrides both.
 */
export function zonaDe(
  { departamento, municipio }: { departamento: string; municipio: string },
  fija: string | undefined,
): string {
  if (fija !== undefined) return fija
  const hallado = buscarDestino(departamento, municipio)
  return ZONAS['departamento' in hallado ? hallado.departamento.pais : 'GT']
}
