// Catalogue of departments and municipalities: finds them by name in any spelling, and gives their location. It has no
// side effects, except that the first use reads the data file. README.md describes how the data file is generated. The
// file is long, because searches and suggestions share the indexes that reading builds.
import { readFileSync } from 'node:fs'
import type { NombresSugeridos, Pais } from '../../generado/contrato/tipos/index.ts'
import { distanceKm, type Point } from '../../platform/maps/point.ts'
import { remembering } from '../../platform/remember.ts'
import { ROOT } from '../../platform/root.ts'
import { cercanos, type Nombre } from './cercanos.ts'
import { clavesDe, hasZone, sinZona } from './claves.ts'

export interface Departamento extends Point {
  /** ISO 3166-2 code. */
  codigo: string
  pais: Pais
  nombre: string
}

export interface Municipio extends Point {
  codigo: string
  nombre: string
  /** Code of the department. */
  departamento: string
  poblacion: number | null
  /** True if the municipality's own centre is unknown. Then `lat` and `lng` are those of the department. */
  aproximado: boolean
}

export interface Destino {
  departamento: Departamento
  municipio: Municipio
}

/**
 * Result for names that are not in the catalogue: which of the two is unknown, and functions that suggest names and tell
 * the likely mistake. The first call is slow, so callers use them only when they need suggestions.
 */
export interface Desconocido {
  desconocido: 'departamento' | 'municipio'
  sugerir: () => NombresSugeridos
  mistake: () => Mistake | undefined
}

/**
 * Likely mistake in an unknown destination. `elsewhere`: the municipality is of these other departments of the country.
 * `swapped`: each name stands in the place of the other. `municipality`: the department's name is that of a municipality
 * of these departments. `part`: the name is a zone or a word for the capital, which is a part of a municipality.
 */
export type Mistake =
  | { kind: 'elsewhere' | 'municipality'; departamentos: readonly string[] }
  | { kind: 'swapped' | 'part' }

/**
 * Municipality as `datos.json` stores it, in a compact form. A municipality without a location of its own has no
 * elements after `otros`.
 */
type MunicipioGuardado = readonly [
  numero: string | number,
  nombre: string,
  otros: readonly string[] | 0,
  lat?: number,
  lng?: number,
  poblacion?: number,
]
export type DepartamentoGuardado = readonly [
  codigo: string,
  nombre: string,
  otros: readonly string[],
  lat: number,
  lng: number,
  municipios: readonly MunicipioGuardado[],
]

interface Fichero extends Departamento {
  municipios: readonly Municipio[]
  /** Returns the distance in kilometres from the capital to the furthest municipality. */
  radio(): number
  /**
   * Returns the index of the municipalities. It is built at first use, because most departments are never requested.
   */
  indice(): { porClave: ReadonlyMap<string, Municipio>; nombres: readonly Nombre[] }
}

interface Catalogo {
  ficheros: readonly Fichero[]
  porClave: ReadonlyMap<string, readonly Fichero[]>
  nombres: readonly Nombre[]
}

// --- Reading the data file ---

let leido: Catalogo | undefined
const catalogo = () => {
  leido ??= leer()
  return leido
}

function leer(): Catalogo {
  const texto = readFileSync(new URL('server/domain/catalogo/datos.json', ROOT), 'utf8')
  const guardados = JSON.parse(texto) as DepartamentoGuardado[]
  const ficheros = guardados.map(abrir)
  const escritos = guardados.map(([codigo, nombre, otros], i) => ({
    de: ficheros[i]!,
    textos: [nombre, codigo, ...otros],
  }))
  const porClave = new Map<string, Fichero[]>()
  // Exact spellings of all departments take precedence over looser ones. Otherwise Ciudad de México without its prefix
  // would hide the State of México.
  for (let nivel = 0; nivel < 3; nivel++) {
    const deEsteNivel = new Map<string, Fichero[]>()
    for (const { de, textos } of escritos) {
      for (const texto of textos) {
        const clave = clavesDe(texto)[nivel]
        if (clave === undefined || porClave.has(clave)) continue
        const otros = deEsteNivel.get(clave)
        if (!otros) deEsteNivel.set(clave, [de])
        else if (!otros.includes(de)) otros.push(de)
      }
    }
    for (const [clave, otros] of deEsteNivel) porClave.set(clave, otros)
  }
  return { ficheros, porClave, nombres: ficheros.map(({ nombre }) => ({ nombre, clave: clavesDe(nombre)[2]! })) }
}

function abrir([codigo, nombre, , lat, lng, guardados]: DepartamentoGuardado): Fichero {
  const pais = codigo.slice(0, 2) as Pais
  const municipios = guardados.map(([numero, suyo, , suLat, suLng, poblacion]) => ({
    codigo: `${codigo}-${numero}`,
    nombre: suyo,
    departamento: codigo,
    lat: suLat ?? lat,
    lng: suLng ?? lng,
    poblacion: poblacion || null,
    aproximado: suLat === undefined,
  }))
  let indice: ReturnType<Fichero['indice']> | undefined
  let radio: number | undefined
  return {
    codigo,
    pais,
    nombre,
    lat,
    lng,
    municipios,
    radio() {
      radio ??= Math.max(...municipios.map((municipio) => distanceKm({ lat, lng }, municipio)))
      return radio
    },
    indice() {
      indice ??= indizar(municipios, guardados)
      return indice
    },
  }
}

