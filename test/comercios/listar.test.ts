import { describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { administrar } from '../llaves/administrar.ts'

const entorno = usarEntorno()
const { crearComercio } = administrar(entorno)

describe('GET /operaciones/v1/comercios', () => {
  it('lists merchants newest first, in pages', async () => {
    const creados = [await crearComercio(), await crearComercio(), await crearComercio()]
    const primera = (await entorno.operar('GET', '/comercios?limite=2')).cuerpo
    expect(primera.datos).toEqual([creados[2], creados[1]])
    const segunda = (await entorno.operar('GET', `/comercios?limite=1&cursor=${primera.cursor_siguiente}`)).cuerpo
    expect(segunda.datos).toEqual([creados[0]])
  })
})
