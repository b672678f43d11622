import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SMOKE_TEST, selectTests } from '../../scripts/changed/select.ts'
import { ROOT } from '../../server/platform/root.ts'
import { COMPLETO } from '../fabricas.ts'

const tests = (paths: readonly string[], source = '') => paths.map((path) => [path, source] as const)
// Not written as one path, because this file would count as an importer.
const SERVER = '../../server'
const modules = new Map([
  ...tests(['test/comercios/cambiar.test.ts', 'test/comercios/crear.test.ts'], "import { x } from '../entorno.ts'"),
  ...tests(Array.from({ length: 13 }, (_, i) => `test/webhooks/t${i}.test.ts`)),
  ...tests(['test/webhooks/crear.test.ts'], "import { y } from './webhooks.ts'"),
  ...tests(['test/webhooks/webhooks.ts'], "export { x } from '../entorno.ts'"),
  ...tests(['test/http/rutas.test.ts'], `const z = await import('${SERVER}/domain/comercios/cambiar.ts')`),
  ...tests(['test/entorno.ts', 'test/scripts/admin.test.ts', SMOKE_TEST]),
])
const select = (...changed: string[]) => selectTests(changed, modules)

describe('the selection of tests for changed files', () => {
  it('takes for a domain file its folder, its importers and one test of the whole service', () => {
    expect(select('server/domain/comercios/cambiar.ts')).toEqual({
      tests: ['test/comercios/cambiar.test.ts', 'test/comercios/crear.test.ts', 'test/http/rutas.test.ts', SMOKE_TEST],
      shared: [],
    })
  })

  it('takes for an operation of a large folder only the test of that operation', () => {
    expect(select('server/domain/webhooks/crear.ts').tests).toEqual([SMOKE_TEST, 'test/webhooks/crear.test.ts'])
    expect(select('server/domain/webhooks/pump.ts').tests).toHaveLength(15)
  })

  it('leaves shared layers to vitest', () => {
    const shared = ['server/platform/errors.ts', 'server/domain/deps.ts', 'server/main.ts']
    expect(select(...shared)).toEqual({ tests: [], shared })
  })

  it('takes a changed test, and the tests that use a changed helper through another one', () => {
    expect(select('test/comercios/crear.test.ts').tests).toEqual(['test/comercios/crear.test.ts'])
    expect(select('test/entorno.ts').tests).toEqual([
      'test/comercios/cambiar.test.ts',
      'test/comercios/crear.test.ts',
      'test/webhooks/crear.test.ts',
    ])
  })

  it('takes the tests of scripts for a script, and nothing for a deleted test', () => {
    expect(select('scripts/dev.ts').tests).toEqual(['test/scripts/admin.test.ts'])
    expect(select('test/comercios/gone.test.ts')).toEqual({ tests: [], shared: [] })
  })

  it('finds tests for every file of the domain and of the pages in this repository', COMPLETO, () => {
    const root = fileURLToPath(ROOT)
    const list = (pattern: string) =>
      globSync(`${root}/${pattern}`).map((path) => relative(root, path).replaceAll('\\', '/'))
    const all = new Map(list('test/**/*.ts').map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')]))
    expect(all.has(SMOKE_TEST)).toBe(true)
    const files = [...list('server/domain/*/**/*.ts'), ...list('server/pages/*/**/*.{ts,tsx,css}')]
    expect(files.length).toBeGreaterThan(100)
    const without = files.filter((path) => selectTests([path], all).tests.every((test) => test === SMOKE_TEST))
    expect(without).toEqual([])
  })
})
