import type { Handler } from '../operation.ts'
import { presentarSesion } from './repartidor.ts'

export const obtenerSesion: Handler<'obtenerSesion'> = async ({ identidad }) => ({
  status: 200,
  body: presentarSesion(identidad),
})
