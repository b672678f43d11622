import { copyBytes, deBase64, deUtf8, enBase64, enUtf8, webCrypto } from './bytes.js'
import { ErrorFirma, ErrorGuias } from './errors.js'
import type { Evento, TipoDeEventoRecibido } from './evento.js'
import type {
  AvisoDeDeshabilitado,
  AvisoDePrueba,
  AvisoDeGuia as ContractAvisoDeGuia,
  FechaHora,
  GuiaDeAviso,
  IdDeAviso,
  TipoDeEvento,
} from './generated/types.gen.js'
import type { Conocido, TipoDesconocido } from './openValues.js'
import { isAviso } from './shapes.js'

export type { AvisoDeDeshabilitado, AvisoDePrueba }

interface AvisoDe<T extends TipoDeEventoRecibido> extends Omit<ContractAvisoDeGuia, 'tipo' | 'datos'> {
  /** Tipo del evento; dice qué trae. */
  tipo: T
  /** La guía como quedó después del evento, y el evento. */
  datos: { guia: GuiaDeAviso; evento: Evento<T> }
}

/**
 * Aviso que llega por webhook cuando algo le pasa a una guía; `AvisoDeGuia<'guia.entregado'>` es el aviso de ese tipo.
 * Los tipos que se añadan en el futuro también traen la guía y su evento.
 */
export type AvisoDeGuia<T extends TipoDeEventoRecibido = TipoDeEventoRecibido> = T extends TipoDeEventoRecibido
  ? AvisoDe<T>
  : never

/**
 * Aviso de un tipo que esta versión del paquete no conoce. Contéstelo con 2xx y páselo por alto, o actualice el
 * paquete.
 */
export interface AvisoDesconocido {
  id: IdDeAviso
  tipo: TipoDesconocido
  creado_en: FechaHora
  // `object` declares no properties, so that `'guia' in aviso.datos` excludes this member of the union too.
  datos: object
}

/**
 * Aviso que llega por webhook. `tipo` dice qué trae `datos`:
 *
 * ```ts
 * switch (aviso.tipo) {
 *   case 'guia.entregado':
 *     await cerrarPedido(aviso.datos.guia.external_ref)
 *     break
 *   case 'webhook.deshabilitado':
 *     await avisarAlEquipo(aviso.datos.webhook.url)
 *     break
 * }
 * ```
 *
 * Si el tipo no importa: `if ('guia' in aviso.datos) await actualizar(aviso.datos.guia)`.
 */
export type CuerpoDeAviso = AvisoDeGuia | AvisoDePrueba | AvisoDeDeshabilitado | AvisoDesconocido

/** Tipos de aviso que esta versión del paquete conoce. */
export type TipoDeAviso = Conocido<TipoDeEvento> | AvisoDePrueba['tipo'] | AvisoDeDeshabilitado['tipo']

/**
 * Comprobación para que no compile un `switch` al que le falta un tipo conocido. El error del compilador nombra el tipo
 * que falta:
 *
 * ```ts
 * switch (aviso.tipo) {
 *   case 'guia.entregado': …
 *   default:
 *     true satisfies TodoAtendido<typeof aviso.tipo>
 * }
 * ```
 */
export type TodoAtendido<Resto> = [Extract<Resto, TipoDeAviso>] extends [never] ? true : Extract<Resto, TipoDeAviso>

/** Cuerpo de la solicitud tal como llegó: el texto o los bytes (un `Buffer` también), nunca el objeto ya leído. */
export type CuerpoRecibido = string | Uint8Array | ArrayBuffer

/** Cabeceras de la solicitud: `req.headers` de Node, `request.headers` de fetch, un objeto o pares. */
export type CabecerasRecibidas =
  | Headers
  | { readonly [nombre: string]: string | readonly string[] | undefined }
  | Iterable<readonly [string, string]>

/** Opciones de {@link verificarWebhook}. */
export interface OpcionesDeVerificacion {
  /**
   * Segundos que la firma puede diferir de su reloj, antes o después; 300 si falta. Con `Infinity` no se mira la hora.
   */
  toleranciaSegundos?: number | undefined
  /** Hora con que se compara la de la firma; si falta, la de su reloj. */
  ahora?: Date | undefined
}

/** Opciones de {@link firmarWebhook}. */
export interface OpcionesDeFirma {
  /** Identificador del evento que se firma (`webhook-id`). */
  id: string
  /** Hora de la firma, en segundos desde 1970; si falta, la hora actual. */
  timestamp?: number | undefined
  /** Secreto del webhook, `whsec_…`. Con varios secretos se hace una firma con cada uno, como en una rotación. */
  secreto: string | readonly string[]
}

