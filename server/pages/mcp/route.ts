import type { Express, Request, RequestHandler, Response } from 'express'
import type { CallOperation, CallParts } from '../../api/contract/calls.ts'
import type { OperationId } from '../../api/contract/contract.ts'
import { requireKey } from '../../api/http/authenticate.ts'
import { type BodyRules, checkContentType, readBody } from '../../api/http/body.ts'
import { methodNotAllowed } from '../../api/http/problems.ts'
import { companyDay } from '../../domain/asignaciones/asignacion.ts'
import type { Deps } from '../../domain/deps.ts'
import type { Cuenta } from '../../generated/contract/types/index.ts'
import { Problema, translateError, unavailable, uniformProblem } from '../../platform/errors.ts'
import { withRelativeDays } from '../../platform/time/relativeDays.ts'
import { listGenerated, readGenerated } from '../assets.ts'
import { withAddress } from '../docs/address.ts'
import { oncePerDay, PRIVATE_HEADERS } from '../response.ts'
import { type Chapter, createAssistant, type Offer, type OperationOutcome, type Session } from './assistant.ts'

const MCP_PATH = '/mcp'
const TEXTS_FOLDER = 'documentation/textos/'
/** Maximum size of a message. An assistant writes its messages itself, so they are small. */
const BODY_RULES: BodyRules = { tipos: ['application/json'], limite: 256 * 1024, raw: false, streamed: false }
/** Time limit for the answer to a request, in milliseconds. */
const CALL_DEADLINE_MS = 30_000

type AssistantDeps = Pick<Deps, 'settings' | 'log' | 'clock'>
type Answer = (req: Request, cuenta: Cuenta) => Promise<globalThis.Response>

/**
 * Serves `/mcp`: the operations of merchants as tools for assistants (Model Context Protocol, streamable HTTP). No
 * state is kept between requests. Keys, scopes and limits work as for the operations.
 */
export function serveAssistants(app: Express, deps: AssistantDeps, call: CallOperation): void {
  const { publicUrl } = deps.settings
  let answer: Promise<Answer> | undefined
  const loaded = () => {
    answer ??= createAnswer(deps, call)
    answer.catch(() => {
      answer = undefined
    })
    return answer
  }
  const accountByRequest = new WeakMap<Request, Cuenta>()
  app
    .route(MCP_PATH)
    .post(
      requireOwnOrigin(publicUrl),
      requireKey,
      async (req, _res, next) => {
        accountByRequest.set(req, (await call(req, 'obtenerCuenta')).body)
        next()
      },
      checkContentType(BODY_RULES),
      readBody(BODY_RULES),
      async (req, res) => {
        if (req.body === undefined) throw new Problema('json_invalido', 'Envíe un mensaje de MCP, en JSON.')
        if (Array.isArray(req.body)) throw new Problema('parametro_invalido', 'Envíe un solo mensaje por solicitud.')
        await send(res, await inTime((await loaded())(req, accountByRequest.get(req)!)))
      },
    )
    .all(methodNotAllowed(['post']))
}

/**
 * Creates the middleware that refuses requests from pages of other sites. Otherwise, any page could reach a service on
 * the visitor's own machine. Requests without `Origin` pass, because programs other than browsers send none.
 */
function requireOwnOrigin(publicUrl: string): RequestHandler {
  const { origin } = new URL(publicUrl)
  return (req, _res, next) => {
    if (req.headers.origin !== undefined && req.headers.origin !== origin) throw uniformProblem('origen_no_permitido')
    next()
  }
}

/** Loads the library, the tools and the chapters. */
async function createAnswer(deps: AssistantDeps, call: CallOperation): Promise<Answer> {
  const { settings, log } = deps
  const library = await import('@modelcontextprotocol/server')
  const offer = oncePerDay(
    () => companyDay(deps),
    (day) => readOffer(settings.publicUrl, day),
  )
  const { fetch } = library.createMcpHandler(
    ({ authInfo }) => createAssistant(library, offer(), authInfo!.extra!.session as Session),
    {
      maxSubscriptions: 0,
      // The message is not logged in full, because it could quote a text that a person typed.
      onerror: ({ name }) => log.info({ motivo: name }, 'assistant request refused'),
    },
  )
  return (req, cuenta) => {
    const session = sessionOf(req, cuenta, deps, call)
    const headers = Object.entries(req.headers).flatMap(([name, value]) =>
      typeof value === 'string' && !IGNORED.has(name) ? [[name, value] as [string, string]] : [],
    )
    const request = new globalThis.Request(`${settings.publicUrl}${MCP_PATH}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(req.body ?? null),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    })
    // The library gets no key. `call` uses the key of the request.
    const authInfo = { token: '', clientId: cuenta.comercio, scopes: [...cuenta.alcances], extra: { session } }
    return fetch(request, { authInfo, parsedBody: req.body })
  }
}

/** Headers that are not passed to the library: those of the connection, and the credential. */
const IGNORED = new Set(['connection', 'content-length', 'transfer-encoding', 'authorization', 'cookie'])

/** Returns the session of one request: the caller's account, and the function that calls operations in its name. */
function sessionOf(req: Request, cuenta: Cuenta, { settings, log }: AssistantDeps, call: CallOperation): Session {
  const { id } = req.solicitud
  const answerOf = async (operacion: OperationId, parts: () => CallParts<OperationId>): Promise<OperationOutcome> => {
    try {
      const { status, body } = await call(req, operacion, parts())
      return { status, body }
    } catch (error) {
      const problema = translateError(error)
      if (problema.status >= 500)
        log.error({ id_solicitud: id, operacion, err: problema.cause ?? problema }, 'tool call failed')
      return { status: problema.status, body: problema.present(id, settings.publicUrl) }
    }
  }
  return {
    cuenta,
    canWrite: req.query.escribir === '1',
    async call(operacion, parts) {
      const startedAt = performance.now()
      const outcome = await answerOf(operacion, parts)
      const ms = Math.round((performance.now() - startedAt) * 10) / 10
      const { comercio, modo } = cuenta
      log.info({ id_solicitud: id, operacion, status: outcome.status, ms, comercio, modo }, 'tool call')
      return outcome
    },
  }
}

/** Reads the tools and the chapters of the guide that `npm run generate` wrote, with their examples near a day. */
function readOffer(publicUrl: string, day: string): Offer {
  const read = (file: string) => withRelativeDays(readGenerated(file).toString(), day)
  const { version, herramientas: tools } = JSON.parse(read('herramientas.json'))
  const chapters = listGenerated(TEXTS_FOLDER)
    .filter((archivo) => archivo.startsWith('docs/guia/'))
    .map((archivo): Chapter => {
      const texto = withAddress(read(TEXTS_FOLDER + archivo), publicUrl)
      return { uri: `${publicUrl}/${archivo}`, titulo: /^# (.+)$/m.exec(texto)![1]!, texto }
    })
  return { version, tools, chapters }
}

/**
 * Rejects with a 503 after {@link CALL_DEADLINE_MS}. The operation itself continues, so the caller does not know whether it takes
 * effect.
 */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable(LATE)), CALL_DEADLINE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
const LATE = 'La respuesta tardó demasiado. Lea otra vez la guía antes de repetir un cambio: puede que ya esté hecho.'

/** Sends the library's response after reading it completely. */
async function send(res: Response, response: globalThis.Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  const type = response.headers.get('content-type')
  res.status(response.status).set(PRIVATE_HEADERS)
  if (type !== null) res.set('Content-Type', type)
  res.end(body)
}
