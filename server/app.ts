import type { RequestListener } from 'node:http'
import express from 'express'
import type { Contrato } from './contrato/cargar.ts'
import { enlazarRutas } from './contrato/rutas.ts'
import type { Deps } from './deps.ts'
import { handlers } from './handlers.ts'
import { conDestinoNormal, exigirDestino } from './http/destino.ts'
import { limitarPaginas } from './http/limitar.ts'
import { presentarProblemas, rutaDesconocida, type Testigo } from './http/problemas.ts'
import { identificarSolicitud } from './http/solicitud.ts'
import { crearAutenticadores } from './llaves/autenticadores.ts'
import { type OpcionesDePaginas, servirPaginas } from './paginas/paginas.ts'

interface OpcionesDeApp extends Partial<OpcionesDePaginas> {
  testigo?: Testigo
}

/** The service as an Express app that doesn't listen, ready to be given to a server. */
export function crearApp(
  { operaciones, validacion, comprobar }: Contrato,
  deps: Deps,
  { buzon = false, testigo }: OpcionesDeApp = {},
): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.set('trust proxy', deps.ajustes.proxies)
  app.use(identificarSolicitud(deps.log, () => deps.nuevoId().id))
  app.use(exigirDestino(operaciones))
  const { paginas, desconocidas } = limitarPaginas(operaciones, deps.limites)
  app.use(paginas)
  servirPaginas(app, deps, { buzon })
  enlazarRutas(app, {
    operaciones,
    comprobar,
    handlers,
    autenticadores: crearAutenticadores(deps),
    deps: { ...deps, validacion },
    testigo,
  })
  app.use(desconocidas, rutaDesconocida)
  app.use(presentarProblemas(deps.ajustes.urlPublica, testigo))
  return conDestinoNormal(app)
}