/** Las tres cabeceras de firma que lleva cada envío. */
export type CabecerasDeFirma = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/**
 * Comprueba que el servicio envió la solicitud hace poco, y da su aviso. Si no, falla con un `ErrorFirma`; `motivo`
 * dice por qué. Entonces no atienda la solicitud y conteste 400.
 *
 * Pase el cuerpo **tal como llegó**, antes de leerlo como JSON. En Express:
 *
 * ```ts
 * app.post('/guias/eventos', express.raw({ type: () => true }), async (req, res) => {
 *   try {
 *     const aviso = await verificarWebhook(req.body, req.headers, process.env.GUIAS_SECRETO!)
 *     await guardar(aviso) // una vez por aviso.id: puede llegar más de una
 *     res.sendStatus(204)
 *   } catch (error) {
 *     res.sendStatus(error instanceof ErrorFirma ? 400 : 500) // con un 500, el aviso vuelve a llegar
 *   }
 * })
 * ```
 *
 * Con `fetch` (Next.js, Hono, Workers, Deno, Bun): `verificarWebhook(await request.text(), request.headers, secreto)`.
 *
 * `secreto` puede ser una lista; basta con que la firma corresponda a uno de los secretos.
 */
export async function verificarWebhook(
  cuerpo: CuerpoRecibido,
  cabeceras: CabecerasRecibidas,
  secreto: string | readonly string[],
  opciones: OpcionesDeVerificacion = {},
): Promise<CuerpoDeAviso> {
  const bytes = toBodyBytes(cuerpo)
  const claves = readSecretos(secreto)
  const leer = createHeaderReader(cabeceras)
  const [id, timestamp, firmaHeader] = [leer('webhook-id'), leer('webhook-timestamp'), leer('webhook-signature')]
  checkTime(timestamp, opciones)

  // A proxy may join a repeated header with a comma and a space.
  const givenFirmas = firmaHeader.split(/,? +/).flatMap((firma) => (firma.startsWith('v1,') ? [firma.slice(3)] : []))
  if (givenFirmas.length === 0) {
    throw new ErrorFirma('webhook-signature no trae ninguna firma «v1,…»: no es un envío nuestro.', 'firma')
  }
  let matches = false
  for (const clave of claves) {
    const expectedFirma = await sign(clave, id, timestamp, bytes)
    // Every signature is compared, so that the duration does not reveal which signature was nearly right.
    for (const givenFirma of givenFirmas) matches = areEqual(givenFirma, expectedFirma) || matches
  }
  if (!matches) {
    throw new ErrorFirma(
      'La firma no corresponde. Revise que el secreto sea el de este webhook y que el cuerpo sea el que llegó, byte por byte: volver a escribirlo (JSON.stringify) lo cambia.',
      'firma',
    )
  }
  return readAviso(bytes)
}

/**
 * Firma un cuerpo como lo hace el servicio y da las cabeceras, para que usted pruebe su propio receptor.
 *
 * ```ts
 * const cuerpo = JSON.stringify(aviso)
 * const cabeceras = await firmarWebhook(cuerpo, { id: aviso.id, secreto })
 * await fetch('http://127.0.0.1:8080/guias/eventos', { method: 'POST', body: cuerpo, headers: cabeceras })
 * ```
 */
export async function firmarWebhook(
  cuerpo: CuerpoRecibido,
  { id, timestamp = Math.floor(Date.now() / 1000), secreto }: OpcionesDeFirma,
): Promise<CabecerasDeFirma> {
  const bytes = toBodyBytes(cuerpo)
  const claves = readSecretos(secreto)
  if (typeof id !== 'string' || !/^[\x21-\x7e]+$/.test(id)) {
    throw new ErrorGuias('id debe ser un texto sin espacios, como evt_7K3M9QX2A1B4_1.')
  }
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new ErrorGuias('timestamp debe ser un número entero de segundos.')
  }
  const firmas = await Promise.all(claves.map((clave) => sign(clave, id, `${timestamp}`, bytes)))
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': firmas.map((firma) => `v1,${firma}`).join(' '),
  }
}

const RAW_BODY_HINT =
  'Pase lo que llegó: en Express, req.body, con express.raw({ type: () => true }) antes de express.json(); con fetch, await request.text().'

function toBodyBytes(cuerpo: unknown): Uint8Array<ArrayBuffer> {
  // `String(req.body)` gives `[object Object]` if the body was already parsed.
  const bytes = typeof cuerpo === 'string' && cuerpo !== '[object Object]' ? enUtf8(cuerpo) : copyBytes(cuerpo)
  if (bytes) return bytes
  throw new ErrorFirma(
    cuerpo === undefined || cuerpo === null
      ? `El cuerpo no llegó, o ya se había leído (${cuerpo}). ${RAW_BODY_HINT}`
      : `El cuerpo llegó ya leído (un objeto), y la firma es de los bytes. ${RAW_BODY_HINT}`,
    'cuerpo',
  )
}

/**
 * Reads one or several secrets in the format of Standard Webhooks: `whsec_`, then base64 of 24 to 64 bytes. No error
 * message contains the secret.
 *
 * @throws ErrorFirma if a secret is missing or malformed
 */
