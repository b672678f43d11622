// Generates the drawings of the pages' icons from the package lucide-static.
import { readFile, writeFile } from 'node:fs/promises'
import { ICON_NAMES } from '../../server/pages/ui/iconNames.ts'
import { GENERATED_FOLDER, REPOSITORY_URL } from './places.ts'

/** Converts an icon's name to that of lucide's component: `undo-2` becomes `Undo2`. */
const constantName = (name: string) => name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase())

/**
 * Returns the shapes inside an icon's SVG. `icon.css` sets the common attributes once.
 * @throws if the file is not in the form of lucide-static
 */
function shapes(svg: string): string {
  const [, content] = /<svg[^>]*>([\s\S]+)<\/svg>/.exec(svg) ?? []
  if (!content || !svg.includes('viewBox="0 0 24 24"')) throw new Error('lucide-static has icons of another form')
  return content.replace(/\s+/g, ' ').replaceAll('> <', '><').replaceAll(' />', '/>').trim()
}

/** Writes `icons.ts`, with one constant for each icon. */
export async function generateIcons() {
  const lines = await Promise.all(
    ICON_NAMES.map(async (name) => {
      const svg = await readFile(new URL(`node_modules/lucide-static/icons/${name}.svg`, REPOSITORY_URL), 'utf8')
      return `export const ${constantName(name)} = ${JSON.stringify(shapes(svg))}\n`
    }),
  )
  const origin = '// Generated from lucide-static (ISC) by scripts/generate/icons.ts.\n'
  await writeFile(new URL('icons.ts', GENERATED_FOLDER), origin + lines.join(''))
}
