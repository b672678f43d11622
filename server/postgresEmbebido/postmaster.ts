// PostgreSQL's lock file, `pgdata/postmaster.pid`: whether a server really runs over the folder, and which.

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The live server over this folder, as its lock file describes it: pid, port (line 4), status (line 8). */
export function leerPostmaster(pgdata: string): { pid: number; puerto: number; estado: string } | undefined {
  const lineas = leerLineas(join(pgdata, 'postmaster.pid'))
  const pid = Number(lineas[0])
  if (!esPostmaster(pid, pgdata)) return undefined
  return { pid, puerto: Number(lineas[3]), estado: lineas[7]?.trim() ?? '' }
}

/** A pid alone proves nothing: after a restart of the machine or container another process may have it. */
export function esPostmaster(pid: number, pgdata: string): boolean {
  if (!vivo(pid)) return false
  const orden = ordenDe(pid)
  if (orden === undefined) return true
  // ps may print a path with accents in its own way, so elsewhere any postmaster will do; the password decides.
  return orden.includes(process.platform === 'linux' ? ` -D ${pgdata} ` : ' -D ')
}

/** The process's command line: '' for a zombie, undefined where it cannot be known. */
function ordenDe(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined
  if (process.platform !== 'linux') return spawnSync('ps', ['-ww', '-o', 'command=', '-p', `${pid}`]).stdout?.toString()
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/**
 * PostgreSQL copes with a lock file whose process is gone, but refuses to start if its pid was reused by another
 * process of the same user. No await between looking and removing: a simultaneous start may write a good one.
 */
export function quitarPidAjeno(pgdata: string): void {
  const archivo = join(pgdata, 'postmaster.pid')
  const [linea] = leerLineas(archivo)
  if (linea === undefined) return
  const orden = ordenDe(Number(linea))
  if (vivo(Number(linea)) && orden !== undefined && !orden.includes(' -D ')) rmSync(archivo, { force: true })
}

export function vivo(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function leerLineas(archivo: string): string[] {
  try {
    return readFileSync(archivo, 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
