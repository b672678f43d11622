import { PgBoss } from 'pg-boss'
import { afterEach, describe, expect, it } from 'vitest'
import type { Db } from '../../server/data/db.ts'
import type { ClaveDeWebhook } from '../../server/domain/records/webhookKey.ts'
import { LEASE_QUEUE } from '../../server/domain/webhooks/sending/leaseRecords.ts'
import { type Lease, Leases } from '../../server/domain/webhooks/sending/leases.ts'
import { processTimers } from '../../server/platform/time/timers.ts'
import { JOBS } from '../../server/startup/jobs.ts'
import { useEnvironment } from '../environment.ts'

/** The service makes the queue; it has no endpoint, so it takes no lease by itself but of what is asked for here. */
const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))
const COMERCIO = '00000000-0000-7000-8000-000000000000'
let serie = 0
const nueva = (): ClaveDeWebhook => ({ comercio_id: COMERCIO, modo: 'test', webhook: `wh_${++serie}` })

const OPCIONES = JOBS.find(({ cola }) => cola === LEASE_QUEUE)!.opciones

const abiertos: PgBoss[] = []
afterEach(async () => {
  for (const boss of abiertos.splice(0)) await boss.stop({ graceful: false })
  await entorno.db.pool.query('delete from pgboss.job; delete from webhook_bomba; delete from webhook_arriendo')
})

/** A process's leases, and what it was told. */
async function proceso() {
  const { pool } = entorno.db
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.run(text, values) },
    schedule: false,
    supervise: false,
  })
  abiertos.push(boss)
  await boss.start()
  await boss.createQueue(LEASE_QUEUE, { ...OPCIONES, policy: 'exclusive', partition: true })
  const tomados: Lease[] = []
  const perdidos: string[] = []
  const ajenos: string[] = []
  const sentencias: string[] = []
  let perdida: string | undefined
  const perderRespuesta = (sentencia: string) => {
    perdida = sentencia
  }
  const contando: Pick<Db, 'query'> = {
    async query(sentencia, ...valores) {
      sentencias.push(sentencia.name!)
      const filas = await entorno.db.query(sentencia, ...valores)
      if (perdida !== sentencia.name) return filas
      perdida = undefined
      throw new Error('the answer was lost')
    },
  }
  const arriendos = new Leases(boss, contando, processTimers, {
    onTaken: (suyos) => void tomados.push(...suyos),
    onLost: ({ key }) => void perdidos.push(key.webhook),
    onNotTaken: (claves) => void ajenos.push(...claves.map(({ webhook }) => webhook)),
  })
  const pedir = async (clave: ClaveDeWebhook, deOtro = false) => {
    arriendos.request(clave, deOtro)
    await arriendos.take()
  }
  return { boss, arriendos, tomados, lost: perdidos, ajenos, sentencias, perderRespuesta, request: pedir }
}

/** As if nobody had looked for dead processes lately. */
async function rescatar({ arriendos }: Awaited<ReturnType<typeof proceso>>): Promise<number> {
  await entorno.db.pool.query(`delete from webhook_bomba where id = '00000000-0000-0000-0000-000000000000'`)
  return arriendos.rescue()
}

/** All processes that are there by now gave their last sign of life so long ago. */
const callarTodas = (segundos: number) =>
  entorno.db.pool.query(`update webhook_bomba set latido_en = now() - $1 * interval '1 second'`, [segundos])

/** The job of an endpoint was taken, or renewed, so long ago. */
const callarTrabajo = ({ webhook }: ClaveDeWebhook, segundos: number) =>
  entorno.db.pool.query(
    `update pgboss.job set heartbeat_on = now() - $3 * interval '1 second' where name = $1 and singleton_key = $2`,
    [LEASE_QUEUE, webhook, segundos],
  )

const nombres = (arriendos: readonly Lease[]) => arriendos.map(({ key }) => key.webhook)

