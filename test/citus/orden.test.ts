import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { esperarCerrojo } from '../quietud.ts'

const entorno = usarEntorno()
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
      [...[shardid, de.nodename, de.nodeport, a.nodename, a.nodeport, modo]],
    )
  } finally {
    await cliente.end()
  }
}

/** Everything that the feed gives, read to its end. */
async function leerTodo({ api }: Comercio): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const pagina = await api.eventos.listar(cursor ? { cursor } : {})
    if (pagina.datos.length === 0) return ids
    ids.push(...pagina.datos.map(({ id }) => id))
    cursor = pagina.cursor_siguiente!
  }
}

/** A transaction that writes an event of each guide, in the merchant's order, and waits to be told how it ends. */
async function escribirYEsperar(guias: readonly { comercio: Comercio; guia: string }[]) {
  const cliente = new pg.Client({ connectionString: entorno.databaseUrl })
  await cliente.connect()
  await cliente.query('begin')
  for (const { comercio, guia } of guias) {
    const { rows } = await cliente.query(
      `insert into flujo values ($1, 'test', 1) on conflict (comercio_id, modo) do update set numero = flujo.numero + 1
       returning numero::text as numero`,
      [comercio.id],
    )
    await cliente.query(
      `insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en, xid)
       select comercio_id, modo, id, 2, guia, 'guia.nota', estado, '{}', now(), now(), $3::text::xid8 from guia
       where guia = $1 and comercio_id = $2`,
      [guia, comercio.id, rows[0].numero],
    )
  }
  return cliente
}

describe('the feed on several machines', () => {
  it('skips nothing that commits late, on whatever machine, and keeps nobody else waiting', async () => {
    const [uno, otro] = await enDosMaquinas()
    const ajeno = await entorno.nuevoComercio()
    const tardias = await Promise.all(
      [uno, otro].map(async (comercio) => ({ comercio, ...(await comercio.api.guias.crear(unaGuia())) })),
    )
    const antes = (await uno.api.eventos.listar()).cursor_siguiente!
    const lento = await escribirYEsperar(tardias)
    try {
      // Whoever comes after it in a merchant's order commits after it, too; others don't know of it.
      const despues = uno.api.guias.crear(unaGuia())
      await esperarCerrojo(entorno.db)
      const { guia } = await ajeno.api.guias.crear(unaGuia())
      expect(await leerTodo(ajeno)).toEqual([`evt_${guia}_1`])
      expect((await uno.api.eventos.listar({ cursor: antes })).datos).toEqual([])
      await lento.query('commit')
      const creada = await despues
      const { datos } = await uno.api.eventos.listar({ cursor: antes })
      expect(datos.map(({ id }) => id)).toEqual([`evt_${tardias[0]!.guia}_2`, `evt_${creada.guia}_1`])
      expect(await leerTodo(otro)).toEqual([`evt_${tardias[1]!.guia}_1`, `evt_${tardias[1]!.guia}_2`])
    } finally {
      await lento.end()
    }
  })

  it('shows a transaction of several machines whole once the coordinator has said so, and none before', async () => {
    const [uno, otro] = await enDosMaquinas()
    const suyas = await Promise.all(
      [uno, otro].map(async (comercio) => ({ comercio, ...(await comercio.api.guias.crear(unaGuia())) })),
    )
    const antes = await Promise.all([uno, otro].map(async ({ api }) => (await api.eventos.listar()).cursor_siguiente!))
    for (let ronda = 0; ronda < 20; ronda++) {
      const lento = await escribirYEsperar(suyas.map(({ comercio, guia }) => ({ comercio, guia })))
      await lento.query('rollback')
      await lento.end()
    }
    const lento = await escribirYEsperar(suyas)
    await lento.query('commit')
    await lento.end()
    for (const [i, { comercio, guia }] of suyas.entries()) {
      const { datos } = await comercio.api.eventos.listar({ cursor: antes[i]! })
      expect(datos.map(({ id }) => id)).toEqual([`evt_${guia}_2`])
    }
  })

  it('goes on where it was when the rows move to another machine while they are written', async () => {
    const [uno, otro] = await enDosMaquinas()
    const { shardid, nodename, nodeport } = await lugarDe(uno)
    const destino = await lugarDe(otro)
    const creadas: string[] = []
    let mover = true
    // Without logical replication a move keeps writers waiting, and those who wait too long are told to come again.
    const crear = async (una: ReturnType<typeof unaGuia>): Promise<string> => {
      try {
        return (await uno.api.guias.crear(una)).guia
      } catch (error) {
        if ((error as { status?: number }).status !== 503) throw error
        return crear(una)
      }
    }
    const escribir = async () => {
      for (let n = 0; mover; n++) creadas.push(await crear(unaGuia({ external_ref: `mudanza-${Math.random()}-${n}` })))
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
    while ((await leer()) > 0);
    expect(leidas.toSorted()).toEqual(creadas.map((guia) => `evt_${guia}_1`).sort())
    expect(new Set(leidas).size).toBe(leidas.length)
  })
})
