import { loadContract } from '../../server/api/contract/load.ts'
import { openDb } from '../../server/data/db.ts'
import { localStoreIn, openStore } from '../../server/domain/archivos/openStore.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { buildDeps } from '../../server/startup/buildDeps.ts'
import { Lifetime } from '../../server/startup/lifetime.ts'
import { publicUrlOf } from '../../server/startup/listen.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { Probe } from '../../server/startup/probe.ts'
import { openDatabase } from '../../server/startup/resources.ts'
import { Teardown } from '../../server/startup/teardown.ts'
import type { Entorno } from './comando.ts'

/**
 * Opens the service's database and runs `hacer` with it. Starts the embedded PostgreSQL if it is not running, and
 * applies missing migrations. Closes everything afterwards, also after an error.
 */
export async function conDeps<T>(
  env: Entorno,
  conArchivos: boolean,
  hacer: (deps: DepsDeOperacion) => Promise<T>,
): Promise<T> {
  // The console sends no messages. It therefore runs without the configuration of the messaging provider.
  const config = readConfig({ ...env, MESSAGING: 'buzon' }, process.cwd())
  const log = createLog('silent')
  const deshacer = new Teardown(log)
  try {
    const { databaseUrl, masterKeys, via } = await openDatabase(config, deshacer, { exclusivo: false, log })
    const db = openDb(databaseUrl, { conexiones: 2, partes: via.partes })
    deshacer.add(() => db.cerrar())
    const { almacen, cerrar } = conArchivos
      ? await openStore(config)
      : { almacen: localStoreIn(config.dataDir), cerrar: () => {} }
    deshacer.add(cerrar)
    const vida = new Lifetime(log, false)
    vida.phase = 'lista'
    vida.probe = new Probe(via.url, [db.pool], log)
    deshacer.add(() => vida.probe?.close())
    const deps = buildDeps(config, {
      db,
      dbImpaciente: db,
      dbDeLectura: db,
      masterKeys,
      almacen,
      log,
      vida,
      metricas: createMetrics(),
      urlPublica: publicUrlOf(config),
    })
    deshacer.add(() => deps.bitacora.escribir())
    return await hacer({ ...deps, validacion: loadContract().validacion })
  } finally {
    await deshacer.run()
  }
}
