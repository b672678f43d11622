/**
 * Program that runs the service's app with (`con`) or without (`sin`) the validation of the contract, to measure its
 * cost.
 */
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { cargarContrato } from '../server/api/contract/load.ts'
import { abrirDb } from '../server/data/db.ts'
import { almacenDe } from '../server/domain/archivos/openStore.ts'
import { leerConfig } from '../server/platform/config/config.ts'
import { crearLog } from '../server/platform/log.ts'
import { crearApp } from '../server/startup/app.ts'
import { crearDeps } from '../server/startup/buildDeps.ts'
import { Vida } from '../server/startup/lifetime.ts'
import { Sonda } from '../server/startup/probe.ts'

const config = leerConfig({ PORT: '0', DATA_DIR: tmpdir(), ...process.env }, process.cwd())
const log = crearLog('warn')
const contrato = cargarContrato()
// The self-check of the validation must be off too, because it fails without validation.
if (process.argv[2] === 'sin') {
  contrato.validacion.validar = () => []
  contrato.comprobar = async () => {}
}
const vida = new Vida(log, false)
vida.fase = 'lista'
const db = abrirDb(process.env.DATABASE_URL!)
vida.sonda = new Sonda(process.env.DATABASE_URL!, [db.pool], log)
const deps = crearDeps(config, {
  db,
  dbImpaciente: db,
  dbDeLectura: db,
  masterKeys: config.masterKeys!,
  almacen: almacenDe(config.dataDir),
  log,
  vida,
  urlPublica: '',
})
createServer(crearApp(contrato, deps)).listen(config.port, '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
// A killed bench cannot stop this process, so the process stops when its parent changes.
const padre = process.ppid
setInterval(() => process.ppid !== padre && process.exit(0), 250).unref()
