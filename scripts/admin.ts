/** The console: merchants, keys, operators and couriers of the same database as the service, whether it runs or not. */
import { correrLinea } from './admin/consola.ts'

process.exitCode = await correrLinea(process.argv.slice(2), process.env, console)
