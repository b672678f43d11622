import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { prepareInstallation, processOptions } from '../../server/data/embedded/installation.ts'
import { findFreePort } from '../ports.ts'
import type { Paso } from './steps.ts'

/** Whoever holds its standard input open keeps the cluster; even a kill -9 of the tests ends it, and its folder goes. */
const GUARD_SCRIPT = `
  const [pg_ctl, pgdata, carpeta, uid, gid] = process.argv.slice(1)
  process.stdin.resume().on('end', () => {
    const quien = uid ? { uid: Number(uid), gid: Number(gid) } : {}
    require('node:child_process').spawnSync(pg_ctl, ['stop', '-m', 'immediate', '-D', pgdata], { cwd: '/', ...quien })
    require('node:child_process').spawnSync('umount', ['-l', carpeta])
    require('node:fs').rmSync(carpeta, { recursive: true, force: true, maxRetries: 10 })
  })`

const OWN_SETTINGS = ['max_connections=120', 'shared_buffers=64MB']

/**
 * With pg_ctl and not with `acquirePostgres`, whose holder starts a server that is gone by itself: here the scenario says
 * when. Everything durable, as in production.
 * @param ownSettings its settings
 * @param disco size in bytes of a disk of its own, which a test may fill; only root can mount one
 */
export async function startDurablePostgres(
  steps: Paso[],
  ownSettings: readonly string[] = OWN_SETTINGS,
  disco?: number,
) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'guias-resistencia-'))
  if (disco && spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${disco}`, 'tmpfs', folder]).status !== 0)
    throw new Error('no disk could be mounted')
  chmodSync(folder, 0o755) // or root's PostgreSQL user could not pass
  const {
    pgdata,
    binaries,
    usuario,
    clave: key,
  } = await prepareInstallation(join(folder, 'datos'), '/var/lib/guias', true)
  const caller = usuario ? [`${usuario.uid}`, `${usuario.gid}`] : []
  const guard = spawn(process.execPath, ['-e', GUARD_SCRIPT, binaries.pg_ctl, pgdata, folder, ...caller], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const guardExit = new Promise((resolve) => guard.once('exit', resolve))
  steps.push(() => {
    guard.stdin.end()
    return guardExit
  })
  const port = await findFreePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'jit=off', ...ownSettings]
  const pgCtl = (...args: string[]) =>
    promisify(execFile)(
      binaries.pg_ctl,
      [...args, '-D', pgdata, '-w', '-t', '60', '-l', join(pgdata, 'postgres.log')],
      processOptions(usuario, pgdata),
    )
  await pgCtl('start', '-o', settings.map((setting) => `-c ${setting}`).join(' '))
  const urlOf = (base: string) => `postgres://guias:${key}@127.0.0.1:${port}/${base}`
  const client = new pg.Client(urlOf('postgres'))
  await client.connect()
  await client.query('create database guias')
  await client.end()
  return {
    url: urlOf('guias'),
    clave: key,
    port,
    folder,
    reset: async (modo: 'fast' | 'immediate') => void (await pgCtl('restart', '-m', modo)),
  }
}
