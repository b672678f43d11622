import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** Where a program of that name may be: Debian's own first. */
const listCandidates = (name: string) =>
  [...new Set(['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)])].map((folder) => join(folder, name))

/** The first program of that name on the PATH whose version is such a one; a machine without it says so, and skips. */
function findInterpreter(name: string, version: RegExp): string | undefined {
  const interpreterPath = listCandidates(name).find((programPath) =>
    version.test(spawnSync(programPath, ['--version'], { encoding: 'utf8' }).stdout ?? ''),
  )
  if (!interpreterPath)
    console.warn(`\n*** There is no ${name} (${version.source}) here: what needs it is NOT run. ***\n`)
  return interpreterPath
}

/** The lowest Node that the SDK names. */
export const NODE_20 = findInterpreter('node', /^v20\./)
export const PYTHON = findInterpreter('python3', /^Python 3\./)
export const PHP = findInterpreter('php', /^PHP 8\./)

/** The first Python on the PATH that has a module; a machine without it says so, and skips. */
function pythonWith(pythonModule: string, skippedTests: string): string | undefined {
  const pythonPath = listCandidates('python3').find(
    (programPath) => spawnSync(programPath, ['-c', `import ${pythonModule}`]).status === 0,
  )
  if (PYTHON && !pythonPath) console.warn(`\n*** No Python here has ${pythonModule}: ${skippedTests} NOT run. ***\n`)
  return pythonPath
}

/** Python with the library that proofs are checked with (Debian's python3-cryptography). */
export const PYTHON_CON_CRYPTOGRAPHY = pythonWith('cryptography', 'prueba.py is')
/** Python with what quicktype's models read instants with (Debian's python3-dateutil). */
export const PYTHON_WITH_DATEUTIL = pythonWith('dateutil', "quicktype's models are")
