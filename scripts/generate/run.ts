import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { REPOSITORY_URL } from './places.ts'

const execute = promisify(execFile)

const binaries = fileURLToPath(new URL('node_modules/.bin', REPOSITORY_URL))
/**
 * Runs an installed program in the repository's root.
 * @throws with the program's whole output, if it fails
 */
export const runInRoot = async (program: string, args: string[], env: NodeJS.ProcessEnv = {}) => {
  try {
    // The programs start with `#!/usr/bin/env node`, which must find this repository's Node and not the system's.
    const PATH = binaries + delimiter + (process.env.PATH ?? '')
    await execute(join(binaries, program), args, {
      cwd: REPOSITORY_URL,
      env: { ...process.env, PATH, ...env },
      maxBuffer: 1 << 26,
    })
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args[0]} failed\n${stdout}${stderr}`)
  }
}
