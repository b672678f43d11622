import { loadContract } from '../../server/api/contract/load.ts'
import { openDb } from '../../server/data/db.ts'
import { localStoreIn, openStore } from '../../server/domain/archivos/openStore.ts'
import type { OperacionDeps } from '../../server/domain/deps.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { buildDeps } from '../../server/startup/buildDeps.ts'
import { Lifetime } from '../../server/startup/lifetime.ts'
import { publicUrlOf } from '../../server/startup/listen.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { Probe } from '../../server/startup/probe.ts'
import { openDatabase } from '../../server/startup/resources.ts'
import { Teardown } from '../../server/startup/teardown.ts'
import type { ConsoleEnvironment } from './command.ts'

/**
 * Opens the service's database and runs `perform` with it. Starts the embedded PostgreSQL if it is not running, and
 * applies missing migrations. Closes everything afterwards, also after an error.
 */
export async function withDeps<T>(
  env: ConsoleEnvironment,
  withFileStore: boolean,
  perform: (deps: OperacionDeps) => Promise<T>,
): Promise<T> {
  // The console sends no messages. It therefore runs without the configuration of the messaging provider.
  const config = readConfig({ ...env, MESSAGING: 'buzon' }, process.cwd())
  const log = createLog('silent')
  const teardown = new Teardown(log)
  try {
    const { databaseUrl, masterKeys, via } = await openDatabase(config, teardown, { exclusive: false, log })
    const db = openDb(databaseUrl, { connections: 2, shards: via.shards })
    teardown.add(() => db.close())
    const { store, close } = withFileStore
      ? await openStore(config)
      : { store: localStoreIn(config.dataDir), close: () => {} }
    teardown.add(close)
    const lifetime = new Lifetime(log, false)
    lifetime.phase = 'lista'
    lifetime.probe = new Probe(via.url, [db.pool], log)
    teardown.add(() => lifetime.probe?.close())
    const deps = buildDeps(config, {
      db,
      impatientDb: db,
      readDb: db,
      masterKeys,
      store,
      log,
      lifetime,
      metrics: createMetrics(),
      publicUrl: publicUrlOf(config),
    })
    teardown.add(() => deps.bitacora.write())
    return await perform({ ...deps, validacion: loadContract().validacion })
  } finally {
    await teardown.run()
  }
}
