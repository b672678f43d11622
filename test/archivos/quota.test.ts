import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile } from '../repartidores/phone.ts'
import { createFoto, createGuiaOnRoute, uploadArchivo } from './images.ts'

const environment = useEnvironment()
let comercio: Comercio
let bytes: Uint8Array
beforeAll(async () => {
  comercio = await environment.createComercio()
  bytes = await createFoto({ ancho: 200, alto: 200 })
})
const fullCase = { codigo: 'limite_de_imagenes' }

describe('the pictures of a guide', () => {
  it('are 20 for each attempt, however many come at once, and 60 in all', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const tanda = async (count: number) => {
      const responses = await Promise.all(
        Array.from({ length: count }, () => uploadArchivo(environment, guia, { bytes })),
      )
      for (const { status, body } of responses)
        if (status !== 201) expect([status, body]).toMatchObject([409, fullCase])
      return responses.filter(({ status }) => status === 201).length
    }
    for (let intento = 0; intento < 3; intento++) {
      expect(await tanda(12)).toBe(12)
      expect(await tanda(12)).toBe(8)
      const { body } = await uploadArchivo(environment, guia, { tipo: 'firma' })
      expect(body.mensaje).toMatch(intento < 2 ? /^Este intento de entrega ya tiene 20/ : /^La guía ya tiene 60/)
      environment.advance(1_000)
      for (const evento of [{ estado: 'intento_fallido', motivo: 'sin_respuesta' }, { estado: 'en_ruta' }])
        expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, evento)).status).toBe(201)
      environment.advance(1_000)
    }
    expect((await uploadArchivo(environment, guia, { bytes })).body.mensaje).toBe(
      'La guía ya tiene 60 imágenes. Use las que subió.',
    )
    const { cookie, repartidor } = await createMobile(environment)
    await environment.db.pool.query('update guia set custodio = $1 where guia = $2', [repartidor, guia])
    const courierUpload = await environment.request('POST', `/repartidor/v1/guias/${guia}/archivos?tipo=foto`, {
      raw: new Uint8Array(bytes),
      headers: { cookie, Origin: environment.url, 'Content-Type': 'image/jpeg' },
    })
    expect([courierUpload.status, courierUpload.body]).toMatchObject([409, fullCase])
    // Another guide takes its own.
    expect((await uploadArchivo(environment, await createGuiaOnRoute(environment, comercio), { bytes })).status).toBe(
      201,
    )
  })

  it('count the uploads of the last minute that did not finish', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    await environment.db.pool.query(
      `insert into archivo_indice (archivo, comercio_id, modo, guia_id, estado, creado_en)
       select 'arch_EN_CAMINO' || n, comercio_id, modo, id, 'subiendo', $2 from guia, generate_series(1, 20) n
       where guia = $1`,
      [guia, environment.clock()],
    )
    expect((await uploadArchivo(environment, guia, { bytes })).body).toMatchObject(fullCase)
    environment.advance(61_000)
    expect((await uploadArchivo(environment, guia, { bytes })).status).toBe(201)
  })

  it('show something: a photo has 200 × 200 pixels, a signature 50 × 20', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    for (const [tipo, ancho, alto, status] of [
      ['foto', 1, 1, 422],
      ['foto', 199, 4_000, 422],
      ['foto', 200, 200, 201],
      ['firma', 49, 49, 422],
      ['firma', 400, 19, 422],
      ['firma', 50, 20, 201],
      ['firma', 20, 50, 201],
    ] as const) {
      const response = await uploadArchivo(environment, guia, { tipo, bytes: await createFoto({ ancho, alto }) })
      expect([tipo, ancho, alto, response.status]).toEqual([tipo, ancho, alto, status])
      if (status === 422) expect(response.body.mensaje).toMatch(/ mide \d+ × \d+ píxeles y hacen falta al menos /)
    }
  })

  it('are refused when shrinking leaves less than the minimum of the shorter side', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    for (const [tipo, ancho, alto, saved] of [
      ['foto', 65_000, 500, '2560 × 20'],
      ['foto', 200, 2_574, '199 × 2560'],
      ['firma', 8_300, 100, '1600 × 19'],
    ] as const) {
      const { status, body } = await uploadArchivo(environment, guia, {
        tipo,
        bytes: await createFoto({ ancho, alto }),
      })
      expect([status, body.mensaje]).toEqual([422, expect.stringContaining(`se guardaría de ${saved} y `)])
    }
    for (const [tipo, ancho, alto, saved] of [
      ['foto', 200, 2_560, [200, 2_560]],
      ['foto', 5_120, 400, [2_560, 200]],
      ['firma', 8_000, 100, [1_600, 20]],
    ] as const) {
      const { status, body } = await uploadArchivo(environment, guia, {
        tipo,
        bytes: await createFoto({ ancho, alto }),
      })
      expect([status, body.ancho, body.alto]).toEqual([201, ...saved])
    }
  })
})
