import type { Express, Request } from 'express'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { servePage } from '../page.ts'
import { VISTA_PREVIA } from '../rastreo/route.ts'
import { byDigest } from '../response.ts'
import { FALLO_DE_INICIO, firstPage } from './view.ts'

/** Tells whether the client prefers JSON, as clients of the API do. For these the root path is an unknown operation. */
const pideJson = (req: Request) => req.accepts(['html', 'json']) === 'json'

/** Serves `/`, the service's first page. */
export function servirInicio(app: Express, fachada: Front) {
  const leer = (archivo: string) => readGenerated(`paginas/inicio/${archivo}`).toString()
  const [estilo, programa] = [leer('estilo.css'), leer('navegador.js')]
  const cabeza = ownHead(new Html(estilo))
  const contenido = firstPage(new Html(programa))
  servePage(
    app,
    '/',
    {
      cabeceras: {
        ...fachada.permisos({
          'style-src': byDigest(estilo),
          'script-src': byDigest(programa),
          'form-action': "'self'",
        }),
        Vary: 'Accept, Accept-Encoding',
      },
      cabeza: () => cabeza,
      fachada,
      previa: VISTA_PREVIA,
      fallo: FALLO_DE_INICIO,
      esperar: () => 0,
      atender: async () => ({ status: 200, ...contenido }),
    },
    (resto, req) => resto !== '' || pideJson(req),
  )
}
