import { spawn } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'

interface RunResult {
  /** null: it was still running when it was stopped. */
  codigo: number | null
  output: string
  errores: string
}
interface Opciones {
  env?: Record<string, string>
  cwd?: string
  /** Lines that end it, once all of them were written. */
  hasta?: readonly string[]
}

/** Runs a program as a reader would, with everything that it starts; stops all of it in the end. */
export function runProgram(
  [program = '', ...args]: string[],
  { env = {}, cwd, hasta }: Opciones = {},
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: cwd ?? fileURLToPath(ROOT),
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...CHILD_ENVIRONMENT, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const result: RunResult = { codigo: null, output: '', errores: '' }
    const stop = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {
        // Everything in it has ended.
      }
    }
    const timer = setTimeout(stop, 120_000)
    child.stdout.on('data', (chunk) => {
      result.output += chunk
      const lines = result.output.split('\n')
      if (hasta?.every((line) => lines.includes(line))) stop()
    })
    child.stderr.on('data', (chunk) => {
      result.errores += chunk
    })
    child.on('error', reject)
    child.on('exit', (codigo) => {
      result.codigo = codigo
      // What it left in the background holds its output open: with lines to wait for, they decide.
      if (!hasta) stop()
    })
    child.on('close', () => {
      clearTimeout(timer)
      resolve(result)
    })
  })
}

/** Runs a TypeScript module with this Node, in a folder of its own that finds `@guias/sdk`. */
export function runTypeScript(codigo: string, options: Opciones = {}) {
  const cwd = mkdtempSync(join(inject('runFolder'), 'muestra-'))
  symlinkSync(fileURLToPath(new URL('node_modules', ROOT)), join(cwd, 'node_modules'))
  return runProgram([process.execPath, '--input-type=module-typescript', '--no-warnings', '--eval', codigo], {
    cwd,
    ...options,
  })
}
