// Catalogue of departments and municipalities: finds them by name in any spelling, and gives their location. It has no
// side effects, except that the first use reads the data file. README.md describes how the data file is generated. The
// file is long, because searches and suggestions share the indexes that reading builds.
import { readFileSync } from 'node:fs'
import type { NombresSugeridos, Pais } from '../../generated/contract/types/index.ts'
import { distanceKm, type Point } from '../../platform/maps/point.ts'
import { remembering } from '../../platform/remember.ts'
import { ROOT } from '../../platform/root.ts'
import { hasZone, nameKeysOf, withoutZone } from './keys.ts'
import { type Nombre, nearestNames } from './similarNames.ts'

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
export interface UnknownDestino {
  desconocido: 'departamento' | 'municipio'
  suggest: () => NombresSugeridos
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
 * Municipality as `data.json` stores it, in a compact form. A municipality without a location of its own has no
 * elements after `otherNames`.
 */
type StoredMunicipio = readonly [
  numero: string | number,
  nombre: string,
  otherNames: readonly string[] | 0,
  lat?: number,
  lng?: number,
  poblacion?: number,
]
export type StoredDepartamento = readonly [
  codigo: string,
  nombre: string,
  otherNames: readonly string[],
  lat: number,
  lng: number,
  municipios: readonly StoredMunicipio[],
]

interface DepartamentoEntry extends Departamento {
  municipios: readonly Municipio[]
  /** Returns the distance in kilometres from the capital to the furthest municipality. */
  radio(): number
  /**
   * Returns the index of the municipalities. It is built at first use, because most departments are never requested.
   */
  indice(): { byKey: ReadonlyMap<string, Municipio>; indexedNames: readonly Nombre[] }
}

interface Catalogo {
  entries: readonly DepartamentoEntry[]
  byKey: ReadonlyMap<string, readonly DepartamentoEntry[]>
  indexedNames: readonly Nombre[]
}

// --- Reading the data file ---

let loadedCatalogo: Catalogo | undefined
const catalogo = () => {
  loadedCatalogo ??= leer()
  return loadedCatalogo
}

function leer(): Catalogo {
  const texto = readFileSync(new URL('server/domain/catalogo/data.json', ROOT), 'utf8')
  const stored = JSON.parse(texto) as StoredDepartamento[]
  const entries = stored.map(openEntry)
  const spellings = stored.map(([codigo, nombre, otherNames], i) => ({
    de: entries[i]!,
    texts: [nombre, codigo, ...otherNames],
  }))
  const byKey = new Map<string, DepartamentoEntry[]>()
  // Exact spellings of all departments take precedence over looser ones. Otherwise Ciudad de México without its prefix
  // would hide the State of México.
  for (let level = 0; level < 3; level++) {
    const levelEntries = new Map<string, DepartamentoEntry[]>()
    for (const { de, texts } of spellings) {
      for (const texto of texts) {
        const clave = nameKeysOf(texto)[level]
        if (clave === undefined || byKey.has(clave)) continue
        const keyEntries = levelEntries.get(clave)
        if (!keyEntries) levelEntries.set(clave, [de])
        else if (!keyEntries.includes(de)) keyEntries.push(de)
      }
    }
    for (const [clave, keyEntries] of levelEntries) byKey.set(clave, keyEntries)
  }
  return { entries, byKey, indexedNames: entries.map(({ nombre }) => ({ nombre, clave: nameKeysOf(nombre)[2]! })) }
}

function openEntry([codigo, nombre, , lat, lng, stored]: StoredDepartamento): DepartamentoEntry {
  const pais = codigo.slice(0, 2) as Pais
  const municipios = stored.map(([numero, municipioName, , municipioLat, municipioLng, poblacion]) => ({
    codigo: `${codigo}-${numero}`,
    nombre: municipioName,
    departamento: codigo,
    lat: municipioLat ?? lat,
    lng: municipioLng ?? lng,
    poblacion: poblacion || null,
    aproximado: municipioLat === undefined,
  }))
  let indice: ReturnType<DepartamentoEntry['indice']> | undefined
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
      indice ??= buildIndex(municipios, stored)
      return indice
    },
  }
}

