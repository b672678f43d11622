import {
  type ArchivoDeManifiesto,
  type ClavePublica,
  type ClavesPublicas,
  ErrorGuias,
  type ManifiestoDePrueba,
} from '@guias/sdk'
import { copyBytes, deBase64, deUtf8, enBase64, enUtf8, hexadecimalDe, webCrypto } from '../src/bytes.js'
import { isManifest } from '../src/shapes.js'

/**
 * Fallo al verificar una prueba de entrega:
 *
 * - `manifiesto_ilegible`: el manifiesto no es un JWS compacto.
 * - `algoritmo`: la cabecera pide otro algoritmo u otro tipo; no es una prueba nuestra.
 * - `claves`: las claves que usted dio no sirven.
 * - `clave_desconocida`: la clave que firmó no está entre las que usted dio.
 * - `firma`: la firma no corresponde; el manifiesto se alteró.
 * - `contenido`: el manifiesto está bien firmado, pero esta versión no lo entiende.
 * - `guia`: la prueba es auténtica, pero de otra guía.
 * - `archivo`: un archivo no es ninguno de los del manifiesto.
 * - `entorno`: este entorno no tiene WebCrypto con Ed25519.
 */
export type CodigoDeErrorDePrueba =
  | 'manifiesto_ilegible'
  | 'algoritmo'
  | 'claves'
  | 'clave_desconocida'
  | 'firma'
  | 'contenido'
  | 'guia'
  | 'archivo'
  | 'entorno'

/** Error de `verificarPrueba`, que no dio la prueba por buena. `codigo` dice por qué y es estable. */
export class ErrorPrueba extends ErrorGuias {
  declare name: 'ErrorPrueba'

  /** Fallo al verificar la prueba de entrega. */
  declare readonly codigo: CodigoDeErrorDePrueba

  constructor(mensaje: string, codigo: CodigoDeErrorDePrueba, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.codigo = codigo
  }

  static {
    ErrorPrueba.prototype.name = 'ErrorPrueba'
  }
}

/** Bytes de un archivo; un `Buffer` también vale. */
export type BytesDeArchivo = Uint8Array | ArrayBuffer

/** Datos que comprueba {@link verificarPrueba}. */
export interface PruebaPorVerificar {
  /** Campo `manifiesto` de la prueba de entrega. */
  manifiesto: string
  /** Claves públicas del servicio. Guárdelas con la prueba: con ellas se comprueba sin red. */
  claves: ClavesPublicas
  /**
   * Archivos que usted tiene: el PDF, las fotos o la firma. Cada archivo debe ser uno de los del manifiesto, byte por
   * byte.
   */
  archivos?: readonly BytesDeArchivo[] | undefined
  /**
   * Código de la guía de la que debe ser la prueba. Si falta, vale la de cualquier guía: mire el código en el
   * resultado.
   */
  guia?: string | undefined
}

/** Resultado de {@link verificarPrueba}. */
export interface PruebaVerificada {
  /** Manifiesto firmado: la guía, la hora, el lugar y la huella de cada archivo. */
  manifiesto: ManifiestoDePrueba
  /** Archivos del manifiesto que corresponden a los que usted pasó, en el mismo orden. */
  archivos: ArchivoDeManifiesto[]
  /** Nombre de la clave con que se firmó el manifiesto. */
  kid: string
}

/**
 * Comprueba una prueba de entrega **sin preguntarnos nada**: que una de las claves firmó el manifiesto, y que cada
 * archivo es, byte por byte, uno de los suyos. Si algo no cuadra, falla con un `ErrorPrueba`; `codigo` dice por qué.
 *
 * ```ts
 * const claves = await api.guias.clavesPublicas()
 * const { manifiesto, pdf } = await api.guias.pruebaEntrega(guia)
 * const bytes = new Uint8Array(await (await fetch(pdf!.url)).arrayBuffer())
 *
 * const verificada = await verificarPrueba({ guia, manifiesto: manifiesto!, claves, archivos: [bytes] })
 * console.log(verificada.manifiesto.entregado_en, verificada.archivos[0]!.tipo) // pdf
 * ```
 */
export async function verificarPrueba({
  manifiesto,
  claves,
  archivos = [],
  guia,
}: PruebaPorVerificar): Promise<PruebaVerificada> {
  const jws = parseJws(manifiesto)
  const clave = chooseKey(claves, jws.kid)
  const bytes = archivos.map(readBytes)
  if (!(await isFirmaValid(clave, jws))) {
    throw new ErrorPrueba(
      'La firma no corresponde al manifiesto: se alteró, o las claves no son del servicio.',
      'firma',
    )
  }
  const contenido = parseManifest(jws.cuerpo)
  if (guia !== undefined && contenido.guia !== guia) {
    throw new ErrorPrueba(`El manifiesto es auténtico, pero de la guía ${contenido.guia} y no de ${guia}.`, 'guia')
  }
  const matches: ArchivoDeManifiesto[] = []
  for (const [i, entry] of bytes.entries()) matches.push(await findArchivo(contenido, entry, i))
  return { manifiesto: contenido, archivos: matches, kid: jws.kid }
}

interface Jws {
  kid: string
  /** Header and payload exactly as received, `header.payload`: the text that the signature covers. */
  signedText: string
  cuerpo: string
  firma: Uint8Array<ArrayBuffer>
}

const JWS_TYPE = 'prueba-entrega+jws'
/**
 * Accepted algorithms. With an Ed25519 key both names mean the same; `Ed25519` is the newer name (RFC 9864). No other
 * algorithm is ever tried.
 */
const ALGORITHMS = ['EdDSA', 'Ed25519']

