import { buscarDestino } from '../catalogo/catalogo.ts'
import type { Pais } from '../contrato/generado/tipos/index.ts'

/** Each country's zone, which is its capital's. */
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

/**
 * The IANA zone in which documents and pages tell what happened to a guide: its destination's country's, or Guatemala's for a
 * destination outside the catalogue; `fija` (`TIME_ZONE`) stands over both.
 */
export function zonaDe(
  { departamento, municipio }: { departamento: string; municipio: string },
  fija: string | undefined,
): string {
  if (fija !== undefined) return fija
  const hallado = buscarDestino(departamento, municipio)
  return ZONAS['departamento' in hallado ? hallado.departamento.pais : 'GT']
}
