// Why no replica is read on a cluster (server/data/citus/distribute.ts).

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { Connections } from '../../server/data/connections.ts'
import { statement } from '../../server/data/db.ts'
import { Replica } from '../../server/data/replica.ts'
import { createLog } from '../../server/platform/log.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { StandbyServer } from '../follower.ts'
import { findFreePort } from '../ports.ts'
import { admin } from '../postgres.ts'

const environment = useEnvironment()

const ESTADO = statement<{ guia: string }, { estado: string; de_replica: boolean }>(
  'pruebas.estadoEnReplica',
  'central',
  'select estado, pg_is_in_recovery() as de_replica from guia where guia = :guia',
)

/** What it is told to be behind at most, in milliseconds, and a while more. */
const LONGER_THAN_LAG = 8_000

describe('replicas of a cluster’s machines', { tags: ['nodos'] }, () => {
  const close: (() => unknown)[] = []
  afterAll(async () => {
    for (const one of close.reverse()) await one()
  })

  it('may be as far behind as they like while the coordinator’s is near, and nobody notices', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guias-replicas-'))
    chmodSync(folder, 0o755) // PostgreSQL's user must be able to pass
    close.push(() => rmSync(folder, { recursive: true, force: true }))
    const base = new URL(environment.databaseUrl).pathname.slice(1)
    const coordinator = new pg.Client({ connectionString: environment.databaseUrl })
    await coordinator.connect()
    close.push(() => coordinator.end())
    const standbys: StandbyServer[] = []
    for (const [n, node] of inject('nodeUrls')!.entries()) {
      const primary = new URL(node)
      const port = await findFreePort()
      const standby = new StandbyServer(join(folder, `${n}`), port, primary)
      await admin((client) => standby.copyFiles(client), node)
      close.push(() => standby.kill())
      await standby.start()
      standbys.push(standby)
      if (n === 0) continue
      await coordinator.query('select citus_add_secondary_node($1, $2, $1, $3)', [
        primary.hostname,
        port,
        Number(primary.port),
      ])
      close.push(() => coordinator.query('select citus_remove_node($1, $2)', [primary.hostname, port]))
    }
    const [coordinatorStandby, ...workerStandbys] = standbys as [StandbyServer, ...StandbyServer[]]

    const read = Object.assign(new URL(coordinatorStandby.url), { pathname: `/${base}` })
    read.searchParams.set('options', '-c citus.use_secondary_nodes=always')
    const connections = new Connections(read.href, 2, 'guias lectura', {})
    close.push(() => connections.end())
    const replica = new Replica(environment.db, connections, createLog('silent'))
    const readOnReplica = async (guia: string) => (await replica.query(ESTADO, { guia }))[0]

    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => (await readOnReplica(guia))?.de_replica)
    for (const one of workerStandbys) await one.request('select pg_wal_replay_pause()')
    await api.guias.cancelar(guia)
    const after = Date.now() + LONGER_THAN_LAG
    await waitUntil(async () => (await readOnReplica(guia)) && Date.now() > after)
    // It is the cancelled guide of eight seconds ago.
    expect(await readOnReplica(guia)).toEqual({ estado: 'aceptado', de_replica: true })
  })
})
