import { existsSync, globSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { testsOf } from '../../scripts/changedTests.ts'
import { ROOT } from '../../server/platform/root.ts'

const SMOKE = 'test/salud/comprobarDisponibilidad.test.ts'

describe('the selection of tests for changed files', () => {
  it.each([
    ['a file of the domain', ['server/domain/comercios/cambiar.ts'], ['test/comercios/', SMOKE]],
    ['two files of one folder', ['sdk/src/a.ts', 'sdk/cli/b.ts'], ['test/sdk/']],
    ['a test', ['test/comercios/crear.test.ts'], ['test/comercios/crear.test.ts']],
    ['a helper of one folder', ['test/webhooks/sending/simulation/pump.ts'], ['test/webhooks/']],
    ['a helper of all tests', ['test/environment.ts', 'sdk/src/a.ts'], ['test/']],
    ['a shared layer', ['server/platform/errors.ts', 'scripts/dev.ts'], ['test/']],
    ['a file of the domain that all nouns share', ['server/domain/deps.ts'], ['test/']],
    ['a script and a document', ['scripts/dev.ts', 'docs/escala.md'], ['test/docs/', 'test/scripts/']],
    ['nothing', [], []],
  ])('takes for %s the tests of its folder', (_what, changed, expected) => {
    expect(testsOf(changed)).toEqual(expected)
  })

  it('names only tests that exist', () => {
    const root = fileURLToPath(ROOT)
    const places = ['server', 'openapi', 'prisma', 'sdk', 'scripts', 'despliegue', 'docs', 'bench', 'test']
    const files = places.flatMap((place) =>
      globSync(`${root}/${place}/*{,/*}{,/*}/*.*`, { exclude: ['**/node_modules'] }),
    )
    const named = new Set(files.flatMap((path) => testsOf([relative(root, path).replaceAll('\\', '/')])))
    expect(named.size).toBeGreaterThan(40)
    expect([...named].filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([])
  })
})
