import { describe, expect, it } from 'vitest'
import { FAILURES_TO_BRAKE } from '../../../server/domain/webhooks/schedule.ts'
import { Admission } from '../../../server/domain/webhooks/sending/admission.ts'
import { readDue } from '../../../server/domain/webhooks/sending/due.ts'
import { Endpoint, type ReadyDelivery, toReady } from '../../../server/domain/webhooks/sending/endpoint.ts'
import { MAX_EXCHANGES_PER_WEBHOOK } from '../../../server/domain/webhooks/sending/limits.ts'
import type { Receiver } from '../../../server/domain/webhooks/sending/receiver.ts'
import { useEnvironment } from '../../environment.ts'
import { buildGuia } from '../../factories.ts'
import { buildMensajeDeps } from '../../mensajeria/channel.ts'
import { nobody } from '../webhooks.ts'

/** A service that sends nothing. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

describe('a due delivery of an endpoint', () => {
  it('waits in memory only as long as its endpoint takes it; what somebody asked to be sent goes all the same', async () => {
    const { api, id } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear(nobody())
    for (let n = 0; n < 2; n++) await api.guias.crear(buildGuia())
    const prueba = await api.webhooks.probar(webhook)
    const key = { comercio_id: id, modo: 'test', webhook } as const
    const [dueAvisos] = await readDue(buildMensajeDeps(environment), [{ ...key, count: 10, salvo: [] }], new Date())
    const quotas = new Admission<ReadyDelivery, Endpoint>()
    const endpoint = new Endpoint(key, quotas.open(id), 0)
    const admitidas = (receptor: Partial<Receiver>) => {
      endpoint.refresh({ fallas: 0, comprobado_en: new Date(), freno_vence_en: null, ...receptor } as Receiver, 0)
      const listas = dueAvisos!.map((contenido) => toReady(contenido, 0))
      return listas.filter((list) => endpoint.accepts(list, new Date())).map(({ evento }) => evento)
    }
    expect(admitidas({ estado: 'activo' })).toHaveLength(3)
    expect(admitidas({ estado: 'activo', comprobado_en: null })).toEqual([prueba.evento])
    expect(admitidas({ estado: 'pausado' })).toEqual([prueba.evento])
    // A pause far ahead was written before the clock stepped back, and does not count.
    for (const [minutes, eventos] of [
      [1, [prueba.evento]],
      [3, dueAvisos!.map(({ aviso: entrega }) => entrega.evento)],
    ] as const) {
      const now = new Date()
      const freno_vence_en = new Date(now.getTime() + minutes * 60_000)
      expect([minutes, admitidas({ estado: 'activo', freno_vence_en })]).toEqual([minutes, eventos])
      await environment.db.pool.query('update webhook set freno_vence_en = $1 where webhook = $2', [
        freno_vence_en,
        webhook,
      ])
      const [pausedDeliveries] = await readDue(buildMensajeDeps(environment), [{ ...key, count: 10, salvo: [] }], now)
      expect([minutes, pausedDeliveries!.map(({ aviso: entrega }) => entrega.evento)]).toEqual([minutes, eventos])
    }
  })
})

describe('an event that its own process has just committed', () => {
  const evento = 'evt_00000000000A_1'
  const takeOne = () =>
    new Endpoint({ comercio_id: '', modo: 'test', webhook: '' }, new Admission<ReadyDelivery, Endpoint>().open(''), 100)

  it('is new to an endpoint that was held before it was written, and not read since', () => {
    const endpoint = takeOne()
    expect(endpoint.isNew(evento, 99)).toBe(false)
    expect(endpoint.isNew(evento, 101)).toBe(true)
  })

  it('isn’t if a read brought it first: a commit is seen by others before its own process hears of it', () => {
    const endpoint = takeOne()
    endpoint.startRead()
    endpoint.endRead([evento], 200)
    expect(endpoint.isNew(evento, 150)).toBe(false)
    expect(endpoint.isNew('evt_00000000000B_1', 150)).toBe(true)
  })

  it('isn’t where more than one read was over since, since the one before the last isn’t remembered', () => {
    const endpoint = takeOne()
    endpoint.startRead()
    endpoint.endRead([evento], 200)
    endpoint.startRead()
    endpoint.endRead([], 300)
    expect(endpoint.isNew(evento, 150)).toBe(false)
    expect(endpoint.isNew('evt_00000000000B_1', 250)).toBe(true)
  })
})

describe('the modes of an endpoint', () => {
  const nuevo = () =>
    new Endpoint({ comercio_id: '', modo: 'test', webhook: '' }, new Admission<ReadyDelivery, Endpoint>().open(''), 0)

  it('is read after a read that no announcement interrupted', () => {
    const endpoint = nuevo()
    expect(endpoint.readMode).toBe('unread')
    endpoint.startRead()
    expect([endpoint.readMode, endpoint.isReading]).toEqual(['reading', true])
    endpoint.endRead([], 1)
    expect([endpoint.readMode, endpoint.isReading]).toEqual(['read', false])
    endpoint.announce()
    expect(endpoint.readMode).toBe('unread')
  })

  it('is read again when deliveries are announced during a read', () => {
    const endpoint = nuevo()
    endpoint.startRead()
    endpoint.announce()
    expect([endpoint.readMode, endpoint.isReading]).toEqual(['outdated', true])
    endpoint.endRead([], 1)
    expect([endpoint.readMode, endpoint.isReading]).toEqual(['unread', false])
  })

  it('sends one delivery at a time from the last failure that brakes until a success', () => {
    const endpoint = nuevo()
    for (let n = 1; n < FAILURES_TO_BRAKE; n++) expect([n, endpoint.record(false)]).toEqual([n, false])
    expect([endpoint.sendMode, endpoint.limit]).toEqual(['open', MAX_EXCHANGES_PER_WEBHOOK])
    expect(endpoint.record(false)).toBe(true)
    expect([endpoint.sendMode, endpoint.limit]).toEqual(['probing', 1])
    expect(endpoint.record(true)).toBe(false)
    expect([endpoint.sendMode, endpoint.limit]).toEqual(['open', MAX_EXCHANGES_PER_WEBHOOK])
  })

  it('keeps probing while its row counts the failures that brake', () => {
    const endpoint = nuevo()
    endpoint.refresh({ fallas: FAILURES_TO_BRAKE } as Receiver, 0)
    expect([endpoint.sendMode, endpoint.limit]).toEqual(['probing', 1])
    endpoint.refresh({ fallas: FAILURES_TO_BRAKE - 1 } as Receiver, 0)
    expect([endpoint.sendMode, endpoint.limit]).toEqual(['open', MAX_EXCHANGES_PER_WEBHOOK])
  })
})
