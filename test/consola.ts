import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { correrLinea } from '../scripts/admin/consola.ts'

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
