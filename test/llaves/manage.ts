import { LlaveUses } from '../../server/domain/llaves/uses.ts'
import { createLog } from '../../server/platform/log.ts'
import type { TestEnvironment } from '../environment.ts'

/** Nobody writes down when keys are used. */
export const noUsages = new LlaveUses({ query: async () => [] }, createLog('silent'))

export function administrar(environment: TestEnvironment) {
  const listar = async (llave: string) => (await environment.request('GET', '/api/v1/guias', { llave })).status
  const crearComercio = async () =>
    (await environment.asOperador('POST', '/comercios', { nombre: 'Tienda La Ceiba' })).body
  const crearLlave = async (comercio: string, body: object = { modo: 'test' }) =>
    (await environment.asOperador('POST', `/comercios/${comercio}/llaves`, body)).body

  const crearOperador = async (): Promise<string> =>
    (await environment.asOperador('POST', '/operadores', { nombre: 'Bodega' })).body.operador
  const crearLlaveDeOperador = async (operador: string, body: object = {}) =>
    (await environment.asOperador('POST', `/operadores/${operador}/llaves`, body)).body
  /** What an operator's key is told when it looks for guides. */
  const find = async (llave: string) =>
    (await environment.request('GET', '/operaciones/v1/guias?limite=1', { llave })).status

  return { list: listar, crearComercio, crearLlave, crearOperador, crearLlaveDeOperador, buscar: find }
}
