import type { Handler } from '../operation.ts'
import { registrarConPrueba } from '../pruebasEntrega/registrar.ts'
import { permitirA } from './custodia.ts'
import { presentarQuien } from './repartidor.ts'

export const registrarEntregaDeReparto: Handler<'registrarEntregaDeReparto'> = ({ path, body, identidad }, deps) => {
  const { repartidor } = identidad
  const permitir = permitirA(deps, repartidor)
  const quien = {
    ambito: 'todos',
    autor: repartidor,
    repartidor: presentarQuien(identidad),
    api: '/repartidor/v1',
    permitir,
  } as const
  return registrarConPrueba(deps, quien, path.guia, body)
}
