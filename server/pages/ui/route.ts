import type { Express } from 'express'
import { Html, html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { COMPONENT_SHEET } from './view.ts'

/** Serves `/ui`, the sheet of all components. It is for developers: production does not serve it. */
export function serveComponentSheet(app: Express, front: Front) {
  const style = readGenerated('pages/ui/estilo.css').toString()
  const head = ownHead(new Html(style))
  servePage(
    app,
    '/ui',
    {
      headers: front.policyHeaders({ 'style-src': byDigest(style) }),
      head: () => head,
      front,
      failure: html`Vuelva a cargar la página.`,
      waitSeconds: () => 0,
      handle: async () => ({ status: 200, ...COMPONENT_SHEET }),
    },
    (rest) => rest !== '',
  )
}
