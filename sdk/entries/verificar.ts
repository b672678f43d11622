import {
  type ArchivoDeManifiesto,
  type ClavePublica,
  type ClavesPublicas,
  ErrorGuias,
  type ManifiestoDePrueba,
} from '@guias/sdk'
import { copiar, deBase64, deUtf8, enBase64, enUtf8, hexadecimalDe, webCrypto } from '../src/bytes.js'
import { esManifiesto } from '../src/formas.js'

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
  const jws = leerJws(manifiesto)
  const clave = elegirClave(claves, jws.kid)
  const bytes = archivos.map(leerBytes)
  if (!(await firmaBuena(clave, jws))) {
    throw new ErrorPrueba(
      'La firma no corresponde al manifiesto: se alteró, o las claves no son del servicio.',
      'firma',
    )
  }
  const contenido = leerContenido(jws.cuerpo)
  if (guia !== undefined && contenido.guia !== guia) {
    throw new ErrorPrueba(`El manifiesto es auténtico, pero de la guía ${contenido.guia} y no de ${guia}.`, 'guia')
  }
  const suyos: ArchivoDeManifiesto[] = []
  for (const [i, uno] of bytes.entries()) suyos.push(await hallar(contenido, uno, i))
  return { manifiesto: contenido, archivos: suyos, kid: jws.kid }
}

interface Jws {
  kid: string
  /** Header and payload exactly as received, `header.payload`: the text that the signature covers. */
  firmado: string
  cuerpo: string
  firma: Uint8Array<ArrayBuffer>
}

const TIPO = 'prueba-entrega+jws'
/**
 * Accepted algorithms. With an Ed25519 key both names mean the same; `Ed25519` is the newer name (RFC 9864). No other
 * algorithm is ever tried.
 */
const ALGORITMOS = ['EdDSA', 'Ed25519']

function leerJws(manifiesto: unknown): Jws {
  const ilegible = (que: string, cause?: unknown) =>
    new ErrorPrueba(`El manifiesto ${que}. Pase el de la prueba de entrega tal como llegó.`, 'manifiesto_ilegible', {
      cause,
    })
  if (manifiesto === null) throw ilegible('es nulo: el PDF todavía se está haciendo')
  const partes = String(manifiesto).split('.')
  const [cabeza = '', cuerpo = '', sello = ''] = partes
  let cabecera: unknown
  let firma: Uint8Array<ArrayBuffer>
  try {
    if (partes.length !== 3 || !cuerpo || !sello) throw new Error()
    cabecera = JSON.parse(deUtf8(deBase64url(cabeza)))
    firma = deBase64url(sello)
  } catch (error) {
    throw ilegible('no es un JWS compacto', error)
  }
  const { alg, typ, kid, crit } = Object(cabecera) as Record<string, unknown>
  // The header is checked before a key is chosen, because the manifest must not decide how it is verified.
  if (!ALGORITMOS.includes(alg as string) || typ !== TIPO || crit !== undefined) {
    throw new ErrorPrueba(
      `El manifiesto dice ${JSON.stringify({ alg, typ }).slice(0, 80)}: no es una prueba de entrega nuestra.`,
      'algoritmo',
    )
  }
  if (!kid || typeof kid !== 'string') throw ilegible('no dice con qué clave se firmó (kid)')
  return { kid, firmado: `${cabeza}.${cuerpo}`, cuerpo, firma }
}

function elegirClave(claves: unknown, kid: string): Uint8Array<ArrayBuffer> {
  const { keys } = Object(claves) as Partial<ClavesPublicas>
  if (!Array.isArray(keys)) {
    throw new ErrorPrueba(
      'claves no es un JWK Set ({ keys: […] }): pase lo que da api.guias.clavesPublicas().',
      'claves',
    )
  }
  const clave = keys.find((una) => Object(una).kid === kid) as ClavePublica | undefined
  if (!clave) {
    throw new ErrorPrueba(
      `Ninguna de las claves es «${kid.slice(0, 64)}», la que firmó: pida otra vez api.guias.clavesPublicas().`,
      'clave_desconocida',
    )
  }
  if (clave.kty !== 'OKP' || clave.crv !== 'Ed25519' || typeof clave.x !== 'string') throw claveMala()
  try {
    const bytes = deBase64url(clave.x)
    if (bytes.length === 32) return bytes
  } catch {}
  throw claveMala()
}

const claveMala = () => new ErrorPrueba('La clave que firmó no es una clave pública de Ed25519 (OKP).', 'claves')

async function firmaBuena(clave: Uint8Array<ArrayBuffer>, { firmado, firma }: Jws): Promise<boolean> {
  let publica: CryptoKey
  try {
    publica = await subtle().importKey('raw', clave, { name: 'Ed25519' }, false, ['verify'])
  } catch (error) {
    // A key that is not a point on the curve fails here with `DataError`. Any other error means that the engine lacks
    // Ed25519.
    if ((error as Error).name === 'DataError') throw claveMala()
    throw new ErrorPrueba(
      'Este entorno no tiene Ed25519: use Node 20 o posterior, o un navegador reciente.',
      'entorno',
      { cause: error },
    )
  }
  return subtle().verify({ name: 'Ed25519' }, publica, firma, enUtf8(firmado))
}

const subtle = () => webCrypto((mensaje) => new ErrorPrueba(mensaje, 'entorno'))

function leerContenido(cuerpo: string): ManifiestoDePrueba {
  let contenido: unknown
  let causa: unknown
  try {
    contenido = JSON.parse(deUtf8(deBase64url(cuerpo)))
  } catch (error) {
    causa = error
  }
  if (esManifiesto(contenido)) return contenido
  throw new ErrorPrueba(
    'La firma es buena, pero esta versión no entiende el manifiesto: actualice el paquete.',
    'contenido',
    { cause: causa },
  )
}

async function hallar(manifiesto: ManifiestoDePrueba, bytes: Uint8Array<ArrayBuffer>, i: number) {
  const sha256 = hexadecimalDe(new Uint8Array(await subtle().digest('SHA-256', bytes)))
  const hallado = manifiesto.archivos.find((uno) => uno.sha256 === sha256 && uno.bytes === bytes.length)
  if (hallado) return hallado
  throw new ErrorPrueba(
    `El archivo ${i + 1} (${bytes.length} bytes) no es de la prueba de la guía ${manifiesto.guia}: se alteró, o es de otra guía.`,
    'archivo',
  )
}

function leerBytes(archivo: unknown, i: number): Uint8Array<ArrayBuffer> {
  const bytes = copiar(archivo)
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
  let escrito = ''
  for (let i = 0; i < bytes.length; i += 3) escrito += enBase64(bytes.subarray(i, i + 3))
  if (escrito.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') !== texto) throw new Error('no es base64url')
  return bytes
}
