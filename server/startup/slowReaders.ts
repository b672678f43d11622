import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MINUTE_MS } from '../platform/time/units.ts'
import { keyOf, readKernelQueues } from './kernelQueues.ts'

/** Interval between two checks, in milliseconds. */
const INTERVAL = 5_000
/**
 * Minimum rate at which a reader must take bytes, in bytes per second: a tenth of the rate of the slowest mobile
 * network.
 */
const MIN_RATE = 500
/** Time in which a reader must take all bytes that wait for it, in milliseconds. */
const MAX_DRAIN = MINUTE_MS
/** Bytes of a connection that may stay in the kernel without a time limit. */
const FREE_PER_CONNECTION = 64 * 1024
/**
 * `MAX_TOTAL`: maximum bytes that may wait for all readers together. `LOOK_AFTER`: number of sent bytes after which a
 * check runs at once.
 */
const MAX_TOTAL = 128 * 1024 * 1024
const LOOK_AFTER = 32 * 1024 * 1024

/** State of a connection at the last check that found bytes waiting for its reader. */
interface Waiting {
  at: number
  /** Bytes that the reader has taken since the connection began. */
  taken: number
  pending: number
}

interface Options {
  /** Interval between two checks, in milliseconds. */
  interval?: number
  /** Bytes that may wait for all readers together. */
  maxTotal?: number
  /** Bytes sent after which a check runs at once. */
  lookAfter?: number
}

/**
 * Drops connections whose readers take their responses too slowly or not at all. When all connections together hold too
 * many bytes, drops the largest ones. Written bytes wait in Node, in libuv and in the kernel. On loopback the kernel
 * alone takes 2.6 MB of a connection that no client reads.
 */
export class SlowReaders {
  readonly #responses: ReadonlySet<ServerResponse>
  readonly #maxTotal: number
  readonly #lookAfter: number
  readonly #interval: number
  readonly #timer: NodeJS.Timeout
  /** Connections that got a response since the last check, or had bytes waiting at that check. */
  readonly #suspects = new Map<Socket, Waiting | undefined>()
  #sent = 0

  /** @param responses responses under way */
  constructor(
    responses: ReadonlySet<ServerResponse>,
    { interval = INTERVAL, maxTotal = MAX_TOTAL, lookAfter = LOOK_AFTER }: Options = {},
  ) {
    this.#responses = responses
    this.#interval = interval
    this.#maxTotal = maxTotal
    this.#lookAfter = lookAfter
    this.#timer = setInterval(() => this.#look(), interval).unref()
  }

  /** Notes that a response of `bytes` bytes was written to a connection. */
  noteSent(socket: Socket, bytes: number): void {
    if (!this.#suspects.has(socket)) this.#suspects.set(socket, undefined)
    this.#sent += bytes
    if (this.#sent > this.#lookAfter) this.#look()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.#sent = 0
    for (const { socket } of this.#responses)
      if (socket && !this.#suspects.has(socket)) this.#suspects.set(socket, undefined)
    if (this.#suspects.size === 0) return
    const now = performance.now()
    const queues = readKernelQueues()
    let total = 0
    for (const [socket, before] of this.#suspects) {
      const waiting = socket.destroyed ? undefined : look(socket, queues, now)
      if (!waiting) this.#suspects.delete(socket)
      else if (before && now - before.at >= this.#interval && isTooSlow(before, waiting)) this.#drop(socket)
      else {
        total += waiting.pending
        // An early check keeps the earlier state, so that a slow reader is compared over a whole interval.
        this.#suspects.set(socket, before && now - before.at < this.#interval ? before : waiting)
      }
    }
    if (total > this.#maxTotal) this.#dropLargest(queues, now, total)
  }

  #dropLargest(queues: ReadonlyMap<string, number>, now: number, total: number): void {
    const bySize = [...this.#suspects.keys()]
      .map((socket) => [socket, look(socket, queues, now)?.pending ?? 0] as const)
      .sort(([, a], [, b]) => b - a)
    let left = total
    for (const [socket, pending] of bySize) {
      if (left <= this.#maxTotal / 2) return
      this.#drop(socket)
      left -= pending
    }
  }

  /** Resets a connection. After an orderly close, the kernel would keep the bytes until the reader takes them. */
  #drop(socket: Socket): void {
    this.#suspects.delete(socket)
    socket.resetAndDestroy()
  }
}

/**
 * State of a connection. Undefined if no bytes wait in the process and at most {@link FREE_PER_CONNECTION} in the
 * kernel.
 */
function look(socket: Socket, queues: ReadonlyMap<string, number>, at: number): Waiting | undefined {
  const inProcess = waitingInProcess(socket)
  const pending = inProcess + (queues.get(keyOf(socket) ?? '') ?? 0)
  if (inProcess === 0 && pending <= FREE_PER_CONNECTION) return undefined
  return { at, taken: socket.bytesWritten - pending, pending }
}

/** Bytes of a socket that wait in Node and in libuv. Node's own timeouts also look at libuv's queue. */
const waitingInProcess = (socket: Socket): number =>
  socket.writableLength === 0
    ? 0
    : ((socket as Socket & { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? socket.writableLength)

function isTooSlow(before: Waiting, now: Waiting): boolean {
  const elapsed = now.at - before.at
  const due = Math.max((MIN_RATE * elapsed) / 1_000, (before.pending * elapsed) / MAX_DRAIN)
  return now.taken - before.taken < due
}
