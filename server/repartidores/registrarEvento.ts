import type { Handler } from '../contrato/tipos.ts'
import { registrarLectura } from '../operaciones/lectura.ts'

const REMEDIO = 'Espere la confirmación, o pida a la central que fuerce la salida.'

export const registrarEventoDeReparto: Handler<'registrarEventoDeReparto'> = ({ path, body, identidad }, deps) =>
  registrarLectura(deps, { autor: identidad.repartidor, api: '/repartidor/v1', remedio: REMEDIO }, path.guia, body)
