import type { Express } from 'express'
import type { Deps } from '../../domain/deps.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { answerCode } from '../codeForm.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { type RenderedPage, type Sheet, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { readEntrega } from './entrega.ts'
import { unknownPruebaPage, VERIFICATION_FAILED, verificationByCodePage, verificationPage } from './view.ts'

type VerificationDeps = Pick<Deps, 'db' | 'verificationLimit' | 'settings'>

/**
 * Serves `/verificar/{guia}`, which tells the holder of a PDF whether it is the guide's proof of delivery. The page
 * sends the digest of the PDF to an operation one path segment below, which the contract describes.
 */
export function serveVerification(app: Express, front: Front, deps: VerificationDeps) {
  const read = (archivo: string) => readGenerated(`pages/verify/${archivo}`).toString()
  const [style, program] = [read('estilo.css'), read('navegador.js')]
  const [head, script] = [ownHead(new Html(style)), new Html(program)]
  const page = {
    headers: front.policyHeaders({
      'style-src': byDigest(style),
      'script-src': byDigest(program),
      'connect-src': "'self'",
      'form-action': "'self'",
    }),
    head: () => head,
    front,
    failure: VERIFICATION_FAILED,
    waitSeconds: ({ red }) => deps.verificationLimit.take(red),
    async handle({ req, rest, root }) {
      if (req.path === '/') return find(req.query.guia, root)
      const code = normalizeGuideCode(rest)
      const entrega = code === undefined ? undefined : await readEntrega(deps, code)
      return entrega
        ? { status: 200, ...verificationPage(entrega, root, script) }
        : { status: 404, ...unknownPruebaPage(root) }
    },
  } satisfies RenderedPage
  servePage(app, '/verificar', page, (rest) => rest.includes('/'))
}

/** Asks for the code of the proof, and redirects from a typed code to its page. */
const find = (typedCode: unknown, root: string): Sheet =>
  answerCode(typedCode, {
    empty: { status: 200, ...verificationByCodePage(root) },
    unknown: (mal) => unknownPruebaPage(root, mal),
    below: `${root}verificar/`,
  })
