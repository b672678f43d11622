import type { Handler } from '../contrato/tipos.ts'
import { registrarConPrueba } from '../pruebasEntrega/registrar.ts'

export const registrarEntregaDeReparto: Handler<'registrarEntregaDeReparto'> = ({ path, body, identidad }, deps) =>
  registrarConPrueba(deps, { autor: identidad.repartidor, api: '/repartidor/v1' }, path.guia, body)
