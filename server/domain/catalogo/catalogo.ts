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
  explainUnknown: 'departamento' | 'municipio'
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
  loadedCatalogo ??= read()
  return loadedCatalogo
}

function read(): Catalogo {
  const text = readFileSync(new URL('server/domain/catalogo/data.json', ROOT), 'utf8')
  const stored = JSON.parse(text) as StoredDepartamento[]
  const entries = stored.map(openEntry)
  const spellings = stored.map(([code, name, otherNames], i) => ({
    de: entries[i]!,
    texts: [name, code, ...otherNames],
  }))
  const byKey = new Map<string, DepartamentoEntry[]>()
  // Exact spellings of all departments take precedence over looser ones. Otherwise Ciudad de México without its prefix
  // would hide the State of México.
  for (let level = 0; level < 3; level++) {
    const levelEntries = new Map<string, DepartamentoEntry[]>()
    for (const { de, texts } of spellings) {
      for (const text of texts) {
        const key = nameKeysOf(text)[level]
        if (key === undefined || byKey.has(key)) continue
        const keyEntries = levelEntries.get(key)
        if (!keyEntries) levelEntries.set(key, [de])
        else if (!keyEntries.includes(de)) keyEntries.push(de)
      }
    }
    for (const [key, keyEntries] of levelEntries) byKey.set(key, keyEntries)
  }
  return { entries, byKey, indexedNames: entries.map(({ nombre }) => ({ nombre, clave: nameKeysOf(nombre)[2]! })) }
}

function openEntry([codigo, nombre, , lat, lng, stored]: StoredDepartamento): DepartamentoEntry {
  const pais = codigo.slice(0, 2) as Pais
  const municipios = stored.map(([number, municipioName, , municipioLat, municipioLng, poblacion]) => ({
    codigo: `${codigo}-${number}`,
    nombre: municipioName,
    departamento: codigo,
    lat: municipioLat ?? lat,
    lng: municipioLng ?? lng,
    poblacion: poblacion || null,
    aproximado: municipioLat === undefined,
  }))
  let index: ReturnType<DepartamentoEntry['indice']> | undefined
  let radius: number | undefined
  return {
    codigo,
    pais,
    nombre,
    lat,
    lng,
    municipios,
    radio() {
      radius ??= Math.max(...municipios.map((municipio) => distanceKm({ lat, lng }, municipio)))
      return radius
    },
    indice() {
      index ??= buildIndex(municipios, stored)
      return index
    },
  }
}

function buildIndex(municipios: readonly Municipio[], stored: readonly StoredMunicipio[]) {
  const byKey = new Map<string, Municipio>()
  const keys = stored.map(([, name, otherNames]) => [name, ...(otherNames || [])].map(nameKeysOf))
  const setKey = (key: string | undefined, municipio: Municipio) => {
    if (key !== undefined && !byKey.has(key)) byKey.set(key, municipio)
  }
  // A municipality's own name takes precedence over alternative names of others, and an exact spelling over a looser
  // one.
  for (let level = 0; level < 3; level++) {
    for (const [i, municipio] of municipios.entries()) setKey(keys[i]![0]![level], municipio)
    for (const [i, municipio] of municipios.entries()) {
      for (const otherKeys of keys[i]!.slice(1)) setKey(otherKeys[level], municipio)
    }
  }
  return { byKey, indexedNames: municipios.map(({ nombre }, i) => ({ nombre, clave: keys[i]![0]![2]! })) }
}

// --- Finding names and places ---

const findEntries = (text: string): readonly DepartamentoEntry[] => {
  const { byKey } = catalogo()
  for (const key of nameKeysOf(text)) {
    const foundEntries = byKey.get(key)
    if (foundEntries) return foundEntries
  }
  return []
}

function findMunicipio(entry: DepartamentoEntry, keys: readonly string[]): Municipio | undefined {
  const { byKey } = entry.indice()
  for (const key of keys) {
    const foundPlace = byKey.get(key)
    if (foundPlace) return foundPlace
  }
  return undefined
}

