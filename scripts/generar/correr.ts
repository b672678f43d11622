import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { RAIZ } from './lugares.ts'

const ejecutar = promisify(execFile)

const binarios = fileURLToPath(new URL('node_modules/.bin', RAIZ))
/**
 * Runs an installed program in the repository's root.
 * @throws with the program's whole output, if it fails
 */
export const correrEnRaiz = async (programa: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
  try {
    // The programs start with `#!/usr/bin/env node`, which must find this repository's Node and not the system's.
    const PATH = binarios + delimiter + (process.env.PATH ?? '')
    await ejecutar(join(binarios, programa), args, {
      cwd: RAIZ,
      env: { ...process.env, PATH, ...env },
      maxBuffer: 1 << 26,
    })
  } catch (causa) {
    const { stdout = '', stderr = '' } = causa as { stdout?: string; stderr?: string }
    throw new Error(`${programa} ${args[0]} failed\n${stdout}${stderr}`)
  }
}
