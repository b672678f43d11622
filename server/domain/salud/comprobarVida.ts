import type { Handler } from '../operation.ts'

export const comprobarVida: Handler<'comprobarVida'> = async () => ({ status: 200, body: { ok: true } })
