/** Next.js, con el enrutador de `app`: guárdelo como `app/webhooks/guias/route.js`. */
import { recibir } from './recibir.mjs'

const LIMITE = 1024 * 1024

export async function POST(request) {
  const cuerpo = await leer(request).catch(() => undefined) // la conexión se cortó
  const status = cuerpo ? await recibir(cuerpo, request.headers) : 413
  return new Response(null, { status })
}

/** Lee los bytes tal como llegaron; no devuelve nada si son demasiados. */
async function leer({ body }) {
  const trozos = []
  let largo = 0
  for await (const trozo of body ?? []) {
    largo += trozo.length
    if (largo > LIMITE) return undefined
    trozos.push(trozo)
  }
  return Buffer.concat(trozos)
}
