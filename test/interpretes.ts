import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** The first program of that name on the PATH whose version is such a one; a machine without it says so, and skips. */
function hallar(nombre: string, version: RegExp): string | undefined {
  const hallado = [...new Set(['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)])]
    .map((carpeta) => join(carpeta, nombre))
    .find((programa) => version.test(spawnSync(programa, ['--version'], { encoding: 'utf8' }).stdout ?? ''))
  if (!hallado) console.warn(`\n*** There is no ${nombre} (${version.source}) here: what needs it is NOT run. ***\n`)
  return hallado
}

/** The lowest Node that the SDK names. */
export const NODE_20 = hallar('node', /^v20\./)
export const PYTHON = hallar('python3', /^Python 3\./)
export const PHP = hallar('php', /^PHP 8\./)

/** Python with the library that proofs are checked with (Debian's python3-cryptography). */
export const PYTHON_CON_CRYPTOGRAPHY =
  PYTHON && spawnSync(PYTHON, ['-c', 'import cryptography']).status === 0 ? PYTHON : undefined
if (PYTHON && !PYTHON_CON_CRYPTOGRAPHY)
  console.warn('\n*** This Python has no cryptography: prueba.py is NOT run. ***\n')
