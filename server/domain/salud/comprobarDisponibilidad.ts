import type { Handler } from '../operation.ts'

export const comprobarDisponibilidad: Handler<'comprobarDisponibilidad'> = async (_input, { health }) => {
  const body = await health()
  return body.ok ? { status: 200, body } : { status: 503, headers: { 'Retry-After': '2' }, body }
}
