import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { openShards } from '../postgres.ts'

const entorno = useEnvironment()
const consultar = async (sql: string, ...valores: unknown[]) => (await entorno.db.pool.query(sql, valores)).rows

/** Where a merchant's events lie. */
async function lugarDe({ id }: Comercio): Promise<{ shardid: string; nodename: string; nodeport: number }> {
  const [fila] = await consultar(
    `select shardid, nodename, nodeport from citus_shards where table_name = 'evento'::regclass
     and shardid = get_shard_id_for_distribution_column('evento', $1::uuid)`,
    id,
  )
  return fila
}

/** Two merchants whose rows lie on different machines. */
async function enDosMaquinas(): Promise<[Comercio, Comercio]> {
  const uno = await entorno.nuevoComercio()
  const { nodeport } = await lugarDe(uno)
  return hasta(async () => {
    const otro = await entorno.nuevoComercio()
    return (await lugarDe(otro)).nodeport === nodeport ? undefined : [uno, otro]
  })
}

interface Maquina {
  nodename: string
  nodeport: number
}

/** Moves a part of the tables, with those that lie beside it. */
async function mudar(shardid: string, de: Maquina, a: Maquina): Promise<void> {
  const cliente = new pg.Client({ connectionString: entorno.databaseUrl })
  await cliente.connect()
  const { rows } = await cliente.query('show wal_level')
  const modo = rows[0].wal_level === 'logical' ? 'force_logical' : 'block_writes'
  try {
    await cliente.query(
      `select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode => $6::text::citus.shard_transfer_mode)`,
      [shardid, de.nodename, de.nodeport, a.nodename, a.nodeport, modo],
    )
    // What it left behind must be gone before it may come back, whoever takes it away.
    await hasta(async () => {
      await cliente.query('call citus_cleanup_orphaned_resources()')
      return (await cliente.query('select from pg_dist_cleanup')).rowCount === 0
    })
  } finally {
    await cliente.end()
  }
}

/** Everything that the feed gives, read to its end. */
async function readAll({ api }: Comercio): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const pagina = await api.eventos.listar(cursor ? { cursor } : {})
    if (pagina.datos.length === 0) return ids
    ids.push(...pagina.datos.map(({ id }) => id))
    cursor = pagina.cursor_siguiente!
  }
}

/** The first page after a cursor that isn't empty: whatever else is written on a machine holds its feeds back meanwhile. */
const siguientes = ({ api }: Comercio, cursor: string) =>
  hasta(async () => {
    const pagina = await api.eventos.listar({ cursor })
    return pagina.datos.length > 0 && pagina
  })

/** The first page of the feed, once it has an event. */
const leida = ({ api }: Comercio) =>
  hasta(async () => {
    const pagina = await api.eventos.listar()
    return pagina.datos.length > 0 && pagina
  })

/** A transaction that writes an event of a guide where its rows lie, and waits to be told how it ends. */
async function escribirYEsperar({ id }: Comercio, guia: string) {
  const partes = (await openShards(entorno.databaseUrl))!
  const { url, schema, shard } = await partes.find({ merchant: id })
  const cliente = new pg.Client({ connectionString: url })
  await cliente.connect()
  await cliente.query(`begin; set local search_path = ${schema}; select partes.tomar(${shard})`)
  await cliente.query(
    `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
     select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now() from guia where guia = $1`,
    [guia],
  )
  return cliente
}

