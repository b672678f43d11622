// Tests stand where a reader looks for them: an operation's beside its handler's name, and none in a file that is too long.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { ROOT } from '../../server/platform/root.ts'

const leer = (archivo: string) => readFileSync(new URL(archivo, ROOT), 'utf8')

describe('an operation', () => {
  const handlers = leer('server/startup/handlers.ts')

  it.each(readOperations(readDocument()).map(({ id }) => id))(
    '%s has its tests at test/<slice>/<verb>.test.ts',
    (id) => {
      const [, archivo] = new RegExp(`import \\{ ${id} \\} from '\\.\\./domain/(.+)\\.ts'`).exec(handlers) ?? []
      const suyo = `test/${archivo}.test.ts`
      expect(existsSync(new URL(suyo, ROOT)), suyo).toBe(true)
    },
  )
})

it('no file of tests has more than 500 lines', () => {
  const largos = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
    (archivo) => leer(archivo).split('\n').length > 501,
  )
  expect(largos).toEqual([])
})
