/**
 * Entry point of `npm run admin`, the console for operators. It manages merchants, keys, operators and couriers in the
 * service's database, also while the service is stopped.
 */
import { correrLinea } from './admin/consola.ts'

process.exitCode = await correrLinea(process.argv.slice(2), process.env, console)
