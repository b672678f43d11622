import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

const folder = mkdtempSync(join(inject('runFolder'), 'logos-'))

/** A file with those bytes. */
export function writeLogoFile(nombre: string, contenido: string | Buffer): string {
  const ruta = join(folder, nombre)
  writeFileSync(ruta, contenido)
  return ruta
}

/** A drawing of that size, which would run a program and load pictures if it were let. */
export const buildLogoSvg = (ancho: number, alto: number, color = '#8a1538') =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="${ancho}" height="${alto}" viewBox="0 0 ${ancho} ${alto}" onload="alert(1)"><script>alert(1)</script><image x:href="file:///etc/passwd" width="9" height="9"/><rect width="${ancho}" height="${alto}" rx="${Math.min(ancho, alto) / 5}" fill="${color}"/><circle cx="${Math.min(ancho, alto) / 2}" cy="${Math.min(ancho, alto) / 2}" r="${Math.min(ancho, alto) / 4}" fill="#f5c518"/></svg>`
