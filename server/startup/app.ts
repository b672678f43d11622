import type { RequestListener } from 'node:http'
import express from 'express'
import type { Contrato } from '../api/contract/load.ts'
import { enlazarRutas } from '../api/contract/routes.ts'
import { crearConocedor } from '../api/http/authenticate.ts'
import { guardNetwork } from '../api/http/networkGate.ts'
import { presentarProblemas, rutaDesconocida, type Testigo } from '../api/http/problems.ts'
import { limitarDesconocidas } from '../api/http/rateLimit.ts'
import { identificarSolicitud } from '../api/http/request.ts'
import { conDestinoNormal, exigirDestino } from '../api/http/requestTarget.ts'
import type { Deps } from '../domain/deps.ts'
import { crearAutenticadores } from '../domain/llaves/autenticadores.ts'
import { paginaDeEspera } from '../pages/page.ts'
import { type OpcionesDePaginas, servirPaginas } from '../pages/pages.ts'
import { handlers } from './handlers.ts'

interface OpcionesDeApp extends Partial<OpcionesDePaginas> {
  testigo?: Testigo
}

/** Creates the service as an Express app that does not listen yet. */
export function crearApp(
  { operaciones, validacion, comprobar }: Contrato,
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
  app.use(identificarSolicitud(deps, () => deps.nuevoId().id))
  app.use(exigirDestino(operaciones))
  const fachada = servirPaginas(app, deps, { buzon })
  const autenticadores = crearAutenticadores(deps)
  enlazarRutas(app, {
    operaciones,
    comprobar,
    handlers,
    autenticadores,
    deps: { ...deps, validacion },
    testigo,
  })
  app.use(limitarDesconocidas(deps.limites), rutaDesconocida)
  app.use(presentarProblemas(deps.ajustes.urlPublica, testigo))
  const guarded = guardNetwork(app, {
    operaciones,
    limites: deps.limites,
    proxies: deps.ajustes.proxies,
    urlPublica: deps.ajustes.urlPublica,
    isKnown: crearConocedor(autenticadores, deps.navegador),
    refusals: deps.refusals,
    page: (segundos) => paginaDeEspera(fachada, deps.ajustes.urlPublica, segundos),
    testigo,
  })
  return conDestinoNormal(guarded)
}
