import type { Handler } from '../contrato/tipos.ts'
import { presentarSesion } from './sesion.ts'

export const obtenerSesion: Handler<'obtenerSesion'> = async (_entrada, { identidad }) => ({
  status: 200,
  body: presentarSesion(identidad),
})
