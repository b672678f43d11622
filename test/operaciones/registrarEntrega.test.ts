import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { waitForLock } from '../quiescence.ts'

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})
const deliver = (guia: string, body: object, key?: string) =>
  environment.asOperador('POST', `/guias/${guia}/entrega`, body, key)
const mover = (guia: string, estado: string, more: object = {}) =>
  environment.asOperador('POST', `/guias/${guia}/eventos`, { estado, ...more })
const uploadImage = async (guia: string, tipo: 'foto' | 'firma' = 'foto') =>
  (await uploadArchivo(environment, guia, { tipo })).body.archivo as string
const POR = { recibido_por: { nombre: 'María López' } }
const hace = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const count = async (table: string, guia: string) => {
  const { rows } = await environment.db.pool.query(
    `select count(*)::int as n from ${table} t join guia_indice i on i.comercio_id = t.comercio_id and i.id = t.guia_id
     where i.guia = $1`,
    [guia],
  )
  return rows[0].n as number
}

describe('POST /operaciones/v1/guias/{guia}/entrega', () => {
  it('delivers with its proof, and tells the merchant once', async () => {
    const webhook = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/entregas', tipos: ['guia.entregado'] })
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b, firma] = [await uploadImage(guia), await uploadImage(guia), await uploadImage(guia, 'firma')]
    const { status, body } = await deliver(guia, {
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'familiar' },
      fotos: [b, a],
      firma,
      lat: 14.72789,
      lng: -90.64417,
      precision_m: 8.5,
      descripcion: 'Entregado en recepción',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      id: `evt_${guia}_4`,
      tipo: 'guia.entregado',
      estado: 'entregado',
      estado_anterior: 'en_ruta',
      descripcion: 'Entregado en recepción',
      lat: 14.72789,
      aplicado: true,
    })
    expect(body.tardio).toBe(false)
    // 0.009° of latitude.
    expect(body.distancia_m).toBeGreaterThan(990)
    expect(body.distancia_m).toBeLessThan(1_010)
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'entregado', secuencia: 4 })
    const { rows } = await environment.db.pool.query('select tipo, secuencia from webhook_aviso where webhook = $1', [
      webhook.webhook,
    ])
    expect(rows).toEqual([{ tipo: 'guia.entregado', secuencia: 4 }])
    await comercio.api.webhooks.eliminar(webhook.webhook)

    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    expect(prueba).toMatchObject({
      guia,
      entregado_en: body.ocurrido_en,
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'familiar' },
      lat: 14.72789,
      lng: -90.64417,
      precision_m: 8.5,
      distancia_m: body.distancia_m,
      firma: { archivo: firma, tipo: 'firma', mime: 'image/png' },
    })
    expect(prueba.fotos.map(({ archivo }) => archivo)).toEqual([b, a])
    for (const { url } of [...prueba.fotos, prueba.firma!]) expect((await fetch(url)).status).toBe(200)
  })

  it('needs no signature and no position', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const { body } = await deliver(guia, { ...POR, fotos: [await uploadImage(guia)] })
    expect(body).toMatchObject({ estado: 'entregado', lat: null, lng: null, distancia_m: null })
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({
      recibido_por: { nombre: 'María López', documento: null, relacion: null },
      lat: null,
      precision_m: null,
      distancia_m: null,
      firma: null,
    })
  })

  it('is the same delivery when it comes again, with a key or without', async () => {
    for (const key of ['movil-1', undefined]) {
      const guia = await createGuiaOnRoute(environment, comercio)
      const receivedBy = { nombre: 'María López', relacion: 'vecino' }
      const body = { recibido_por: receivedBy, fotos: [await uploadImage(guia)], lat: 14.7, lng: -90.6 }
      const first = await deliver(guia, body, key)
      expect(first.status).toBe(201)
      const { fotos, ...rest } = body
      // In another order, at every depth: it says the same.
      const repetition = { ...rest, recibido_por: { relacion: 'vecino', nombre: 'María López' }, fotos }
      const other = await deliver(guia, repetition, key)
      expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
      expect(other.body).toEqual(first.body)
      const differentOne = await deliver(guia, { ...body, recibido_por: { nombre: 'Otra persona' } }, key)
      expect([differentOne.status, differentOne.body.codigo]).toEqual([
        409,
        key ? 'idempotencia_en_conflicto' : 'transicion_invalida',
      ])
      expect(await count('evento', guia)).toBe(4)
      expect(await count('prueba_entrega', guia)).toBe(1)
    }
  })

  it('goes only from where a delivery is possible', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const fotos = [await uploadImage(guia)]
    const refusedDelivery = await deliver(guia, { ...POR, fotos })
    expect([refusedDelivery.status, refusedDelivery.body]).toMatchObject([
      409,
      { codigo: 'transicion_invalida', estado: 'aceptado', transiciones: ['recolectado'] },
    ])
    await mover(guia, 'recolectado')
    expect((await deliver(guia, { ...POR, fotos })).body.codigo).toBe('transicion_invalida')
    await mover(guia, 'en_bodega')
    expect((await deliver(guia, { ...POR, fotos })).status).toBe(201)
    const cancelled = (await comercio.api.guias.crear(buildGuia())).guia
    const ownFotos = [await uploadImage(cancelled)]
    await comercio.api.guias.cancelar(cancelled)
    const final = await deliver(cancelled, { ...POR, fotos: ownFotos, ocurrido_en: new Date().toISOString() })
    expect([final.status, final.body.transiciones]).toEqual([409, []])
    expect((await deliver('000000000000', { ...POR, fotos })).body.codigo).toBe('guia_desconocida')
  })

  it('applies a delivery that it hears of late, unless all is over', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    // Created an hour ago, on its way half an hour ago, and lost ten minutes ago, or so they thought.
    await environment.db.pool.query(
      `update guia set creado_en = now() - interval '1 hour', estado_en = now() - interval '1 hour' where guia = $1`,
      [guia],
    )
    await mover(guia, 'recolectado', { ocurrido_en: hace(50) })
    await mover(guia, 'en_ruta', { ocurrido_en: hace(30) })
    await mover(guia, 'extraviado', { ocurrido_en: hace(10), motivo: 'perdida' })
    const fotos = [await uploadImage(guia)]
    const before = await deliver(guia, { ...POR, fotos, ocurrido_en: hace(90) })
    expect([before.status, before.body.errores]).toMatchObject([422, [{ campo: '/ocurrido_en' }]])
    const futureResponse = await deliver(guia, { ...POR, fotos, ocurrido_en: hace(-6) })
    expect([futureResponse.status, futureResponse.body.errores]).toMatchObject([422, [{ campo: '/ocurrido_en' }]])
    // Not late, it isn't possible: nobody delivers what is lost.
    expect((await deliver(guia, { ...POR, fotos })).status).toBe(409)
    const ocurrido_en = hace(20)
    const { status, body } = await deliver(guia, { ...POR, fotos, ocurrido_en })
    expect([status, body]).toMatchObject([
      201,
      { aplicado: true, tardio: true, estado: 'entregado', estado_anterior: 'extraviado', ocurrido_en },
    ])
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({ entregado_en: ocurrido_en })
    expect((await comercio.api.guias.eventos(guia)).datos.at(-1)).toMatchObject({ tardio: true, secuencia: 5 })

    const devuelta = await createGuiaOnRoute(environment, comercio)
    const ownFotos = [await uploadImage(devuelta)]
    for (const [estado, more] of [
      ['en_devolucion', { motivo: 'otro' }],
      ['devuelto', {}],
    ] as const)
      await mover(devuelta, estado, more)
    const late = await deliver(devuelta, { ...POR, fotos: ownFotos, ocurrido_en: hace(0.001) })
    expect([late.status, late.body.estado]).toEqual([409, 'devuelto'])
    // A scan without proof stays a scan, as ever.
    const scannedGuia = await createGuiaOnRoute(environment, comercio)
    expect((await mover(scannedGuia, 'entregado', { ocurrido_en: hace(5) })).body.aplicado).toBe(false)
  })

  it('takes only files of this guide, of their kind, that no proof holds', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const other = await createDeliveredGuia(environment, comercio)
    const [foto, firma, foreign] = [
      await uploadImage(guia),
      await uploadImage(guia, 'firma'),
      await uploadImage(other.guia),
    ]
    const cases: [object, string[]][] = [
      [{ fotos: [foreign] }, ['/fotos/0']],
      [{ fotos: [foto, other.foto] }, ['/fotos/1']],
      [{ fotos: ['arch_0000000000000000', foto, '../x'] }, ['/fotos/0', '/fotos/2']],
      [{ fotos: [firma] }, ['/fotos/0']],
      [{ fotos: [foto], firma: foto }, ['/firma']],
      [{ fotos: [foto, foto] }, ['/fotos']],
      [{ fotos: [] }, ['/fotos']],
      [{ fotos: Array.from({ length: 11 }, (_, i) => `arch_${i}`) }, ['/fotos']],
      [{ fotos: [foto], recibido_por: {} }, ['/recibido_por/nombre']],
      [{ fotos: [foto], recibido_por: { nombre: ' \u202E ' } }, ['/recibido_por/nombre']],
      [{ fotos: [foto], recibido_por: { nombre: 'X', relacion: 'perro' } }, ['/recibido_por/relacion']],
      [{ fotos: [foto], lat: 14 }, ['/lng']],
      [{ fotos: [foto], precision_m: 5 }, ['/lat']],
      [{ fotos: [foto], lat: 91, lng: 0 }, ['/lat']],
      [{ fotos: [foto], estado: 'entregado' }, ['/estado']],
      [{ fotos: [foto], comercio: 'com_X' }, ['/comercio']],
    ]
    for (const [cambios, fields] of cases) {
      const { status, body } = await deliver(guia, { ...POR, ...cambios })
      expect([cambios, status, body.errores?.map((e: { campo: string }) => e.campo)]).toEqual([cambios, 422, fields])
    }
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 3 })
    expect((await deliver(guia, { ...POR, fotos: [foto], firma })).status).toBe(201)
  })

  it('has one winner when two deliver at once, and writes nothing of the other', async () => {
    for (let time = 0; time < 15; time++) {
      const guia = await createGuiaOnRoute(environment, comercio)
      const [a, b] = await Promise.all([uploadImage(guia), uploadImage(guia)])
      const responses = await Promise.all([
        deliver(guia, { recibido_por: { nombre: 'A' }, fotos: [a] }),
        deliver(guia, { recibido_por: { nombre: 'B' }, fotos: [b] }),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
      const winnerIndex = responses.findIndex(({ status }) => status === 201)
      const { fotos, recibido_por: receivedBy } = await comercio.api.guias.pruebaEntrega(guia)
      expect([receivedBy.nombre, fotos.map(({ archivo }) => archivo)]).toEqual(
        winnerIndex === 0 ? ['A', [a]] : ['B', [b]],
      )
      const { rows } = await environment.db.pool.query(
        'select archivo from archivo where archivo = any($1) and usado_en is not null',
        [[a, b]],
      )
      expect(rows).toEqual([{ archivo: winnerIndex === 0 ? a : b }])
      expect([await count('evento', guia), await count('prueba_entrega', guia)]).toEqual([4, 1])
    }
  })

  it('delivers once however often it is asked at once, and never beside another change', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const body = { ...POR, fotos: [await uploadImage(guia)] }
    const responses = await Promise.all(Array.from({ length: 6 }, () => deliver(guia, body)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(responses.map((one) => one.body.id)).size).toBe(1)
    for (let time = 0; time < 10; time++) {
      const other = await createGuiaOnRoute(environment, comercio)
      const fotos = [await uploadImage(other)]
      const [entrega, fallo] = await Promise.all([
        deliver(other, { ...POR, fotos }),
        mover(other, 'intento_fallido', { motivo: 'destinatario_ausente' }),
      ])
      expect([entrega.status, fallo.status].sort()).toEqual([201, 409])
      expect(await count('prueba_entrega', other)).toBe(entrega.status === 201 ? 1 : 0)
      expect(await count('evento', other)).toBe(entrega.status === 201 ? 4 : 5)
    }
  })

  it('writes neither event nor proof when a file goes in between', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b] = [await uploadImage(guia), await uploadImage(guia)]
    // The sweeper has b in its hands while the delivery looks.
    const client = await environment.db.pool.connect()
    await client.query('begin')
    await client.query('delete from archivo where archivo = $1', [b])
    const entrega = deliver(guia, { ...POR, fotos: [a, b] })
    await waitForLock(environment.db)
    await client.query('commit')
    client.release()
    const { status, body } = await entrega
    expect([status, body.codigo]).toEqual([409, 'carrera_perdida'])
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 3 })
    expect(await count('prueba_entrega', guia)).toBe(0)
    expect((await deliver(guia, { ...POR, fotos: [a] })).status).toBe(201)
  })
})
