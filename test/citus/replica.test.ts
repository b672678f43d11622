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
import { buildGuia, hasta } from '../factories.ts'
import { StandbyServer } from '../follower.ts'
import { findFreePort } from '../ports.ts'
import { admin } from '../postgres.ts'

const entorno = useEnvironment()

const ESTADO = statement<{ guia: string }, { estado: string; de_replica: boolean }>(
  'pruebas.estadoEnReplica',
  'central',
  'select estado, pg_is_in_recovery() as de_replica from guia where guia = :guia',
)

/** What it is told to be behind at most, in milliseconds, and a while more. */
const MAS_QUE_EL_ATRASO = 8_000

describe('replicas of a cluster’s machines', { tags: ['nodos'] }, () => {
  const cerrar: (() => unknown)[] = []
  afterAll(async () => {
    for (const uno of cerrar.reverse()) await uno()
  })

  it('may be as far behind as they like while the coordinator’s is near, and nobody notices', async () => {
    const carpeta = mkdtempSync(join(tmpdir(), 'guias-replicas-'))
    chmodSync(carpeta, 0o755) // PostgreSQL's user must be able to pass
    cerrar.push(() => rmSync(carpeta, { recursive: true, force: true }))
    const base = new URL(entorno.databaseUrl).pathname.slice(1)
    const coordinador = new pg.Client({ connectionString: entorno.databaseUrl })
    await coordinador.connect()
    cerrar.push(() => coordinador.end())
    const seguidores: StandbyServer[] = []
    for (const [n, nodo] of inject('nodeUrls')!.entries()) {
      const primaria = new URL(nodo)
      const puerto = await findFreePort()
      const seguidor = new StandbyServer(join(carpeta, `${n}`), puerto, primaria)
      await admin((cliente) => seguidor.copyFiles(cliente), nodo)
      cerrar.push(() => seguidor.kill())
      await seguidor.start()
      seguidores.push(seguidor)
      if (n === 0) continue
      await coordinador.query('select citus_add_secondary_node($1, $2, $1, $3)', [
        primaria.hostname,
        puerto,
        Number(primaria.port),
      ])
      cerrar.push(() => coordinador.query('select citus_remove_node($1, $2)', [primaria.hostname, puerto]))
    }
    const [delCoordinador, ...deWorkers] = seguidores as [StandbyServer, ...StandbyServer[]]

    const leida = Object.assign(new URL(delCoordinador.url), { pathname: `/${base}` })
    leida.searchParams.set('options', '-c citus.use_secondary_nodes=always')
    const conexiones = new Connections(leida.href, 2, 'guias lectura', {})
    cerrar.push(() => conexiones.end())
    const replica = new Replica(entorno.db, conexiones, createLog('silent'))
    const leer = async (guia: string) => (await replica.query(ESTADO, { guia }))[0]

    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await hasta(async () => (await leer(guia))?.de_replica)
    for (const uno of deWorkers) await uno.request('select pg_wal_replay_pause()')
    await api.guias.cancelar(guia)
    const despues = Date.now() + MAS_QUE_EL_ATRASO
    await hasta(async () => (await leer(guia)) && Date.now() > despues)
    // It is the cancelled guide of eight seconds ago.
    expect(await leer(guia)).toEqual({ estado: 'aceptado', de_replica: true })
  })
})
