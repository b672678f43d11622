// Which departments and municipalities there are, under whatever spelling, and where.
// Pure but for one read of its data, at first use. How the data is made: README.md.
import { readFileSync } from 'node:fs'
import type { NombresSugeridos, Pais } from '../contrato/generado/tipos/index.ts'
import { RAIZ } from '../contrato/raiz.ts'
import { distanciaKm, type Punto } from '../mapas/punto.ts'
import { cercanos, type Nombre } from './cercanos.ts'
import { clavesDe } from './claves.ts'

export interface Departamento extends Punto {
  /** ISO 3166-2. */
  codigo: string
  pais: Pais
  nombre: string
}

export interface Municipio extends Punto {
  codigo: string
  nombre: string
  /** The department's code. */
  departamento: string
  poblacion: number | null
  /** Its own centre isn't known: `lat` and `lng` are the department's. */
  aproximado: boolean
}

export interface Destino {
  departamento: Departamento
  municipio: Municipio
}

/**
 * Which of the two names the catalogue doesn't know, and those that come near. Looking for these takes a while: only if
 * asked.
 */
export interface Desconocido {
  desconocido: 'departamento' | 'municipio'
  sugerir: () => NombresSugeridos
}

/**
 * The data as it lies in the file, written so for size: a municipality without a place of its own ends after its name.
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
  /** How far the furthest of its municipalities lies from its capital, in kilometres. */
  radio(): number
  /** Built when somebody asks for this department's first municipality: most are never asked for. */
  indice(): { porClave: ReadonlyMap<string, Municipio>; nombres: readonly Nombre[] }
}

interface Catalogo {
  ficheros: readonly Fichero[]
  porClave: ReadonlyMap<string, readonly Fichero[]>
  nombres: readonly Nombre[]
}

// --- Reading ---

let leido: Catalogo | undefined
const catalogo = () => {
  leido ??= leer()
  return leido
}

function leer(): Catalogo {
  const texto = readFileSync(new URL('server/catalogo/datos.json', RAIZ), 'utf8')
  const guardados = JSON.parse(texto) as DepartamentoGuardado[]
  const ficheros = guardados.map(abrir)
  const escritos = guardados.map(([codigo, nombre, otros], i) => ({
    de: ficheros[i]!,
    textos: [nombre, codigo, ...otros],
  }))
  const porClave = new Map<string, Fichero[]>()
  // The most exact spelling of any comes first: Ciudad de México without its prefix must not hide the State of México.
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
      radio ??= Math.max(...municipios.map((municipio) => distanciaKm({ lat, lng }, municipio)))
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
  // Own names before others' nicknames, exact spellings before loose ones.
  for (let nivel = 0; nivel < 3; nivel++) {
    for (const [i, municipio] of municipios.entries()) poner(claves[i]![0]![nivel], municipio)
    for (const [i, municipio] of municipios.entries()) {
      for (const deOtro of claves[i]!.slice(1)) poner(deOtro[nivel], municipio)
    }
  }
  return { porClave, nombres: municipios.map(({ nombre }, i) => ({ nombre, clave: claves[i]![0]![2]! })) }
}

// --- Finding ---

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
 * The department and municipality that these names mean. Where several countries have that department, the first that
 * has the municipality.
 */
export function buscarDestino(departamento: string, municipio: string): Destino | Desconocido {
  const clave = `${departamento}\n${municipio}`
  const recordado = RECIENTES.get(clave)
  if (recordado) return recordado
  const hallado = hallar(departamento, municipio)
  if (RECIENTES.size >= MAXIMO_DE_RECIENTES) RECIENTES.delete(RECIENTES.keys().next().value!)
  RECIENTES.set(clave, hallado)
  return hallado
}

/** The destinations that were looked for lately, by both names as they were written: orders come from few places. */
const RECIENTES = new Map<string, Destino | Desconocido>()
const MAXIMO_DE_RECIENTES = 2_000

