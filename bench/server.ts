/**
 * Program that runs the service's app with (`con`) or without (`sin`) the validation of the contract, to measure its
 * cost.
 */
import { tmpdir } from 'node:os'
import { loadContract } from '../server/api/contract/load.ts'
import { openDb } from '../server/data/db.ts'
import { localStoreIn } from '../server/domain/archivos/openStore.ts'
import { readConfig } from '../server/platform/config/config.ts'
import { createLog } from '../server/platform/log.ts'
import { createApp } from '../server/startup/app.ts'
import { buildDeps } from '../server/startup/buildDeps.ts'
import { Lifetime } from '../server/startup/lifetime.ts'
import { createMetrics } from '../server/startup/metrics.ts'
import { Probe } from '../server/startup/probe.ts'
import { serveAsChild } from './harness/child.ts'

const config = readConfig({ PORT: '0', DATA_DIR: tmpdir(), ...process.env }, process.cwd())
const log = createLog('warn')
const contract = loadContract()
if (process.argv[2] === 'unvalidated') contract.validacion.validate = () => []
const lifetime = new Lifetime(log, false)
lifetime.phase = 'lista'
const db = openDb(process.env.DATABASE_URL!)
lifetime.probe = new Probe(process.env.DATABASE_URL!, [db.pool], log)
const deps = buildDeps(config, {
  db,
  impatientDb: db,
  readDb: db,
  masterKeys: config.masterKeys!,
  store: localStoreIn(config.dataDir),
  log,
  lifetime,
  metrics: createMetrics(),
  publicUrl: `http://127.0.0.1:${config.port}`,
})
serveAsChild(createApp(contract, deps))
