import type { Handler } from '../operation.ts'
import { recibirImagen } from './archivo.ts'

export const subirArchivo: Handler<'subirArchivo'> = ({ path, query: { tipo }, body, identidad }, deps) =>
  recibirImagen(deps, { autor: identidad.operador }, path.guia, tipo, body)
