import type { Handler } from '../operation.ts'
import { escribirCodigo, MINUTOS_DE_CODIGO } from './codigo.ts'
import { limitarEntradas } from './entradas.ts'
import { exigirCorreo } from './persona.ts'

export const pedirCodigo: Handler<'pedirCodigo'> = async ({ body, red }, deps) => {
  limitarEntradas(deps, red)
  const { token, vence_en } = await escribirCodigo(deps, exigirCorreo(body.correo))
  const headers = { 'Set-Cookie': deps.navegador.ponerEntrada(token, MINUTOS_DE_CODIGO * 60) }
  return { status: 202, headers, body: { vence_en: vence_en.toISOString() } }
}