describe('the feed on several machines', () => {
  it('skips nothing that commits late, and keeps nobody on another machine waiting', async () => {
    const [uno, ajeno] = await enDosMaquinas()
    const tardia = await uno.api.guias.crear(buildGuia())
    const antes = (await leida(uno)).cursor_siguiente!
    const lento = await escribirYEsperar(uno, tardia.guia)
    try {
      const creada = await uno.api.guias.crear(buildGuia())
      const { guia } = await ajeno.api.guias.crear(buildGuia())
      await hasta(async () => (await readAll(ajeno)).join() === `evt_${guia}_1`)
      expect((await uno.api.eventos.listar({ cursor: antes })).datos).toEqual([])
      await lento.query('commit')
      const { datos } = await siguientes(uno, antes)
      expect(datos.map(({ id }) => id)).toEqual([`evt_${tardia.guia}_2`, `evt_${creada.guia}_1`])
    } finally {
      await lento.end()
    }
  })

  it('goes on where it was when the rows move to another machine while they are written', async () => {
    const [uno, otro] = await enDosMaquinas()
    const { shardid, nodename, nodeport } = await lugarDe(uno)
    const destino = await lugarDe(otro)
    const creadas: string[] = []
    let mover = true
    // Without logical replication a move keeps writers waiting, and those who wait too long are told to come again.
    const crear = async (una: ReturnType<typeof buildGuia>): Promise<string> => {
      try {
        return (await uno.api.guias.crear(una)).guia
      } catch (error) {
        if ((error as { status?: number }).status !== 503) throw error
        return crear(una)
      }
    }
    const escribir = async () => {
      for (let n = 0; mover; n++)
        creadas.push(await crear(buildGuia({ external_ref: `mudanza-${Math.random()}-${n}` })))
    }
    const leidas: string[] = []
    let cursor: string | undefined
    const leer = async () => {
      const pagina = await uno.api.eventos.listar(cursor ? { cursor } : {})
      leidas.push(...pagina.datos.map(({ id }) => id))
      cursor = pagina.cursor_siguiente ?? cursor
      return pagina.datos.length
    }
    const escribiendo = Promise.all([escribir(), escribir()])
    await hasta(async () => creadas.length > 5 && (await leer()) >= 0)
    await mudar(shardid, { nodename, nodeport }, destino)
    expect((await lugarDe(uno)).nodeport).toBe(destino.nodeport)
    const alMudarse = creadas.length
    await hasta(async () => creadas.length > alMudarse + 5 && (await leer()) >= 0)
    mover = false
    await escribiendo
    await hasta(async () => (await leer()) === 0 && leidas.length >= creadas.length)
    expect(leidas.toSorted()).toEqual(creadas.map((guia) => `evt_${guia}_1`).sort())
    expect(new Set(leidas).size).toBe(leidas.length)
  })

  it('gives a cursor of now that holds wherever the rows go afterwards, and back', async () => {
    const [uno, otro] = await enDosMaquinas()
    const [desde, a] = [await lugarDe(uno), await lugarDe(otro)]
    await uno.api.guias.crear(buildGuia())
    // The first machine's transactions are far ahead of the second's, and so is its end of the feed.
    const cursores = [(await uno.api.eventos.listar({ desde: new Date().toISOString() })).cursor_siguiente!]
    const esperadas: string[] = []
    for (const [de, hacia] of [
      [desde, a],
      [a, desde],
    ] as const) {
      await mudar(desde.shardid, de, hacia)
      const { guia } = await uno.api.guias.crear(buildGuia())
      esperadas.push(`evt_${guia}_1`)
      const { datos, cursor_siguiente } = await siguientes(uno, cursores.at(-1)!)
      expect(datos.map(({ id }) => id)).toEqual([esperadas.at(-1)])
      cursores.push(cursor_siguiente!)
    }
    expect((await uno.api.eventos.listar({ cursor: cursores[0]! })).datos.map(({ id }) => id)).toEqual(esperadas)
  })

  it('goes on when a part is split, and finds by their codes the guides of before', async () => {
    const uno = await entorno.nuevoComercio()
    const antes = await uno.api.guias.crear(buildGuia())
    const { cursor_siguiente } = await leida(uno)
    const [{ shardid, medio, nodos }] = await consultar(
      `select s.shardid, ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::int as medio,
         array(select p.groupid from pg_dist_placement p join pg_dist_node n using (groupid) where p.shardid = s.shardid)
           || array(select p.groupid from pg_dist_placement p where p.shardid = s.shardid) as nodos
       from pg_dist_shard s where logicalrelid = 'guia'::regclass
         and shardid = get_shard_id_for_distribution_column('guia', $1::uuid)`,
      uno.id,
    )
    const deNodo = await consultar('select nodeid from pg_dist_node where groupid = $1', nodos[0])
    const nodo = deNodo[0].nodeid
    await consultar(
      `select citus_split_shard_by_split_points($1::bigint, array[$2::text], array[$3::int, $3::int], 'block_writes')`,
      ...[shardid, medio, nodo],
    )
    const despues = await uno.api.guias.crear(buildGuia())
    expect((await siguientes(uno, cursor_siguiente!)).datos.map(({ id }) => id)).toEqual([`evt_${despues.guia}_1`])
    for (const { guia } of [antes, despues])
      expect((await entorno.operar('GET', `/guias/${guia}`)).cuerpo, guia).toMatchObject({ guia })
  })
})
