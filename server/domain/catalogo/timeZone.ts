import type { Pais } from '../../generated/contract/types/index.ts'
import { remembering } from '../../platform/remember.ts'
import { type Departamento, findDepartamentos, findDestino } from './catalogo.ts'

/** Time zone of each country, which is the zone of its capital. */
const TIME_ZONES: Readonly<Record<Pais, string>> = {
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
 * Time zones of the departments whose time is not that of their country, by code. Only Mexico has some (Ley de los Husos
 * Horarios, 2022).
 */
const ZONES_OF_DEPARTMENTS: Readonly<Record<string, string>> = {
  'MX-BCN': 'America/Tijuana',
  'MX-BCS': 'America/Mazatlan',
  'MX-NAY': 'America/Mazatlan',
  'MX-ROO': 'America/Cancun',
  'MX-SIN': 'America/Mazatlan',
  'MX-SON': 'America/Hermosillo',
}

/**
 * Municipalities whose time is not that of their department, by zone and department: those at the border of the United
 * States, which change with it, and Bahía de Banderas.
 */
const ZONES_OF_MUNICIPALITIES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'America/Ciudad_Juarez': {
    'MX-CHH': [
      'Ascención',
      'Ascensión',
      'Ciudad Juárez',
      'Guadalupe',
      'Janos',
      'Praxedis G. Guerrero',
      'Puerto Palomas',
    ],
  },
  'America/Ojinaga': { 'MX-CHH': ['Coyame', 'Manuel Ojinaga', 'Ojinaga', 'San Carlos'] },
  'America/Matamoros': {
    'MX-COA': [
      'Allende',
      'Ciudad Acuña',
      'Guerrero',
      'Hidalgo',
      'Jiménez',
      'Morelos',
      'Nava',
      'Ocampo',
      'Piedras Negras',
      'Villa Unión',
      'Zaragoza',
    ],
    'MX-NLE': ['Anáhuac'],
    'MX-TAM': [
      'Camargo',
      'Ciudad Camargo',
      'Ciudad Gustavo Díaz Ordaz',
      'Ciudad Miguel Alemán',
      'Ciudad Río Bravo',
      'El Campanario y Oradel',
      'Matamoros',
      'Mier',
      'Nueva Ciudad Guerrero',
      'Nuevo Laredo',
      'Nuevo Progreso',
      'Reynosa',
      'Valle Hermoso',
    ],
  },
  // GeoNames has the town in Baja California; it lies in Baja California Sur.
  'America/Mazatlan': { 'MX-BCN': ['Guerrero Negro'] },
  'America/Mexico_City': {
    'MX-NAY': ['Bucerías', 'Las Jarretaderas', 'Mezcales', 'San Juan de Abajo', 'San Vicente', 'Valle de Banderas'],
  },
}

/** Zone of each municipality of {@link ZONES_OF_MUNICIPALITIES}, by `<department> <municipality>`. */
export const EXCEPTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries(ZONES_OF_MUNICIPALITIES).flatMap(([zone, departments]) =>
    Object.entries(departments).flatMap(([code, names]) => names.map((name) => [`${code} ${name}`, zone] as const)),
  ),
)

const zoneOfDepartment = ({ codigo, pais }: Departamento): string => ZONES_OF_DEPARTMENTS[codigo] ?? TIME_ZONES[pais]

/** Returns the IANA time zone of the courier company: `fixedZone` (`TIME_ZONE`), or Guatemala's. */
export const companyTimeZone = (fixedZone: string | undefined): string => fixedZone ?? TIME_ZONES.GT

/**
 * Returns the IANA time zone in which documents and pages show the times of a guide: the zone of the destination's
 * municipality. If only its department is in the catalogue, and no other country has one of that name, returns the
 * department's zone; otherwise Guatemala's. `fixedZone` (`TIME_ZONE`) overrides all of them.
 */
export const timeZoneOf = (
  { departamento, municipio }: { departamento: string; municipio: string },
  fixedZone: string | undefined,
): string => fixedZone ?? zoneOf(departamento, municipio)

/** Time zone of a destination. Most orders name one of a few places, so recent results are remembered. */
const zoneOf = remembering(2_000, (departamento: string, municipio: string): string => {
  const found = findDestino(departamento, municipio)
  if ('departamento' in found)
    return (
      EXCEPTIONS.get(`${found.departamento.codigo} ${found.municipio.nombre}`) ?? zoneOfDepartment(found.departamento)
    )
  const [department, ...others] = findDepartamentos(departamento)
  return department && others.length === 0 ? zoneOfDepartment(department) : TIME_ZONES.GT
})
