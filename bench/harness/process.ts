import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// Costs of a process, from Linux's `/proc`. On other systems the functions return undefined, and the report has no such
// rows.

const TICKS_PER_SECOND = 100

function readStat(pid: number | string): string[] | undefined {
  try {
    // Skips the first two fields, because the second (the program's name) may contain spaces and parentheses.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  } catch {
    return undefined
  }
}

/** Returns the user and system CPU time of a process in seconds, including its children that have exited. */
export function cpuOf(pid: number): number | undefined {
  const fields = readStat(pid)
  return fields && [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0) / TICKS_PER_SECOND
}

/**
 * Milliseconds between two samples of a process that becomes idle (VISTAZO), and consecutive quiet samples that mean
 * idle (VISTAZOS_QUIETOS).
 */
const SAMPLE_INTERVAL_MS = 200
const QUIET_SAMPLES = 3
/**
 * Maximum wait for an idle process, in milliseconds. A process that found work at its start is measured while it works.
 */
const IDLE_DEADLINE_MS = 15_000

/**
 * Waits until a process is idle: at most one clock tick (10 ms) of CPU in each of {@link QUIET_SAMPLES} samples. The
 * service checks its contract for a second or two after it is ready, which would distort a measurement.
 */
export async function waitForIdle(pid: number): Promise<void> {
  const deadline = performance.now() + IDLE_DEADLINE_MS
  for (let quietCount = 0, before = cpuOf(pid); before !== undefined && performance.now() < deadline; ) {
    await sleep(SAMPLE_INTERVAL_MS)
    const now = cpuOf(pid)
    if (now === undefined) return
    quietCount = now - before < 1.5 / TICKS_PER_SECOND ? quietCount + 1 : 0
    if (quietCount === QUIET_SAMPLES) return
    before = now
  }
}

/** Returns {@link cpuOf} summed over a process and its children, for example PostgreSQL and its backends. */
export function readCpuWithChildren(pid: number): number | undefined {
  const propia = cpuOf(pid)
  if (propia === undefined) return undefined
  const childPids = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && readStat(Number(name))?.[1] === `${pid}`,
  )
  return childPids.reduce((sum, childPid) => sum + (cpuOf(Number(childPid)) ?? 0), propia)
}

/** Returns the resident memory of a process in MB. */
export function readMemory(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}
