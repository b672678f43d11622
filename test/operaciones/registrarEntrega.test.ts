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
const entregar = (guia: string, body: object, key?: string) =>
  environment.operar('POST', `/guias/${guia}/entrega`, body, key)
const mover = (guia: string, estado: string, more: object = {}) =>
  environment.operar('POST', `/guias/${guia}/eventos`, { estado, ...more })
const unaImagen = async (guia: string, tipo: 'foto' | 'firma' = 'foto') =>
  (await uploadArchivo(environment, guia, { tipo })).cuerpo.archivo as string
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
    const [a, b, firma] = [await unaImagen(guia), await unaImagen(guia), await unaImagen(guia, 'firma')]
    const { status, cuerpo } = await entregar(guia, {
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'familiar' },
      fotos: [b, a],
      firma,
      lat: 14.72789,
      lng: -90.64417,
      precision_m: 8.5,
      descripcion: 'Entregado en recepción',
    })
    expect(status).toBe(201)
    expect(cuerpo).toMatchObject({
      id: `evt_${guia}_4`,
      tipo: 'guia.entregado',
      estado: 'entregado',
      estado_anterior: 'en_ruta',
      descripcion: 'Entregado en recepción',
      lat: 14.72789,
      aplicado: true,
    })
    expect(cuerpo.tardio).toBe(false)
    // 0.009° of latitude.
    expect(cuerpo.distancia_m).toBeGreaterThan(990)
    expect(cuerpo.distancia_m).toBeLessThan(1_010)
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'entregado', secuencia: 4 })
    const { rows } = await environment.db.pool.query('select tipo, secuencia from webhook_aviso where webhook = $1', [
      webhook.webhook,
    ])
    expect(rows).toEqual([{ tipo: 'guia.entregado', secuencia: 4 }])
    await comercio.api.webhooks.eliminar(webhook.webhook)

    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    expect(prueba).toMatchObject({
      guia,
      entregado_en: cuerpo.ocurrido_en,
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'familiar' },
      lat: 14.72789,
      lng: -90.64417,
      precision_m: 8.5,
      distancia_m: cuerpo.distancia_m,
      firma: { archivo: firma, tipo: 'firma', mime: 'image/png' },
    })
    expect(prueba.fotos.map(({ archivo }) => archivo)).toEqual([b, a])
    for (const { url } of [...prueba.fotos, prueba.firma!]) expect((await fetch(url)).status).toBe(200)
  })

  it('needs no signature and no position', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const { cuerpo } = await entregar(guia, { ...POR, fotos: [await unaImagen(guia)] })
    expect(cuerpo).toMatchObject({ estado: 'entregado', lat: null, lng: null, distancia_m: null })
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
      const recibido_por = { nombre: 'María López', relacion: 'vecino' }
      const body = { recibido_por, fotos: [await unaImagen(guia)], lat: 14.7, lng: -90.6 }
      const first = await entregar(guia, body, key)
      expect(first.status).toBe(201)
      const { fotos, ...rest } = body
      // In another order, at every depth: it says the same.
      const otraVez = { ...rest, recibido_por: { relacion: 'vecino', nombre: 'María López' }, fotos }
      const other = await entregar(guia, otraVez, key)
      expect([other.status, other.cabeceras.get('idempotent-replayed')]).toEqual([200, 'true'])
      expect(other.cuerpo).toEqual(first.cuerpo)
      const distinta = await entregar(guia, { ...body, recibido_por: { nombre: 'Otra persona' } }, key)
      expect([distinta.status, distinta.cuerpo.codigo]).toEqual([
        409,
        key ? 'idempotencia_en_conflicto' : 'transicion_invalida',
      ])
      expect(await count('evento', guia)).toBe(4)
      expect(await count('prueba_entrega', guia)).toBe(1)
    }
  })

  it('goes only from where a delivery is possible', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const fotos = [await unaImagen(guia)]
    const enAceptado = await entregar(guia, { ...POR, fotos })
    expect([enAceptado.status, enAceptado.cuerpo]).toMatchObject([
      409,
      { codigo: 'transicion_invalida', estado: 'aceptado', transiciones: ['recolectado'] },
    ])
    await mover(guia, 'recolectado')
    expect((await entregar(guia, { ...POR, fotos })).cuerpo.codigo).toBe('transicion_invalida')
    await mover(guia, 'en_bodega')
    expect((await entregar(guia, { ...POR, fotos })).status).toBe(201)
    const cancelled = (await comercio.api.guias.crear(buildGuia())).guia
    const suya = [await unaImagen(cancelled)]
    await comercio.api.guias.cancelar(cancelled)
    const final = await entregar(cancelled, { ...POR, fotos: suya, ocurrido_en: new Date().toISOString() })
    expect([final.status, final.cuerpo.transiciones]).toEqual([409, []])
    expect((await entregar('000000000000', { ...POR, fotos })).cuerpo.codigo).toBe('guia_desconocida')
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
    const fotos = [await unaImagen(guia)]
    const before = await entregar(guia, { ...POR, fotos, ocurrido_en: hace(90) })
    expect([before.status, before.cuerpo.errores]).toMatchObject([422, [{ campo: '/ocurrido_en' }]])
    const futura = await entregar(guia, { ...POR, fotos, ocurrido_en: hace(-6) })
    expect([futura.status, futura.cuerpo.errores]).toMatchObject([422, [{ campo: '/ocurrido_en' }]])
    // Not late, it isn't possible: nobody delivers what is lost.
    expect((await entregar(guia, { ...POR, fotos })).status).toBe(409)
    const ocurrido_en = hace(20)
    const { status, cuerpo } = await entregar(guia, { ...POR, fotos, ocurrido_en })
    expect([status, cuerpo]).toMatchObject([
      201,
      { aplicado: true, tardio: true, estado: 'entregado', estado_anterior: 'extraviado', ocurrido_en },
    ])
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({ entregado_en: ocurrido_en })
    expect((await comercio.api.guias.eventos(guia)).datos.at(-1)).toMatchObject({ tardio: true, secuencia: 5 })

    const devuelta = await createGuiaOnRoute(environment, comercio)
    const suya = [await unaImagen(devuelta)]
    for (const [estado, more] of [
      ['en_devolucion', { motivo: 'otro' }],
      ['devuelto', {}],
    ] as const)
      await mover(devuelta, estado, more)
    const late = await entregar(devuelta, { ...POR, fotos: suya, ocurrido_en: hace(0.001) })
    expect([late.status, late.cuerpo.estado]).toEqual([409, 'devuelto'])
    // A scan without proof stays a scan, as ever.
    const escaneada = await createGuiaOnRoute(environment, comercio)
    expect((await mover(escaneada, 'entregado', { ocurrido_en: hace(5) })).cuerpo.aplicado).toBe(false)
  })

  it('takes only files of this guide, of their kind, that no proof holds', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const other = await createDeliveredGuia(environment, comercio)
    const [foto, firma, foreign] = [await unaImagen(guia), await unaImagen(guia, 'firma'), await unaImagen(other.guia)]
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
    for (const [cambios, campos] of cases) {
      const { status, cuerpo } = await entregar(guia, { ...POR, ...cambios })
      expect([cambios, status, cuerpo.errores?.map((e: { campo: string }) => e.campo)]).toEqual([cambios, 422, campos])
    }
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 3 })
    expect((await entregar(guia, { ...POR, fotos: [foto], firma })).status).toBe(201)
  })

  it('has one winner when two deliver at once, and writes nothing of the other', async () => {
    for (let time = 0; time < 15; time++) {
      const guia = await createGuiaOnRoute(environment, comercio)
      const [a, b] = await Promise.all([unaImagen(guia), unaImagen(guia)])
      const dadas = await Promise.all([
        entregar(guia, { recibido_por: { nombre: 'A' }, fotos: [a] }),
        entregar(guia, { recibido_por: { nombre: 'B' }, fotos: [b] }),
      ])
      expect(dadas.map(({ status }) => status).sort()).toEqual([201, 409])
      const ganadora = dadas.findIndex(({ status }) => status === 201)
      const { fotos, recibido_por } = await comercio.api.guias.pruebaEntrega(guia)
      expect([recibido_por.nombre, fotos.map(({ archivo }) => archivo)]).toEqual(
        ganadora === 0 ? ['A', [a]] : ['B', [b]],
      )
      const { rows } = await environment.db.pool.query(
        'select archivo from archivo where archivo = any($1) and usado_en is not null',
        [[a, b]],
      )
      expect(rows).toEqual([{ archivo: ganadora === 0 ? a : b }])
      expect([await count('evento', guia), await count('prueba_entrega', guia)]).toEqual([4, 1])
    }
  })

  it('delivers once however often it is asked at once, and never beside another change', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const body = { ...POR, fotos: [await unaImagen(guia)] }
    const dadas = await Promise.all(Array.from({ length: 6 }, () => entregar(guia, body)))
    expect(dadas.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(dadas.map((one) => one.cuerpo.id)).size).toBe(1)
    for (let time = 0; time < 10; time++) {
      const other = await createGuiaOnRoute(environment, comercio)
      const fotos = [await unaImagen(other)]
      const [entrega, fallo] = await Promise.all([
        entregar(other, { ...POR, fotos }),
        mover(other, 'intento_fallido', { motivo: 'destinatario_ausente' }),
      ])
      expect([entrega.status, fallo.status].sort()).toEqual([201, 409])
      expect(await count('prueba_entrega', other)).toBe(entrega.status === 201 ? 1 : 0)
      expect(await count('evento', other)).toBe(entrega.status === 201 ? 4 : 5)
    }
  })

  it('writes neither event nor proof when a file goes in between', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b] = [await unaImagen(guia), await unaImagen(guia)]
    // The sweeper has b in its hands while the delivery looks.
    const client = await environment.db.pool.connect()
    await client.query('begin')
    await client.query('delete from archivo where archivo = $1', [b])
    const entrega = entregar(guia, { ...POR, fotos: [a, b] })
    await waitForLock(environment.db)
    await client.query('commit')
    client.release()
    const { status, cuerpo } = await entrega
    expect([status, cuerpo.codigo]).toEqual([409, 'carrera_perdida'])
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 3 })
    expect(await count('prueba_entrega', guia)).toBe(0)
    expect((await entregar(guia, { ...POR, fotos: [a] })).status).toBe(201)
  })
})
