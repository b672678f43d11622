import { withRelativeDays } from '../../platform/time/relativeDays.ts'
import { type Asset, readGenerated } from '../assets.ts'
import type { Front } from '../front.ts'
import { byDigest, dailyBody, HTML, PUBLIC_HEADERS } from '../response.ts'
import { withAddress } from './address.ts'
import { THEME_SCRIPT } from './bar.ts'
import { type Chapters, chapterPage } from './chapter.ts'
import { readDocsBar } from './files.ts'

const readChapters = (fill: (text: string) => string): Chapters =>
  JSON.parse(fill(readGenerated('documentation/capitulos.json').toString()))

/**
 * Returns the pages of the guide's chapters. They carry the brand, the service's own address and days near today, so they
 * are complete without another request; each is made at its first request of a day.
 * @param programPath path of their program from the service root
 * @param today returns the present day, such as «2026-11-25»
 */
export function chapterFiles(front: Front, publicUrl: string, today: () => string, programPath: string) {
  const style = readGenerated('pages/docs/chapter.css').toString()
  const frame = { front, style, programPath, bar: readDocsBar(front, '../') }
  const headers = {
    ...PUBLIC_HEADERS,
    ...front.policyHeaders({
      'script-src': `'self' ${byDigest(THEME_SCRIPT)}`,
      'style-src': byDigest(style),
      'connect-src': "'self'",
    }),
  }
  return readChapters((text) => text).chapters.map(({ nombre }, i): [string, Asset] => {
    const body = dailyBody(today, (day) => {
      const all = readChapters((text) => withRelativeDays(withAddress(text, publicUrl), day))
      return chapterPage(all, all.chapters[i]!, frame)
    })
    return [`/docs/${nombre}`, { tipo: HTML, body, headers }]
  })
}
