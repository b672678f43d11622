import type { ErrorRequestHandler, Express, RequestHandler, Response } from 'express'
import type { DepsDeOperacion } from '../deps.ts'
import { Problema, problemaDeFallas, problemaUniforme } from '../errores.ts'
import { autenticar, exigirAlcance, reautenticar } from '../http/autenticar.ts'
import { admitirTipo, leerCuerpo, pasarFlujo } from '../http/cuerpo.ts'
import type { Autenticadores, Identidad } from '../http/identidad.ts'
import { contarDesconocida, corregirCosto, limitar } from '../http/limitar.ts'
import { exigirPropia } from '../http/navegador.ts'
import { metodoNoPermitido, responder, type Testigo } from '../http/problemas.ts'
import { redDe } from '../http/red.ts'
import { esReenviada } from '../http/reenviada.ts'
import type { Operacion, OperationId } from './contrato.ts'
import { bienEscrito, fijarConsulta, type Rechazo } from './parametros.ts'
import type { Entrada, Handlers } from './tipos.ts'
import { remitenteDe, type Validacion } from './validacion.ts'

export interface Enlace {
  operaciones: readonly Operacion[]
  /** Fails for an operation whose validation is not in force. */
  comprobar: (operacion: Operacion) => Promise<void>
  handlers: Handlers
  autenticadores: Autenticadores
  deps: DepsDeOperacion
  testigo?: Testigo | undefined
}

/**
 * Binds every operation of the contract by its operationId. What stands in the call is the way of one request, in order;
 * a path of the contract with another method is a 405.
 */
export function enlazarRutas(
  app: Express,
  { operaciones, comprobar, handlers, autenticadores, deps, testigo }: Enlace,
) {
  const depsDe = crearDepsDe(deps)
  const porRuta = [...Map.groupBy(operaciones, ({ ruta }) => ruta)]
  for (const [ruta, suyas] of porRuta.sort(([a], [b]) => parametrosDe(a) - parametrosDe(b))) {
    // One layer for all methods of a path: every request walks through those before its own.
    const deRuta = app.route(ruta.replace(/\{(\w+)\}/g, ':$1'))
    for (const operacion of suyas) {
      deRuta[operacion.metodo](
        marcar(operacion),
        exigirPropia(operacion, deps.navegador),
        autenticar(operacion, autenticadores, deps),
        limitar(operacion, deps.limites),
        exigirAlcance(operacion),
        admitirTipo(operacion),
        leerCuerpo(operacion),
        corregirCosto(operacion),
        reautenticar(operacion, autenticadores, deps),
        exigirComprobada(operacion, comprobar),
        exigirConsulta(operacion, deps.validacion),
        ...deps.validacion.validar(operacion),
        explicarRechazo(operacion, deps.validacion),
        pasarFlujo(operacion),
        ejecutar(operacion, handlers, depsDe, testigo),
        contarDesconocida(deps.limites),
      )
    }
    deRuta.all(metodoNoPermitido(suyas.map(({ metodo }) => metodo)))
  }
}

/** Fixed segments go before parameters: `/guias/bulk` is no guide. */
const parametrosDe = (ruta: string) => ruta.split('{').length

const marcar =
  (operacion: Operacion): RequestHandler =>
  (req, _res, next) => {
    req.solicitud.operacion = operacion
    // express-openapi-validator refuses HEAD; Node keeps the body of a HEAD answer to itself whatever we call it.
    if (req.method === 'HEAD') req.method = 'GET'
    next()
  }

/** Lets nobody through to an operation before its validation was seen to be in force. */
function exigirComprobada(operacion: Operacion, comprobar: Enlace['comprobar']): RequestHandler {
  let comprobada = false
  return (_req, _res, next) => {
    if (comprobada) return next()
    comprobar(operacion).then(() => {
      comprobada = true
      next()
    }, next)
  }
}

