import type { Express, Request } from 'express'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { servePage } from '../page.ts'
import { VISTA_PREVIA } from '../rastreo/route.ts'
import { byDigest } from '../response.ts'
import { FALLO_DE_INICIO, PAGINA_DE_INICIO } from './view.ts'

/** Tells whether the client prefers JSON. Clients of the API do, and in the API the root is not an operation. */
const pideJson = (req: Request) => req.accepts(['html', 'json']) === 'json'

/** Serves `/`, the service's first page. */
export function servirInicio(app: Express, fachada: Front) {
  const estilo = readGenerated('paginas/inicio/estilo.css').toString()
  const cabeza = ownHead(new Html(estilo))
  servePage(
    app,
    '/',
    {
      cabeceras: {
        ...fachada.permisos({ 'style-src': byDigest(estilo), 'form-action': "'self'" }),
        Vary: 'Accept, Accept-Encoding',
      },
      cabeza: () => cabeza,
      fachada,
      previa: VISTA_PREVIA,
      fallo: FALLO_DE_INICIO,
      esperar: () => 0,
      atender: async () => ({ status: 200, ...PAGINA_DE_INICIO }),
    },
    (resto, req) => resto !== '' || pideJson(req),
  )
}
