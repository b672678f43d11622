import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'

const entorno = compartirEntorno()
const cambiar = (comercio: string, cuerpo: object) => entorno.operar('PATCH', `/comercios/${comercio}`, cuerpo)
const crear = async () => (await entorno.operar('POST', '/comercios', { nombre: 'Tienda La Ceiba', pais: 'GT' })).cuerpo

describe('PATCH /operaciones/v1/comercios/{comercio}', () => {
  it('changes what it names and nothing else', async () => {
    let antes = await crear()
    const ritmos = { solicitudes: 10, guias: 2_000 }
    for (const cambio of [
      { pais: 'SV' },
      { estricto: true, ritmos },
      { nombre: 'Otra', estricto: false },
      { pais: null },
    ]) {
      const { status, cuerpo } = await cambiar(antes.comercio, cambio)
      expect([status, cuerpo]).toEqual([200, { ...antes, ...cambio }])
      antes = cuerpo
    }
    expect((await entorno.operar('GET', '/comercios')).cuerpo.datos).toContainEqual(antes)
  })

  it.each([
    [{}, ''],
    [{ pais: 'gt' }, '/pais'],
    [{ pais: '' }, '/pais'],
    [{ estricto: 'no' }, '/estricto'],
    [{ estricto: null }, '/estricto'],
    [{ ritmos: { solicitudes: 0, guias: 1 } }, '/ritmos/solicitudes'],
    [{ ritmos: { solicitudes: 1 } }, '/ritmos/guias'],
    [{ comercio: 'com_000000000000' }, '/comercio'],
  ])('refuses %o', async (cambio, campo) => {
    const { comercio } = await crear()
    const { status, cuerpo } = await cambiar(comercio, cambio)
    expect([status, cuerpo.errores.map((falla: { campo: string }) => falla.campo)]).toEqual([422, [campo]])
  })

  it('knows no other merchant', async () => {
    for (const comercio of ['com_000000000000', 'x'])
      expect((await cambiar(comercio, { pais: 'GT' })).cuerpo.codigo).toBe('comercio_desconocido')
  })
})