/** What the validator lets pass: integers spelt oddly, and names with brackets, which it takes for arrays. */
const exigirConsulta = (operacion: Operacion, validacion: Validacion): RequestHandler => {
  const deConsulta = operacion.parametros.filter((parametro) => parametro.in === 'query')
  const nombres = new Set(deConsulta.map(({ name }) => name))
  return (req, _res, next) => {
    if (!req.originalUrl.includes('?')) return next()
    fijarConsulta(req)
    const conocidos = Object.keys(req.query).every((nombre) => nombres.has(nombre))
    if (conocidos && deConsulta.every((parametro) => bienEscrito(parametro, req.query[parametro.name]))) return next()
    if (operacion.rechazo) throw problemaUniforme(operacion.rechazo)
    const valores = { ...req.query, ...req.params }
    const { dichas, omitidas } = validacion.explicarParametros(operacion, { status: 400 }, valores)
    throw problemaDeFallas('parametro_invalido', dichas, omitidas)
  }
}

/** The validator's refusal → a 400 about parameters or a 422 about the body, with every fault in Spanish. */
const explicarRechazo =
  (operacion: Operacion, validacion: Validacion): ErrorRequestHandler =>
  (error, req, _res, next) => {
    if (!esRechazo(error)) return next(error)
    if (operacion.rechazo) return next(problemaUniforme(operacion.rechazo))
    const deParametros = (error.errors ?? []).filter(({ path }) => /^\/(query|params|headers|cookies)\b/.test(path))
    if (deParametros.length > 0) {
      const valores = { ...req.query, ...req.params }
      const rechazo = { ...error, errors: deParametros }
      const { dichas, omitidas } = validacion.explicarParametros(operacion, rechazo, valores)
      return next(problemaDeFallas('parametro_invalido', dichas, omitidas))
    }
    if (operacion.tipos.length === 0) {
      return next(
        new Problema('parametro_invalido', 'La ruta o los parámetros no están bien escritos.', { cause: error }),
      )
    }
    const { dichas, omitidas } = validacion.explicarCuerpo(operacion, req.body, remitenteDe(req))
    next(problemaDeFallas('validacion', dichas, omitidas))
  }

const esRechazo = (error: unknown): error is Rechazo =>
  error instanceof Error &&
  !(error instanceof Problema) &&
  'status' in error &&
  typeof error.status === 'number' &&
  error.status < 500

/** Made for those who ask, for most operations are over before anybody could go away. */
function alCerrar(res: Response): AbortSignal {
  const control = new AbortController()
  if (res.closed) control.abort()
  else res.once('close', () => control.abort())
  return control.signal
}

type HandlerCualquiera = (
  entrada: Record<keyof Entrada<OperationId>, unknown>,
  deps: DepsDeOperacion,
) => Promise<{ status: number; body: unknown; headers?: Readonly<Record<string, string | string[]>> }>

/** Gives the deps of a request: a merchant's see the merchant's rows alone, and are made once for each identity. */
function crearDepsDe(deps: DepsDeOperacion): (identidad: Identidad | undefined) => DepsDeOperacion {
  const porIdentidad = new WeakMap<Identidad, DepsDeOperacion>()
  return (identidad) => {
    if (!identidad || !('comercioId' in identidad)) return deps
    let suyas = porIdentidad.get(identidad)
    if (!suyas) {
      suyas = { ...deps, db: deps.db.como('guias_api', [identidad.comercioId]).de(identidad.comercioId) }
      porIdentidad.set(identidad, suyas)
    }
    return suyas
  }
}

const ejecutar = (
  operacion: Operacion,
  handlers: Handlers,
  depsDe: ReturnType<typeof crearDepsDe>,
  testigo: Testigo | undefined,
): RequestHandler => {
  // Types end where the map is indexed by a value: from here on the contract's validation stands for them.
  const handler = handlers[operacion.id] as unknown as HandlerCualquiera
  return async (req, res) => {
    const { status, body, headers } = await handler(
      {
        path: req.params,
        query: req.query,
        headers: req.headers,
        body: req.body,
        identidad: req.solicitud.identidad ?? null,
        cookie: req.headers.cookie ?? '',
        idSolicitud: req.solicitud.id,
        red: redDe(req.ip ?? ''),
        soloCabeceras: req.solicitud.metodo === 'HEAD',
        reenviada: () => esReenviada(req),
        alAbandonar: () => alCerrar(res),
      },
      depsDe(req.solicitud.identidad),
    )
    const enviada = responder(req, res, status, body, headers)
    testigo?.(req, enviada)
  }
}
