import { describe, expect, it } from 'vitest'
import { inTransaction } from '../../server/data/db.ts'
import { takeStep } from '../../server/domain/eventos/evento.ts'
import { expireRequests } from '../../server/domain/mensajeria/expire.ts'
import { sendToMailbox } from '../../server/domain/mensajeria/mailbox.ts'
import type { MensajeKey } from '../../server/domain/mensajeria/row.ts'
import { findGuia } from '../../server/domain/records/guiaLookup.ts'
import { placeStep } from '../../server/domain/ubicacion/ubicacion.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'

import { buildGuiaWithoutDestino, FULL_RUN_ONLY, RECOGIDA, readTestSettings } from '../factories.ts'
import { waitForLock } from '../quiescence.ts'
import { checkHistory, SECRETOS, useUbicacionRequests } from './requests.ts'

// Jobs are done by hand here, so that they meet the requests.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const { linkOf, send, read: leer, mensajes } = useUbicacionRequests(environment)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const THERE = { lat: '14.6333', lng: '-90.6064', precision_m: '12', referencia: 'Portón verde', metodo: 'gps' }
const OVER_THERE = { lat: 14.65, lng: -90.61 }
const deps = (clock = () => new Date()) => ({
  db: environment.db,
  clock,
  secretos: SECRETOS,
  notifyJobs: () => {},
  settings: readTestSettings(),
})
const days = (n: number) => () => new Date(Date.now() + n * 24 * HOUR_MS)

async function create(comercio: Comercio, count: number) {
  const { resultados } = await comercio.api.guias.crearLote({
    recogida: RECOGIDA,
    guias: Array.from({ length: count }, () => buildGuiaWithoutDestino(MIXCO)),
  })
  const guias = resultados.map((one) => ('guia' in one ? one.guia! : ''))
  const rows = await mensajes(comercio)
  return { guias, own: guias.map((guia) => rows.find((row) => row.guia === guia)! as MensajeKey) }
}
async function sentRequests(comercio: Comercio, count: number) {
  const { guias, own: ownMensajes } = await create(comercio, count)
  await sendToMailbox(deps(), ownMensajes)
  return { guias, own: ownMensajes }
}
const codigoOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'si',
    (error) => error.codigo as string,
  )

