import { PgBoss } from 'pg-boss'
import { afterEach, describe, expect, it } from 'vitest'
import { type Arriendo, Arriendos, COLA_DE_ARRIENDOS } from '../../server/webhooks/arriendos.ts'
import type { ClaveDeWebhook } from '../../server/webhooks/webhook.ts'
import { usarEntorno } from '../entorno.ts'
import { hasta } from '../fabricas.ts'

/** The service makes the queue; it has no endpoint, so it takes no lease by itself but of what is asked for here. */
const entorno = usarEntorno({}, () => ({ WORKERS: '0' }))
const COMERCIO = '00000000-0000-7000-8000-000000000000'
let serie = 0
const nueva = (): ClaveDeWebhook => ({ comercio_id: COMERCIO, modo: 'test', webhook: `wh_${++serie}` })

const abiertos: PgBoss[] = []
afterEach(async () => {
  for (const boss of abiertos.splice(0)) await boss.stop({ graceful: false })
})

/** A process's leases, and what it was told. */
async function proceso() {
  const { pool } = entorno.db
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.ejecutar(text, values) },
    ...{ schedule: false, supervise: false },
  })
  abiertos.push(boss)
  await boss.start()
  await boss.createQueue(COLA_DE_ARRIENDOS, {
    policy: 'exclusive',
    partition: true,
    retryLimit: 1_000,
    heartbeatSeconds: 25,
  })
  const tomados: Arriendo[] = []
  const perdidos: string[] = []
  const ajenos: string[] = []
  const arriendos = new Arriendos(boss, {
    alTomar: (suyos) => void tomados.push(...suyos),
    alPerder: ({ clave }) => void perdidos.push(clave.webhook),
    alNoTomar: (claves) => void ajenos.push(...claves.map(({ webhook }) => webhook)),
  })
  const pedir = async (clave: ClaveDeWebhook, deOtro = false) => {
    arriendos.pedir(clave, deOtro)
    await arriendos.tomar()
  }
  return { boss, arriendos, tomados, perdidos, ajenos, pedir }
}

const nombres = (arriendos: readonly Arriendo[]) => arriendos.map(({ clave }) => clave.webhook)

describe('a lease of an endpoint', () => {
  it('is one process’s alone; who asks in vain says that there is work, once', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.pedir(clave)
    await otro.pedir(clave)
    expect([nombres(uno.tomados), nombres(otro.tomados), otro.ajenos]).toEqual([[clave.webhook], [], [clave.webhook]])
    // What another process says needn't be said again.
    await otro.pedir(clave, true)
    expect(otro.ajenos).toEqual([clave.webhook])
    await uno.arriendos.soltar(uno.arriendos.todos())
    await otro.pedir(clave)
    expect(nombres(otro.tomados)).toEqual([clave.webhook])
  })

  it('is had again right after it was given up, however near the two come', async () => {
    const uno = await proceso()
    const clave = nueva()
    for (let vez = 1; vez <= 20; vez++) {
      await uno.pedir(clave)
      const soltado = uno.arriendos.soltar(uno.arriendos.todos())
      await Promise.all([soltado, uno.pedir(clave)])
      expect(nombres(uno.arriendos.todos())).toEqual([clave.webhook])
      await uno.arriendos.soltar(uno.arriendos.todos())
    }
  })

  it('lives by its signs of life, and is lost when another process took it over', async () => {
    const [uno, otro] = [await proceso(), await proceso()]
    const clave = nueva()
    await uno.pedir(clave)
    const [arriendo] = uno.tomados
    await uno.arriendos.latir(performance.now() + 5_000)
    expect([uno.perdidos, arriendo!.vale(arriendo!.latido + 9_990), arriendo!.vale(arriendo!.latido + 10_010)]).toEqual(
      [[], true, false],
    )
    // Its heart stopped for as long as a lease lasts.
    await entorno.db.pool.query(
      `update pgboss.job set heartbeat_on = now() - interval '26 seconds' where name = $1 and singleton_key = $2`,
      [COLA_DE_ARRIENDOS, clave.webhook],
    )
    await hasta(async () => {
      await otro.boss.supervise(COLA_DE_ARRIENDOS)
      await otro.pedir(clave)
      return otro.tomados.length === 1
    })
    await uno.arriendos.latir(performance.now() + 10_000)
    expect([uno.perdidos, uno.arriendos.todos()]).toEqual([[clave.webhook], []])
    // What the old holder gives up is not what the new one holds.
    await uno.arriendos.soltar([arriendo!])
    await otro.arriendos.latir(performance.now() + 20_000)
    expect([otro.perdidos, nombres(otro.arriendos.todos())]).toEqual([[], [clave.webhook]])
  })
})
