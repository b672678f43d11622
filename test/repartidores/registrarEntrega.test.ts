import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { createFirma, createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment, ago: hace, ver, eventos, foto } = useDispatch()

describe('POST /repartidor/v1/guias/{guia}/entrega', () => {
  const receivedBy = { nombre: 'María López', relacion: 'familiar' }

  it('delivers with photo, signature and place, in the courier’s name', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const subida = await mobile.upload(guia, 'foto', await createFoto())
    expect([subida.status, subida.body.tipo]).toEqual([201, 'foto'])
    const firma = await mobile.upload(guia, 'firma', await createFirma())
    const entrega = {
      recibido_por: receivedBy,
      fotos: [subida.body.archivo],
      firma: firma.body.archivo,
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8,
      idempotencia: key(),
    }
    const { status, body } = await mobile.deliver(guia, entrega)
    expect([status, body]).toMatchObject([
      201,
      { estado: 'entregado', aplicado: true, distancia_m: expect.any(Number) },
    ])
    const repeated = await mobile.deliver(guia, entrega)
    expect([repeated.status, repeated.headers.get('idempotent-replayed'), repeated.body]).toEqual([200, 'true', body])
    expect(await ver(guia)).toMatchObject({ estado: 'entregado', siguientes: [] })
    expect((await eventos(guia)).at(-1)).toMatchObject({ autor: mobile.repartidor })
    const { rows } = await environment.db.pool.query('select distinct autor from archivo where archivo = any($1)', [
      [...entrega.fotos, entrega.firma],
    ])
    expect(rows).toEqual([{ autor: mobile.repartidor }])
    const prueba = await environment.request('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercio.llave })
    expect(prueba.body).toMatchObject({ recibido_por: receivedBy, fotos: [{ archivo: entrega.fotos[0] }] })
  })

  it('counts with its own time when it was made without coverage', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const fotos = [await foto(guia)]
    environment.advance(60 * MINUTE_MS)
    // Meanwhile somebody scanned the parcel at the depot.
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    const ocurrido_en = hace(20)
    const { status, body } = await mobile.deliver(guia, {
      recibido_por: receivedBy,
      fotos,
      ocurrido_en,
      idempotencia: key(),
    })
    expect([status, body]).toMatchObject([
      201,
      { estado: 'entregado', estado_anterior: 'en_bodega', ocurrido_en, tardio: true, aplicado: true },
    ])
  })

  it('is not applied once the guide is over, nor without its files or its key', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const fotos = [await foto(guia)]
    const foreign = await foto(await createGuiaOnRoute(environment, comercio, mobile.repartidor))
    const bad = await mobile.deliver(guia, { recibido_por: receivedBy, fotos: [foreign], idempotencia: key() })
    expect([bad.status, bad.body.errores]).toMatchObject([
      422,
      [{ campo: '/fotos/0', mensaje: expect.stringContaining(`POST /repartidor/v1/guias/${guia}/archivos`) }],
    ])
    expect((await mobile.deliver(guia, { recibido_por: receivedBy, fotos })).body.errores).toMatchObject([
      { campo: '/idempotencia' },
    ])
    for (const estado of ['en_devolucion', 'devuelto'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    const late = await mobile.deliver(guia, {
      recibido_por: receivedBy,
      fotos,
      ocurrido_en: hace(5),
      idempotencia: key(),
    })
    expect([late.status, late.body.codigo]).toEqual([409, 'transicion_invalida'])
  })

  it('is proved with the courier’s own files; operators may use his', async () => {
    const other = await createMobile(environment)
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const foreign = await foto(guia)
    const firma = (await mobile.upload(guia, 'firma', await createFirma())).body.archivo
    // Handed over on the way, with what the first courier had photographed.
    await mobile.registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: key() })
    await other.registrar(guia, { estado: 'en_ruta', idempotencia: key() })
    const ownArchivo = (await other.upload(guia, 'foto', await createFoto())).body.archivo
    const faults = async (body: object) => (await other.deliver(guia, { ...body, idempotencia: key() })).body.errores
    expect(await faults({ recibido_por: receivedBy, fotos: [ownArchivo, foreign], firma })).toMatchObject([
      { campo: '/fotos/1', codigo: 'valor_no_admitido' },
      { campo: '/firma', codigo: 'valor_no_admitido' },
    ])
    const intento = { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: key() }
    expect((await other.registrar(guia, { ...intento, fotos: [foreign] })).body.errores).toMatchObject([
      { campo: '/fotos/0' },
    ])
    expect(await eventos(guia)).toHaveLength(6)
    const ofCentral = { recibido_por: receivedBy, fotos: [ownArchivo, foreign], firma }
    expect((await environment.asOperador('POST', `/guias/${guia}/entrega`, ofCentral)).status).toBe(201)
  })

  it('names the courier, and how far off he was told to be: in the event, the proof, its PDF and its manifest, and to operators', async () => {
    const caller = { repartidor: mobile.repartidor, nombre: 'Carlos Méndez' }
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const far = { lat: 14.73, lng: -90.64417, precision_m: 9, distancia_avisada_m: 1_236 }
    const { body } = await mobile.deliver(guia, {
      recibido_por: receivedBy,
      fotos: [await foto(guia)],
      ...far,
      idempotencia: key(),
    })
    expect(body.repartidor).toEqual(caller)
    const eventos = (await comercio.api.guias.eventos(guia)).datos
    // The operator gave him the parcel (`createGuiaOnRoute`): those are his, too.
    expect(eventos.map(({ repartidor }) => repartidor)).toEqual([null, caller, caller, caller])
    const prueba = await waitUntil(async () => {
      const prueba = await comercio.api.guias.pruebaEntrega(guia)
      return prueba.pdf !== null && prueba
    })
    expect(prueba.repartidor).toEqual(caller)
    const manifiesto = JSON.parse(Buffer.from(prueba.manifiesto!.split('.')[1]!, 'base64url').toString())
    expect(manifiesto.repartidor).toEqual(caller)
    expect([manifiesto.posicion.distancia_m, manifiesto.posicion.distancia_avisada_m]).toEqual([1_235, 1_236])
    expect(prueba.distancia_avisada_m).toBe(1_236)
    const { texto: text } = parsePdf(Buffer.from(await (await fetch(prueba.pdf!.url)).arrayBuffer()))
    expect(text).toContain(`Carlos Méndez · ${mobile.repartidor}`)
    expect(text).toContain('tras un aviso')
    expect((await environment.asOperador('GET', `/guias/${guia}`)).body.repartidor).toEqual(caller)
    const { datos } = (await environment.asOperador('GET', '/guias?estado=entregado')).body
    expect(datos.find((one: { guia: string }) => one.guia === guia).repartidor).toEqual(caller)
  })

  it('is one delivery when it comes twenty times at once', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const entrega = { recibido_por: receivedBy, fotos: [await foto(guia)], idempotencia: key() }
    const seen = await Promise.all(Array.from({ length: 20 }, () => mobile.deliver(guia, entrega)))
    expect(seen.filter(({ status }) => status === 201)).toHaveLength(1)
    expect([...new Set(seen.map(({ status }) => status))].sort()).toEqual([200, 201])
    const { rows } = await environment.db.pool.query(
      `select (select count(*) from evento where guia = $1 and estado = 'entregado')::int eventos,
        (select count(*) from prueba_entrega where guia_id = (select id from guia where guia = $1))::int pruebas`,
      [guia],
    )
    expect(rows).toEqual([{ eventos: 1, pruebas: 1 }])
    const other = await mobile.deliver(guia, { ...entrega, recibido_por: { nombre: 'Otra persona' } })
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
  })

  it('has one winner against any concurrent change of the guide', async () => {
    for (let time = 0; time < 12; time++) {
      const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
      const fotos = [await foto(guia)]
      const [entrega, other] = await Promise.all([
        mobile.deliver(guia, { recibido_por: receivedBy, fotos, idempotencia: key() }),
        environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: time % 2 ? 'extraviado' : 'en_devolucion' }),
      ])
      const end = (await ver(guia)).estado
      const entregaWon = entrega.status === 201
      expect([time, end === 'entregado']).toEqual([time, entregaWon])
      expect([time, other.status]).toEqual([time, entregaWon ? expect.any(Number) : 201])
      const recordedHistory = await eventos(guia)
      expect(recordedHistory.map(({ secuencia }) => secuencia)).toEqual(recordedHistory.map((_, i) => i + 1))
    }
  })

  it('takes a collection or the merchant’s cancellation, never both', async () => {
    for (let time = 0; time < 12; time++) {
      const { guia } = await comercio.api.guias.crear(buildGuia())
      const [recogida, cancelacion] = await Promise.all([
        mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() }),
        environment.request('POST', `/api/v1/guias/${guia}/cancelar`, { llave: comercio.llave }),
      ])
      expect([recogida.status, cancelacion.status].sort()).toEqual([expect.any(Number), 409])
      expect((await ver(guia)).estado).toBe(recogida.status === 201 ? 'recolectado' : 'cancelado')
    }
  })
})
