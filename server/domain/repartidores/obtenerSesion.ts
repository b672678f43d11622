import { presentRepartidorSesion } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

export const obtenerSesion: Handler<'obtenerSesion'> = async ({ identity }) => ({
  status: 200,
  body: presentRepartidorSesion(identity),
})
