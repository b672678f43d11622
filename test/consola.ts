import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { correrLinea } from '../scripts/admin/consola.ts'
import { type Entorno, MASTER_KEY } from './entorno.ts'

/** Runs a line of the console in this process: the same as `npm run admin`, but for the start of Node. */
export async function correrAqui(args: readonly string[], env: Record<string, string>) {
  const dicho = { salida: '', errores: '' }
  const [salida, errores] = (['salida', 'errores'] as const).map(
    (cual) =>
      new Writable({
        write(trozo, _codificacion, listo) {
          dicho[cual] += trozo
          listo()
        },
      }),
  )
  const codigo = await correrLinea([...args], env, new Console(salida!, errores))
  return { codigo, ...dicho }
}

/** Returns the environment of a console for a test's service. */
export const consoleEnvironment = ({ databaseUrl, dataDir }: Pick<Entorno, 'databaseUrl' | 'dataDir'>) => ({
  DATABASE_URL: databaseUrl,
  MASTER_KEYS: MASTER_KEY,
  DATA_DIR: dataDir,
})
