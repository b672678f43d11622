import type { Handler } from '../operation.ts'
import { presentRepartidorSesion } from './repartidor.ts'

export const obtenerSesion: Handler<'obtenerSesion'> = async ({ identity }) => ({
  status: 200,
  body: presentRepartidorSesion(identity),
})
