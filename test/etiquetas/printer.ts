import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import sharp from 'sharp'
import type { ready } from 'zpl-renderer-js'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { DOTS_PER_MM, type Resolution } from '../../server/platform/zpl/zpl.ts'

const require = createRequire(import.meta.url)
// Vite would read the module's 9 MB, and look for a map that the package does not have.
const renderer: { ready: typeof ready } = require('zpl-renderer-js')
const wasm = require.resolve('zxing-wasm/reader/zxing_reader.wasm')

/** Prints a file of ZPL as a label printer does, and returns the picture of each label (PNG). */
export async function print(zpl: Buffer, ppp: Resolution): Promise<Buffer[]> {
  const { api } = await renderer.ready
  const pictures = await api.zplToBase64MultipleAsync(zpl.toString('ascii'), 100, 150, DOTS_PER_MM[ppp])
  return pictures.map((picture) => Buffer.from(picture, 'base64'))
}

/** Reads the symbols of a printed label as a scanner does, by their formats. */
export async function scan(png: Buffer): Promise<Record<string, string>> {
  prepareZXingModule({ overrides: { wasmBinary: (await readFile(wasm)).buffer as ArrayBuffer } })
  const read = await readBarcodes(png, { formats: ['Code128', 'QRCode'] })
  return Object.fromEntries(read.map(({ format, text }) => [format, text]))
}

/** Returns the ink of a printed label: its share of the label, and the outermost dots with ink. */
export async function inkOf(png: Buffer) {
  const { data, info } = await sharp(png).toColourspace('b-w').removeAlpha().raw().toBuffer({ resolveWithObject: true })
  let dots = 0
  const edges = { left: info.width, top: info.height, right: 0, bottom: 0 }
  for (const [i, grey] of data.entries()) {
    if (grey >= 128) continue
    dots++
    const [x, y] = [i % info.width, Math.floor(i / info.width)]
    edges.left = Math.min(edges.left, x)
    edges.right = Math.max(edges.right, x)
    edges.top = Math.min(edges.top, y)
    edges.bottom = Math.max(edges.bottom, y)
  }
  return { width: info.width, height: info.height, share: dots / data.length, ...edges }
}

/** Returns the texts of a file of ZPL, as the printer decodes them. */
export const textsOf = (zpl: Buffer): string[] =>
  [...zpl.toString('ascii').matchAll(/\^A0N,\d+,\d+\^FH\^FD([^^~]*)\^FS/g)].map(([, data = '']) =>
    Buffer.from(
      data.replace(/_([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString('utf8'),
  )