describe('a lease of an endpoint', () => {
  it('is one process’s alone; who asks in vain says that there is work, once', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.request(clave)
    await otro.request(clave)
    expect([nombres(uno.tomados), nombres(otro.tomados), otro.ajenos]).toEqual([[clave.webhook], [], [clave.webhook]])
    // What another process says needn't be said again.
    await otro.request(clave, true)
    expect(otro.ajenos).toEqual([clave.webhook])
    await uno.arriendos.release(uno.arriendos.all())
    await otro.request(clave)
    expect(nombres(otro.tomados)).toEqual([clave.webhook])
  })

  it('is had again right after it was given up, however near the two come', async () => {
    const uno = await proceso()
    const clave = nueva()
    for (let vez = 1; vez <= 20; vez++) {
      await uno.request(clave)
      const soltado = uno.arriendos.release(uno.arriendos.all())
      await Promise.all([soltado, uno.request(clave)])
      expect(nombres(uno.arriendos.all())).toEqual([clave.webhook])
      await uno.arriendos.release(uno.arriendos.all())
    }
  })

  it('lives by the signs of life of its process, and is lost when another process took it over', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.request(clave)
    const [arriendo] = uno.tomados
    await uno.arriendos.beat(performance.now() + 5_000)
    expect([
      uno.lost,
      arriendo!.isValid(arriendo!.heartbeatAt + 9_990),
      arriendo!.isValid(arriendo!.heartbeatAt + 10_010),
    ]).toEqual([[], true, false])
    // Its job's own heartbeat may be as old as it likes, and the process's for as long as a lease lasts.
    await callarTrabajo(clave, 500)
    await callarTodas(24)
    expect(await rescatar(otro)).toBe(0)
    await callarTodas(26)
    expect(await rescatar(otro)).toBe(1)
    await otro.request(clave)
    await otro.arriendos.beat(performance.now())
    expect(nombres(otro.tomados)).toEqual([clave.webhook])
    await uno.arriendos.beat(performance.now() + 10_000)
    expect([uno.lost, uno.arriendos.all()]).toEqual([[clave.webhook], []])
    // What the old holder gives up is not what the new one holds.
    await uno.arriendos.release([arriendo!])
    await otro.arriendos.beat(performance.now() + 20_000)
    expect([otro.lost, nombres(otro.arriendos.all())]).toEqual([[], [clave.webhook]])
  })

  it('is as old as the instant at which its claim or its last heartbeat was sent, not answered', async () => {
    const uno = await proceso()
    const fetch = uno.boss.fetch.bind(uno.boss)
    let enviada = Number.NaN
    uno.boss.fetch = ((...args: Parameters<typeof fetch>) => {
      enviada = performance.now()
      return fetch(...args)
    }) as typeof fetch
    await uno.request(nueva())
    const [arriendo] = uno.tomados
    expect(arriendo!.heartbeatAt).toBeLessThanOrEqual(enviada)
    const inicio = Math.ceil(performance.now())
    await uno.arriendos.beat(inicio)
    expect([arriendo!.recorded, arriendo!.heartbeatAt]).toEqual([true, inicio])
    await uno.arriendos.beat(inicio + 5_000)
    expect(arriendo!.heartbeatAt).toBe(inicio + 5_000)
  })

  it('is told from one that was taken over, though it is the same job', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.request(clave)
    await uno.arriendos.beat(performance.now())
    const [{ claim: jobId }] = uno.tomados as [Lease]
    await uno.boss.fail(LEASE_QUEUE, [jobId], { message: 'by somebody' })
    await otro.request(clave)
    await otro.arriendos.beat(performance.now())
    expect(otro.tomados[0]!.claim).toEqual({ id: jobId.id, retryCount: jobId.retryCount + 1 })
    await uno.arriendos.beat(performance.now() + 5_000)
    await otro.arriendos.beat(performance.now() + 5_000)
    expect([uno.lost, otro.lost]).toEqual([[clave.webhook], []])
  })

  it('costs no statement of its own: of any number there is one every four seconds', async () => {
    const uno = await proceso()
    const claves = Array.from({ length: 500 }, nueva)
    for (const clave of claves) uno.arriendos.request(clave, false)
    await uno.arriendos.take()
    const inicio = Math.ceil(performance.now())
    for (let ms = 0; ms <= 20_000; ms += 500) await uno.arriendos.beat(inicio + ms)
    expect(uno.sentencias).toEqual(['bombas.latir', 'bombas.anotar', ...Array(5).fill('bombas.latir')])
    expect([uno.lost, uno.arriendos.all().length]).toEqual([[], 500])
    expect(uno.arriendos.all().every((uno) => uno.isValid(inicio + 29_000))).toBe(true)
  })

  it('that isn’t noted yet is given back when its process died right after it was taken', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.request(clave)
    await callarTrabajo(clave, 24)
    expect(await rescatar(otro)).toBe(0)
    await callarTrabajo(clave, 26)
    expect(await rescatar(otro)).toBe(1)
    await uno.arriendos.beat(performance.now())
    expect(uno.lost).toEqual([clave.webhook])
  })

  it('with a late first heartbeat is given up, since another process may have taken it by then', async () => {
    const uno = await proceso()
    const clave = nueva()
    await uno.request(clave)
    uno.tomados[0]!.heartbeatAt -= 10_000
    await uno.arriendos.beat(performance.now())
    expect([uno.lost, uno.arriendos.all()]).toEqual([[clave.webhook], []])
    const { rows } = await entorno.db.pool.query('select from pgboss.job where singleton_key = $1', [clave.webhook])
    expect(rows).toEqual([])
  })

  it('is lost at the next sign of life when the queue was emptied, and can be had again', async () => {
    const uno = await proceso()
    const clave = nueva()
    await uno.request(clave)
    await uno.arriendos.beat(performance.now())
    await entorno.db.pool.query('delete from pgboss.job where singleton_key = $1', [clave.webhook])
    await uno.arriendos.beat(performance.now() + 5_000)
    expect(uno.lost).toEqual([clave.webhook])
    await uno.request(clave)
    await uno.arriendos.beat(performance.now() + 10_000)
    expect([uno.lost.length, nombres(uno.arriendos.all())]).toEqual([1, [clave.webhook]])
  })

  it('is deleted at the next heartbeat when its job could not be deleted at its release', async () => {
    const uno = await proceso()
    const [clave, otra] = [nueva(), nueva()]
    await uno.request(clave)
    await uno.request(otra)
    await uno.arriendos.beat(performance.now())
    const borrar = uno.boss.deleteJob
    uno.boss.deleteJob = () => Promise.reject(new Error('the database is away'))
    await expect(uno.arriendos.release([uno.tomados[0]!])).rejects.toThrow('away')
    uno.boss.deleteJob = borrar
    await uno.arriendos.beat(performance.now() + 5_000)
    const { rows } = await entorno.db.pool.query('select singleton_key as webhook from pgboss.job')
    expect(rows).toEqual([{ webhook: otra.webhook }])
  })

  it('is recorded again when the answer to its recording was lost', async () => {
    const uno = await proceso()
    const clave = nueva()
    await uno.request(clave)
    uno.perderRespuesta('bombas.anotar')
    await expect(uno.arriendos.beat(performance.now())).rejects.toThrow('lost')
    await uno.arriendos.beat(performance.now() + 5_000)
    expect([uno.lost, nombres(uno.arriendos.all())]).toEqual([[], [clave.webhook]])
    expect(uno.tomados[0]!.recorded).toBe(true)
  })

  it('from a version that renews each lease by itself is left to it, and taken over when that stops', async () => {
    const [vieja, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    // Made by the one, taken by the other: it has the heartbeat of the old queue.
    await vieja.boss.insert(LEASE_QUEUE, [{ data: clave, singletonKey: clave.webhook, heartbeatSeconds: 25 }])
    await vieja.arriendos.take()
    const [arriendo] = vieja.tomados as [Lease]
    await callarTrabajo(clave, 60)
    await vieja.boss.touch(LEASE_QUEUE, [arriendo.claim])
    expect(await rescatar(otro)).toBe(0)
    await callarTrabajo(clave, 26)
    expect(await rescatar(otro)).toBe(1)
    // A process of this version renews such a one in time, and its own rarely.
    await otro.arriendos.take()
    await otro.request(nueva())
    const tocados: number[] = []
    const touch = otro.boss.touch.bind(otro.boss)
    otro.boss.touch = (cola, trabajos) => {
      tocados.push((trabajos as unknown[]).length)
      return touch(cola, trabajos)
    }
    const inicio = Math.ceil(performance.now())
    for (let s = 0; s <= 204; s += 4) await otro.arriendos.beat(inicio + s * 1_000)
    // The one every 12 s, the other after 200 s.
    expect([tocados, otro.lost]).toEqual([Array(17 + 1).fill(1), []])
  })
})

describe('a search for dead processes', () => {
  it('is done by one process at a time, every few seconds', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.request(clave)
    await callarTrabajo(clave, 26)
    await entorno.db.pool.query(`delete from webhook_bomba`)
    const halladas = await Promise.all([otro, uno, otro, uno].map(({ arriendos }) => arriendos.rescue()))
    expect(halladas.sort()).toEqual([0, 0, 0, 1])
    expect(await otro.arriendos.rescue()).toBe(0)
  })

  it('leaves nothing of them behind', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    await uno.request(nueva())
    await uno.arriendos.beat(performance.now())
    await callarTodas(26)
    await rescatar(otro)
    const filas = async (tabla: string) => (await entorno.db.pool.query(`select from ${tabla}`)).rowCount
    expect([await filas('webhook_bomba'), await filas('webhook_arriendo')]).toEqual([1, 0])
  })
})
