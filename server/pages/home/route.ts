import type { Express, Request } from 'express'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { ownHead, type PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { RASTREO_PREVIEW } from '../tracking/route.ts'
import { firstPage, HOME_FAILED, shopPage } from './view.ts'

/** Tells whether the client prefers JSON, as clients of the API do. For these the page is an unknown operation. */
const wantsJson = (req: Request) => req.accepts(['html', 'json']) === 'json'

/** Serves `/`, the service's first page, and `/comercio`, the page for shops. */
export function serveHome(app: Express, front: Front) {
  const read = (archivo: string) => readGenerated(`pages/home/${archivo}`).toString()
  const [style, program] = [read('estilo.css'), read('navegador.js')]
  const head = ownHead(new Html(style))
  const first = firstPage(new Html(program))
  const pages: Record<string, (root: string) => PageContent> = {
    '/': () => first,
    '/comercio': (root) => shopPage(front, root),
  }
  for (const [path, contentAt] of Object.entries(pages))
    servePage(
      app,
      path,
      {
        headers: {
          ...front.policyHeaders({
            'style-src': byDigest(style),
            'script-src': byDigest(program),
            'form-action': "'self'",
          }),
          Vary: 'Accept, Accept-Encoding',
        },
        head: () => head,
        front,
        preview: RASTREO_PREVIEW,
        failure: HOME_FAILED,
        waitSeconds: () => 0,
        handle: async ({ root }) => ({ status: 200, ...contentAt(root) }),
      },
      (rest, req) => rest !== '' || wantsJson(req),
    )
}