function findInEntries(entries: readonly DepartamentoEntry[], keys: readonly string[]): Destino | undefined {
  for (const entry of entries) {
    const municipio = findMunicipio(entry, keys)
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
  const keys = nameKeysOf(municipio)
  const foundPlace = findInEntries(entries, keys)
  if (foundPlace) return foundPlace
  let diagnosis: Diagnosis | undefined
  const diagnoseOnce = () => {
    diagnosis ??= diagnose(departamento, entries, municipio, keys)
    return diagnosis
  }
  return {
    explainUnknown: entries.length > 0 ? 'municipio' : 'departamento',
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
  keys: readonly string[],
): Diagnosis {
  const { entries: allEntries, indexedNames } = catalogo()
  const isKnown = entries.length > 0
  const withMunicipio = allEntries.filter(
    (entry) => (!isKnown || entries.some(({ pais }) => pais === entry.pais)) && findMunicipio(entry, keys),
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
  const where = isKnown ? entries : allEntries.filter(({ nombre }) => departamentos.includes(nombre))
  const candidates = where.flatMap((entry) => entry.indice().indexedNames)
  // A zone beside a municipality that stands in the place of its department is a part of that municipality.
  const itsOwn = withoutZone(municipio) === '' ? withItsName : []
  const municipios = [
    ...itsOwn.flatMap((entry) => findMunicipio(entry, nameKeysOf(departamento))?.nombre ?? []),
    ...(itsOwn.length > 0 ? [] : zoneNames(municipio, where)),
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
const isPart = (text: string): boolean => withoutZone(text) !== undefined

/** Names that a text with a zone means: the municipality beside the zone, or the capitals if the text names no other. */
function zoneNames(text: string, where: readonly DepartamentoEntry[]): string[] {
  const rest = withoutZone(text)
  if (rest === undefined) return []
  if (rest === '') return where.map((entry) => capitalOf(entry).nombre)
  const keys = nameKeysOf(rest)
  return where.flatMap((entry) => findMunicipio(entry, keys)?.nombre ?? [])
}

/** Capital of a department: the municipality nearest to the department's own centre. */
const capitalOf = (entry: DepartamentoEntry): Municipio =>
  entry.municipios
    .filter(({ aproximado }) => !aproximado)
    .toSorted((candidate, other) => distanceKm(entry, candidate) - distanceKm(entry, other))[0] ?? entry.municipios[0]!

/** Finds the departments with a code or a name. Returns several if several countries use the name. */
export const findDepartamentos = (text: string): Departamento[] => findEntries(text).map(presentDepartamento)

/** Maximum distance in kilometres between a place and the centre of the municipality to which it belongs. */
export const FAR_KM = 50

const kmA = ({ municipios }: DepartamentoEntry, point: Point) =>
  Math.min(...municipios.map((municipio) => distanceKm(point, municipio)))

/**
 * Reports whether a place may belong to a department. In a large department, people may live as far from the nearest
 * municipality's centre as the furthest municipality is from the capital.
 */
function admitsPoint(entry: DepartamentoEntry, point: Point): boolean {
  const radius = entry.radio()
  const nearKm = Math.max(FAR_KM, radius)
  // A place further from the capital than this limit cannot be near any municipality. This cheap test rejects most
  // wrong coordinates.
  return distanceKm(point, entry) <= radius + nearKm && kmA(entry, point) <= nearKm
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
export const similarDepartamentos = (text: string): string[] =>
  nearestNames(text, catalogo().indexedNames, MAX_SUGGESTIONS)

/** Departments of one country, or of all countries if `pais` is undefined. */
export const departamentos = (country?: Pais): Departamento[] =>
  catalogo()
    .entries.filter((entry) => country === undefined || entry.pais === country)
    .map(presentDepartamento)

/** Municipalities of a department, given by its code or name, in order of name. */
export const municipiosOf = (departamento: string): Municipio[] =>
  findEntries(departamento).flatMap(({ municipios }) => municipios)

/** Centre of a municipality, given by its names; undefined if the catalogue does not have it. */
export function centreOf(departamento: string, municipio: string): Point | undefined {
  const foundPlace = findInEntries(findEntries(departamento), nameKeysOf(municipio))?.municipio
  return foundPlace && { lat: foundPlace.lat, lng: foundPlace.lng }
}
