// Pictures of pages beside reviewed ones. A picture is compared only where it was taken: another version of the browser,
// or other letters, draw the same page in another way.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { evaluateIn } from './inspect.ts'

const FOLDER = new URL('reviewed/', import.meta.url)
const RECORD = new URL('record.json', FOLDER)

/** Share of the pixels that may differ, for the smoothing of curves and letters. */
export const TOLERANCE = 0.0005
/** Difference of one pixel's colour that counts, from 0 to 1. */
const COLOR_THRESHOLD = 0.1

/** Where a reviewed picture was taken. */
interface Origin {
  browser: string
  /** Widths of a text in the letters of the pages, in pixels. */
  letters: string
}

const readRecord = (): Record<string, Origin> => (existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {})

async function originOf(page: Page): Promise<Origin> {
  const letters = await evaluateIn<string>(
    page,
    `(() => { const pen = document.createElement('canvas').getContext('2d')
      return ['system-ui', 'ui-monospace, monospace'].map((family) => {
        pen.font = '400 100px ' + family
        return pen.measureText('Guías, señas: 7K3M').width.toFixed(1) }).join(' ') })()`,
  )
  return { browser: page.context().browser()!.version(), letters }
}

/** Takes a picture of the whole page, without what moves. */
export const takePicture = (page: Page): Promise<Buffer> =>
  page.screenshot({ fullPage: true, animations: 'disabled', caret: 'hide' })

const decode = async (picture: Buffer) => {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { data: new Uint8Array(data), width: info.width, height: info.height }
}

/** Returns the share of the pixels that differ, from 0 to 1, and a picture of them. Pictures of other sizes differ wholly. */
export async function comparePictures(taken: Buffer, reviewed: Buffer): Promise<{ share: number; difference: Buffer }> {
  const [now, before] = await Promise.all([decode(taken), decode(reviewed)])
  const { width, height } = before
  if (now.width !== width || now.height !== height) return { share: 1, difference: taken }
  const difference = new Uint8Array(width * height * 4)
  const count = pixelmatch(now.data, before.data, difference, width, height, { threshold: COLOR_THRESHOLD })
  const raw = { width, height, channels: 4 as const }
  return { share: count / (width * height), difference: await sharp(difference, { raw }).png().toBuffer() }
}

/**
 * Compares a page with its reviewed picture. With `REVIEW=1`, the page becomes the reviewed picture.
 * @returns the share of the pixels that differ; «not compared» with the reason, if the picture was taken elsewhere
 */
export async function compareWithReviewed(page: Page, name: string): Promise<number | string> {
  const origin = await originOf(page)
  const taken = await takePicture(page)
  const file = new URL(`${name}.webp`, FOLDER)
  const record = readRecord()
  if (process.env.REVIEW === '1') {
    writeFileSync(file, await sharp(taken).webp({ lossless: true, effort: 6 }).toBuffer())
    const sorted = Object.entries({ ...record, [name]: origin }).sort(([one], [other]) => (one < other ? -1 : 1))
    writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
    return 0
  }
  const reviewed = record[name]
  if (reviewed?.browser !== origin.browser) {
    return `not compared: reviewed in ${reviewed?.browser ?? 'no browser'}, this is ${origin.browser}`
  }
  if (reviewed.letters !== origin.letters) return 'not compared: reviewed with other letters'
  const { share, difference } = await comparePictures(taken, readFileSync(file))
  const folder = process.env.SCREENSHOTS
  if (share > TOLERANCE && folder) {
    writeFileSync(join(folder, `${name}-taken.png`), taken)
    writeFileSync(join(folder, `${name}-difference.png`), difference)
  }
  return share
}

/** Names of the reviewed pictures. */
export const reviewedNames = () => Object.keys(readRecord())

/** Path of the folder of the reviewed pictures. */
export const REVIEWED_FOLDER = fileURLToPath(FOLDER)
