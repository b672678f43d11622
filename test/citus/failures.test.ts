import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Guias } from '@guias/sdk'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { startService } from '../../server/startup/service.ts'
import { createNodeDatabase } from '../citus.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { TEMPLATE_DATABASE } from '../template.ts'
import { type TestReceiver, useReceivers } from '../webhooks/receiver.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()
/** Options of tests that take nodes away, from everybody. */
const CON_NODOS = { tags: ['nodos'] }

/** `CITUS_CLUSTER='program DIR'`: `program stop|start DIR coordinator|worker1|worker2` ends a node at once, or brings it back. */
async function node(kind: 'stop' | 'start', target: string): Promise<void> {
  const [program, folder] = (process.env.CITUS_CLUSTER ?? '').split(' ')
  await promisify(execFile)(program!, [kind, folder!, target])
}

/** On a session of its own, however long it takes. */
async function query(sql: string, ...values: unknown[]) {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

interface Shop {
  comercio: Comercio
  receptor: TestReceiver
  creadas: Set<string>
  /** Times that it was told to come again. */
  rechazos: number
}

/** The port of the worker where a merchant's rows lie. */
const portOf = async ({ id }: Comercio): Promise<number> =>
  (
    await query(
      `select nodeport from citus_shards where table_name = 'guia'::regclass
       and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      id,
    )
  )[0].nodeport

/** Sessions of the coordinator may still have connections to a machine that went away, and learn of it once. */
async function createShop(): Promise<Shop> {
  const comercio = await waitUntil(() => environment.createComercio().catch(() => undefined))
  const receptor = await openReceiver()
  await comercio.api.webhooks.crear({ url: receptor.url })
  return { comercio, receptor, creadas: new Set(), rechazos: 0 }
}

/** Two merchants whose rows lie on different workers, the first one's on worker1, whose port is the lowest. */
async function createTwoShops(): Promise<[Shop, Shop]> {
  const ports = (await query('select nodeport from pg_dist_node where shouldhaveshards order by nodeport')).map(
    ({ nodeport }) => nodeport,
  )
  const waitForShop = (port: number) =>
    waitUntil(async () => {
      const shop = await createShop()
      return (await portOf(shop.comercio)) === port && shop
    })
  return [await waitForShop(ports[0]), await waitForShop(ports[1])]
}

/** Creates guides one after another, each until it is there, until it is told to stop. */
function buy(shop: Shop, { api }: Pick<Comercio, 'api'> = shop.comercio, prefix = 'falla'): () => Promise<void> {
  let isRunning = true
  const create = async (external_ref: string): Promise<void> => {
    try {
      shop.creadas.add((await api.guias.crear(buildGuia({ external_ref }))).guia)
    } catch (error) {
      // Whoever isn't answered doesn't know whether it is there: the same reference says so.
      if ((error as { estadoHttp?: number }).estadoHttp !== 503) throw error
      shop.rechazos++
      await new Promise((resolve) => setTimeout(resolve, 100))
      await create(external_ref)
    }
  }
  const purchases = (async () => {
    for (let n = 0; isRunning; n++) await create(`${prefix}-${n}`)
  })()
  return async () => {
    isRunning = false
    await purchases
  }
}

/** Another process of the service, which knows by itself where things lie. */
const startOtherProcess = () =>
  startService(
    readConfig(
      {
        DATABASE_URL: environment.databaseUrl,
        MASTER_KEYS: MASTER_KEY,
        DATA_DIR: environment.dataDir,
        MESSAGING: 'buzon',
        PORT: '0',
        WORKERS: '0',
        WEBHOOKS_LOOPBACK: '1',
        REQUESTS_PER_NETWORK: '10000',
      },
      process.cwd(),
    ),
    createLog('silent'),
    undefined,
    { clock: environment.clock, farewellMs: 0 },
  )

/** What became of a fault. */
interface Balance {
  testedCount: number
  loss: number
  doubledCount: number
  recoverySeconds: number
}

/** Waits until every guide's event was delivered, and counts. */
async function settle(shops: readonly Shop[], from: number): Promise<Balance> {
  const missing = ({ creadas, receptor }: Shop) => {
    const arrivals = new Set(receptor.receivedWebhooks.map(({ id }) => id))
    return [...creadas].filter((guia) => !arrivals.has(`evt_${guia}_1`))
  }
  await waitUntil(async () => shops.every((shop) => missing(shop).length === 0)).catch(() => {})
  const recoverySeconds = (performance.now() - from) / 1000
  await environment.waitForQuiet()
  const sum = (figure: (shop: Shop) => number) => shops.map(figure).reduce((one, other) => one + other, 0)
  return {
    testedCount: sum(({ creadas }) => creadas.size),
    loss: sum((shop) => missing(shop).length),
    doubledCount: sum(
      ({ receptor: { receivedWebhooks } }) =>
        receivedWebhooks.length - new Set(receivedWebhooks.map(({ id }) => id)).size,
    ),
    recoverySeconds,
  }
}

/** Merchants buy while something happens; then nothing may be missing, and nothing have come twice. */
async function withstand(
  kind: string,
  shops: readonly Shop[],
  happen: () => Promise<void>,
  purchases = (shop: Shop) => [buy(shop)],
): Promise<void> {
  const stopBuyers = shops.flatMap(purchases)
  await waitUntil(async () => shops.every(({ creadas }) => creadas.size > 5))
  await happen()
  const from = performance.now()
  const countsThen = shops.map(({ creadas }) => creadas.size)
  await waitUntil(async () => shops.every(({ creadas }, i) => creadas.size > countsThen[i]! + 5))
  await Promise.all(stopBuyers.map((one) => one()))
  const balance = await settle(shops, from)
  console.info(
    `| ${kind} | ${balance.testedCount} | ${balance.loss} | ${balance.doubledCount} | ${balance.recoverySeconds.toFixed(1)} |`,
  )
  expect([balance.loss, balance.doubledCount]).toEqual([0, 0])
}

/** Moves everything that isn't where it should be, and waits for the end of it. */
async function rebalance(): Promise<void> {
  const [{ wal_level }] = await query('show wal_level')
  const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
  await query(`select citus_rebalance_start(shard_transfer_mode => $1::text::citus.shard_transfer_mode)`, modo)
  await query('select citus_rebalance_wait()')
}

/** A machine for data: the node that `CITUS_SPARE` names, which no cluster has, or else the coordinator besides. */
async function provideMachine() {
  const free = process.env.CITUS_SPARE
  if (free) {
    const { hostname, port } = new URL(free)
    const place = [hostname, Number(port)]
    return {
      nombre: 'a machine added',
      lugar: place,
      async add() {
        // A clone's objects have the name of what it was cloned from: the new node is told it, too.
        for (const base of [TEMPLATE_DATABASE, new URL(environment.databaseUrl).pathname.slice(1)])
          await createNodeDatabase(free, base)
        await query('select citus_add_node($1, $2)', ...place)
      },
      quitar: () => query('select citus_remove_node($1, $2)', ...place),
    }
  }
  const [{ nodename, nodeport }] = await query('select nodename, nodeport from pg_dist_node where groupid = 0')
  const place = [nodename, nodeport]
  const setBlocked = (value: boolean) =>
    query(`select citus_set_node_property($1, $2, 'shouldhaveshards', $3)`, ...place, value)
  return {
    nombre: 'data on the coordinator, too',
    lugar: place,
    add: () => setBlocked(true),
    quitar: () => setBlocked(false),
  }
}

describe('faults of a cluster', () => {
  it('a worker lost and back: its merchants wait, the others don’t', CON_NODOS, async () => {
    const [ownShop, foreign] = await createTwoShops()
    await withstand('a worker lost and back', [ownShop, foreign], async () => {
      await node('stop', 'worker1')
      const [rechazos, created] = [foreign.rechazos, foreign.creadas.size]
      await waitUntil(async () => foreign.creadas.size > created + 50 && ownShop.rechazos > 0)
      // Also what is sent: the others' webhooks arrive meanwhile, read, signed and settled.
      const newGuias = [...foreign.creadas].slice(created, created + 50)
      const deliveredGuias = () =>
        query(
          `select from webhook_aviso where comercio_id = $1 and estado = 'entregado' and evento = any($2)`,
          foreign.comercio.id,
          newGuias.map((guia) => `evt_${guia}_1`),
        )
      await waitUntil(async () => (await deliveredGuias()).length === newGuias.length)
      expect(foreign.rechazos).toBe(rechazos)
      await node('start', 'worker1')
    })
  })

  it('the coordinator lost: known merchants go on for as long as their keys are believed', CON_NODOS, async () => {
    const shops = await createTwoShops()
    await withstand('the coordinator lost for 20 s', shops, async () => {
      const before = shops.map(({ creadas, rechazos }) => [creadas.size, rechazos])
      await node('stop', 'coordinator')
      try {
        const end = Date.now() + 20_000
        await waitUntil(async () => Date.now() > end)
      } finally {
        await node('start', 'coordinator')
      }
      for (const [i, { creadas, rechazos }] of shops.entries()) {
        expect(creadas.size).toBeGreaterThan(before[i]![0]! + 50)
        expect(rechazos).toBe(before[i]![1])
      }
    })
  })

  it('shards moved under load, there and back, where one of two processes knows another place', CON_NODOS, async () => {
    const shops = await createTwoShops()
    const other = await startOtherProcess()
    const inOther = (shop: Shop) => ({
      api: new Guias({ llave: shop.comercio.llave, baseUrl: other.url, reintentos: 0 }),
    })
    const [one, dos] = await query(
      'select nodename, nodeport from pg_dist_node where shouldhaveshards order by nodeport',
    )
    const [{ shardid }] = await query(
      `select get_shard_id_for_distribution_column('guia', $1::uuid) as shardid`,
      shops[0]!.comercio.id,
    )
    const [{ wal_level }] = await query('show wal_level')
    const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
    await withstand(
      'shards moved four times, two processes',
      shops,
      async () => {
        for (const [figure, a] of [
          [one, dos],
          [dos, one],
          [one, dos],
          [dos, one],
        ]) {
          await query(
            'select citus_move_shard_placement($1, $2, $3, $4, $5, $6::text::citus.shard_transfer_mode)',
            ...[shardid, figure.nodename, figure.nodeport, a.nodename, a.nodeport, modo],
          )
          await waitUntil(async () => {
            await query('call citus_cleanup_orphaned_resources()')
            return (await query('select from pg_dist_cleanup')).length === 0
          })
        }
      },
      (shop) => [buy(shop), buy(shop, inOther(shop), 'otro')],
    )
    await other.stop()
  })

  it('a part split under load', CON_NODOS, async () => {
    const shops = await createTwoShops()
    const [{ shardid, medio: middleValue, nodo: node }] = await query(
      `select s.shardid, ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::int as medio, n.nodeid as nodo
       from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
       where logicalrelid = 'guia'::regclass and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      shops[0]!.comercio.id,
    )
    const [{ wal_level }] = await query('show wal_level')
    const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
    await withstand('a part split', shops, async () => {
      await query(
        `select citus_split_shard_by_split_points($1::bigint, array[$2::text], array[$3::int, $3::int], $4::text::citus.shard_transfer_mode)`,
        ...[shardid, middleValue, node, modo],
      )
    })
  })

  it('the coordinator restarted', CON_NODOS, async () => {
    await withstand('the coordinator restarted', await createTwoShops(), async () => {
      await node('stop', 'coordinator')
      await node('start', 'coordinator')
    })
  })

  it('a machine added for data, and shards moved to it under load, and back', CON_NODOS, async () => {
    const fresh = await provideMachine()
    const countShards = async () =>
      (
        await query(
          'select count(*)::int as n from citus_shards where nodename = $1 and nodeport = $2 and citus_table_type = $3',
          ...[...fresh.lugar, 'distributed'],
        )
      )[0].n
    await withstand(`${fresh.nombre}, shards moved to it`, await createTwoShops(), async () => {
      await fresh.add()
      await rebalance()
      expect(await countShards()).toBeGreaterThan(0)
    })
    await withstand('shards moved back', await createTwoShops(), async () => {
      await query('select citus_drain_node($1, $2, $3)', ...fresh.lugar, 'block_writes')
      expect(await countShards()).toBe(0)
      await fresh.quitar()
    })
  })
})
