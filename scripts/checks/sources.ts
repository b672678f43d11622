import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** TypeScript file of the server or the SDK. */
export interface Source {
  path: string
  file: ts.SourceFile
}

const FOLDERS = ['server', 'sdk/src', 'sdk/cli', 'sdk/pruebas', 'sdk/entries', 'sdk/mcp/src']

/** Returns the tracked files of server and SDK, parsed. */
export const readSources = (): Source[] =>
  execFileSync('git', ['ls-files', ...FOLDERS], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({
      path,
      file: ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true),
    }))

/** Returns the place of a node for a report, such as `server/main.ts:12`. */
export const placeOf = ({ path, file }: Source, node: ts.Node) =>
  `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`

/** Reports whether a node lies inside a function. */
export const isInFunction = ({ parent }: ts.Node): boolean =>
  parent !== undefined && (ts.isFunctionLike(parent) || isInFunction(parent))