function indizar(municipios: readonly Municipio[], guardados: readonly MunicipioGuardado[]) {
  const porClave = new Map<string, Municipio>()
  const claves = guardados.map(([, nombre, otros]) => [nombre, ...(otros || [])].map(clavesDe))
  const poner = (clave: string | undefined, municipio: Municipio) => {
    if (clave !== undefined && !porClave.has(clave)) porClave.set(clave, municipio)
  }
  // A municipality's own name takes precedence over alternative names of others, and an exact spelling over a looser
  // one.
  for (let nivel = 0; nivel < 3; nivel++) {
    for (const [i, municipio] of municipios.entries()) poner(claves[i]![0]![nivel], municipio)
    for (const [i, municipio] of municipios.entries()) {
      for (const deOtro of claves[i]!.slice(1)) poner(deOtro[nivel], municipio)
    }
  }
  return { porClave, nombres: municipios.map(({ nombre }, i) => ({ nombre, clave: claves[i]![0]![2]! })) }
}

// --- Finding names and places ---

const hallarFicheros = (texto: string): readonly Fichero[] => {
  const { porClave } = catalogo()
  for (const clave of clavesDe(texto)) {
    const hallados = porClave.get(clave)
    if (hallados) return hallados
  }
  return []
}

function hallarMunicipio(fichero: Fichero, claves: readonly string[]): Municipio | undefined {
  const { porClave } = fichero.indice()
  for (const clave of claves) {
    const hallado = porClave.get(clave)
    if (hallado) return hallado
  }
  return undefined
}

function hallarDestino(ficheros: readonly Fichero[], claves: readonly string[]): Destino | undefined {
  for (const fichero of ficheros) {
    const municipio = hallarMunicipio(fichero, claves)
    if (municipio) return { departamento: presentarDepartamento(fichero), municipio }
  }
  return undefined
}

const presentarDepartamento = ({ codigo, pais, nombre, lat, lng }: Fichero): Departamento => ({
  codigo,
  pais,
  nombre,
  lat,
  lng,
})

const CUANTAS = 3

/**
 * Finds the department and the municipality that two names mean. If several countries have the department, returns the
 * first that has the municipality. Most orders name one of a few places, so recent results are remembered.
 */
export const buscarDestino = remembering(2_000, hallar)

function hallar(departamento: string, municipio: string): Destino | Desconocido {
  const ficheros = hallarFicheros(departamento)
  const claves = clavesDe(municipio)
  const hallado = hallarDestino(ficheros, claves)
  if (hallado) return hallado
  let considered: Considered | undefined
  const once = () => {
    considered ??= consider(departamento, ficheros, municipio, claves)
    return considered
  }
  return {
    desconocido: ficheros.length > 0 ? 'municipio' : 'departamento',
    sugerir: () => once().names,
    mistake: () => once().mistake,
  }
}

interface Considered {
  names: NombresSugeridos
  mistake: Mistake | undefined
}

/**
 * Suggests names for an unknown destination, and tells the likely mistake.
 * Departments: if the department is unknown, those that have a municipality of its name, the most similar names, then
 * any that have the municipality. If it is known, those of the same country that have the municipality.
 * Municipalities: the most similar names in the known department, or else in the suggested departments. Text that names
 * a zone gets the zone's municipality first, which is the capital if the text names no other.
 */
function consider(
  departamento: string,
  ficheros: readonly Fichero[],
  municipio: string,
  claves: readonly string[],
): Considered {
  const { ficheros: todos, nombres } = catalogo()
  const isKnown = ficheros.length > 0
  const conEl = todos.filter(
    (fichero) => (!isKnown || ficheros.some(({ pais }) => pais === fichero.pais)) && hallarMunicipio(fichero, claves),
  )
  const swapped = isKnown ? undefined : hallarDestino(hallarFicheros(municipio), clavesDe(departamento))
  if (swapped) {
    const names = { departamentos: [swapped.departamento.nombre], municipios: [swapped.municipio.nombre] }
    return { names, mistake: { kind: 'swapped' } }
  }
  const withItsName = isKnown ? [] : todos.filter((fichero) => hallarMunicipio(fichero, clavesDe(departamento)))
  const parecidos = isKnown ? [] : cercanos(departamento, nombres, CUANTAS)
  const others = [...withItsName, ...conEl].map(({ nombre }) => nombre)
  const ordered = withItsName.length > 0 ? [...others, ...parecidos] : [...parecidos, ...others]
  // Only addresses in Guatemala have zones. «Capital» alone is that of any country.
  if (ordered.length === 0 && isPart(departamento) && hasZone(`${departamento} ${municipio}`)) ordered.push('Guatemala')
  const departamentos = [...new Set(ordered)].slice(0, CUANTAS)
  const donde = isKnown ? ficheros : todos.filter(({ nombre }) => departamentos.includes(nombre))
  const candidatos = donde.flatMap((fichero) => fichero.indice().nombres)
  // A zone beside a municipality that stands in the place of its department is a part of that municipality.
  const itsOwn = sinZona(municipio) === '' ? withItsName : []
  const municipios = [
    ...itsOwn.flatMap((fichero) => hallarMunicipio(fichero, clavesDe(departamento))?.nombre ?? []),
    ...(itsOwn.length > 0 ? [] : deZona(municipio, donde)),
    ...cercanos(municipio, candidatos, CUANTAS),
  ]
  const names = { departamentos, municipios: [...new Set(municipios)].slice(0, CUANTAS) }
  const nombresDe = (suyos: readonly Fichero[]) => [...new Set(suyos.map(({ nombre }) => nombre))]
  const mistake = ((): Mistake | undefined => {
    if (isKnown && conEl.length > 0) return { kind: 'elsewhere', departamentos: nombresDe(conEl) }
    if (withItsName.length > 0) return { kind: 'municipality', departamentos: nombresDe(withItsName) }
    return isPart(isKnown ? municipio : departamento) ? { kind: 'part' } : undefined
  })()
  return { names, mistake }
}

