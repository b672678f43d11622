// Generates the drawings of the pages' icons from the package lucide-static.
import { readFile, writeFile } from 'node:fs/promises'
import { ICON_NAMES } from '../../server/pages/ui/iconNames.ts'
import { CARPETA, RAIZ } from './lugares.ts'

/** Converts an icon's name to that of lucide's component: `undo-2` becomes `Undo2`. */
const constante = (nombre: string) => nombre.replace(/(?:^|-)(\w)/g, (_todo, letra: string) => letra.toUpperCase())

/**
 * Returns the shapes inside an icon's SVG. `icon.css` sets the common attributes once.
 * @throws if the file is not in the form of lucide-static
 */
function formas(svg: string): string {
  const [, dentro] = /<svg[^>]*>([\s\S]+)<\/svg>/.exec(svg) ?? []
  if (!dentro || !svg.includes('viewBox="0 0 24 24"')) throw new Error('lucide-static has icons of another form')
  return dentro.replace(/\s+/g, ' ').replaceAll('> <', '><').replaceAll(' />', '/>').trim()
}

/** Writes `iconos.ts`, with one constant for each icon. */
export async function generarIconos() {
  const lineas = await Promise.all(
    ICON_NAMES.map(async (nombre) => {
      const svg = await readFile(new URL(`node_modules/lucide-static/icons/${nombre}.svg`, RAIZ), 'utf8')
      return `export const ${constante(nombre)} = ${JSON.stringify(formas(svg))}\n`
    }),
  )
  const origen = '// Generated from lucide-static (ISC) by scripts/generar/iconos.ts.\n'
  await writeFile(new URL('iconos.ts', CARPETA), origen + lineas.join(''))
}
