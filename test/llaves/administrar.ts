import type { Entorno } from '../entorno.ts'

export const HORA = 3_600_000

export function administrar(entorno: Entorno) {
  const listar = async (llave: string) => (await entorno.pedir('GET', '/api/v1/guias', { llave })).status
  const crearComercio = async () => (await entorno.operar('POST', '/comercios', { nombre: 'Tienda La Ceiba' })).cuerpo
  const crearLlave = async (comercio: string, cuerpo: object = { modo: 'test' }) =>
    (await entorno.operar('POST', `/comercios/${comercio}/llaves`, cuerpo)).cuerpo

  return { listar, crearComercio, crearLlave }
}
