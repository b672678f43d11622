import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { reenviar } from './reenviarEntrega.ts'

export const reenviarEntregaDeComercio: Handler<'reenviarEntregaDeComercio'> = async (entrada, deps) =>
  reenviar(deps, 'reenviarEntregaDeComercio', entrada, await ambitoDeWebhook(deps.db, entrada.path), entrada)