function readSecretos(secreto: unknown): Uint8Array<ArrayBuffer>[] {
  const secretos: unknown[] = [secreto].flat()
  // An empty list counts as a missing secret.
  return (secretos.length > 0 ? secretos : ['']).map((item) => {
    const trimmed = typeof item === 'string' ? item.trim() : ''
    if (!trimmed) throw new ErrorFirma('Falta el secreto: el que dio api.webhooks.crear, whsec_….', 'secreto')
    const clave = trimmed.startsWith('whsec_') ? readClave(trimmed.slice(6)) : undefined
    if (clave && clave.length >= 24 && clave.length <= 64) return clave
    throw new ErrorFirma(
      'El secreto no es de un webhook: debe empezar por whsec_ y estar entero, sin comillas. Si se perdió, pida otro con api.webhooks.rotarSecreto.',
      'secreto',
    )
  })
}

function readClave(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return deBase64(base64)
  } catch {
    return undefined
  }
}

function createHeaderReader(cabeceras: CabecerasRecibidas): (nombre: keyof CabecerasDeFirma) => string {
  const todas = new Map<string, string>()
  const headerPairs: Iterable<readonly [string, unknown]> =
    Symbol.iterator in Object(cabeceras)
      ? (cabeceras as Iterable<readonly [string, string]>)
      : Object.entries(cabeceras ?? {})
  for (const [nombre, valor] of headerPairs) {
    if (valor === undefined || valor === null) continue
    const clave = String(nombre).toLowerCase()
    // A repeated header becomes one text that was not signed. Several signatures are allowed.
    todas.set(clave, [todas.get(clave) ?? [], valor].flat().join(' '))
  }
  return (nombre) => {
    const valor = todas.get(nombre)
    if (valor) return valor
    throw new ErrorFirma(
      `Falta la cabecera ${nombre}: pase req.headers. Si no vino, no es un envío nuestro o un proxy la quitó.`,
      'cabecera_ausente',
    )
  }
}

function checkTime(
  timestamp: string,
  { toleranciaSegundos: toleranceSeconds = 300, ahora = new Date() }: OpcionesDeVerificacion,
) {
  // With NaN, the comparison below would always be false.
  if (!(toleranceSeconds >= 0)) throw new ErrorGuias('toleranciaSegundos debe ser un número de 0 en adelante.')
  const nowSeconds = Math.floor(Number(ahora) / 1000)
  if (Number.isNaN(nowSeconds)) throw new ErrorGuias('ahora debe ser un Date.')
  if (!/^(0|[1-9]\d{0,14})$/.test(timestamp)) {
    throw new ErrorFirma('webhook-timestamp no es un número: no es un envío nuestro.', 'marca_de_tiempo')
  }
  const ageSeconds = nowSeconds - Number(timestamp)
  if (Math.abs(ageSeconds) <= toleranceSeconds) return
  throw new ErrorFirma(
    `El envío se firmó ${ageSeconds > 0 ? `hace ${ageSeconds} s` : `${-ageSeconds} s en el futuro`} y se admiten ${toleranceSeconds}. Revise la hora de su servidor; si está bien, es una copia vieja y no debe atenderse.`,
    'marca_de_tiempo',
  )
}

async function sign(
  clave: Uint8Array<ArrayBuffer>,
  id: string,
  timestamp: string,
  cuerpo: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const subtle = webCrypto((mensaje) => new ErrorGuias(mensaje))
  const prefix = enUtf8(`${id}.${timestamp}.`)
  const signedBytes = new Uint8Array(prefix.length + cuerpo.length)
  signedBytes.set(prefix)
  signedBytes.set(cuerpo, prefix.length)
  const hmac = await subtle.importKey('raw', clave, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return enBase64(new Uint8Array(await subtle.sign('HMAC', hmac, signedBytes)))
}

/** Compares two texts. For texts of equal length, the duration does not reveal how many characters match. */
function areEqual(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let mismatch = 0
  for (let i = 0; i < right.length; i++) mismatch |= left.charCodeAt(i) ^ right.charCodeAt(i)
  return mismatch === 0
}

/**
 * Parses the notice from the bytes that were signed, not from the object that the caller passed.
 *
 * @throws ErrorFirma if the signed bytes are not a notice
 */
function readAviso(bytes: Uint8Array<ArrayBuffer>): CuerpoDeAviso {
  let causa: unknown
  try {
    const aviso: unknown = JSON.parse(deUtf8(bytes))
    if (isAviso<CuerpoDeAviso>(aviso)) return aviso
  } catch (error) {
    causa = error
  }
  throw new ErrorFirma('La firma es buena, pero el cuerpo no es un aviso: un objeto JSON con tipo y datos.', 'cuerpo', {
    cause: causa,
  })
}
