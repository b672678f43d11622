/** Selection of tests for changed files. Paths are relative to the root, with slashes. */
import { dirname, posix } from 'node:path'

/** Test that starts the whole service; part of every selection for the server. */
export const SMOKE_TEST = 'test/salud/comprobarDisponibilidad.test.ts'
/**
 * Maximum number of test files of a folder. In a larger folder, a change of an operation runs only the operation's own
 * test.
 */
const MAX_FOLDER_FILES = 12

/**
 * Tests of files outside `server/domain/`: folders or files below `test/`, by pattern of the changed path. The first
 * match counts.
 */
const TESTS_OF: readonly [RegExp, readonly string[]][] = [
  [/^server\/pages\/(?:docs|consola|inicio)\//, ['test/docs/']],
  [/^server\/pages\//, ['test/paginas/']],
  [/^openapi\/comercios\/muestras\//, ['test/docs/muestras.test.ts']],
  [/^openapi\//, ['test/contrato/', SMOKE_TEST]],
  [/^prisma\//, ['test/db/', SMOKE_TEST]],
  [/^sdk\//, ['test/sdk/']],
  [/^scripts\/documentacion\//, ['test/docs/']],
  [/^(?:scripts\/|package\.json$|\.github\/|\.vscode\/)/, ['test/scripts/']],
  [/^despliegue\//, ['test/despliegue/']],
  [/^(?:docs\/|[A-Z]+\.md$)/, ['test/docs/']],
]

/** Layers that every operation uses. */
const SHARED = /^server\/(?:(?:api|data|platform|startup)\/|domain\/[^/]+\.ts$|[^/]+\.ts$)/

export interface Selection {
  /** Test files to run. */
  tests: string[]
  /** Changed files of shared layers: `vitest related` finds their tests. */
  shared: string[]
}

/** Relative paths that a module imports, resolved. */
function importsOf(path: string, source: string): string[] {
  const found = source.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)
  return [...found].map(([, target]) => posix.join(dirname(path), target!))
}

/**
 * Selects the tests for changed files.
 * @param modules sources of all modules below `test/`, by path
 */
export function selectTests(changed: readonly string[], modules: ReadonlyMap<string, string>): Selection {
  const importers = new Map<string, string[]>()
  for (const [path, source] of modules)
    for (const target of importsOf(path, source)) importers.set(target, [...(importers.get(target) ?? []), path])
  const tests = new Set<string>()
  const isTest = (path: string) => path.endsWith('.test.ts')
  const testsBelow = (place: string) => [...modules.keys()].filter((path) => isTest(path) && path.startsWith(place))
  const add = (paths: readonly string[]) => {
    for (const path of paths) tests.add(path)
  }
  /** Adds a test, or the tests that import a helper, also through other helpers. */
  const addUsers = (path: string, seen = new Set<string>()) => {
    if (seen.has(path)) return
    seen.add(path)
    if (isTest(path) && modules.has(path)) tests.add(path)
    for (const importer of importers.get(path) ?? []) addUsers(importer, seen)
  }
  const addDomain = (noun: string, file: string) => {
    const own = `test/${noun}/${file}.test.ts`
    const folder = testsBelow(`test/${noun}/`)
    add(folder.length > MAX_FOLDER_FILES && modules.has(own) ? [own] : folder)
    tests.add(SMOKE_TEST)
  }
  const shared: string[] = []
  for (const path of changed) {
    if (SHARED.test(path)) {
      shared.push(path)
      continue
    }
    addUsers(path)
    const [, noun, file] = /^server\/domain\/([^/]+)\/(?:.*\/)?([^/]+?)\.\w+$/.exec(path) ?? []
    if (noun && file) addDomain(noun, file)
    for (const place of TESTS_OF.find(([pattern]) => pattern.test(path))?.[1] ?? []) add(testsBelow(place))
  }
  return { tests: [...tests].sort(), shared }
}
