import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuiaWithoutDestino, readTestSettings } from '../factories.ts'

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})

describe('GET /api/v1/guias/{guia}/prueba-entrega', () => {
  it('is not there before the delivery, nor for one without proof', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await expect(comercio.api.guias.pruebaEntrega(guia)).rejects.toMatchObject({
      name: 'ErrorNoEncontrado',
      codigo: 'prueba_no_disponible',
    })
    const guiaWithoutPrueba = await createGuiaOnRoute(environment, comercio)
    await environment.asOperador('POST', `/guias/${guiaWithoutPrueba}/eventos`, buildEstadoReport('entregado'))
    await expect(comercio.api.guias.pruebaEntrega(guiaWithoutPrueba)).rejects.toMatchObject({
      codigo: 'prueba_no_disponible',
    })
  })

  it('gives new links every time', async () => {
    const { guia } = await createDeliveredGuia(environment, comercio)
    const one = await comercio.api.guias.pruebaEntrega(guia)
    environment.advance(2_000)
    const other = await comercio.api.guias.pruebaEntrega(guia)
    expect(other.fotos[0]!.url).not.toBe(one.fotos[0]!.url)
    expect(other.fotos[0]!.archivo).toBe(one.fotos[0]!.archivo)
    expect((await comercio.api.guias.pruebaEntrega(guia.toLowerCase())).guia).toBe(guia)
  })

  it('is its merchant’s alone, of that mode, and with its scope', async () => {
    const { guia } = await createDeliveredGuia(environment, comercio)
    const foreignComercio = await environment.createComercio()
    const read = async (llave: string, target = guia) =>
      (await environment.request('GET', `/api/v1/guias/${target}/prueba-entrega`, { llave })).body.codigo
    expect(await read(foreignComercio.llave)).toBe('guia_desconocida')
    expect(await read(foreignComercio.llave, '000000000000')).toBe('guia_desconocida')
    expect(await read(await environment.createLlave(comercio, { modo: 'live' }))).toBe('guia_desconocida')
    expect(await read(await environment.createLlave(comercio, { alcances: ['guias:leer'] }))).toBe(
      'alcance_insuficiente',
    )
    expect(await read(await environment.createLlave(comercio, { alcances: ['pruebas_entrega:leer'] }))).toBeUndefined()
    // A merchant uploads nothing.
    const { status } = await environment.request('POST', `/operaciones/v1/guias/${guia}/archivos?tipo=foto`, {
      llave: comercio.llave,
      raw: new Uint8Array(await createFoto()),
      headers: { 'Content-Type': 'image/jpeg' },
    })
    expect(status).toBe(401)
  })

  it('forgets where it was when places are forgotten', async () => {
    const { guia, foto } = await createDeliveredGuia(environment, comercio)
    const { eraseUbicaciones } = await import('../../server/domain/ubicacion/erase.ts')
    const clock = () => new Date(Date.now() + 2 * 86_400_000)
    await eraseUbicaciones({
      db: environment.db,
      clock,
      settings: readTestSettings({ LOCATION_RETENTION_DAYS: '1' }),
    })
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({ lat: null, lng: null, distancia_m: null })
    const { rows } = await environment.db.pool.query('select lat, lng from archivo where archivo = $1', [foto])
    expect(rows).toEqual([{ lat: null, lng: null }])
  })
})
