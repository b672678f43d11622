/**
 * Program that runs a PostgreSQL server for one run of the bench, in a process of its own. The server lives as long as
 * the standard input of this process stays open. It therefore stops, and the folder of the run is deleted, even after a
 * SIGKILL of the bench. Prints the server's URL; its argument is the folder.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { acquirePostgres } from '../server/data/embedded/embedded.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('usage: postgres.ts <folder>')
// Ctrl-C in a terminal also signals this process. The bench decides when to stop it, by closing standard input.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const postgres = await acquirePostgres({ dataDir: join(folder, 'datos'), exclusive: true })
process.stdout.on('error', () => {})
process.stdout.write(`${postgres.superuserUrl}\n`)
process.stdin.resume().once('close', async () => {
  await postgres.release()
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
