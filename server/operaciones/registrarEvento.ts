import type { Handler } from '../contrato/tipos.ts'
import { registrarLectura } from './lectura.ts'

const REMEDIO = 'Espere la confirmación o envíe forzar con una razón.'

export const registrarEvento: Handler<'registrarEvento'> = ({ path, body }, contexto) =>
  registrarLectura(
    contexto,
    { autor: contexto.identidad.operador, api: '/operaciones/v1', remedio: REMEDIO },
    path.guia,
    body,
  )
