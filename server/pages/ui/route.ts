import type { Express } from 'express'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html, html } from '../html.ts'
import { servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { COMPONENT_SHEET } from './view.ts'

/** Serves `/ui`, the sheet of all components. It is for developers: production does not serve it. */
export function serveComponentSheet(app: Express, fachada: Front) {
  const estilo = readGenerated('paginas/ui/estilo.css').toString()
  const cabeza = ownHead(new Html(estilo))
  servePage(
    app,
    '/ui',
    {
      cabeceras: fachada.permisos({ 'style-src': byDigest(estilo) }),
      cabeza: () => cabeza,
      fachada,
      fallo: html`Vuelva a cargar la página.`,
      esperar: () => 0,
      atender: async () => ({ status: 200, ...COMPONENT_SHEET }),
    },
    (resto) => resto !== '',
  )
}
