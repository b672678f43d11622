import type { RequestListener } from 'node:http'
import express from 'express'
import type { Contrato } from './contrato/cargar.ts'
import { enlazarRutas } from './contrato/rutas.ts'
import type { Deps } from './deps.ts'
import { handlers } from './handlers.ts'
import { crearConocedor } from './http/autenticar.ts'
import { conDestinoNormal, exigirDestino } from './http/destino.ts'
import { limitarDesconocidas } from './http/limitar.ts'
import { guardNetwork } from './http/networkGate.ts'
import { presentarProblemas, rutaDesconocida, type Testigo } from './http/problemas.ts'
import { identificarSolicitud } from './http/solicitud.ts'
import { crearAutenticadores } from './llaves/autenticadores.ts'
import { paginaDeEspera } from './paginas/pagina.ts'
import { type OpcionesDePaginas, servirPaginas } from './paginas/paginas.ts'

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
