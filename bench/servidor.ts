/** The service's app with (`con`) or without (`sin`) the contract's validation, to see what that costs. */
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { cargarContrato, crearApp, crearDeps } from '../server/app.ts'
import { abrirDb } from '../server/db.ts'
import { crearLog } from '../server/log.ts'
import { leerClaves } from '../server/secretos.ts'

const { DATABASE_URL = '', MASTER_KEYS = '', PORT = '0' } = process.env
const contrato = await cargarContrato()
if (process.argv[2] === 'sin') contrato.validacion.validar = () => []
const deps = crearDeps(contrato, {
  db: abrirDb(DATABASE_URL),
  log: crearLog('warn'),
  masterKeys: leerClaves(MASTER_KEYS)!,
  dataDir: process.env.DATA_DIR ?? tmpdir(),
  salud: async () => ({ ok: true, base_de_datos: true, cola: true, migraciones: true }),
  avisarTrabajo: () => {},
})
createServer(crearApp(contrato, deps)).listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
// A bench that is killed takes us along.
const padre = process.ppid
setInterval(() => process.ppid !== padre && process.exit(0), 250).unref()
