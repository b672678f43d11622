// A guide's code that is shown somewhere is one that the service could have given: whoever tries it out, or writes a check
// of his own with it, must not be told that it is misspelt.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { normalizeGuideCode } from '../../server/platform/codes/guideCode.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SHOWN_FILES = [
  '{README,ARCHITECTURE,CONTRIBUTING,AGENTS,CHANGELOG,SECURITY}.md',
  'docs/**/*.md',
  'openapi/**/*.{yaml,md,ts}',
  'sdk/{README,CHANGELOG}.md',
  'sdk/{src,cli,ejemplos}/**/*',
  'server/generated/contract/{comercios,operaciones,publico,coleccion}.json',
]
/** Alone, or in the id of an event or of its delivery. An event of no guide ends in `_0` and has no code in it. */
const CODIGO = /(?<![\w-])(?:(?:avi_[0-9A-Z]{12}_|evt_)(?!\w+_0\b))?([0-9A-HJKMNP-TV-Z]{12})(?:_\d+)?(?![\w-])/g
/** One that is meant to name no guide: the contract's own vector, and a courier's misspelt one. */
const DE_NADIE = '7K3M9QX2A1B5'

it('every code of a guide that is printed has its check character', async () => {
  const bad: string[] = []
  let seen = 0
  for await (const input of glob(SHOWN_FILES, { cwd: ROOT, withFileTypes: true })) {
    if (!input.isFile()) continue
    const file = join(input.parentPath, input.name)
    for (const [, codigo = ''] of (await readFile(file, 'utf8')).matchAll(CODIGO)) {
      // Words in capitals and numbers of twelve digits are no codes.
      if (!/\d/.test(codigo) || !/[A-Z]/.test(codigo) || codigo === DE_NADIE) continue
      seen++
      if (normalizeGuideCode(codigo) !== codigo) bad.push(`${file}: ${codigo}`)
    }
  }
  expect(bad).toEqual([])
  expect(seen).toBeGreaterThan(300)
})
