import { beforeAll, describe, expect, it } from 'vitest'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { createLocalStore } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { createFoto, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { waitForLock } from '../quiescence.ts'

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})

const registrar = (guia: string, body: object, key?: string) =>
  environment.asOperador('POST', `/guias/${guia}/eventos`, body, key)
const fail = (guia: string, more: object = {}, key?: string) =>
  registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', ...more }, key)
const uploadImage = async (guia: string, tipo: 'foto' | 'firma' = 'foto') =>
  (await uploadArchivo(environment, guia, { tipo })).body.archivo as string
const hace = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const usedItems = async (archivos: string[]) => {
  const { rows } = await environment.db.pool.query(
    'select archivo from archivo where archivo = any($1) and usado_en is not null order by archivo',
    [archivos],
  )
  return rows.map(({ archivo }) => archivo)
}
const count = async (table: string, guia: string) => {
  const { rows } = await environment.db.pool.query(
    `select count(*)::int as n from ${table} t join guia_indice i on i.comercio_id = t.comercio_id and i.id = t.guia_id
     where i.guia = $1`,
    [guia],
  )
  return rows[0].n as number
}

describe('a failed attempt with photos', () => {
  it('is registered with them, and its merchant sees both', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b] = [await uploadImage(guia), await uploadImage(guia)]
    const { status, body } = await fail(guia, {
      descripcion: 'No había nadie; se dejó aviso',
      fotos: [b, a],
      lat: 14.7189,
      lng: -90.6442,
    })
    expect([status, body]).toMatchObject([201, { aplicado: true, numero_intento: 1, estado: 'intento_fallido' }])
    expect(body).not.toHaveProperty('fotos')
    await registrar(guia, { estado: 'en_ruta' })
    await fail(guia, { motivo: 'direccion_inexistente' })
    const { datos, cursor_siguiente } = await comercio.api.guias.intentos(guia.toLowerCase())
    expect(cursor_siguiente).toBeNull()
    expect(datos).toMatchObject([
      {
        secuencia: 4,
        evento: `evt_${guia}_4`,
        numero_intento: 1,
        aplicado: true,
        motivo: 'destinatario_ausente',
        descripcion: 'No había nadie; se dejó aviso',
        ocurrido_en: body.ocurrido_en,
        repartidor: null,
        lat: 14.7189,
        lng: -90.6442,
      },
      { secuencia: 7, numero_intento: 2, motivo: 'direccion_inexistente', lat: null, lng: null, fotos: [] },
    ])
    expect(datos[0]!.fotos.map(({ archivo }) => archivo)).toEqual([b, a])
    for (const { url, mime, bytes } of datos[0]!.fotos) {
      const response = await fetch(url)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, mime])
      expect((await response.arrayBuffer()).byteLength).toBe(bytes)
    }
    // Links are new each time.
    environment.advance(2_000)
    const [other] = (await comercio.api.guias.intentos(guia)).datos
    expect(other!.fotos[0]!.url).not.toBe(datos[0]!.fotos[0]!.url)
    // Page by page.
    const seen: number[] = []
    for await (const { secuencia } of comercio.api.guias.intentos(guia, { limite: 1 })) seen.push(secuencia)
    expect(seen).toEqual([4, 7])
    expect((await comercio.api.guias.intentos((await comercio.api.guias.crear(buildGuia())).guia)).datos).toEqual([])
  })

  it('keeps them also when it is heard of late, and moves nothing', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await environment.db.pool.query(
      `update guia set creado_en = now() - interval '1 hour', estado_en = now() - interval '1 hour' where guia = $1`,
      [guia],
    )
    await registrar(guia, { estado: 'recolectado', ocurrido_en: hace(50) })
    await registrar(guia, { estado: 'en_ruta', ocurrido_en: hace(40) })
    await registrar(guia, { estado: 'en_bodega', ocurrido_en: hace(10) })
    const foto = await uploadImage(guia)
    const { status, body } = await fail(guia, { fotos: [foto], ocurrido_en: hace(20) })
    expect([status, body.aplicado, body.estado]).toEqual([201, false, 'en_bodega'])
    await registrar(guia, { estado: 'recolectado', ocurrido_en: hace(30) })
    expect((await comercio.api.guias.intentos(guia)).datos).toMatchObject([
      { numero_intento: null, aplicado: false, motivo: 'destinatario_ausente', fotos: [{ archivo: foto }] },
    ])
    expect((await comercio.api.guias.obtener(guia)).intentos).toBe(0)
  })

  it('takes only photos of this guide that nobody uses, ten at most, and with no other state', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const other = await createGuiaOnRoute(environment, comercio)
    const [foto, firma, foreign, usedArchivo] = [
      await uploadImage(guia),
      await uploadImage(guia, 'firma'),
      await uploadImage(other),
      await uploadImage(guia),
    ]
    await fail(guia, { fotos: [usedArchivo] })
    await registrar(guia, { estado: 'en_ruta' })
    const cases: [object, string[]][] = [
      [{ fotos: [foreign] }, ['/fotos/0']],
      [{ fotos: [foto, usedArchivo] }, ['/fotos/1']],
      [{ fotos: [firma, 'arch_0000000000000000', '../x'] }, ['/fotos/0', '/fotos/1', '/fotos/2']],
      [{ fotos: [foto, foto] }, ['/fotos']],
      [{ fotos: Array.from({ length: 11 }, (_, i) => `arch_${i}`) }, ['/fotos']],
      [{ fotos: foto }, ['/fotos']],
      [{ estado: 'en_bodega', motivo: undefined, fotos: [foto] }, ['/fotos']],
      [{ estado: 'entregado', motivo: undefined, fotos: [] }, ['/fotos']],
      [{ estado: undefined, motivo: undefined, tipo: 'guia.nota', descripcion: 'x', fotos: [foto] }, ['/fotos']],
    ]
    for (const [cambios, fields] of cases) {
      const { status, body } = await fail(guia, cambios)
      expect([cambios, status, body.errores?.map((e: { campo: string }) => e.campo)]).toEqual([cambios, 422, fields])
    }
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 6 })
    expect(await usedItems([foto!, firma!, foreign!])).toEqual([])
    expect((await fail(guia, { fotos: [] })).status).toBe(201)
    // A guide that can't fail now says so before it looks at photos.
    expect((await fail(guia, { fotos: [foreign] })).body.codigo).toBe('transicion_invalida')
    // What an attempt holds proves no delivery.
    await registrar(guia, { estado: 'en_ruta' })
    const entrega = await environment.asOperador('POST', `/guias/${guia}/entrega`, {
      recibido_por: { nombre: 'María' },
      fotos: [usedArchivo],
    })
    expect([entrega.status, entrega.body.errores]).toMatchObject([422, [{ campo: '/fotos/0' }]])
  })

  it('is the same with its key when it comes again, and another with other photos', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b] = [await uploadImage(guia), await uploadImage(guia)]
    const requestWithOwnKey = (fotos: string[]) => fail(guia, { fotos }, 'movil-1')
    const all = await Promise.all(Array.from({ length: 5 }, () => requestWithOwnKey([a])))
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    expect(new Set(all.map((one) => one.body.id)).size).toBe(1)
    for (const fotos of [[b], [a, b], []]) {
      const differentOne = await requestWithOwnKey(fotos)
      expect([differentOne.status, differentOne.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    }
    expect(await usedItems([a, b])).toEqual([a])
    expect([await count('evento', guia), await count('prueba_intento', guia)]).toEqual([5, 1])
  })

  it('has one winner beside another change, and leaves the loser’s photos free', async () => {
    for (let time = 0; time < 12; time++) {
      const guia = await createGuiaOnRoute(environment, comercio)
      const [a, b] = await Promise.all([uploadImage(guia), uploadImage(guia)])
      const responses = await Promise.all([
        fail(guia, { fotos: [a] }),
        environment.asOperador('POST', `/guias/${guia}/entrega`, { recibido_por: { nombre: 'María' }, fotos: [b] }),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
      const firstWins = responses[0].status === 201
      expect(await usedItems([a, b])).toEqual([firstWins ? a : b])
      expect([await count('prueba_intento', guia), await count('prueba_entrega', guia)]).toEqual(
        firstWins ? [1, 0] : [0, 1],
      )
      // The failed attempt opens a decision with an event of its own.
      expect(await count('evento', guia)).toBe(firstWins ? 5 : 4)
    }
  })

  it('writes nothing when a photo goes in between', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const [a, b] = [await uploadImage(guia), await uploadImage(guia)]
    // The sweeper has b in its hands while the attempt looks.
    const client = await environment.db.pool.connect()
    await client.query('begin')
    await client.query('delete from archivo where archivo = $1', [b])
    const intento = fail(guia, { fotos: [a, b] })
    await waitForLock(environment.db)
    await client.query('commit')
    client.release()
    const { status, body } = await intento
    expect([status, body.codigo]).toEqual([409, 'carrera_perdida'])
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', secuencia: 3, intentos: 0 })
    expect(await usedItems([a])).toEqual([])
    expect((await fail(guia, { fotos: [a] })).status).toBe(201)
  })

  it('keeps its photos from the sweeper', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const foto = await uploadImage(guia)
    await fail(guia, { fotos: [foto] })
    const looseArchivo = await uploadArchivo(environment, guia, { bytes: await createFoto({ color: '#3c3' }) })
    const clock = () => new Date(environment.clock().getTime() + 8 * 86_400_000)
    const store = createLocalStore(`${environment.dataDir}/archivos`)
    await sweepArchivos({ db: environment.db, store, clock, log: createLog('silent') })
    expect((await Array.fromAsync(store.list())).map(({ clave: key }) => key)).not.toContain(looseArchivo.body.archivo)
    expect((await fetch((await comercio.api.guias.intentos(guia)).datos[0]!.fotos[0]!.url)).status).toBe(200)
  })

  it('is its merchant’s alone, of that mode, and with its scope', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const read = async (llave: string) =>
      (await environment.request('GET', `/api/v1/guias/${guia}/intentos`, { llave })).body.codigo
    expect(await read((await environment.createComercio()).llave)).toBe('guia_desconocida')
    expect(await read(await environment.createLlave(comercio, { modo: 'live' }))).toBe('guia_desconocida')
    expect(await read(await environment.createLlave(comercio, { alcances: ['guias:leer'] }))).toBe(
      'alcance_insuficiente',
    )
    expect(await read(await environment.createLlave(comercio, { alcances: ['pruebas_entrega:leer'] }))).toBeUndefined()
  })
})