describe('at the same time', () => {
  it('recipient, merchant and cancellation: each is told what became of it, and the history is legal', async () => {
    const comercio = await environment.createComercio()
    const seen = new Set<string>()
    for (let tanda = 0; tanda < 5; tanda++) {
      const guias = (await sentRequests(comercio, 20)).guias
      const paths = await Promise.all(guias.map((guia) => linkOf(guia)))
      const finales = await Promise.all(
        guias.map(async (guia, i) => {
          const actions = [
            () => send(paths[i]!, THERE).then(({ status }) => String(status)),
            () => codigoOf(comercio.api.guias.confirmarUbicacion(guia, OVER_THERE)),
            () => codigoOf(comercio.api.guias.cancelar(guia)),
          ]
          const command = [0, 1, 2].map((n) => (n + i) % 3)
          const responses: string[] = []
          const act = async (n: number) => {
            responses[n] = await actions[n]!()
          }
          // On a loaded machine the first asked is the first served: half of them wait for each other.
          if (i % 2) for (const n of command) await act(n)
          else await Promise.all(command.map(act))
          return responses
        }),
      )
      for (const [i, [page, propia, cancelacion]] of finales.entries()) {
        const read = await leer(comercio, guias[i]!)
        checkHistory(read)
        const tipos = read.eventos.datos.slice(2).map(({ tipo }) => tipo)
        seen.add(tipos.join(' '))
        const origenes = [page === '303', propia === 'si'].filter(Boolean).length
        expect([tipos, page, propia, cancelacion]).toEqual([
          [...Array.from({ length: origenes }, () => 'ubicacion.confirmada'), 'guia.cancelado'],
          expect.stringMatching(/^(?:303|200)$/),
          expect.stringMatching(/^(?:si|ubicacion_cerrada)$/),
          'si',
        ])
        expect(read.estado).toBe('cancelado')
        expect(read.ubicacion.origen).toBe(propia === 'si' ? 'comercio' : page === '303' ? 'destinatario' : null)
      }
    }
    expect(seen.size).toBeGreaterThan(1)
  })

  it.each(['confirmed', 'cancelled'])(
    'a message handed over while its guide is being %s comes too late',
    async (asSpecified) => {
      const comercio = await environment.createComercio()
      const { guias, own: ownMensajes } = await create(comercio, 1)
      const guia = guias[0]!
      const row = await findGuia(environment.db, 'todos', guia)
      const now = new Date()
      let submission: Promise<void> | undefined
      await inTransaction(environment.db.forComercio(row.comercio_id), async (query) => {
        const place = { enlace: null, ...OVER_THERE, precision_m: null, referencia: null, origen: 'comercio' as const }
        await takeStep(
          { db: { query }, notifyJobs: () => {} },
          row,
          asSpecified === 'confirmed'
            ? placeStep(row, place, now)
            : { tipo: 'guia.cancelado', estado: 'cancelado', ocurrido_en: now, registrado_en: now },
        )
        submission = sendToMailbox(deps(), ownMensajes)
        await waitForLock(environment.db)
      })
      await submission
      const read = await leer(comercio, guia)
      checkHistory(read)
      expect(read.secuencia).toBe(2)
      expect(read.ubicacion.solicitud?.estado).toBe('descartado')
      expect(await mensajes(comercio)).toMatchObject([{ estado: 'descartado', abierta: false }])
    },
  )

  it('messages, expiries, recipients and merchants never stand in each other’s way', FULL_RUN_ONLY, async () => {
    const comercio = await environment.createComercio()
    await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/', tipos: ['ubicacion.*'] })
    for (let tanda = 0; tanda < 3; tanda++) {
      const { guias, own: ownMensajes } = await create(comercio, 60)
      const reversedOrder = ownMensajes.toReversed()
      const hechos = await Promise.all([
        ...guias.map((guia, i) =>
          codigoOf(
            i % 4 === 3 ? comercio.api.guias.cancelar(guia) : comercio.api.guias.confirmarUbicacion(guia, OVER_THERE),
          ),
        ),
        ...[ownMensajes, reversedOrder, ownMensajes.slice(20), reversedOrder.slice(20)].map((items) =>
          codigoOf(sendToMailbox(deps(), items)),
        ),
      ])
      expect([...new Set(hechos)]).toEqual(['si'])
      for (const [i, guia] of guias.entries()) {
        const read = await leer(comercio, guia)
        checkHistory(read)
        if (i % 4 === 3) expect(read.estado).toBe('cancelado')
        else expect(read.ubicacion).toMatchObject({ estado: 'confirmada', ...OVER_THERE })
        expect(['enviado', 'descartado']).toContain(read.ubicacion.solicitud?.estado)
      }
    }
    for (let tanda = 0; tanda < 3; tanda++) {
      const { guias, own: ownMensajes } = await sentRequests(comercio, 60)
      const paths = await Promise.all(guias.map((guia) => linkOf(guia)))
      const reversedOrder = ownMensajes.toReversed()
      const hechos = await Promise.all([
        ...guias.map(async (guia, i) => {
          if (i % 3 === 0) return codigoOf(comercio.api.guias.confirmarUbicacion(guia, OVER_THERE))
          if (i % 3 === 1) return (await send(paths[i]!, THERE)).status === 303 ? 'si' : 'no'
          return codigoOf(comercio.api.guias.reenviarSolicitud(guia)).then((codigo) =>
            codigo === 'limite_de_solicitudes' ? 'si' : codigo,
          )
        }),
        ...[ownMensajes, reversedOrder, ownMensajes.slice(20), reversedOrder.slice(20)].map((items) =>
          codigoOf(expireRequests(deps(days(3.01)), items)),
        ),
      ])
      expect([...new Set(hechos)]).toEqual(['si'])
      for (const [i, guia] of guias.entries()) {
        const read = await leer(comercio, guia)
        checkHistory(read)
        if (i % 3 !== 2) expect(read.ubicacion.estado).toBe('confirmada')
      }
    }
  })
})

describe('a guide of before the migration', () => {
  it('says of its request what is known', async () => {
    const comercio = await environment.createComercio()
    const { guias, own: ownMensajes } = await create(comercio, 2)
    await environment.db.pool.query('update guia set ubicacion_extra = null where guia = any($1)', [guias])
    await comercio.api.guias.cancelar(guias[1]!)
    expect((await leer(comercio, guias[0]!)).ubicacion.solicitud).toBeNull()
    await sendToMailbox(deps(), ownMensajes)
    const [sentRequest, cancelled] = [await leer(comercio, guias[0]!), await leer(comercio, guias[1]!)]
    checkHistory(sentRequest)
    const commonPart = { canal: 'buzon', numero: 1, creado_en: expect.stringMatching(/^20.*Z$/) }
    expect(sentRequest.ubicacion.solicitud).toMatchObject({ ...commonPart, estado: 'enviado' })
    expect(cancelled.ubicacion.solicitud).toMatchObject({ ...commonPart, estado: 'descartado' })
  })
})
