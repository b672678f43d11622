import { beforeAll, describe, expect, it } from 'vitest'
import { saveArchivo } from '../../server/domain/archivos/archivo.ts'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { deletePruebas } from '../../server/domain/pruebasEntrega/erase.ts'
import { createLocalStore } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { createDeliveredGuia, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, readTestSettings } from '../factories.ts'

const DIAS = 30
const env = { PROOF_RETENTION_DAYS: String(DIAS), LOCATION_RETENTION_DAYS: '3650' }
const environment = useEnvironment({}, () => env)
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})

const clock = () => environment.clock()
const log = createLog('silent')
const remove = () => deletePruebas({ db: environment.db, clock, log, settings: readTestSettings(env) })
const store = () => createLocalStore(`${environment.dataDir}/archivos`)
const sweep = () => sweepArchivos({ db: environment.db, store: store(), clock, log })
const guardados = async (archivos: string[]) => {
  const keys = (await Array.fromAsync(store().list())).map(({ clave: key }) => key)
  return archivos.map((file) => [file, keys.includes(file)])
}
const readTableRows = async (table: string, archivos: string[]) =>
  (await environment.db.pool.query(`select * from ${table} where archivo = any($1)`, [archivos])).rows

/** A guide whose first attempt failed with a photo, and that was delivered on the second. */
async function createWithEverything() {
  const guia = await createGuiaOnRoute(environment, comercio)
  const foto = (await uploadArchivo(environment, guia)).body.archivo as string
  const registrar = (body: object) => environment.asOperador('POST', `/guias/${guia}/eventos`, body)
  await registrar({ estado: 'intento_fallido', motivo: 'sin_respuesta', fotos: [foto] })
  await registrar({ estado: 'en_ruta' })
  const [a, firma] = [await uploadArchivo(environment, guia), await uploadArchivo(environment, guia, { tipo: 'firma' })]
  const body = {
    recibido_por: { nombre: 'Persona Irrepetible', documento: '9999 88888 7777', relacion: 'vecino' },
    fotos: [a.body.archivo],
    firma: firma.body.archivo,
    lat: 14.7189,
    lng: -90.6442,
  }
  const key = 'de-un-lector-sin-cobertura'
  const deliver = () => environment.asOperador('POST', `/guias/${guia}/entrega`, body, key)
  const { status, body: message } = await deliver()
  if (status !== 201) throw new Error(JSON.stringify(message))
  return {
    guia,
    intento: foto,
    entrega: [a.body.archivo, firma.body.archivo] as string[],
    deliver,
    text: message,
  }
}

/** A document, as its job leaves it. */
async function waitForPdf(guia: string): Promise<string> {
  const { rows } = await environment.db.pool.query(
    `select p.comercio_id, p.modo, p.guia_id as id from prueba_entrega p
     join guia_indice i on i.comercio_id = p.comercio_id and i.id = p.guia_id where guia = $1`,
    [guia],
  )
  const nothing = { ancho: null, alto: null, capturado_en: null, lat: null, lng: null, autor: null }
  const datos = {
    ...nothing,
    tipo: 'pdf' as const,
    mime: 'application/pdf',
    usado_en: clock(),
    contenido: Buffer.from('%PDF-'),
  }
  const { archivo } = await saveArchivo({ db: environment.db, store: store(), clock }, rows[0], datos)
  const { rows: storedRows } = await environment.db.pool.query(
    'update prueba_entrega set pdf = coalesce(pdf, $2) where guia_id = $1 returning pdf',
    [rows[0].id, archivo],
  )
  return storedRows[0].pdf
}

