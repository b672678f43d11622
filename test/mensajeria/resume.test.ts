import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPendingMensajes } from '../../server/domain/mensajeria/due.ts'
import { resumeUnsent } from '../../server/domain/mensajeria/resume.ts'
import { sendMensajes } from '../../server/domain/mensajeria/send.ts'
import { createWhatsappClient, type WhatsappClient } from '../../server/domain/mensajeria/whatsapp.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, EN_POSTGRES, waitUntil } from '../factories.ts'
import { waitForLock } from '../quiescence.ts'
import { buildMensajeDeps, createTelefono, type SentUbicacionRequest, useChannel } from './channel.ts'

const canal = useChannel()
const { environment, mensajes, listAcceptedMensajes, requests, esperar, query } = canal
const AVISO = { codigo: 'sin_mensajeria', campo: '/ubicacion', sugerencia: null }
/** The hours for which a link is good, unless configured. */
const DEADLINE = 72 * HOUR_MS

let comercio: Comercio
let whatsapp: WhatsappClient
beforeAll(async () => {
  whatsapp = createWhatsappClient(canal.proveedor.config)
  await environment.reset({ MESSAGING: 'buzon' })
  comercio = await environment.createComercio('live')
})
afterAll(() => whatsapp.close())

const request = async (method: string, path: string, body?: unknown) =>
  environment.request(method, `/api/v1${path}`, { llave: comercio.llave, body })
const read = async ({ guia }: { guia: string }) => (await request('GET', `/guias/${guia}`)).body
const tipos = async (sentRequest: SentUbicacionRequest) =>
  (await read(sentRequest)).eventos.datos.map(({ tipo }: { tipo: string }) => tipo)

async function fresh(): Promise<SentUbicacionRequest> {
  const telefono = createTelefono()
  const { status, body } = await request('POST', '/guias', buildGuiaWithoutDestino({ telefono: `+${telefono}` }))
  expect(status).toBe(201)
  return { guia: body.guia, telefono }
}
const withWhatsapp = () => environment.reset({ MESSAGING: 'whatsapp' })
const resetWithoutWhatsapp = () => environment.reset({ MESSAGING: 'buzon' })

const deps = () => ({ ...buildMensajeDeps(environment), whatsappClient: whatsapp })

/** Waits until the service that has WhatsApp has looked at all that was held. */
const waitForResume = async () => {
  await waitUntil(
    async () =>
      (await query("select from mensaje where canal = 'buzon' and modo = 'live' and estado = 'pendiente'")).length ===
      0,
  )
  await canal.waitForQuiet()
}

describe('without messaging a live guide without a place', () => {
  it('says in its creation, detail, list, batch and first event that nobody asks its recipient', async () => {
    const { body: created } = await request('POST', '/guias', buildGuiaWithoutDestino())
    expect(created.advertencias).toEqual([
      { ...AVISO, mensaje: expect.stringMatching(/^nadie le preguntará .* no tiene mensajería .*: confirme usted /) },
    ])
    expect(created.ubicacion).toMatchObject({
      estado: 'solicitada',
      solicitud: { canal: 'buzon', estado: 'pendiente', numero: 1, enviado_en: null },
    })
    await canal.waitForQuiet()
    const readGuia = await read(created)
    expect(readGuia.advertencias).toMatchObject([AVISO])
    expect(readGuia.ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { estado: 'pendiente' } })
    expect(readGuia.eventos.datos).toMatchObject([{ tipo: 'guia.aceptado' }])
    const { body: list } = await request('GET', '/guias?limite=1')
    expect(list.datos[0]).toMatchObject({ guia: created.guia, advertencias: [AVISO] })
    const guias = [buildGuiaWithoutDestino(), buildGuia()]
    const { body: lote } = await request('POST', '/guias/bulk', { recogida: guias[0]!.recogida, guias })
    expect(lote.resultados).toMatchObject([{ advertencias: [AVISO] }, { advertencias: [] }])
  })

  it('is not warned of with a test key, whose message goes to the mailbox', async () => {
    const prueba = await environment.createComercio('test')
    const { guia, advertencias } = await prueba.api.guias.crear(buildGuiaWithoutDestino())
    expect(advertencias).toEqual([])
    expect(await esperar({ guia }, 'enviado')).toMatchObject({ canal: 'buzon' })
    expect((await prueba.api.guias.obtener(guia)).advertencias).toEqual([])
  })

  it('has a message that no round of the feeder comes to, however late it is', async () => {
    const sentRequests = await Promise.all(Array.from({ length: 20 }, fresh))
    await canal.waitForQuiet()
    const storedMensajes = (await Promise.all(sentRequests.map(mensajes))).flat()
    for (const row of storedMensajes) expect(row).toMatchObject({ estado: 'pendiente', canal: 'buzon', intentos: 0 })
    for (const moment of [canal.clock(), new Date(canal.clock().getTime() + 3_650 * DAY_MS)]) {
      const withClock = { ...deps(), clock: () => moment }
      for (const target of ['buzon', 'whatsapp'] as const)
        expect(await readPendingMensajes(target)(withClock, 100)).toEqual([])
      // The range of its index that the feeder reads holds nothing of them, either.
      const { length } = await query(
        "select from mensaje where estado in ('pendiente', 'enviando') and proximo_en <= $1",
        [moment],
      )
      expect(length).toBe(0)
    }
    const ids = storedMensajes.map(({ id }) => id)
    expect(await query("select from pgboss.job where data ->> 'mensaje' = any($1)", [ids])).toEqual([])
  })

  it('costs a search for what is held no statement', async () => {
    const queries: unknown[] = []
    const db = new Proxy(environment.db, {
      get(target, member, ownMobile) {
        queries.push(member)
        return Reflect.get(target, member, ownMobile)
      },
    })
    expect(await resumeUnsent({ ...deps(), db, whatsappClient: undefined })).toBe(false)
    expect(queries).toEqual([])
  })

  it('has its message dropped and its warning taken back when it no longer needs the answer', async () => {
    const [confirmed, cancelled] = [await fresh(), await fresh()]
    await request('POST', `/guias/${confirmed.guia}/ubicacion`, { lat: 14.63, lng: -90.6 })
    await request('POST', `/guias/${cancelled.guia}/cancelar`, {})
    for (const sentRequest of [confirmed, cancelled]) {
      const { advertencias, ubicacion } = await read(sentRequest)
      expect(advertencias).toEqual([])
      expect(ubicacion.solicitud).toMatchObject({ canal: 'buzon', estado: 'descartado' })
      const { body } = await environment.asOperador('GET', `/mensajes?guia=${sentRequest.guia}`)
      expect(body.datos).toMatchObject([{ canal: 'buzon', estado: 'descartado' }])
    }
  })
})