function buildIndex(municipios: readonly Municipio[], stored: readonly StoredMunicipio[]) {
  const byKey = new Map<string, Municipio>()
  const claves = stored.map(([, nombre, otherNames]) => [nombre, ...(otherNames || [])].map(nameKeysOf))
  const setKey = (clave: string | undefined, municipio: Municipio) => {
    if (clave !== undefined && !byKey.has(clave)) byKey.set(clave, municipio)
  }
  // A municipality's own name takes precedence over alternative names of others, and an exact spelling over a looser
  // one.
  for (let level = 0; level < 3; level++) {
    for (const [i, municipio] of municipios.entries()) setKey(claves[i]![0]![level], municipio)
    for (const [i, municipio] of municipios.entries()) {
      for (const otherKeys of claves[i]!.slice(1)) setKey(otherKeys[level], municipio)
    }
  }
  return { byKey, indexedNames: municipios.map(({ nombre }, i) => ({ nombre, clave: claves[i]![0]![2]! })) }
}

// --- Finding names and places ---

const findEntries = (texto: string): readonly DepartamentoEntry[] => {
  const { byKey } = catalogo()
  for (const clave of nameKeysOf(texto)) {
    const foundEntries = byKey.get(clave)
    if (foundEntries) return foundEntries
  }
  return []
}

function findMunicipio(entry: DepartamentoEntry, claves: readonly string[]): Municipio | undefined {
  const { byKey } = entry.indice()
  for (const clave of claves) {
    const foundPlace = byKey.get(clave)
    if (foundPlace) return foundPlace
  }
  return undefined
}

function findInEntries(entries: readonly DepartamentoEntry[], claves: readonly string[]): Destino | undefined {
  for (const entry of entries) {
    const municipio = findMunicipio(entry, claves)
    if (municipio) return { departamento: presentDepartamento(entry), municipio }
  }
  return undefined
}

const presentDepartamento = ({ codigo, pais, nombre, lat, lng }: DepartamentoEntry): Departamento => ({
  codigo,
  pais,
  nombre,
  lat,
  lng,
})

const MAX_SUGGESTIONS = 3

/**
 * Finds the department and the municipality that two names mean. If several countries have the department, returns the
 * first that has the municipality. Most orders name one of a few places, so recent results are remembered.
 */
export const findDestino = remembering(2_000, resolveDestino)

function resolveDestino(departamento: string, municipio: string): Destino | UnknownDestino {
  const entries = findEntries(departamento)
  const claves = nameKeysOf(municipio)
  const foundPlace = findInEntries(entries, claves)
  if (foundPlace) return foundPlace
  let diagnosis: Diagnosis | undefined
  const diagnoseOnce = () => {
    diagnosis ??= diagnose(departamento, entries, municipio, claves)
    return diagnosis
  }
  return {
    desconocido: entries.length > 0 ? 'municipio' : 'departamento',
    suggest: () => diagnoseOnce().names,
    mistake: () => diagnoseOnce().mistake,
  }
}

