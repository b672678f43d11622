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
import { createSesionUse } from '../domain/equipo/sessions/idleTimeout.ts'
import { createNetworkNotice, type NetworkNotice } from '../domain/equipo/sessions/otherNetwork.ts'
import { createAuthenticators } from '../domain/llaves/authenticators.ts'
import { Front } from '../pages/front.ts'
import { createUnknownPage } from '../pages/home/unknown.ts'
import { waitPage } from '../pages/page.ts'
import { type PageOptions, servePages } from '../pages/pages.ts'
import { handlers } from './handlers.ts'

interface AppOptions extends Partial<Pick<PageOptions, 'buzon'>> {
  witness?: ResponseWitness
}

/** Creates the service as an Express app that does not listen yet. */
export function createApp(
  { operaciones, validacion }: Contract,
  deps: Deps,
  { buzon = false, witness }: AppOptions = {},
): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  // Express admits other spellings of a path by default. Only the spelling in the contract and in the pages is valid.
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', 'simple')
  app.set('trust proxy', deps.settings.proxies)
  app.use(identifyRequest(deps, () => deps.newId().id))
  const front = new Front(deps.settings.brand, deps.settings.publicUrl)
  const unknownPage = createUnknownPage(front, deps.settings.publicUrl)
  app.use(requireTarget(operaciones))
  app.use(unknownPage.refused)
  const authenticators = createAuthenticators(deps)
  const notifyOfNetwork = createNetworkNotice(deps)
  const recordSesionUse = createSesionUse(deps)
  const onSesionUse: NetworkNotice = (sesion, use) => {
    if (!use.isRefresh) recordSesionUse(sesion)
    notifyOfNetwork(sesion, use)
  }
  const binding = { operaciones, handlers, authenticators, deps: { ...deps, validacion, onSesionUse } }
  bindRoutes(app, { ...binding, witness })
  servePages(app, deps, { front, buzon, call: createCalls(binding), onSesionUse })
  app.use(limitUnknown(deps.limits))
  app.use(unknownPage.unknown)
  app.use(createUnknownRoute(operaciones))
  app.use(unknownPage.undecodable)
  app.use(unknownPage.invalidLink)
  app.use(renderProblems(deps.settings.publicUrl, witness))
  const guarded = guardNetwork(app, {
    operaciones,
    limits: deps.limits,
    proxies: deps.settings.proxies,
    publicUrl: deps.settings.publicUrl,
    isKnown: createCredentialCheck(authenticators, deps.browser),
    refusals: deps.refusals,
    metrics: deps.metrics,
    page: (seconds) => waitPage(front, deps.settings.publicUrl, seconds),
    witness,
  })
  return withNormalTarget(guarded)
}
