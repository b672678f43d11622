import type { Handler } from '../contrato/tipos.ts'
import { leerTelefono } from '../telefonos/telefono.ts'
import { guardarRepartidor } from './repartidor.ts'

export const crearRepartidor: Handler<'crearRepartidor'> = async ({ body }, deps) => {
  const telefono = body.telefono === undefined ? undefined : leerTelefono(body.telefono)
  if (telefono && 'error' in telefono) throw new Error('telefono was not validated')
  return { status: 201, body: await guardarRepartidor(deps, { nombre: body.nombre, telefono: telefono?.e164 ?? null }) }
}
