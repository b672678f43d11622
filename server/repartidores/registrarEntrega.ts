import type { Handler } from '../contrato/tipos.ts'
import { registrarConPrueba } from '../pruebasEntrega/registrar.ts'
import { permitirA } from './custodia.ts'

export const registrarEntregaDeReparto: Handler<'registrarEntregaDeReparto'> = (
  { path, body, identidad: { repartidor } },
  deps,
) => {
  const permitir = permitirA(deps.ajustes, repartidor)
  const quien = { ambito: 'todos', autor: repartidor, api: '/repartidor/v1', permitir } as const
  return registrarConPrueba(deps, quien, path.guia, body)
}
