import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { hasta } from '../fabricas.ts'
import { administrar } from './administrar.ts'

const entorno = compartirEntorno()
const { listar, crearComercio, crearLlave } = administrar(entorno)

describe('POST /operaciones/v1/llaves/{llave}/revocar', () => {
  it('ends with its revocation, also in a server that used it a moment ago', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    expect(await listar(llave.llave)).toBe(200)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/revocar`)).cuerpo.revocado_en).toEqual(expect.any(String))
    await hasta(async () => (await listar(llave.llave)) === 401)
    const otraVez = await entorno.operar('POST', `/llaves/${llave.id}/revocar`)
    expect(otraVez.status).toBe(200)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/rotar`, {})).cuerpo.codigo).toBe('llave_inactiva')
  })
})
