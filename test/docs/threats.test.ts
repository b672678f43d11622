import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

it('the threat model names for each row a test that is there', () => {
  const filas = readFileSync(new URL('docs/amenazas.md', ROOT), 'utf8')
    .split('\n')
    .filter((linea) => /^\| (?!\| (threat|here))(?!.*-{3})/.test(linea))
    .map((linea) => linea.split('|').slice(1, -1))
  expect(filas.length).toBeGreaterThan(25)
  for (const fila of filas) {
    const nombradas = [...fila.at(-1)!.matchAll(/`([^`]+)`/g)].map(([, nombrada]) => nombrada!)
    const pruebas = nombradas.filter((una) => !una.startsWith('npm run '))
    expect(pruebas.length, fila.join('|')).toBeGreaterThan(0)
    for (const ruta of pruebas) {
      const lugar = ruta.startsWith('test/') ? ruta : `test/${ruta}{,/**/*}.test.ts`
      expect(globSync(lugar, { cwd: ROOT }), ruta).not.toEqual([])
    }
  }
})