function hallar(departamento: string, municipio: string): Destino | Desconocido {
  const ficheros = hallarFicheros(departamento)
  const claves = clavesDe(municipio)
  return (
    hallarDestino(ficheros, claves) ?? {
      desconocido: ficheros.length > 0 ? 'municipio' : 'departamento',
      sugerir: () => sugerir(departamento, ficheros, municipio, claves),
    }
  )
}

/**
 * Of an unknown department, the nearest names; of a known one that lacks the municipality, those of its country that have
 * it. Municipalities are looked for in the department, or else in those that are suggested.
 */
function sugerir(departamento: string, ficheros: readonly Fichero[], municipio: string, claves: readonly string[]) {
  const { ficheros: todos, nombres } = catalogo()
  const conEl = todos.filter(
    (fichero) =>
      (ficheros.length === 0 || ficheros.some(({ pais }) => pais === fichero.pais)) && hallarMunicipio(fichero, claves),
  )
  const parecidos = ficheros.length > 0 ? [] : cercanos(departamento, nombres, CUANTAS)
  const departamentos = [...new Set([...parecidos, ...conEl.map(({ nombre }) => nombre)])].slice(0, CUANTAS)
  const donde = ficheros.length > 0 ? ficheros : todos.filter(({ nombre }) => departamentos.includes(nombre))
  const candidatos = donde.flatMap((fichero) => fichero.indice().nombres)
  return { departamentos, municipios: cercanos(municipio, candidatos, CUANTAS) }
}

/** The departments that a code or a name means: several, if several countries have it. */
export const buscarDepartamentos = (texto: string): Departamento[] => hallarFicheros(texto).map(presentarDepartamento)

/** The distance in kilometres from a municipality's centre up to which a place is taken for one of its own. */
export const LEJOS = 50

const kmA = ({ municipios }: Fichero, punto: Punto) =>
  Math.min(...municipios.map((municipio) => distanciaKm(punto, municipio)))

/**
 * Whether a place may belong to a department: in the large ones people live as far from any municipality's centre as these
 * lie from the capital.
 */
function admite(fichero: Fichero, punto: Punto): boolean {
  const radio = fichero.radio()
  const cerca = Math.max(LEJOS, radio)
  // What is that far from the capital can't be near any municipality: most slips end here.
  return distanciaKm(punto, fichero) <= radio + cerca && kmA(fichero, punto) <= cerca
}

/** Whether a place may belong to a department of that name or code; undefined if there is none. */
export function esDelDepartamento(departamento: string, punto: Punto): boolean | undefined {
  const ficheros = hallarFicheros(departamento)
  return ficheros.length === 0 ? undefined : ficheros.some((fichero) => admite(fichero, punto))
}

/** How many kilometres a place is from the nearest municipality of the departments of that name or code. */
export const distanciaAlDepartamento = (departamento: string, punto: Punto): number =>
  Math.min(...hallarFicheros(departamento).map((fichero) => kmA(fichero, punto)))

/** The distance in kilometres from a department's capital up to which a place may well be in some department. */
const AL_ALCANCE = 300

/** Whether a place is near the capital of any department. */
export const cercaDeAlguno = (punto: Punto): boolean =>
  catalogo().ficheros.some((fichero) => distanciaKm(punto, fichero) <= AL_ALCANCE)

/** The names of departments nearest to one that isn't any. */
export const departamentosParecidos = (texto: string): string[] => cercanos(texto, catalogo().nombres, CUANTAS)

export const departamentos = (pais?: Pais): Departamento[] =>
  catalogo()
    .ficheros.filter((fichero) => pais === undefined || fichero.pais === pais)
    .map(presentarDepartamento)

/** The municipalities of a department (its code or its name), by name. */
export const municipiosDe = (departamento: string): Municipio[] =>
  hallarFicheros(departamento).flatMap(({ municipios }) => municipios)

export function centroDe(departamento: string, municipio: string): Punto | undefined {
  const hallado = hallarDestino(hallarFicheros(departamento), clavesDe(municipio))?.municipio
  return hallado && { lat: hallado.lat, lng: hallado.lng }
}
