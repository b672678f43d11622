/**
 * The service's app with (`con`) or without (`sin`) the contract's validation, to see what that costs. GET /cronometro
 * gives the median of the microseconds that requests spent in it since the last time.
 */
import { createServer } from 'node:http'
import type { RequestHandler } from 'express'
import { cargarContrato, crearApp, crearDeps } from '../server/app.ts'
import { leerClaves } from '../server/config.ts'
import { abrirDb } from '../server/db.ts'
import { leerTelefono } from '../server/guias/telefono.ts'
import { crearLog } from '../server/log.ts'
import { resumir } from './arnes/rondas.ts'

const { DATABASE_URL = '', MASTER_KEYS = '', PORT = '0' } = process.env
const contrato = await cargarContrato()

let duraciones: number[] = []
let entro = 0
// Between the two nothing but promises is waited for, so requests don't interleave here.
const entrar: RequestHandler = (req, _res, next) => {
  // The handler reads the phone anyway, and whoever reads it first pays for it.
  if (typeof req.body?.telefono === 'string') leerTelefono(req.body.telefono)
  entro = performance.now()
  next()
}
const salir: RequestHandler = (_req, _res, next) => {
  duraciones.push((performance.now() - entro) * 1000)
  next()
}
const { validar } = contrato.validacion
contrato.validacion.validar = (operacion) => (process.argv[2] === 'sin' ? [] : [entrar, ...validar(operacion), salir])

const deps = crearDeps(contrato, {
  db: abrirDb(DATABASE_URL),
  log: crearLog('warn'),
  masterKeys: leerClaves(MASTER_KEYS) as Buffer[],
  salud: async () => ({ ok: true, base_de_datos: true, cola: true, migraciones: true }),
  avisarTrabajo: () => {},
})
const app = crearApp(contrato, deps)
createServer((req, res) => {
  if (req.url !== '/cronometro') return app(req, res)
  res.end(`${resumir(duraciones).mediana}`)
  duraciones = []
}).listen(Number(PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
// A bench that is killed takes us along.
const padre = process.ppid
setInterval(() => process.ppid !== padre && process.exit(0), 250).unref()
