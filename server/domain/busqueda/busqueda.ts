import { type Db, type Query, statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import { askAll } from '../../data/spread.ts'
import { PLANES } from '../../generado/contrato/planes.ts'
import type { GuiaHallada, Modo } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { CERROJO, deDia, dePalabra, deReferencia, diaDe } from './claves.ts'
import { cifrasDe, esVacia, parecidas, partesDe, soloSignos, sonidoDe } from './palabras.ts'

/** Key of a guide that the search found. */
export interface Hallada {
  comercio_id: string
  modo: Modo
  id: string
}

type Coincidencia = GuiaHallada['coincidencia']

/** Kinds of match, closest first: whole words, beginnings of words, words with one typing error. */
const CERCANIAS = ['exacta', 'comienzo', 'parecida'] as const
type Cercania = (typeof CERCANIAS)[number]

/** Present time, and maximum number of guides to return. */
interface Cuales {
  ahora: Date
  limite: number
}

/**
 * Returns a `like` pattern for names that contain the words of a text in this order, in lower case and without accents.
 * Words have only letters and digits, so the text cannot add wildcards.
 */
export const patronDeNombre = (texto: string): string => `%${partesDe(texto).join('%')}%`

/**
 * Age in days of the guides that each pass of a search reads; undefined: any age. The search stops as soon as a pass
 * has found enough guides. If a short period has few matches, a longer one is cheap to read, too.
 */
const TRAMOS = [1, 32, undefined] as const
/** Maximum guides that one pass reads in each part of the data. */
const MAX_CANDIDATAS = 10_000

/** Maximum words of the search text that are looked for. */
const MAX_BUSCADAS = 6
/**
 * Number of search words that nearly identify a person. If a guide has at least this many words exactly, typing errors
 * are not looked for.
 */
const BASTANTES = 3
/**
 * `MIN_COMIENZO`: minimum characters of a word that is searched as the beginning of a longer one. `MIN_PARECIDA`:
 * minimum characters of a word in which a typing error is looked for.
 */
const MIN_COMIENZO = 3
const MIN_PARECIDA = 4

/** Returns the text of a `tsquery` that matches any of these keys. Keys in `comienzos` match as prefixes. */
const alguna = (claves: readonly string[], comienzos: readonly string[] = []) =>
  [...claves.map((clave) => `'${clave}'`), ...comienzos.map((clave) => `'${clave}':*`)].join(' | ')

/** Returns the words of a search text. Leaves out words that people often omit from names, such as «de». */
const palabrasDelTexto = (texto: string) =>
  partesDe(texto)
    .filter((parte) => !esVacia(parte))
    .slice(0, MAX_BUSCADAS)

/** Returns the `tsquery` for a whole word, which may be part of a name, of a place or of a reference. */
const dePalabraEntera = (parte: string) => alguna([dePalabra(sonidoDe(parte)), deReferencia(parte)])

/** Returns the `tsquery` for words that begin with a text; undefined if the text is too short. */
function deComienzo(parte: string): string | undefined {
  const comienzos = [sonidoDe(parte), parte].map((una, i) => (i === 0 ? dePalabra(una) : deReferencia(una)))
  return parte.length < MIN_COMIENZO || sonidoDe(parte).length < 2 ? undefined : alguna([], comienzos)
}

const EXISTENTES = statement<{ claves: readonly string[] }, { clave: string }>(
  'busqueda.existentes',
  `select x.clave from unnest(:claves::text[]) x(clave)
   where exists (select from busqueda where claves @@ quote_literal(x.clave)::tsquery)`,
  { alcance: 'parte', plan: 'indexed' },
)

/**
 * Returns search conditions that also match words with one typing error. A word has hundreds of such spellings, and
 * comparing guides with all of them is slow. Spellings that no guide has are therefore left out.
 */
async function deParecidas(db: Db, palabras: readonly string[]): Promise<string[]> {
  const cercanas = palabras.map((parte) => {
    const sonido = sonidoDe(parte)
    return (sonido.length < MIN_PARECIDA ? [sonido] : parecidas(sonido)).map(dePalabra)
  })
  // The words themselves are skipped here. They may be frequent, and other conditions already find out whether a guide
  // has them.
  const claves = [...new Set(cercanas.flatMap(([, ...otras]) => otras))]
  const hay = new Set(
    (await askAll(db, ({ consultar }) => consultar(EXISTENTES, { claves }))).map(({ clave }) => clave),
  )
  return cercanas.map(([suya, ...otras]) => alguna([suya!, ...otras.filter((clave) => hay.has(clave))]))
}

/**
 * Returns lists of `tsquery`. A guide matches if it fulfils all queries of one list: one list treats the text as a
 * reference, the other as words.
 */
async function condicionesDe(db: Db, texto: string, cercania: Cercania): Promise<string[][]> {
  const palabras = palabrasDelTexto(texto)
  // A text of several parts with a digit may be a reference. A reference of a single part is found like a word.
  const referencia = partesDe(texto).length > 1 && /\d/.test(texto) ? deReferencia(soloSignos(texto)) : undefined
  if (cercania === 'exacta') return [...(referencia ? [[alguna([referencia])]] : []), palabras.map(dePalabraEntera)]
  if (cercania === 'comienzo') {
    const ultima = deComienzo(palabras.at(-1) ?? '')
    return [
      ...(referencia ? [[alguna([], [referencia])]] : []),
      ...(ultima ? [[...palabras.slice(0, -1).map(dePalabraEntera), ultima]] : []),
    ]
  }
  return palabras.length > 0 ? [await deParecidas(db, palabras)] : []
}

/**
 * Returns the SQL for a number of conditions. Each condition is checked by the index, which starts with the rarest key.
 */
const conCondiciones = (cuantas: number) => `with c as materialized (
     select comercio_id, modo, id from busqueda
     where ${Array.from({ length: cuantas }, (_una, i) => `claves @@ (:condiciones::text[])[${i + 1}]::tsquery`).join(' and ')}
     limit ${MAX_CANDIDATAS}
   ) select comercio_id, modo, id from c order by id desc limit :limite`

type Condiciones = { condiciones: readonly string[]; limite: number }
const DE_LA_PARTE = { alcance: 'parte', plan: 'indexed' } as const
/**
 * Statements by number of conditions minus one. There are at most as many conditions as words, and one more for the
 * days.
 */
const POR_CONDICIONES = [
  statement<Condiciones, Hallada>('busqueda.conUna', conCondiciones(1), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conDos', conCondiciones(2), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conTres', conCondiciones(3), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conCuatro', conCondiciones(4), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conCinco', conCondiciones(5), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conSeis', conCondiciones(6), DE_LA_PARTE),
  statement<Condiciones, Hallada>('busqueda.conSiete', conCondiciones(7), DE_LA_PARTE),
]

/** Returns the newest guides that fulfil all conditions, from all parts of the data. */
async function leerCon(db: Db, condiciones: readonly string[], limite: number): Promise<Hallada[]> {
  const sentencia = POR_CONDICIONES[condiciones.length - 1]!
  const halladas = await askAll(db, ({ consultar }) => consultar(sentencia, { condiciones, limite }))
  return deNuevaAVieja(halladas, limite)
}

const deNuevaAVieja = (halladas: readonly Hallada[], limite: number) =>
  halladas.toSorted((una, otra) => (una.id < otra.id ? 1 : -1)).slice(0, limite)

/** Returns the newest guides whose reference, recipient's name or municipality matches a text. */
async function porClaves(db: Db, texto: string, cercania: Cercania, { ahora, limite }: Cuales): Promise<Hallada[]> {
  for (const condiciones of await condicionesDe(db, texto, cercania)) {
    if (condiciones.length === 0) continue
    let halladas: Hallada[] = []
    // A search for beginnings skips the shortest period, because each pass has to read all keys that begin with the
    // text again.
    for (const dias of cercania === 'exacta' ? TRAMOS : TRAMOS.slice(1)) {
      halladas = await leerCon(db, dias === undefined ? condiciones : [...condiciones, losDias(ahora, dias)], limite)
      if (halladas.length >= limite) break
    }
    // A text that matches as a reference is hardly a name, so its words are not searched.
    if (halladas.length > 0) return halladas
  }
  return []
}

/**
 * Returns the `tsquery` for guides created in the last days or tomorrow. Tomorrow is included because the clock that
 * dated a guide may be ahead.
 */
const losDias = (ahora: Date, dias: number) =>
  alguna(Array.from({ length: dias + 1 }, (_uno, i) => deDia(diaDe(ahora) + 1 - i)))

const POR_TELEFONO = statement<{ telefonos: readonly string[]; limite: number }, Hallada>(
  'busqueda.porTelefono',
  // PostgreSQL reads each telephone from its own range of the index, in the index's order.
  `select g.comercio_id, g.modo, g.id from unnest(:telefonos::text[]) t(telefono) cross join lateral (
     select comercio_id, modo, id from guia where telefono between t.telefono and t.telefono
     order by telefono desc, id desc limit :limite) g
   order by g.id desc limit :limite`,
  { alcance: 'parte', plan: 'indexed' },
)

/** `DE_TELEFONO`: form of a text that may be a telephone. `MIN_CIFRAS`: its minimum number of digits. */
const DE_TELEFONO = /^[+\d\s().-]+$/
const MIN_CIFRAS = 7

/**
 * Returns the telephone numbers that a text may mean in each country of the catalogue. Leaves out doubtful readings.
 */
const lecturasDe = (texto: string): string[] =>
  [undefined, ...PLANES.map(({ pais }) => pais)].flatMap((pais) => {
    const leido = readTelephone(texto, pais)
    return 'error' in leido || leido.dudoso ? [] : [leido.e164]
  })

/** Returns the newest guides with a telephone, in any spelling; none if the text is no telephone. */
async function porTelefono(db: Db, texto: string, cercania: Cercania, { limite }: Cuales): Promise<Hallada[]> {
  const cifras = cifrasDe(texto)
  if (cercania === 'comienzo' || !DE_TELEFONO.test(texto) || cifras.length < MIN_CIFRAS) return []
  const mas = texto.trimStart().startsWith('+') ? '+' : ''
  const textos = cercania === 'parecida' ? parecidas(cifras).map((otras) => mas + otras) : [texto]
  const telefonos = [...new Set(textos.flatMap(lecturasDe))]
  if (telefonos.length === 0) return []
  const halladas = await askAll(db, ({ consultar }) => consultar(POR_TELEFONO, { telefonos, limite }))
  return deNuevaAVieja(halladas, limite)
}

const POR_CODIGO = statement<{ guia: string }, Hallada>(
  'busqueda.porCodigo',
  'select comercio_id, modo, id from guia_indice where guia = :guia',
  { alcance: 'parte' },
)

/** Returns the guide with a code, in any spelling; none if the text is no code. */
async function porCodigo(db: Db, texto: string): Promise<Hallada[]> {
  const guia = normalizeGuideCode(texto)
  const donde = guia && (await whereIs(db, guia))
  return donde ? donde.consultar(POR_CODIGO, { guia: guia! }) : []
}

/**
 * Returns the guides that match a text: the closest matches first, and newer guides first among equally close ones.
 * Stops as soon as it has found enough.
 */
export async function encontrar(
  db: Db,
  texto: string,
  cuales: Cuales,
): Promise<(Hallada & { coincidencia: Coincidencia })[]> {
  const halladas = new Map<string, Hallada & { coincidencia: Coincidencia }>()
  const agregar = (unas: readonly Hallada[], coincidencia: Coincidencia) => {
    for (const una of unas) if (!halladas.has(una.id)) halladas.set(una.id, { ...una, coincidencia })
  }
  agregar(await porCodigo(db, texto), 'codigo')
  for (const cercania of CERCANIAS) {
    if (cercania === 'parecida' && halladas.size > 0 && palabrasDelTexto(texto).length >= BASTANTES) break
    for (const buscarPor of [porTelefono, porClaves])
      if (halladas.size < cuales.limite) agregar(await buscarPor(db, texto, cercania, cuales), cercania)
  }
  return [...halladas.values()].slice(0, cuales.limite)
}

/** Waits until no process writes search keys, and keeps others from writing them until this transaction ends. */
const ESPERAR = statement<object>('busqueda.esperar', `select pg_advisory_xact_lock_shared(${CERROJO})`, {
  alcance: 'donde_sea',
})
const OLVIDAR = statement<{ guias: string }>(
  'busqueda.olvidar',
  `delete from busqueda b using json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   where b.comercio_id = x.comercio_id and b.modo = x.modo and b.id = x.id`,
  { alcance: 'parte' },
)

/**
 * Deletes the search keys of guides whose personal data this transaction has erased. First waits for the job that
 * writes keys. Keys that the job wrote before are then visible and deleted; keys that it writes later contain no
 * personal data.
 */
export async function olvidarClaves(consultar: Query, guias: readonly Hallada[]): Promise<void> {
  await consultar(ESPERAR)
  await consultar(OLVIDAR, { guias: JSON.stringify(guias) })
}
