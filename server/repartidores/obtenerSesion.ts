import type { Handler } from '../contrato/tipos.ts'
import { presentarSesion } from './sesion.ts'

export const obtenerSesion: Handler<'obtenerSesion'> = async ({ identidad }) => ({
  status: 200,
  body: presentarSesion(identidad),
})
