/**
 * Entry point of `npm run admin`, the console for operators. It manages merchants, keys, operators and couriers in the
 * service's database, also while the service is stopped.
 */
import { runLine } from './admin/console.ts'

process.exitCode = await runLine(process.argv.slice(2), process.env, console)
