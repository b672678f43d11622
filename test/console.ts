import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { runLine } from '../scripts/admin/console.ts'
import { MASTER_KEY, type TestEnvironment } from './environment.ts'

/** Runs a line of the console in this process: the same as `npm run admin`, but for the start of Node. */
export async function runInProcess(args: readonly string[], env: Record<string, string>) {
  const captured = { output: '', errores: '' }
  const [outputStream, errores] = (['output', 'errores'] as const).map(
    (streamName) =>
      new Writable({
        write(chunk, _encoding, listo) {
          captured[streamName] += chunk
          listo()
        },
      }),
  )
  const codigo = await runLine([...args], env, new Console(outputStream!, errores))
  return { codigo, ...captured }
}

/** Returns the environment of a console for a test's service. */
export const consoleEnvironment = ({ databaseUrl, dataDir }: Pick<TestEnvironment, 'databaseUrl' | 'dataDir'>) => ({
  DATABASE_URL: databaseUrl,
  MASTER_KEYS: MASTER_KEY,
  DATA_DIR: dataDir,
})
