// PostgreSQL's lock file, `pgdata/postmaster.pid`, tells which server runs over the folder, if any.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reads from the lock file which live server runs over this folder: pid, port (line 4), status (line 8). Undefined if
 * none runs.
 */
export function readPostmaster(pgdata: string): { pid: number; port: number; estado: string } | undefined {
  const lines = readLines(join(pgdata, 'postmaster.pid'))
  const pid = Number(lines[0])
  if (!isPostmaster(pid, pgdata)) return undefined
  return { pid, port: Number(lines[3]), estado: lines[7]?.trim() ?? '' }
}

/**
 * Reports whether the process with this pid is a server over this folder. The pid alone proves nothing: after a restart
 * of the machine or container, another process may have it.
 */
export function isPostmaster(pid: number, pgdata: string): boolean {
  if (!isAlive(pid)) return false
  const commandLine = commandLineOf(pid)
  if (commandLine === undefined) return true
  // Outside Linux any postmaster counts, because ps may print a path with accents in its own way. The password then
  // decides.
  return commandLine.includes(process.platform === 'linux' ? ` -D ${pgdata} ` : ' -D ')
}

/** Returns the process's command line: '' for a zombie, undefined if it cannot be known. */
function commandLineOf(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined
  if (process.platform !== 'linux') return spawnSync('ps', ['-ww', '-o', 'command=', '-p', `${pid}`]).stdout?.toString()
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/**
 * Removes the lock file if another program has its pid. PostgreSQL itself copes with a lock file whose process is gone.
 * If another process of the same user has the pid, PostgreSQL refuses to start. No await stands between check and
 * removal, because a simultaneous start may write a good file.
 */
export function removeForeignPid(pgdata: string): void {
  const file = join(pgdata, 'postmaster.pid')
  const [line] = readLines(file)
  if (line === undefined) return
  const commandLine = commandLineOf(Number(line))
  if (isAlive(Number(line)) && commandLine !== undefined && !commandLine.includes(' -D ')) rmSync(file, { force: true })
}

/**
 * Removes a lock file that a power cut left empty or full of zeros. PostgreSQL refuses to start over such a file. Without
 * a pid the file cannot prove that no server runs, so the file stays if a process works in the folder.
 * @returns true if such a file remains, because a server may be alive
 */
export function removeBrokenLock(pgdata: string): boolean {
  const file = join(pgdata, 'postmaster.pid')
  const isBroken = () => {
    const [line] = readLines(file)
    return line !== undefined && !NAMES_A_PID.test(line)
  }
  if (!isBroken()) return false
  if (mayBeInUse(pgdata)) return true
  // A simultaneous start may have written a good file meanwhile.
  if (isBroken()) rmSync(file, { force: true })
  return false
}

/** First line that PostgreSQL accepts. The pid of a single-user server is negative. */
const NAMES_A_PID = /^\s*-?0*[1-9]/

/**
 * Reports whether a process may work in this folder. Every process of PostgreSQL does from its first moment. Outside
 * Linux the folders of other processes are unknown, so any PostgreSQL counts.
 */
function mayBeInUse(pgdata: string): boolean {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    const { status, stdout } = spawnSync('ps', ['-axww', '-o', 'command='], { encoding: 'utf8' })
    return status !== 0 || stdout.split('\n').some((commandLine) => /postgres: |postgres$|postgres -/.test(commandLine))
  }
  const folder = realpathSync(pgdata)
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder
    } catch {
      // The process has ended, or belongs to a user who cannot write in this folder.
      return false
    }
  })
}

/** Reports whether a process with this pid exists. */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Reads the lines of a file; none if the file does not exist. */
export function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
