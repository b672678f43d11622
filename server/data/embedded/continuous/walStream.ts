// Receiver of PostgreSQL's write-ahead log (WAL) while the server writes it. It uses the streaming replication protocol
// (https://www.postgresql.org/docs/18/protocol-replication.html). The `pg` package handles the messages of COPY BOTH.

import type { Duplex } from 'node:stream'
import pg from 'pg'
import type { Lsn } from '../../lsn.ts'

const showLsn = (lsn: Lsn) => `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`

/** Size of a log file (a segment) in bytes, as initdb sets it by default. */
export const SEGMENT = 16n * 1024n * 1024n

/** Returns the name of the segment that contains a position, in PostgreSQL's form for log files. */
export function segmentName(timeline: number, lsn: Lsn): string {
  const hex = (n: bigint | number) => n.toString(16).toUpperCase().padStart(8, '0')
  return hex(timeline) + hex(lsn >> 32n) + hex((lsn & 0xffff_ffffn) / SEGMENT)
}

/** Seconds from 1970 to 2000, the year in which PostgreSQL's protocol starts its timestamps. */
const PG_EPOCH = 946_684_800
/**
 * Interval between two status messages to the server, in milliseconds. The server drops a receiver that is silent for a
 * minute.
 */
const REPORT = 10_000

/** Stream of the log that one server sends. */
export interface WalStream {
  timeline: number
  /** Name and contents of the timeline's history file; undefined for the first timeline. */
  history: { name: string; contents: string } | undefined
  /** Tells the server up to which position the log is safe. The server may then remove the log before that position. */
  confirm(lsn: Lsn): void
  close(): Promise<void>
  /** Resolves when the connection has ended. */
  ended: Promise<void>
}

/** Receives a chunk of the log, with the position of its first byte. Returns false to pause the stream. */
export type WalSink = (lsn: Lsn, bytes: Buffer) => boolean

/**
 * Receives the log, starting at the segment that contains `from`.
 * @param slot name of the slot that keeps the log until it is confirmed
 * @throws DatabaseError if the server no longer has this log
 */
export async function receiveWal(url: string, slot: string, from: Lsn, sink: WalSink): Promise<WalStream> {
  const options = { connectionString: url, connectionTimeoutMillis: 10_000, replication: 'true' }
  const client = new pg.Client(options)
  const ended = new Promise<void>((resolve) => {
    client.once('end', () => resolve())
  })
  client.on('error', () => {}) // An 'end' event follows the error and is handled.
  await client.connect()
  try {
    const system = await client.query<{ timeline: number }>('IDENTIFY_SYSTEM')
    const { timeline } = system.rows[0]!
    const history = timeline > 1 ? await readHistory(client, timeline) : undefined
    const state = { confirmed: 0n }
    const connection = client.connection as CopyBoth
    const report = () => {
      if (connection.stream.writable) connection.sendCopyFromChunk(statusOf(state.confirmed))
    }
    await new Promise<void>((resolve, reject) => {
      connection.once('replicationStart', () => resolve())
      connection.on('copyData', ({ chunk }: { chunk: Buffer }) => {
        if (chunk[0] === KEEPALIVE) {
          if (chunk[17] === 1) report()
          // The chunk lies in a buffer that `pg` uses again.
        } else if (!sink(chunk.readBigUInt64BE(1), Buffer.from(chunk.subarray(HEAD)))) connection.stream.pause()
      })
      const start = showLsn(from - (from % SEGMENT))
      client.query(`START_REPLICATION SLOT ${slot} PHYSICAL ${start} TIMELINE ${timeline}`).catch(reject)
    })
    const timer = setInterval(report, REPORT)
    void ended.then(() => clearInterval(timer))
    return {
      timeline,
      history,
      ended,
      confirm(lsn) {
        state.confirmed = lsn
        report()
        connection.stream.resume()
      },
      close: () => {
        connection.stream.destroy()
        return ended
      },
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Members of `pg`'s connection that its type declarations lack. */
type CopyBoth = pg.Connection & { sendCopyFromChunk(chunk: Buffer): void; stream: Duplex }

const KEEPALIVE = 'k'.charCodeAt(0)
/** Bytes of a message before its log data: type, position, end of the server's log, time. */
const HEAD = 25

async function readHistory(client: pg.Client, timeline: number) {
  const { rows } = await client.query<{ filename: string; content: string | Buffer }>(`TIMELINE_HISTORY ${timeline}`)
  const { filename, content } = rows[0]!
  return { name: filename, contents: content.toString() }
}

/** Message «standby status update». All three positions are the same, because this receiver replays nothing. */
function statusOf(lsn: Lsn): Buffer {
  const message = Buffer.alloc(34)
  message.write('r')
  for (const place of [1, 9, 17]) message.writeBigUInt64BE(lsn, place)
  message.writeBigInt64BE(BigInt(Date.now() - PG_EPOCH * 1000) * 1000n, 25)
  return message
}
