import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { openShards } from '../postgres.ts'

const environment = useEnvironment()
const query = async (sql: string, ...values: unknown[]) => (await environment.db.pool.query(sql, values)).rows

/** Where a merchant's events lie. */
async function placeOf({ id }: Comercio): Promise<{ shardid: string; nodename: string; nodeport: number }> {
  const [row] = await query(
    `select shardid, nodename, nodeport from citus_shards where table_name = 'evento'::regclass
     and shardid = get_shard_id_for_distribution_column('evento', $1::uuid)`,
    id,
  )
  return row
}

/** Two merchants whose rows lie on different machines. */
async function createOnTwoMachines(): Promise<[Comercio, Comercio]> {
  const one = await environment.createComercio()
  const { nodeport } = await placeOf(one)
  return waitUntil(async () => {
    const other = await environment.createComercio()
    return (await placeOf(other)).nodeport === nodeport ? undefined : [one, other]
  })
}

interface Machine {
  nodename: string
  nodeport: number
}

/** Moves a part of the tables, with those that lie beside it. */
async function move(shardid: string, source: Machine, a: Machine): Promise<void> {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  const { rows } = await client.query('show wal_level')
  const modo = rows[0].wal_level === 'logical' ? 'force_logical' : 'block_writes'
  try {
    await client.query(
      `select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode => $6::text::citus.shard_transfer_mode)`,
      [shardid, source.nodename, source.nodeport, a.nodename, a.nodeport, modo],
    )
    // What it left behind must be gone before it may come back, whoever takes it away.
    await waitUntil(async () => {
      await client.query('call citus_cleanup_orphaned_resources()')
      return (await client.query('select from pg_dist_cleanup')).rowCount === 0
    })
  } finally {
    await client.end()
  }
}

/** Everything that the feed gives, read to its end. */
async function readAll({ api }: Comercio): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await api.eventos.listar(cursor ? { cursor } : {})
    if (page.datos.length === 0) return ids
    ids.push(...page.datos.map(({ id }) => id))
    cursor = page.cursor_siguiente!
  }
}

/** The first page after a cursor that isn't empty: whatever else is written on a machine holds its feeds back meanwhile. */
const siguientes = ({ api }: Comercio, cursor: string) =>
  waitUntil(async () => {
    const page = await api.eventos.listar({ cursor })
    return page.datos.length > 0 && page
  })

/** The first page of the feed, once it has an event. */
const read = ({ api }: Comercio) =>
  waitUntil(async () => {
    const page = await api.eventos.listar()
    return page.datos.length > 0 && page
  })

