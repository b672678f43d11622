import type { Handler } from '../operation.ts'
import { readWebhookScope } from './ofComercio.ts'
import { resendAviso } from './reenviarAviso.ts'

export const reenviarAvisoDeComercio: Handler<'reenviarAvisoDeComercio'> = async (input, deps) =>
  resendAviso(deps, 'reenviarAvisoDeComercio', input, await readWebhookScope(deps.db, input.path), input)
