import type { Express, Request } from 'express'
import { leerGenerado } from '../assets.ts'
import { cabezaPropia } from '../frame.ts'
import type { Fachada } from '../front.ts'
import { Html } from '../html.ts'
import { servirPagina } from '../page.ts'
import { VISTA_PREVIA } from '../rastreo/route.ts'
import { porHuella } from '../response.ts'
import { FALLO, PAGINA_DE_INICIO } from './view.ts'

/** Tells whether the client prefers JSON. Clients of the API do, and in the API the root is not an operation. */
const pideJson = (req: Request) => req.accepts(['html', 'json']) === 'json'

/** Serves `/`, the service's first page. */
export function servirInicio(app: Express, fachada: Fachada) {
  const estilo = leerGenerado('paginas/inicio/estilo.css').toString()
  const cabeza = cabezaPropia(new Html(estilo))
  servirPagina(
    app,
    '/',
    {
      cabeceras: {
        ...fachada.permisos({ 'style-src': porHuella(estilo), 'form-action': "'self'" }),
        Vary: 'Accept, Accept-Encoding',
      },
      cabeza: () => cabeza,
      fachada,
      previa: VISTA_PREVIA,
      fallo: FALLO,
      esperar: () => 0,
      atender: async () => ({ status: 200, ...PAGINA_DE_INICIO }),
    },
    (resto, req) => resto !== '' || pideJson(req),
  )
}
