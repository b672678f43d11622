/**
 * A PostgreSQL for one run, held by a process of its own: it lives as long as this process's standard input is open, so
 * that it stops and the run's folder goes however the bench ends, also by SIGKILL. Prints the server's URL.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { tomarPostgres } from '../server/postgresEmbebido/postgresEmbebido.ts'

const [carpeta] = process.argv.slice(2)
if (!carpeta) throw new Error('usage: postgres.ts <folder>')
// A terminal's Ctrl-C reaches us too; the bench says when.
for (const senal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(senal, () => {})

const postgres = await tomarPostgres({ dataDir: join(carpeta, 'datos'), exclusivo: true })
process.stdout.on('error', () => {})
process.stdout.write(`${postgres.urlDeSuperusuario}\n`)
process.stdin.resume().once('close', async () => {
  await postgres.soltar()
  rmSync(carpeta, { recursive: true, force: true })
  process.exit(0)
})