describe('when WhatsApp is configured', () => {
  it('a held message is sent once, and the warning is gone', async () => {
    const sentRequest = await fresh()
    canal.advance(30 * HOUR_MS)
    await withWhatsapp()
    const row = await esperar(sentRequest, 'enviado')
    expect(row).toMatchObject({ canal: 'whatsapp', numero: 1, intentos: 1 })
    await waitForResume()
    expect(requests(sentRequest)).toHaveLength(1)
    const readGuia = await read(sentRequest)
    expect(readGuia.advertencias).toEqual([])
    expect(readGuia.ubicacion.solicitud).toMatchObject({
      canal: 'whatsapp',
      estado: 'enviado',
      numero: 1,
      motivo: null,
    })
    expect(await tipos(sentRequest)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    await environment.reset()
    await canal.waitForQuiet()
    expect(requests(sentRequest)).toHaveLength(1)
    expect(await mensajes(sentRequest)).toHaveLength(1)
  })

  it('a guide that was asked for several times gets one message', async () => {
    await resetWithoutWhatsapp()
    const sentRequest = await fresh()
    for (const number of [2, 3]) {
      const { status, body } = await request('POST', `/guias/${sentRequest.guia}/reenviar-solicitud`)
      expect(status).toBe(202)
      expect(body).toMatchObject({
        advertencias: [AVISO],
        ubicacion: { solicitud: { numero: number, estado: 'pendiente' } },
      })
    }
    await withWhatsapp()
    await esperar(sentRequest, 'enviado', 3)
    await waitForResume()
    expect((await mensajes(sentRequest)).map(({ estado }) => estado)).toEqual(['descartado', 'descartado', 'enviado'])
    expect(listAcceptedMensajes(sentRequest)).toHaveLength(1)
    expect((await read(sentRequest)).ubicacion.solicitud).toMatchObject({ numero: 3, estado: 'enviado' })
  })

  it('a guide older than a link is good for gets none, is told why, and can be asked for again', async () => {
    await resetWithoutWhatsapp()
    const old = await fresh()
    canal.advance(DEADLINE)
    const recentItem = await fresh()
    await withWhatsapp()
    await esperar(recentItem, 'enviado')
    await waitForResume()
    expect(await mensajes(old)).toMatchObject([{ estado: 'descartado', abierta: false }])
    expect(requests(old)).toEqual([])
    const { advertencias, ubicacion } = await read(old)
    expect(advertencias).toEqual([])
    expect(ubicacion.solicitud).toMatchObject({
      estado: 'descartado',
      motivo: expect.stringMatching(/no tenía mensajería .* Pídalo otra vez/),
      enviado_en: null,
      vence_en: null,
    })
    expect((await request('POST', `/guias/${old.guia}/reenviar-solicitud`)).status).toBe(202)
    await esperar(old, 'enviado', 2)
    expect(listAcceptedMensajes(old)).toHaveLength(1)
  })

  it('a held message is sent when its guide still waits for it, and dropped otherwise', async () => {
    await resetWithoutWhatsapp()
    const [wait, confirmed, cancelled] = [await fresh(), await fresh(), await fresh()]
    expect((await read(wait)).advertencias).toMatchObject([AVISO])
    await request('POST', `/guias/${confirmed.guia}/ubicacion`, { lat: 14.63, lng: -90.6 })
    await request('POST', `/guias/${cancelled.guia}/cancelar`, {})
    await withWhatsapp()
    await esperar(wait, 'enviado')
    await waitForResume()
    expect(listAcceptedMensajes(wait)).toHaveLength(1)
    const [row] = await mensajes(wait)
    expect(row).toMatchObject({ canal: 'whatsapp', estado: 'enviado', abierta: true })
    expect(row!.vence_en!.getTime() - row!.enviado_en!.getTime()).toBe(DEADLINE)
    const token = requests(wait)[0]!.json.template.components[1].parameters[0].text
    expect((await fetch(`${environment.url}/u/${token}`)).status).toBe(200)
    for (const sentRequest of [confirmed, cancelled]) {
      expect((await mensajes(sentRequest))[0]).toMatchObject({ canal: 'buzon', estado: 'descartado' })
      expect(requests(sentRequest)).toEqual([])
    }
    expect(await tipos(confirmed)).toEqual(['guia.aceptado', 'ubicacion.confirmada'])
    await environment.reset()
    await canal.waitForQuiet()
    expect(requests(wait)).toHaveLength(1)
  })

  it('a fault of the account, whose repair takes its time, costs no message that was held for a day', async () => {
    await resetWithoutWhatsapp()
    const sentRequest = await fresh()
    canal.advance(2 * DAY_MS)
    const accountFault = { tipo: 'error', status: 401, error: { code: 190, details: 'x' } } as const
    canal.proveedor.byTelefono.set(sentRequest.telefono, accountFault)
    await withWhatsapp()
    await waitUntil(async () => requests(sentRequest).length > 0)
    canal.proveedor.byTelefono.delete(sentRequest.telefono)
    await waitUntil(async () => (await mensajes(sentRequest))[0]!.codigo === '190')
    canal.takeExpectedErrors(/messaging account/)
    canal.advance(10 * MINUTE_MS)
    await esperar(sentRequest, 'enviado')
    expect(listAcceptedMensajes(sentRequest)).toHaveLength(1)
  })
})

describe('by several processes', () => {
  it('each guide gets one message, even when every process resumes and sends repeatedly', async () => {
    await resetWithoutWhatsapp()
    const sentRequests = await Promise.all(Array.from({ length: 30 }, fresh))
    const jobs = (await Promise.all(sentRequests.map(mensajes))).flat().map(({ id, comercio_id }) => ({
      data: { mensaje: id, comercio_id },
    }))
    const all = async () => {
      await resumeUnsent(deps())
      await sendMensajes(deps(), jobs)
    }
    const other = canal.startOtherService()
    await Promise.all([withWhatsapp(), all(), all(), all()])
    await other
    for (const sentRequest of sentRequests) await esperar(sentRequest, 'enviado')
    await Promise.all([all(), all()])
    await waitForResume()
    for (const sentRequest of sentRequests) {
      expect(requests(sentRequest)).toHaveLength(1)
      expect(await mensajes(sentRequest)).toHaveLength(1)
    }
    await (await other).stop()
  })

  it('is left to the next when one is killed in the middle', EN_POSTGRES, async () => {
    await resetWithoutWhatsapp()
    const sentRequests = await Promise.all(Array.from({ length: 5 }, fresh))
    const foreign = await environment.db.pool.connect()
    await foreign.query('begin')
    await foreign.query('select from guia where guia = $1 for update', [sentRequests[3]!.guia])
    const cortada = expect(resumeUnsent(deps())).rejects.toThrow()
    await waitForLock(environment.db)
    await foreign.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    await cortada
    await foreign.query('rollback')
    foreign.release()
    for (const sentRequest of sentRequests)
      expect(await mensajes(sentRequest)).toMatchObject([{ canal: 'buzon', estado: 'pendiente' }])
    await withWhatsapp()
    for (const sentRequest of sentRequests) {
      await esperar(sentRequest, 'enviado')
      expect(requests(sentRequest)).toHaveLength(1)
    }
  })
})
