// Tests stand where a reader looks for them: an operation's beside its handler's name, and none in a file that is too long.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { ROOT } from '../../server/platform/root.ts'

const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8')

describe('an operation', () => {
  const handlers = read('server/startup/handlers.ts')

  it.each(readOperations(readDocument()).map(({ id }) => id))(
    '%s has its tests at test/<slice>/<verb>.test.ts',
    (id) => {
      const [, file] = new RegExp(`import \\{ ${id} \\} from '\\.\\./domain/(.+)\\.ts'`).exec(handlers) ?? []
      const testFile = `test/${file}.test.ts`
      expect(existsSync(new URL(testFile, ROOT)), testFile).toBe(true)
    },
  )
})

it('no file of tests has more than 500 lines', () => {
  const longItems = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) => read(file).split('\n').length > 501)
  expect(longItems).toEqual([])
})