describe('after the retention of proofs', () => {
  it('an attempt that became known late keeps its photos as long as any other, regardless of its date', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    const foto = (await uploadArchivo(environment, guia)).body.archivo as string
    const late = {
      estado: 'intento_fallido',
      motivo: 'sin_respuesta',
      fotos: [foto],
      ocurrido_en: '2001-01-01T00:00:00Z',
    }
    expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, late)).body.aplicado).toBe(false)
    await remove()
    expect((await comercio.api.guias.intentos(guia)).datos[0]!.fotos).toHaveLength(1)
    environment.advance(DIAS * DAY_MS + 1_000)
    await remove()
    expect((await comercio.api.guias.intentos(guia)).datos[0]!.fotos).toEqual([])
  })

  it('files and who received are gone, rows first; that it was delivered, and when, stays', async () => {
    const { guia, intento, entrega, deliver, text: acuse } = await createWithEverything()
    const all = [intento, ...entrega]
    const before = await comercio.api.guias.obtener(guia)
    const pdf = await waitForPdf(guia)

    environment.advance(DIAS * DAY_MS - 60_000)
    await remove()
    await sweep()
    const { fotos, firma, recibido_por: receivedBy } = await comercio.api.guias.pruebaEntrega(guia)
    expect([receivedBy.nombre, fotos.length]).toEqual(['Persona Irrepetible', 1])
    expect((await comercio.api.guias.intentos(guia)).datos[0]!.fotos).toHaveLength(1)
    expect(await guardados(all)).toEqual(all.map((file) => [file, true]))

    environment.advance(61_000)
    const moment = clock()
    await Promise.all([remove(), remove()])
    // No row says that the files are there: their links open nothing, though the storage still has the bytes.
    expect(await readTableRows('archivo', [...all, pdf])).toEqual([])
    expect(await guardados(all)).toEqual(all.map((file) => [file, true]))
    expect((await readTableRows('archivo_indice', all)).map(({ estado }) => estado)).toEqual(all.map(() => 'borrando'))
    for (const { url } of [...fotos, firma!]) expect((await fetch(url)).status).toBe(403)
    await sweep()
    expect(await guardados(all)).toEqual(all.map((file) => [file, false]))
    expect(await readTableRows('archivo_indice', [...all, pdf])).toEqual([])

    const error = await comercio.api.guias.pruebaEntrega(guia).then(
      () => undefined,
      (e: { codigo: string; estadoHttp: number; message: string }) => e,
    )
    expect([error?.estadoHttp, error?.codigo]).toEqual([404, 'prueba_no_disponible'])
    const [, message = ''] = /su prueba se borró el (\S+) por la retención de datos/.exec(error!.message) ?? []
    expect(new Date(message).getTime() - moment.getTime()).toBeGreaterThanOrEqual(0)
    expect(new Date(message).getTime()).toBeLessThanOrEqual(environment.clock().getTime())
    const [entregado, ...previousEventos] = before.eventos.datos.toReversed()
    expect(entregado).toMatchObject({ tipo: 'guia.entregado', lat: 14.7189, lng: -90.6442 })
    expect(await comercio.api.guias.obtener(guia)).toEqual({
      ...before,
      eventos: { ...before.eventos, datos: [...previousEventos.reverse(), { ...entregado, lat: null, lng: null }] },
    })
    expect((await comercio.api.guias.intentos(guia)).datos).toMatchObject([{ motivo: 'sin_respuesta', fotos: [] }])
    const { rows: pruebas } = await environment.db.pool.query(
      `select to_jsonb(t)::text as texto from prueba_entrega t union all select to_jsonb(t)::text from prueba_intento t
       union all select to_jsonb(t)::text from evento t union all select to_jsonb(t)::text from prueba_borrada t`,
    )
    expect(pruebas.filter(({ texto: text }) => /Irrepetible|9999 88888/.test(text))).toEqual([])
    // Once is enough.
    environment.advance(DAY_MS)
    await remove()
    await expect(comercio.api.guias.pruebaEntrega(guia)).rejects.toMatchObject({
      message: expect.stringContaining(message),
    })
    // The same delivery again is no delivery.
    const other = await environment.asOperador('POST', `/guias/${guia}/entrega`, {
      recibido_por: { nombre: 'Persona Irrepetible' },
      fotos: entrega.slice(0, 1),
    })
    expect([other.status, other.body.codigo]).toEqual([409, 'transicion_invalida'])
    // Whoever never heard the answer hears it now, without what is gone.
    const repeated = await deliver()
    expect([repeated.status, repeated.body]).toEqual([200, { ...acuse, lat: null, lng: null, distancia_m: null }])
  })

  it('a guide delivered without proof never had one', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport('entregado'))
    environment.advance((DIAS + 1) * DAY_MS)
    await remove()
    await expect(comercio.api.guias.pruebaEntrega(guia)).rejects.toMatchObject({
      message: expect.stringContaining('se entregó sin prueba'),
    })
  })

  it('more than one round of them, and nobody else’s', async () => {
    const old = await createDeliveredGuia(environment, comercio)
    environment.advance((DIAS + 1) * DAY_MS)
    const fresh = await createDeliveredGuia(environment, comercio)
    const { rows } = await environment.db.pool.query(
      `with v as (select id from guia_indice where guia = $1),
         g as (insert into guia select (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(),
           'guia', 'COPIA' || n, 'external_ref', null))).* from guia g join v using (id), generate_series(1, 1200) n
           returning id)
       insert into prueba_entrega
       select (jsonb_populate_record(p, jsonb_build_object('guia_id', g.id, 'id', gen_random_uuid(),
         'pdf', 'arch_NINGUNO'))).*
       from prueba_entrega p join v on v.id = p.guia_id, g returning guia_id`,
      [old.guia],
    )
    expect(rows).toHaveLength(1_200)
    expect([await remove(), await remove(), await remove()]).toEqual([true, true, false])
    const count = async (table: string) =>
      (
        await environment.db.pool.query(`select count(*)::int as n from ${table} where guia_id = any($1)`, [
          rows.map(({ guia_id }) => guia_id),
        ])
      ).rows[0].n
    expect([await count('prueba_entrega'), await count('prueba_borrada')]).toEqual([0, 1_200])
    await expect(comercio.api.guias.pruebaEntrega(old.guia)).rejects.toMatchObject({ estadoHttp: 404 })
    expect((await comercio.api.guias.pruebaEntrega(fresh.guia)).fotos).toHaveLength(1)
  })
})