interface Diagnosis {
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
function diagnose(
  departamento: string,
  entries: readonly DepartamentoEntry[],
  municipio: string,
  claves: readonly string[],
): Diagnosis {
  const { entries: allEntries, indexedNames } = catalogo()
  const isKnown = entries.length > 0
  const withMunicipio = allEntries.filter(
    (entry) => (!isKnown || entries.some(({ pais }) => pais === entry.pais)) && findMunicipio(entry, claves),
  )
  const swapped = isKnown ? undefined : findInEntries(findEntries(municipio), nameKeysOf(departamento))
  if (swapped) {
    const names = { departamentos: [swapped.departamento.nombre], municipios: [swapped.municipio.nombre] }
    return { names, mistake: { kind: 'swapped' } }
  }
  const withItsName = isKnown ? [] : allEntries.filter((entry) => findMunicipio(entry, nameKeysOf(departamento)))
  const similarNames = isKnown ? [] : nearestNames(departamento, indexedNames, MAX_SUGGESTIONS)
  const others = [...withItsName, ...withMunicipio].map(({ nombre }) => nombre)
  const ordered = withItsName.length > 0 ? [...others, ...similarNames] : [...similarNames, ...others]
  // Only addresses in Guatemala have zones. «Capital» alone is that of any country.
  if (ordered.length === 0 && isPart(departamento) && hasZone(`${departamento} ${municipio}`)) ordered.push('Guatemala')
  const departamentos = [...new Set(ordered)].slice(0, MAX_SUGGESTIONS)
  const donde = isKnown ? entries : allEntries.filter(({ nombre }) => departamentos.includes(nombre))
  const candidates = donde.flatMap((entry) => entry.indice().indexedNames)
  // A zone beside a municipality that stands in the place of its department is a part of that municipality.
  const itsOwn = withoutZone(municipio) === '' ? withItsName : []
  const municipios = [
    ...itsOwn.flatMap((entry) => findMunicipio(entry, nameKeysOf(departamento))?.nombre ?? []),
    ...(itsOwn.length > 0 ? [] : zoneNames(municipio, donde)),
    ...nearestNames(municipio, candidates, MAX_SUGGESTIONS),
  ]
  const names = { departamentos, municipios: [...new Set(municipios)].slice(0, MAX_SUGGESTIONS) }
  const namesOf = (namedEntries: readonly DepartamentoEntry[]) => [...new Set(namedEntries.map(({ nombre }) => nombre))]
  const mistake = ((): Mistake | undefined => {
    if (isKnown && withMunicipio.length > 0) return { kind: 'elsewhere', departamentos: namesOf(withMunicipio) }
    if (withItsName.length > 0) return { kind: 'municipality', departamentos: namesOf(withItsName) }
    return isPart(isKnown ? municipio : departamento) ? { kind: 'part' } : undefined
  })()
  return { names, mistake }
}

/** Reports whether a text names a zone, or uses a word for the capital. */
const isPart = (texto: string): boolean => withoutZone(texto) !== undefined

/** Names that a text with a zone means: the municipality beside the zone, or the capitals if the text names no other. */
function zoneNames(texto: string, donde: readonly DepartamentoEntry[]): string[] {
  const rest = withoutZone(texto)
  if (rest === undefined) return []
  if (rest === '') return donde.map((entry) => capitalDe(entry).nombre)
  const claves = nameKeysOf(rest)
  return donde.flatMap((entry) => findMunicipio(entry, claves)?.nombre ?? [])
}

/** Capital of a department: the municipality nearest to the department's own centre. */
const capitalDe = (entry: DepartamentoEntry): Municipio =>
  entry.municipios
    .filter(({ aproximado }) => !aproximado)
    .toSorted((candidate, otro) => distanceKm(entry, candidate) - distanceKm(entry, otro))[0] ?? entry.municipios[0]!

/** Finds the departments with a code or a name. Returns several if several countries use the name. */
export const findDepartamentos = (texto: string): Departamento[] => findEntries(texto).map(presentDepartamento)

/** Maximum distance in kilometres between a place and the centre of the municipality to which it belongs. */
export const FAR_KM = 50

const kmA = ({ municipios }: DepartamentoEntry, point: Point) =>
  Math.min(...municipios.map((municipio) => distanceKm(point, municipio)))

/**
 * Reports whether a place may belong to a department. In a large department, people may live as far from the nearest
 * municipality's centre as the furthest municipality is from the capital.
 */
function admitsPoint(entry: DepartamentoEntry, point: Point): boolean {
  const radio = entry.radio()
  const nearKm = Math.max(FAR_KM, radio)
  // A place further from the capital than this limit cannot be near any municipality. This cheap test rejects most
  // wrong coordinates.
  return distanceKm(point, entry) <= radio + nearKm && kmA(entry, point) <= nearKm
}

/** Reports whether a place may belong to a department with this name or code; undefined if no department has it. */
export function isInDepartamento(departamento: string, point: Point): boolean | undefined {
  const entries = findEntries(departamento)
  return entries.length === 0 ? undefined : entries.some((entry) => admitsPoint(entry, point))
}

/**
 * Distance in kilometres from a place to the nearest municipality of the departments with this name or code. Infinity
 * if no department has it.
 */
export const distanceToDepartamento = (departamento: string, point: Point): number =>
  Math.min(...findEntries(departamento).map((entry) => kmA(entry, point)))

/** Maximum distance in kilometres between a place and the nearest capital of a department to which it may belong. */
const WITHIN_REACH_KM = 300

/** Reports whether a place is at most 300 km from the capital of any department. */
export const isNearAnyDepartamento = (point: Point): boolean =>
  catalogo().entries.some((entry) => distanceKm(point, entry) <= WITHIN_REACH_KM)

/** Up to three names of departments that are most similar to an unknown name. */
export const similarDepartamentos = (texto: string): string[] =>
  nearestNames(texto, catalogo().indexedNames, MAX_SUGGESTIONS)

/** Departments of one country, or of all countries if `pais` is undefined. */
export const departamentos = (pais?: Pais): Departamento[] =>
  catalogo()
    .entries.filter((entry) => pais === undefined || entry.pais === pais)
    .map(presentDepartamento)

/** Municipalities of a department, given by its code or name, in order of name. */
export const municipiosOf = (departamento: string): Municipio[] =>
  findEntries(departamento).flatMap(({ municipios }) => municipios)

/** Centre of a municipality, given by its names; undefined if the catalogue does not have it. */
export function centreOf(departamento: string, municipio: string): Point | undefined {
  const foundPlace = findInEntries(findEntries(departamento), nameKeysOf(municipio))?.municipio
  return foundPlace && { lat: foundPlace.lat, lng: foundPlace.lng }
}
