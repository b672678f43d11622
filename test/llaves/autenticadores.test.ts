import { describe, expect, it } from 'vitest'
import { crearAutenticadores } from '../../server/llaves/autenticadores.ts'
import { compartirEntorno } from '../entorno.ts'
import { nuevoMovil } from '../repartidores/movil.ts'

const entorno = compartirEntorno()

describe('what was looked up', () => {
  const SEGUNDO = 1_000

  it('is believed for less than a second: a revoked key', async () => {
    let ahora = 0
    const { llaveDeComercio } = crearAutenticadores(entorno.db, entorno.reloj, () => ahora)
    const { llave } = await entorno.nuevoComercio()
    const id = (await llaveDeComercio(llave))!.llave
    expect((await entorno.operar('POST', `/llaves/llave_${id}/revocar`)).status).toBe(200)
    expect(await llaveDeComercio(llave)).toBeDefined()
    ahora += SEGUNDO - 1
    expect(await llaveDeComercio(llave)).toBeUndefined()
  })

  it('is believed for less than a second: a courier’s session', async () => {
    let ahora = 0
    const { sesionDeRepartidor } = crearAutenticadores(entorno.db, entorno.reloj, () => ahora)
    const { repartidor, cookie } = await nuevoMovil(entorno)
    const [, token = ''] = cookie.split('=')
    expect(await sesionDeRepartidor(token)).toMatchObject({ repartidor })
    expect((await entorno.operar('POST', `/repartidores/${repartidor}/desactivar`)).status).toBe(200)
    expect(await sesionDeRepartidor(token)).toBeDefined()
    ahora += SEGUNDO - 1
    expect(await sesionDeRepartidor(token)).toBeUndefined()
  })
})