function parseJws(manifiesto: unknown): Jws {
  const unreadableError = (fault: string, cause?: unknown) =>
    new ErrorPrueba(`El manifiesto ${fault}. Pase el de la prueba de entrega tal como llegó.`, 'manifiesto_ilegible', {
      cause,
    })
  if (manifiesto === null) throw unreadableError('es nulo: el PDF todavía se está haciendo')
  const parts = String(manifiesto).split('.')
  const [encodedHeader = '', cuerpo = '', sello = ''] = parts
  let header: unknown
  let firma: Uint8Array<ArrayBuffer>
  try {
    if (parts.length !== 3 || !cuerpo || !sello) throw new Error()
    header = JSON.parse(deUtf8(deBase64url(encodedHeader)))
    firma = deBase64url(sello)
  } catch (error) {
    throw unreadableError('no es un JWS compacto', error)
  }
  const { alg, typ, kid, crit } = Object(header) as Record<string, unknown>
  // The header is checked before a key is chosen, because the manifest must not decide how it is verified.
  if (!ALGORITHMS.includes(alg as string) || typ !== JWS_TYPE || crit !== undefined) {
    throw new ErrorPrueba(
      `El manifiesto dice ${JSON.stringify({ alg, typ }).slice(0, 80)}: no es una prueba de entrega nuestra.`,
      'algoritmo',
    )
  }
  if (!kid || typeof kid !== 'string') throw unreadableError('no dice con qué clave se firmó (kid)')
  return { kid, signedText: `${encodedHeader}.${cuerpo}`, cuerpo, firma }
}

function chooseKey(claves: unknown, kid: string): Uint8Array<ArrayBuffer> {
  const { keys } = Object(claves) as Partial<ClavesPublicas>
  if (!Array.isArray(keys)) {
    throw new ErrorPrueba(
      'claves no es un JWK Set ({ keys: […] }): pase lo que da api.guias.clavesPublicas().',
      'claves',
    )
  }
  const clave = keys.find((jwk) => Object(jwk).kid === kid) as ClavePublica | undefined
  if (!clave) {
    throw new ErrorPrueba(
      `Ninguna de las claves es «${kid.slice(0, 64)}», la que firmó: pida otra vez api.guias.clavesPublicas().`,
      'clave_desconocida',
    )
  }
  if (clave.kty !== 'OKP' || clave.crv !== 'Ed25519' || typeof clave.x !== 'string') throw createKeyError()
  try {
    const bytes = deBase64url(clave.x)
    if (bytes.length === 32) return bytes
  } catch {}
  throw createKeyError()
}

const createKeyError = () => new ErrorPrueba('La clave que firmó no es una clave pública de Ed25519 (OKP).', 'claves')

async function isFirmaValid(clave: Uint8Array<ArrayBuffer>, { signedText, firma }: Jws): Promise<boolean> {
  let publicKey: CryptoKey
  try {
    publicKey = await subtle().importKey('raw', clave, { name: 'Ed25519' }, false, ['verify'])
  } catch (error) {
    // A key that is not a point on the curve fails here with `DataError`. Any other error means that the engine lacks
    // Ed25519.
    if ((error as Error).name === 'DataError') throw createKeyError()
    throw new ErrorPrueba(
      'Este entorno no tiene Ed25519: use Node 20 o posterior, o un navegador reciente.',
      'entorno',
      { cause: error },
    )
  }
  return subtle().verify({ name: 'Ed25519' }, publicKey, firma, enUtf8(signedText))
}

const subtle = () => webCrypto((mensaje) => new ErrorPrueba(mensaje, 'entorno'))

function parseManifest(cuerpo: string): ManifiestoDePrueba {
  let contenido: unknown
  let causa: unknown
  try {
    contenido = JSON.parse(deUtf8(deBase64url(cuerpo)))
  } catch (error) {
    causa = error
  }
  if (isManifest(contenido)) return contenido
  throw new ErrorPrueba(
    'La firma es buena, pero esta versión no entiende el manifiesto: actualice el paquete.',
    'contenido',
    { cause: causa },
  )
}

async function findArchivo(manifiesto: ManifiestoDePrueba, bytes: Uint8Array<ArrayBuffer>, i: number) {
  const sha256 = hexadecimalDe(new Uint8Array(await subtle().digest('SHA-256', bytes)))
  const found = manifiesto.archivos.find((entry) => entry.sha256 === sha256 && entry.bytes === bytes.length)
  if (found) return found
  throw new ErrorPrueba(
    `El archivo ${i + 1} (${bytes.length} bytes) no es de la prueba de la guía ${manifiesto.guia}: se alteró, o es de otra guía.`,
    'archivo',
  )
}

function readBytes(archivo: unknown, i: number): Uint8Array<ArrayBuffer> {
  const bytes = copyBytes(archivo)
  if (bytes) return bytes
  throw new ErrorPrueba(`El archivo ${i + 1} no son bytes: pase un Uint8Array, un Buffer o un ArrayBuffer.`, 'archivo')
}

/**
 * Decodes base64url without padding. Accepts only the canonical text, because spare bits would let two texts be the
 * same signature.
 *
 * @throws Error if the text is not canonical base64url
 */
function deBase64url(texto: string): Uint8Array<ArrayBuffer> {
  const bytes = deBase64(texto.replace(/-/g, '+').replace(/_/g, '/'))
  let reencoded = ''
  for (let i = 0; i < bytes.length; i += 3) reencoded += enBase64(bytes.subarray(i, i + 3))
  if (reencoded.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') !== texto) throw new Error('no es base64url')
  return bytes
}
