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
const nuevoReceptor = useReceivers()
/** Options of tests that take nodes away, from everybody. */
const CON_NODOS = { tags: ['nodos'] }

/** `CITUS_CLUSTER='program DIR'`: `program stop|start DIR coordinator|worker1|worker2` ends a node at once, or brings it back. */
async function node(que: 'stop' | 'start', cual: string): Promise<void> {
  const [program, folder] = (process.env.CITUS_CLUSTER ?? '').split(' ')
  await promisify(execFile)(program!, [que, folder!, cual])
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

interface Tienda {
  comercio: Comercio
  receptor: TestReceiver
  creadas: Set<string>
  /** Times that it was told to come again. */
  rechazos: number
}

/** The port of the worker where a merchant's rows lie. */
const puertoDe = async ({ id }: Comercio): Promise<number> =>
  (
    await query(
      `select nodeport from citus_shards where table_name = 'guia'::regclass
       and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      id,
    )
  )[0].nodeport

/** Sessions of the coordinator may still have connections to a machine that went away, and learn of it once. */
async function nuevaTienda(): Promise<Tienda> {
  const comercio = await waitUntil(() => environment.createComercio().catch(() => undefined))
  const receptor = await nuevoReceptor()
  await comercio.api.webhooks.crear({ url: receptor.url })
  return { comercio, receptor, creadas: new Set(), rechazos: 0 }
}

/** Two merchants whose rows lie on different workers, the first one's on worker1, whose port is the lowest. */
async function dosTiendas(): Promise<[Tienda, Tienda]> {
  const puertos = (await query('select nodeport from pg_dist_node where shouldhaveshards order by nodeport')).map(
    ({ nodeport }) => nodeport,
  )
  const en = (port: number) =>
    waitUntil(async () => {
      const shop = await nuevaTienda()
      return (await puertoDe(shop.comercio)) === port && shop
    })
  return [await en(puertos[0]), await en(puertos[1])]
}

/** Creates guides one after another, each until it is there, until it is told to stop. */
function comprar(shop: Tienda, { api }: Pick<Comercio, 'api'> = shop.comercio, prefijo = 'falla'): () => Promise<void> {
  let sigue = true
  const create = async (external_ref: string): Promise<void> => {
    try {
      shop.creadas.add((await api.guias.crear(buildGuia({ external_ref }))).guia)
    } catch (error) {
      // Whoever isn't answered doesn't know whether it is there: the same reference says so.
      if ((error as { status?: number }).status !== 503) throw error
      shop.rechazos++
      await new Promise((resolve) => setTimeout(resolve, 100))
      await create(external_ref)
    }
  }
  const compras = (async () => {
    for (let n = 0; sigue; n++) await create(`${prefijo}-${n}`)
  })()
  return async () => {
    sigue = false
    await compras
  }
}

/** Another process of the service, which knows by itself where things lie. */
const otroProceso = () =>
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
interface Saldo {
  probado: number
  perdido: number
  doblado: number
  recuperado_s: number
}

/** Waits until every guide's event was delivered, and counts. */
async function saldar(tiendas: readonly Tienda[], from: number): Promise<Saldo> {
  const faltan = ({ creadas, receptor }: Tienda) => {
    const llegadas = new Set(receptor.receivedWebhooks.map(({ id }) => id))
    return [...creadas].filter((guia) => !llegadas.has(`evt_${guia}_1`))
  }
  await waitUntil(async () => tiendas.every((shop) => faltan(shop).length === 0)).catch(() => {})
  const recuperado_s = (performance.now() - from) / 1000
  await environment.waitForQuiet()
  const sum = (de: (shop: Tienda) => number) => tiendas.map(de).reduce((one, other) => one + other, 0)
  return {
    probado: sum(({ creadas }) => creadas.size),
    perdido: sum((shop) => faltan(shop).length),
    doblado: sum(
      ({ receptor: { receivedWebhooks } }) =>
        receivedWebhooks.length - new Set(receivedWebhooks.map(({ id }) => id)).size,
    ),
    recuperado_s,
  }
}

/** Merchants buy while something happens; then nothing may be missing, and nothing have come twice. */
async function resistir(
  que: string,
  tiendas: readonly Tienda[],
  suceder: () => Promise<void>,
  compras = (shop: Tienda) => [comprar(shop)],
): Promise<void> {
  const parar = tiendas.flatMap(compras)
  await waitUntil(async () => tiendas.every(({ creadas }) => creadas.size > 5))
  await suceder()
  const from = performance.now()
  const entonces = tiendas.map(({ creadas }) => creadas.size)
  await waitUntil(async () => tiendas.every(({ creadas }, i) => creadas.size > entonces[i]! + 5))
  await Promise.all(parar.map((one) => one()))
  const saldo = await saldar(tiendas, from)
  console.info(`| ${que} | ${saldo.probado} | ${saldo.perdido} | ${saldo.doblado} | ${saldo.recuperado_s.toFixed(1)} |`)
  expect([saldo.perdido, saldo.doblado]).toEqual([0, 0])
}

/** Moves everything that isn't where it should be, and waits for the end of it. */
async function repartir(): Promise<void> {
  const [{ wal_level }] = await query('show wal_level')
  const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
  await query(`select citus_rebalance_start(shard_transfer_mode => $1::text::citus.shard_transfer_mode)`, modo)
  await query('select citus_rebalance_wait()')
}

/** A machine for data: the node that `CITUS_SPARE` names, which no cluster has, or else the coordinator besides. */
async function maquinaNueva() {
  const free = process.env.CITUS_SPARE
  if (free) {
    const { hostname, port } = new URL(free)
    const lugar = [hostname, Number(port)]
    return {
      nombre: 'a machine added',
      lugar,
      async add() {
        // A clone's objects have the name of what it was cloned from: the new node is told it, too.
        for (const base of [TEMPLATE_DATABASE, new URL(environment.databaseUrl).pathname.slice(1)])
          await createNodeDatabase(free, base)
        await query('select citus_add_node($1, $2)', ...lugar)
      },
      quitar: () => query('select citus_remove_node($1, $2)', ...lugar),
    }
  }
  const [{ nodename, nodeport }] = await query('select nodename, nodeport from pg_dist_node where groupid = 0')
  const lugar = [nodename, nodeport]
  const poner = (value: boolean) =>
    query(`select citus_set_node_property($1, $2, 'shouldhaveshards', $3)`, ...lugar, value)
  return {
    nombre: 'data on the coordinator, too',
    lugar,
    add: () => poner(true),
    quitar: () => poner(false),
  }
}

describe('faults of a cluster', () => {
  it('a worker lost and back: its merchants wait, the others don’t', CON_NODOS, async () => {
    const [suya, foreign] = await dosTiendas()
    await resistir('a worker lost and back', [suya, foreign], async () => {
      await node('stop', 'worker1')
      const [rechazos, created] = [foreign.rechazos, foreign.creadas.size]
      await waitUntil(async () => foreign.creadas.size > created + 50 && suya.rechazos > 0)
      // Also what is sent: the others' webhooks arrive meanwhile, read, signed and settled.
      const nuevas = [...foreign.creadas].slice(created, created + 50)
      const entregadas = () =>
        query(
          `select from webhook_aviso where comercio_id = $1 and estado = 'entregado' and evento = any($2)`,
          foreign.comercio.id,
          nuevas.map((guia) => `evt_${guia}_1`),
        )
      await waitUntil(async () => (await entregadas()).length === nuevas.length)
      expect(foreign.rechazos).toBe(rechazos)
      await node('start', 'worker1')
    })
  })

  it('the coordinator lost: known merchants go on for as long as their keys are believed', CON_NODOS, async () => {
    const tiendas = await dosTiendas()
    await resistir('the coordinator lost for 20 s', tiendas, async () => {
      const before = tiendas.map(({ creadas, rechazos }) => [creadas.size, rechazos])
      await node('stop', 'coordinator')
      try {
        const end = Date.now() + 20_000
        await waitUntil(async () => Date.now() > end)
      } finally {
        await node('start', 'coordinator')
      }
      for (const [i, { creadas, rechazos }] of tiendas.entries()) {
        expect(creadas.size).toBeGreaterThan(before[i]![0]! + 50)
        expect(rechazos).toBe(before[i]![1])
      }
    })
  })

  it('shards moved under load, there and back, where one of two processes knows another place', CON_NODOS, async () => {
    const tiendas = await dosTiendas()
    const other = await otroProceso()
    const enOtro = (shop: Tienda) => ({
      api: new Guias({ llave: shop.comercio.llave, baseUrl: other.url, reintentos: 0 }),
    })
    const [one, dos] = await query(
      'select nodename, nodeport from pg_dist_node where shouldhaveshards order by nodeport',
    )
    const [{ shardid }] = await query(
      `select get_shard_id_for_distribution_column('guia', $1::uuid) as shardid`,
      tiendas[0]!.comercio.id,
    )
    const [{ wal_level }] = await query('show wal_level')
    const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
    await resistir(
      'shards moved four times, two processes',
      tiendas,
      async () => {
        for (const [de, a] of [
          [one, dos],
          [dos, one],
          [one, dos],
          [dos, one],
        ]) {
          await query(
            'select citus_move_shard_placement($1, $2, $3, $4, $5, $6::text::citus.shard_transfer_mode)',
            ...[shardid, de.nodename, de.nodeport, a.nodename, a.nodeport, modo],
          )
          await waitUntil(async () => {
            await query('call citus_cleanup_orphaned_resources()')
            return (await query('select from pg_dist_cleanup')).length === 0
          })
        }
      },
      (shop) => [comprar(shop), comprar(shop, enOtro(shop), 'otro')],
    )
    await other.stop()
  })

  it('a part split under load', CON_NODOS, async () => {
    const tiendas = await dosTiendas()
    const [{ shardid, medio, nodo: donde }] = await query(
      `select s.shardid, ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::int as medio, n.nodeid as nodo
       from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
       where logicalrelid = 'guia'::regclass and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      tiendas[0]!.comercio.id,
    )
    const [{ wal_level }] = await query('show wal_level')
    const modo = wal_level === 'logical' ? 'force_logical' : 'block_writes'
    await resistir('a part split', tiendas, async () => {
      await query(
        `select citus_split_shard_by_split_points($1::bigint, array[$2::text], array[$3::int, $3::int], $4::text::citus.shard_transfer_mode)`,
        ...[shardid, medio, donde, modo],
      )
    })
  })

  it('the coordinator restarted', CON_NODOS, async () => {
    await resistir('the coordinator restarted', await dosTiendas(), async () => {
      await node('stop', 'coordinator')
      await node('start', 'coordinator')
    })
  })

  it('a machine added for data, and shards moved to it under load, and back', CON_NODOS, async () => {
    const fresh = await maquinaNueva()
    const suyos = async () =>
      (
        await query(
          'select count(*)::int as n from citus_shards where nodename = $1 and nodeport = $2 and citus_table_type = $3',
          ...[...fresh.lugar, 'distributed'],
        )
      )[0].n
    await resistir(`${fresh.nombre}, shards moved to it`, await dosTiendas(), async () => {
      await fresh.add()
      await repartir()
      expect(await suyos()).toBeGreaterThan(0)
    })
    await resistir('shards moved back', await dosTiendas(), async () => {
      await query('select citus_drain_node($1, $2, $3)', ...fresh.lugar, 'block_writes')
      expect(await suyos()).toBe(0)
      await fresh.quitar()
    })
  })
})
