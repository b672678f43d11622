import type { Handler } from '../contrato/tipos.ts'
import { registrarLectura } from './lectura.ts'

const REMEDIO = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = ({ path, body, identidad }, deps) =>
  registrarLectura(deps, { autor: identidad.operador, api: '/operaciones/v1', remedio: REMEDIO }, path.guia, body)
