import type { RequestListener } from 'node:http'
import express from 'express'
import { createCalls } from '../api/contract/calls.ts'
import type { Contract } from '../api/contract/load.ts'
import { bindRoutes } from '../api/contract/routes.ts'
import { createCredentialCheck } from '../api/http/authenticate.ts'
import { guardNetwork } from '../api/http/networkGate.ts'
import { createUnknownRoute, type ResponseWitness, renderProblems } from '../api/http/problems.ts'
import { limitUnknown } from '../api/http/rateLimit.ts'
import { identifyRequest } from '../api/http/request.ts'
import { requireTarget, withNormalTarget } from '../api/http/requestTarget.ts'
import type { Deps } from '../domain/deps.ts'
import { crearUsoDeSesion } from '../domain/equipo/inactividad.ts'
import { type AvisoDeRed, crearAvisoDeRed } from '../domain/equipo/otraRed.ts'
import { crearAutenticadores } from '../domain/llaves/autenticadores.ts'
import { Front } from '../pages/front.ts'
import { createUnknownPage } from '../pages/inicio/unknown.ts'
import { waitPage } from '../pages/page.ts'
import { type PageOptions, servePages } from '../pages/pages.ts'
import { handlers } from './handlers.ts'

interface OpcionesDeApp extends Partial<Pick<PageOptions, 'buzon'>> {
  testigo?: ResponseWitness
}

/** Creates the service as an Express app that does not listen yet. */
export function createApp(
  { operaciones, validacion, comprobar }: Contract,
  deps: Deps,
  { buzon = false, testigo }: OpcionesDeApp = {},
): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  // Express admits other spellings of a path by default. Only the spelling in the contract and in the pages is valid.
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', 'simple')
  app.set('trust proxy', deps.ajustes.proxies)
  app.use(identifyRequest(deps, () => deps.nuevoId().id))
  const fachada = new Front(deps.ajustes.marca, deps.ajustes.urlPublica)
  const unknownPage = createUnknownPage(fachada, deps.ajustes.urlPublica, operaciones)
  app.use(requireTarget(operaciones))
  app.use(unknownPage.refused)
  const autenticadores = crearAutenticadores(deps)
  const avisarDeRed = crearAvisoDeRed(deps)
  const usarSesion = crearUsoDeSesion(deps)
  const alUsarSesion: AvisoDeRed = (sesion, uso) => {
    if (!uso.refresco) usarSesion(sesion)
    avisarDeRed(sesion, uso)
  }
  const binding = { operaciones, comprobar, handlers, autenticadores, deps: { ...deps, validacion, alUsarSesion } }
  servePages(app, deps, { fachada, buzon, call: createCalls(binding), alUsarSesion })
  bindRoutes(app, { ...binding, testigo })
  app.use(limitUnknown(deps.limites))
  app.use(unknownPage.unknown)
  app.use(createUnknownRoute(operaciones))
  app.use(unknownPage.undecodable)
  app.use(unknownPage.invalidLink)
  app.use(renderProblems(deps.ajustes.urlPublica, testigo))
  const guarded = guardNetwork(app, {
    operaciones,
    limites: deps.limites,
    proxies: deps.ajustes.proxies,
    urlPublica: deps.ajustes.urlPublica,
    isKnown: createCredentialCheck(autenticadores, deps.navegador),
    refusals: deps.refusals,
    metricas: deps.metricas,
    page: (segundos) => waitPage(fachada, deps.ajustes.urlPublica, segundos),
    testigo,
  })
  return withNormalTarget(guarded)
}
