import { expect, it } from 'vitest'
import { takeOrder } from '../../server/data/order.ts'
import { linkChains } from '../../server/domain/bitacora/linkChain.ts'
import { verifyChains } from '../../server/domain/bitacora/verificar.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { chainAll } from '../bitacora/chains.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, hasta, readTestSettings } from '../factories.ts'

// Its own jobs do nothing meanwhile.
const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))
/** Makes the database one whose server has that many transactions more than this one. */
const adelantar = async (transacciones: bigint) => {
  const cliente = await entorno.db.pool.connect()
  await takeOrder(cliente, transacciones)
  cliente.release()
}

/** A new merchant who creates guides and reads the feed. */
async function unLector() {
  const { llave } = await entorno.nuevoComercio()
  const leer = async (donde: string) => {
    const { datos, cursor_siguiente } = (await entorno.request('GET', `/api/v1/eventos?limite=100${donde}`, { llave }))
      .cuerpo
    return { guias: (datos as { guia: string }[]).map(({ guia }) => guia), cursor: cursor_siguiente as string }
  }
  return {
    /** Reads the feed from a cursor until it has this many events. */
    seguir: (cursor: string | null, cuantos: number) =>
      hasta(async () => {
        const pagina = await leer(cursor ? `&cursor=${cursor}` : '')
        return pagina.guias.length === cuantos && pagina
      }),
    final: async () => (await leer('&desde=ahora')).cursor,
    create: async (): Promise<string> =>
      (await entorno.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })).cuerpo.guia,
  }
}

it('the feed goes on after a logical copy, from the cursors that the other server gave', EN_POSTGRES, async () => {
  const { seguir, final, create: crear } = await unLector()
  await adelantar(5_000_000_000n)
  const [una, otra] = [await crear(), await crear()]
  const { guias, cursor } = await seguir(null, 2)
  expect(guias).toEqual([una, otra])
  const ultimo = await final()

  await adelantar(0n)
  await entorno.reset()
  const [tercera, cuarta] = [await crear(), await crear()]
  expect((await seguir(null, 4)).guias).toEqual([una, otra, tercera, cuarta])
  expect((await seguir(cursor, 2)).guias).toEqual([tercera, cuarta])
  expect((await seguir(ultimo, 2)).guias).toEqual([tercera, cuarta])

  // A start on the same server changes nothing, and a copy in a third server goes on once more.
  const lugares = () =>
    entorno.db.pool.query<{ xid: string }>(
      'select xid::text as xid from evento where secuencia > 0 order by evento.xid',
    )
  const antes = (await lugares()).rows.length
  await entorno.reset()
  const quinta = await crear()
  await adelantar(0n)
  await entorno.reset()
  const sexta = await crear()
  expect((await seguir(null, 6)).guias.slice(4)).toEqual([quinta, sexta])
  const pasos = (await lugares()).rows.slice(antes).map(({ xid }) => BigInt(xid) >> 40n)
  expect(pasos).toEqual([1n, 2n])
})

it('the feed goes on after a restore, from cursors of after the restored instant', EN_POSTGRES, async () => {
  const { seguir, final, create: crear } = await unLector()
  const una = await crear()
  await seguir(null, 1)
  // Nothing is left of the transactions after that instant, except the cursor.
  const { rows } = await entorno.db.pool.query<{ fin: string }>('select flujo_fin()::text as fin')
  const distancia = (BigInt(rows[0]!.fin) >> 40n) << 40n
  await adelantar(distancia + 5_000_000_000n)
  const perdido = await final()
  await adelantar(distancia)
  const conocido = async () => (await entorno.db.pool.query('select flujo_servidor() as cual')).rows[0]!.cual as string
  const [identificador = '', linea = ''] = (await conocido()).split('/')
  expect([identificador, linea]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^[\dA-F]{8}$/)])

  // The server of the copy has another timeline, or is another one.
  for (const anterior of [`${identificador}/00000000`, `1/${linea}`]) {
    await entorno.db.pool.query(
      `create or replace function flujo_servidor() returns text stable language sql return '${anterior}'`,
    )
    await entorno.reset()
    expect(await conocido()).toBe(`${identificador}/${linea}`)
  }
  const otra = await crear()
  expect((await seguir(perdido, 1)).guias).toEqual([otra])
  expect((await seguir(null, 2)).guias).toEqual([una, otra])
})

it('the audit record goes on after a logical copy', EN_POSTGRES, async () => {
  const { db, clock: reloj } = entorno
  const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
  const encadenar = () =>
    chainAll(db, () =>
      linkChains({ db, clock: reloj, log: createLog('silent'), secretos, settings: readTestSettings() }),
    )
  await adelantar(9_000_000_000_000n)
  await entorno.operar('POST', '/repartidores', { nombre: 'Antes de la copia' })
  await encadenar()
  await adelantar(0n)
  await entorno.reset()
  await entorno.operar('POST', '/repartidores', { nombre: 'Después de la copia' })
  await encadenar()
  const todo = { desde: new Date(0), hasta: new Date('9999-01-01') }
  expect(await verifyChains({ db, secretos, clock: reloj }, todo)).toMatchObject({ faltas: [] })
  const { rows } = await db.pool.query<{ xid: string }>(
    `select xid::text as xid from bitacora where accion = 'crearRepartidor' order by bitacora.xid`,
  )
  const [antes = 0n, despues = 0n] = rows.map(({ xid }) => BigInt(xid))
  expect([rows.length, antes >= 9_000_000_000_000n, despues >> 40n]).toEqual([2, true, (antes >> 40n) + 1n])
})
