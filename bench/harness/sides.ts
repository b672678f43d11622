import type { RunningProgram } from './environment.ts'
import { type LoadRequest, runLoad } from './load.ts'
import { readCpuWithChildren } from './process.ts'

/** Running service that is compared with another, and the processes whose CPU counts, by part (in Spanish). */
export interface Side {
  service: RunningProgram
  processes: Readonly<Record<string, readonly number[]>>
}

/** Kind of request that runs on each side in turns. */
export interface Case<S extends Side> {
  /** Name in the report, in Spanish. */
  name: string
  connections: number
  status: number
  /** Counted items per request, for example guides per batch. Default: 1. */
  items?: number
  next: (side: S, connection: number) => LoadRequest
  /** Waits until the service has finished all work that the requests of a cell caused. */
  settle?: (side: S, requests: number) => Promise<void>
}

/** Figures of one cell: items per second, and microseconds of CPU per item by part. */
export interface Figures {
  rate: number
  cpu: Readonly<Record<string, number>>
}

/** Processes whose CPU counts, by part. The names of the parts are literal types, so that a misspelled one does not compile. */
interface Parts<P extends string> {
  processes: Readonly<Record<P, readonly number[]>>
}

/** Returns the CPU seconds that each part of a side has used, including those of PostgreSQL's backends. */
export const cpuOf = <P extends string>({ processes }: Parts<P>) =>
  Object.fromEntries(
    Object.entries<readonly number[]>(processes).map(([part, pids]) => [
      part,
      pids.reduce((sum, pid) => sum + (readCpuWithChildren(pid) ?? Number.NaN), 0),
    ]),
  ) as Record<P, number>

/** Returns the microseconds of CPU per item since `before`, by part. */
export function cpuSince<P extends string>(side: Parts<P>, before: Readonly<Record<P, number>>, items: number) {
  const after = cpuOf(side)
  return Object.fromEntries(
    Object.entries<number>(before).map(([part, cpu]) => [part, ((after[part as P] - cpu) / items) * 1e6]),
  ) as Record<P, number>
}

/** Runs one cell: the requests of a case on one side, for `seconds` seconds. */
export async function measureCase<S extends Side>(side: S, one: Case<S>, seconds: number): Promise<Figures> {
  const { items = 1, status, connections } = one
  const before = cpuOf(side)
  const { total, perSecond } = await runLoad({
    url: side.service.url,
    connections,
    segundos: seconds,
    expectedStatus: status,
    next: (connection) => one.next(side, connection),
  })
  await one.settle?.(side, total)
  return { rate: perSecond * items, cpu: cpuSince(side, before, total * items) }
}
