import { expect, it } from 'vitest'
import { setXidOffset } from '../../server/data/eventOrder.ts'
import { linkChains } from '../../server/domain/bitacora/linkChain.ts'
import { verifyChains } from '../../server/domain/bitacora/verificar.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { chainAll } from '../bitacora/chains.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, readTestSettings, waitUntil } from '../factories.ts'

// Its own jobs do nothing meanwhile.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
/** Makes the database one whose server has that many transactions more than this one. */
const advance = async (transactionCount: bigint) => {
  const client = await environment.db.pool.connect()
  await setXidOffset(client, transactionCount)
  client.release()
}

/** A new merchant who creates guides and reads the feed. */
async function createReader() {
  const { llave } = await environment.createComercio()
  const read = async (place: string) => {
    const { datos, cursor_siguiente } = (
      await environment.request('GET', `/api/v1/eventos?limite=100${place}`, { llave })
    ).body
    return { guias: (datos as { guia: string }[]).map(({ guia }) => guia), cursor: cursor_siguiente as string }
  }
  return {
    /** Reads the feed from a cursor until it has this many events. */
    follow: (cursor: string | null, count: number) =>
      waitUntil(async () => {
        const page = await read(cursor ? `&cursor=${cursor}` : '')
        return page.guias.length === count && page
      }),
    final: async () => (await read('&desde=ahora')).cursor,
    create: async (): Promise<string> =>
      (await environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })).body.guia,
  }
}

it('the feed goes on after a logical copy, from the cursors that the other server gave', EN_POSTGRES, async () => {
  const { follow, final, create } = await createReader()
  await advance(5_000_000_000n)
  const [one, other] = [await create(), await create()]
  const { guias, cursor } = await follow(null, 2)
  expect(guias).toEqual([one, other])
  const last = await final()

  await advance(0n)
  await environment.reset()
  const [third, fourth] = [await create(), await create()]
  expect((await follow(null, 4)).guias).toEqual([one, other, third, fourth])
  expect((await follow(cursor, 2)).guias).toEqual([third, fourth])
  expect((await follow(last, 2)).guias).toEqual([third, fourth])

  // A start on the same server changes nothing, and a copy in a third server goes on once more.
  const lugares = () =>
    environment.db.pool.query<{ xid: string }>(
      'select xid::text as xid from evento where secuencia > 0 order by evento.xid',
    )
  const before = (await lugares()).rows.length
  await environment.reset()
  const fifthGuia = await create()
  await advance(0n)
  await environment.reset()
  const sixthGuia = await create()
  expect((await follow(null, 6)).guias.slice(4)).toEqual([fifthGuia, sixthGuia])
  const steps = (await lugares()).rows.slice(before).map(({ xid }) => BigInt(xid) >> 40n)
  expect(steps).toEqual([1n, 2n])
})

it('the feed goes on after a restore, from cursors of after the restored instant', EN_POSTGRES, async () => {
  const { follow, final, create } = await createReader()
  const one = await create()
  await follow(null, 1)
  // Nothing is left of the transactions after that instant, except the cursor.
  const { rows } = await environment.db.pool.query<{ fin: string }>('select flujo_fin()::text as fin')
  const distancia = (BigInt(rows[0]!.fin) >> 40n) << 40n
  await advance(distancia + 5_000_000_000n)
  const loss = await final()
  await advance(distancia)
  const knownIdentity = async () =>
    (await environment.db.pool.query('select flujo_servidor() as cual')).rows[0]!.cual as string
  const [identificador = '', line = ''] = (await knownIdentity()).split('/')
  expect([identificador, line]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^[\dA-F]{8}$/)])

  // The server of the copy has another timeline, or is another one.
  for (const anterior of [`${identificador}/00000000`, `1/${line}`]) {
    await environment.db.pool.query(
      `create or replace function flujo_servidor() returns text stable language sql return '${anterior}'`,
    )
    await environment.reset()
    expect(await knownIdentity()).toBe(`${identificador}/${line}`)
  }
  const other = await create()
  expect((await follow(loss, 1)).guias).toEqual([other])
  expect((await follow(null, 2)).guias).toEqual([one, other])
})

it('the audit record goes on after a logical copy', EN_POSTGRES, async () => {
  const { db, clock } = environment
  const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
  const linkChain = () =>
    chainAll(db, () => linkChains({ db, clock, log: createLog('silent'), secretos, settings: readTestSettings() }))
  await advance(9_000_000_000_000n)
  await environment.asOperador('POST', '/repartidores', { nombre: 'Antes de la copia' })
  await linkChain()
  await advance(0n)
  await environment.reset()
  await environment.asOperador('POST', '/repartidores', { nombre: 'Después de la copia' })
  await linkChain()
  const all = { desde: new Date(0), hasta: new Date('9999-01-01') }
  expect(await verifyChains({ db, secretos, clock }, all)).toMatchObject({ faltas: [] })
  const { rows } = await db.pool.query<{ xid: string }>(
    `select xid::text as xid from bitacora where accion = 'crearRepartidor' order by bitacora.xid`,
  )
  const [before = 0n, after = 0n] = rows.map(({ xid }) => BigInt(xid))
  expect([rows.length, before >= 9_000_000_000_000n, after >> 40n]).toEqual([2, true, (before >> 40n) + 1n])
})
