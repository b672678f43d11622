import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

it('the threat model names for each row a test that is there', () => {
  const rows = readFileSync(new URL('docs/amenazas.md', ROOT), 'utf8')
    .split('\n')
    .filter((line) => /^\| (?!\| (threat|here))(?!.*-{3})/.test(line))
    .map((line) => line.split('|').slice(1, -1))
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) {
    const mentionedNames = [...row.at(-1)!.matchAll(/`([^`]+)`/g)].map(([, mentionedName]) => mentionedName!)
    const pruebas = mentionedNames.filter((one) => !one.startsWith('npm run '))
    expect(pruebas.length, row.join('|')).toBeGreaterThan(0)
    for (const path of pruebas) {
      const place = path.startsWith('test/') ? path : `test/${path}{,/**/*}.test.ts`
      expect(globSync(place, { cwd: ROOT }), path).not.toEqual([])
    }
  }
})
