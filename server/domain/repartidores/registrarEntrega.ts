import { presentRepartidorName } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { registerWithPrueba } from '../pruebasEntrega/registrar.ts'
import { authorizeRepartidor } from './custodia.ts'

export const registrarEntregaDeReparto: Handler<'registrarEntregaDeReparto'> = ({ path, body, identity }, deps) => {
  const { repartidor } = identity
  const authorize = authorizeRepartidor(deps, repartidor)
  const caller = {
    ambito: 'todos',
    autor: repartidor,
    repartidor: presentRepartidorName(identity),
    api: '/repartidor/v1',
    authorize,
  } as const
  return registerWithPrueba(deps, caller, path.guia, body)
}
