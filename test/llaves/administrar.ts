import { Usos } from '../../server/domain/llaves/usos.ts'
import { createLog } from '../../server/platform/log.ts'
import type { Entorno } from '../entorno.ts'

/** Nobody writes down when keys are used. */
export const sinUsos = new Usos({ consultar: async () => [] }, createLog('silent'))

export function administrar(entorno: Entorno) {
  const listar = async (llave: string) => (await entorno.pedir('GET', '/api/v1/guias', { llave })).status
  const crearComercio = async () => (await entorno.operar('POST', '/comercios', { nombre: 'Tienda La Ceiba' })).cuerpo
  const crearLlave = async (comercio: string, cuerpo: object = { modo: 'test' }) =>
    (await entorno.operar('POST', `/comercios/${comercio}/llaves`, cuerpo)).cuerpo

  const crearOperador = async (): Promise<string> =>
    (await entorno.operar('POST', '/operadores', { nombre: 'Bodega' })).cuerpo.operador
  const crearLlaveDeOperador = async (operador: string, cuerpo: object = {}) =>
    (await entorno.operar('POST', `/operadores/${operador}/llaves`, cuerpo)).cuerpo
  /** What an operator's key is told when it looks for guides. */
  const buscar = async (llave: string) =>
    (await entorno.pedir('GET', '/operaciones/v1/guias?limite=1', { llave })).status

  return { listar, crearComercio, crearLlave, crearOperador, crearLlaveDeOperador, buscar }
}
