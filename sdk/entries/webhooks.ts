import {
  type CabecerasRecibidas,
  type CuerpoDeAviso,
  ErrorFirma,
  type OpcionesDeVerificacion,
  verificarWebhook,
} from '@guias/sdk'

/** Opciones de {@link abrir}. */
export interface OpcionesDeApertura extends OpcionesDeVerificacion {
  /**
   * Secreto del webhook, o la lista del nuevo y el anterior durante una rotación. Si falta, se toma de la variable de
   * entorno `GUIAS_SECRETO`, que puede traer los dos separados por una coma.
   */
  secreto?: string | readonly string[] | undefined
  /** Máximo de bytes del cuerpo; 1 048 576 si falta. El servicio envía mucho menos. */
  limite?: number | undefined
}

/** Opciones de los receptores de `@guias/sdk/express`, `fastify`, `hono` y `next`. */
export interface OpcionesDeRecepcion extends OpcionesDeApertura {
  /** Función que recibe lo que se contesta con 4xx o 5xx; si falta, se escribe con `console.error`. */
  alFallar?: ((error: unknown) => void) | undefined
}

/** Función suya que guarda cada aviso, una vez por `aviso.id`: puede llegar más de una. Se espera antes de contestar. */
export type Atender = (aviso: CuerpoDeAviso) => unknown

/** Solicitud de `fetch`: la de Next.js, Hono, Deno, Bun y Workers. */
export interface SolicitudDeFetch {
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array> | null
  readonly bodyUsed: boolean
}

/** Solicitud de Node: la de `node:http`, Express y otros. `body` es lo que dejó ahí un lector del marco. */
export interface SolicitudDeNode extends AsyncIterable<unknown> {
  readonly headers: { readonly [nombre: string]: string | readonly string[] | undefined }
  readonly body?: unknown
  readonly readableEnded?: boolean
  iterator?(opciones: { destroyOnReturn: boolean }): AsyncIterable<unknown>
}

const BODY_LIMIT_BYTES = 1024 * 1024

const ALREADY_READ =
  'Otro lector ya convirtió el cuerpo de esta solicitud, y la firma es de los bytes que llegaron. Ponga esta ruta antes de express.json() y de cualquier otro lector de cuerpos, o exclúyala de él; en Next.js y Hono, no llame antes a request.json() ni a c.req.json().'

/**
 * Comprueba que el servicio envió la solicitud hace poco, y da su aviso. Lee el cuerpo tal como llegó, hasta `limite`. Si
 * no lo acepta, lanza un `ErrorFirma`, y `motivo` dice por qué.
 *
 * ```ts
 * import * as webhooks from '@guias/sdk/webhooks'
 *
 * const aviso = await webhooks.abrir(request) // con GUIAS_SECRETO del entorno
 * ```
 */
export async function abrir(
  solicitud: SolicitudDeFetch | SolicitudDeNode,
  { secreto = readEnvironmentSecretos(), limite = BODY_LIMIT_BYTES, ...opciones }: OpcionesDeApertura = {},
): Promise<CuerpoDeAviso> {
  const cuerpo = await readBody(solicitud, limite)
  return verificarWebhook(cuerpo, solicitud.headers as CabecerasRecibidas, secreto, opciones)
}

/**
 * Abre la solicitud, espera a `atender` y da el estado HTTP con que se contesta: 204, 400 si no es un envío del servicio,
 * 413 si es demasiado grande, o 500, con el que el aviso vuelve a llegar. Nunca lanza un error.
 */
export async function contestar(
  solicitud: SolicitudDeFetch | SolicitudDeNode,
  atender: Atender,
  opciones: OpcionesDeRecepcion = {},
): Promise<number> {
  try {
    await atender(await abrir(solicitud, opciones))
    return 204
  } catch (error) {
    try {
      ;(opciones.alFallar ?? logError)(error)
    } catch {} // a fault of the merchant's own log must not change the answer
    return statusOf(error)
  }
}

/** Writes an error as one line where a stranger can cause it, so that strangers do not fill the log. */
const logError = (error: unknown) => console.error(error instanceof ErrorFirma ? error.message : error)

/** Returns the status for an error. A fault of the receiver itself is a 500, so that the notice comes again. */
function statusOf(error: unknown): number {
  if (!(error instanceof ErrorFirma) || error.motivo === 'secreto' || error.message === ALREADY_READ) return 500
  return error.motivo === 'tamano' ? 413 : 400
}

/** Reads the secrets in `GUIAS_SECRETO`. Bundlers do not replace `process` in this form. */
function readEnvironmentSecretos(): string[] {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return (process?.env?.GUIAS_SECRETO ?? '').split(',').filter((item) => item.trim())
}

const isFetchRequest = (solicitud: SolicitudDeFetch | SolicitudDeNode): solicitud is SolicitudDeFetch =>
  typeof solicitud.headers?.get === 'function'

async function readBody(solicitud: SolicitudDeFetch | SolicitudDeNode, limite: number): Promise<Uint8Array> {
  if (isFetchRequest(solicitud)) {
    if (solicitud.bodyUsed) throw alreadyReadError()
    return joinChunks(readChunks(solicitud.body), limite)
  }
  const { body } = solicitud
  // Readers such as `express.raw` leave the bytes as they came.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (bytes instanceof Uint8Array) return joinChunks([bytes], limite)
  // Express 4 has an empty object where no reader ran.
  const isEmpty = bytes === undefined || bytes === null || Object.keys(bytes).length === 0
  if (!isEmpty || solicitud.readableEnded) throw alreadyReadError()
  // `for await` would destroy the connection of a request that is too large before its answer.
  return joinChunks(solicitud.iterator?.({ destroyOnReturn: false }) ?? solicitud, limite)
}

const alreadyReadError = () => new ErrorFirma(ALREADY_READ, 'cuerpo')

/** Yields the chunks of a stream. Not every engine can iterate a `ReadableStream`. */
async function* readChunks(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream?.getReader()
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) return
      yield value
    }
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/**
 * Joins chunks. Stops reading beyond the limit.
 *
 * @throws ErrorFirma if there are more bytes than the limit
 */
async function joinChunks(source: AsyncIterable<unknown> | Iterable<unknown>, limite: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let largo = 0
  for await (const chunk of source as AsyncIterable<Uint8Array | string>) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    largo += bytes.length
    if (largo > limite) throw new ErrorFirma(`El cuerpo pasa de ${limite} bytes: no es un envío nuestro.`, 'tamano')
    chunks.push(bytes)
  }
  const joined = new Uint8Array(largo)
  let donde = 0
  for (const bytes of chunks) {
    joined.set(bytes, donde)
    donde += bytes.length
  }
  return joined
}
