import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

const folder = mkdtempSync(join(inject('runFolder'), 'logos-'))

/** A file with those bytes. */
export function writeLogoFile(name: string, contenido: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, contenido)
  return path
}

/** A drawing of that size, which would run a program and load pictures if it were let. */
export const buildLogoSvg = (width: number, height: number, color = '#8a1538') =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" onload="alert(1)"><script>alert(1)</script><image x:href="file:///etc/passwd" width="9" height="9"/><rect width="${width}" height="${height}" rx="${Math.min(width, height) / 5}" fill="${color}"/><circle cx="${Math.min(width, height) / 2}" cy="${Math.min(width, height) / 2}" r="${Math.min(width, height) / 4}" fill="#f5c518"/></svg>`
