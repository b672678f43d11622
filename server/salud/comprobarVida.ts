import type { Handler } from '../contrato/tipos.ts'

export const comprobarVida: Handler<'comprobarVida'> = async () => ({ status: 200, body: { ok: true } })
