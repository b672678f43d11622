import type { Handler } from '../operation.ts'
import { limitarEntradas } from './entradas.ts'
import { escribirReto, exigirDominio } from './passkey.ts'

export const pedirRetoDePasskey: Handler<'pedirRetoDePasskey'> = async ({ red }, deps) => {
  limitarEntradas(deps, red)
  const dominio = exigirDominio(deps)
  const { reto, vence_en, cabeceras } = await escribirReto(deps, null)
  return { status: 200, headers: cabeceras, body: { reto, dominio, vence_en } }
}
