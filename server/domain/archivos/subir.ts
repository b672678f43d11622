import type { Handler } from '../operation.ts'
import { receiveImage } from './archivo.ts'

export const subirArchivo: Handler<'subirArchivo'> = ({ path, query: { tipo }, body, identity }, deps) =>
  receiveImage(deps, { autor: identity.operador }, path.guia, tipo, body)
