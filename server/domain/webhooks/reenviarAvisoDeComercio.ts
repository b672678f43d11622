import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { reenviar } from './reenviarAviso.ts'

export const reenviarAvisoDeComercio: Handler<'reenviarAvisoDeComercio'> = async (entrada, deps) =>
  reenviar(deps, 'reenviarAvisoDeComercio', entrada, await ambitoDeWebhook(deps.db, entrada.path), entrada)