/** A transaction that writes an event of a guide where its rows lie, and waits to be told how it ends. */
async function escribirYEsperar({ id }: Comercio, guia: string) {
  const parts = (await openShards(environment.databaseUrl))!
  const { url, schema, shard } = await parts.find({ merchant: id })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`begin; set local search_path = ${schema}; select partes.tomar(${shard})`)
  await client.query(
    `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
     select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
    [guia],
  )
  return client
}

describe('the feed on several machines', () => {
  it('skips nothing that commits late, and keeps nobody on another machine waiting', async () => {
    const [one, foreign] = await createOnTwoMachines()
    const lateGuia = await one.api.guias.crear(buildGuia())
    const before = (await read(one)).cursor_siguiente!
    const slow = await escribirYEsperar(one, lateGuia.guia)
    try {
      const created = await one.api.guias.crear(buildGuia())
      const { guia } = await foreign.api.guias.crear(buildGuia())
      await waitUntil(async () => (await readAll(foreign)).join() === `evt_${guia}_1`)
      expect((await one.api.eventos.listar({ cursor: before })).datos).toEqual([])
      await slow.query('commit')
      const { datos } = await siguientes(one, before)
      expect(datos.map(({ id }) => id)).toEqual([`evt_${lateGuia.guia}_2`, `evt_${created.guia}_1`])
    } finally {
      await slow.end()
    }
  })

  it('goes on where it was when the rows move to another machine while they are written', async () => {
    const [one, other] = await createOnTwoMachines()
    const { shardid, nodename, nodeport } = await placeOf(one)
    const destino = await placeOf(other)
    const created: string[] = []
    let mover = true
    // Without logical replication a move keeps writers waiting, and those who wait too long are told to come again.
    const create = async (guiaData: ReturnType<typeof buildGuia>): Promise<string> => {
      try {
        return (await one.api.guias.crear(guiaData)).guia
      } catch (error) {
        if ((error as { estadoHttp?: number }).estadoHttp !== 503) throw error
        return create(guiaData)
      }
    }
    const write = async () => {
      for (let n = 0; mover; n++)
        created.push(await create(buildGuia({ external_ref: `mudanza-${Math.random()}-${n}` })))
    }
    const readEventos: string[] = []
    let cursor: string | undefined
    const read = async () => {
      const page = await one.api.eventos.listar(cursor ? { cursor } : {})
      readEventos.push(...page.datos.map(({ id }) => id))
      cursor = page.cursor_siguiente ?? cursor
      return page.datos.length
    }
    const writing = Promise.all([write(), write()])
    await waitUntil(async () => created.length > 5 && (await read()) >= 0)
    await move(shardid, { nodename, nodeport }, destino)
    expect((await placeOf(one)).nodeport).toBe(destino.nodeport)
    const countAtMove = created.length
    await waitUntil(async () => created.length > countAtMove + 5 && (await read()) >= 0)
    mover = false
    await writing
    await waitUntil(async () => (await read()) === 0 && readEventos.length >= created.length)
    expect(readEventos.toSorted()).toEqual(created.map((guia) => `evt_${guia}_1`).sort())
    expect(new Set(readEventos).size).toBe(readEventos.length)
  })

  it('gives a cursor of now that holds wherever the rows go afterwards, and back', async () => {
    const [one, other] = await createOnTwoMachines()
    const [from, a] = [await placeOf(one), await placeOf(other)]
    await one.api.guias.crear(buildGuia())
    // The first machine's transactions are far ahead of the second's, and so is its end of the feed.
    const cursores = [(await one.api.eventos.listar({ desde: new Date().toISOString() })).cursor_siguiente!]
    const expectedItems: string[] = []
    for (const [source, toward] of [
      [from, a],
      [a, from],
    ] as const) {
      await move(from.shardid, source, toward)
      const { guia } = await one.api.guias.crear(buildGuia())
      expectedItems.push(`evt_${guia}_1`)
      const { datos, cursor_siguiente } = await siguientes(one, cursores.at(-1)!)
      expect(datos.map(({ id }) => id)).toEqual([expectedItems.at(-1)])
      cursores.push(cursor_siguiente!)
    }
    expect((await one.api.eventos.listar({ cursor: cursores[0]! })).datos.map(({ id }) => id)).toEqual(expectedItems)
  })

  it('goes on when a part is split, and finds by their codes the guides of before', async () => {
    const one = await environment.createComercio()
    const before = await one.api.guias.crear(buildGuia())
    const { cursor_siguiente } = await read(one)
    const [{ shardid, medio: middleValue, nodos }] = await query(
      `select s.shardid, ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::int as medio,
         array(select p.groupid from pg_dist_placement p join pg_dist_node n using (groupid) where p.shardid = s.shardid)
           || array(select p.groupid from pg_dist_placement p where p.shardid = s.shardid) as nodos
       from pg_dist_shard s where logicalrelid = 'guia'::regclass
         and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      one.id,
    )
    const nodeRows = await query('select nodeid from pg_dist_node where groupid = $1', nodos[0])
    const node = nodeRows[0].nodeid
    await query(
      `select citus_split_shard_by_split_points($1::bigint, array[$2::text], array[$3::int, $3::int], 'block_writes')`,
      ...[shardid, middleValue, node],
    )
    const after = await one.api.guias.crear(buildGuia())
    expect((await siguientes(one, cursor_siguiente!)).datos.map(({ id }) => id)).toEqual([`evt_${after.guia}_1`])
    for (const { guia } of [before, after])
      expect((await environment.asOperador('GET', `/guias/${guia}`)).body, guia).toMatchObject({ guia })
  })
})