/** Reports whether a text names a zone, or uses a word for the capital. */
const isPart = (texto: string): boolean => sinZona(texto) !== undefined

/** Names that a text with a zone means: the municipality beside the zone, or the capitals if the text names no other. */
function deZona(texto: string, donde: readonly Fichero[]): string[] {
  const resto = sinZona(texto)
  if (resto === undefined) return []
  if (resto === '') return donde.map((fichero) => capitalDe(fichero).nombre)
  const claves = clavesDe(resto)
  return donde.flatMap((fichero) => hallarMunicipio(fichero, claves)?.nombre ?? [])
}

/** Capital of a department: the municipality nearest to the department's own centre. */
const capitalDe = (fichero: Fichero): Municipio =>
  fichero.municipios
    .filter(({ aproximado }) => !aproximado)
    .toSorted((uno, otro) => distanceKm(fichero, uno) - distanceKm(fichero, otro))[0] ?? fichero.municipios[0]!

/** Finds the departments with a code or a name. Returns several if several countries use the name. */
export const buscarDepartamentos = (texto: string): Departamento[] => hallarFicheros(texto).map(presentarDepartamento)

/** Maximum distance in kilometres between a place and the centre of the municipality to which it belongs. */
export const LEJOS = 50

const kmA = ({ municipios }: Fichero, punto: Point) =>
  Math.min(...municipios.map((municipio) => distanceKm(punto, municipio)))

/**
 * Reports whether a place may belong to a department. In a large department, people may live as far from the nearest
 * municipality's centre as the furthest municipality is from the capital.
 */
function admite(fichero: Fichero, punto: Point): boolean {
  const radio = fichero.radio()
  const cerca = Math.max(LEJOS, radio)
  // A place further from the capital than this limit cannot be near any municipality. This cheap test rejects most
  // wrong coordinates.
  return distanceKm(punto, fichero) <= radio + cerca && kmA(fichero, punto) <= cerca
}

/** Reports whether a place may belong to a department with this name or code; undefined if no department has it. */
export function esDelDepartamento(departamento: string, punto: Point): boolean | undefined {
  const ficheros = hallarFicheros(departamento)
  return ficheros.length === 0 ? undefined : ficheros.some((fichero) => admite(fichero, punto))
}

/**
 * Distance in kilometres from a place to the nearest municipality of the departments with this name or code. Infinity
 * if no department has it.
 */
export const distanciaAlDepartamento = (departamento: string, punto: Point): number =>
  Math.min(...hallarFicheros(departamento).map((fichero) => kmA(fichero, punto)))

/** Maximum distance in kilometres between a place and the nearest capital of a department to which it may belong. */
const AL_ALCANCE = 300

/** Reports whether a place is at most 300 km from the capital of any department. */
export const cercaDeAlguno = (punto: Point): boolean =>
  catalogo().ficheros.some((fichero) => distanceKm(punto, fichero) <= AL_ALCANCE)

/** Up to three names of departments that are most similar to an unknown name. */
export const departamentosParecidos = (texto: string): string[] => cercanos(texto, catalogo().nombres, CUANTAS)

/** Departments of one country, or of all countries if `pais` is undefined. */
export const departamentos = (pais?: Pais): Departamento[] =>
  catalogo()
    .ficheros.filter((fichero) => pais === undefined || fichero.pais === pais)
    .map(presentarDepartamento)

/** Municipalities of a department, given by its code or name, in order of name. */
export const municipiosDe = (departamento: string): Municipio[] =>
  hallarFicheros(departamento).flatMap(({ municipios }) => municipios)

/** Centre of a municipality, given by its names; undefined if the catalogue does not have it. */
export function centroDe(departamento: string, municipio: string): Point | undefined {
  const hallado = hallarDestino(hallarFicheros(departamento), clavesDe(municipio))?.municipio
  return hallado && { lat: hallado.lat, lng: hallado.lng }
}
