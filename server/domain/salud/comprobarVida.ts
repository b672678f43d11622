import type { Handler } from '../../api/contract/handler.ts'

export const comprobarVida: Handler<'comprobarVida'> = async () => ({ status: 200, body: { ok: true } })
