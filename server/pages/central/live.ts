import { setTimeout as sleep } from 'node:timers/promises'
import type { Express, Request, Response } from 'express'
import { networkOf } from '../../api/http/network.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import {
  type News,
  type NewsPosition,
  newsAfter,
  readMarks,
  readNews,
  readPosition,
  type Snapshots,
  writePosition,
} from '../../data/newEvents.ts'
import type { Deps } from '../../domain/deps.ts'
import {
  companyLlave,
  findPersonaSesiones,
  isOpen,
  personaIdentity,
  sesionOfToken,
} from '../../domain/equipo/sessions/sesion.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { tokenHashText } from '../../platform/codes/token.ts'

// Streams of `GET /central/en-vivo`. They tell the office's pages that guides on them have changed. The stream carries
// no data of guides; the page loads itself again.

/** Interval between two reads of new events, in milliseconds. One read serves all streams of the process. */
const INTERVAL = 2_000
/** Number of reads after which streams without news get a comment, so that proxies do not close them as idle. */
const HEARTBEAT = 10
/** Maximum number of streams of a process, and of one session, because each stream is an open request. */
const MAX_STREAMS = 300
const MAX_PER_SESSION = 10
/** Maximum streams that one network may open per minute. */
const OPENINGS = 600
/** Time after which a browser opens an ended stream again, in milliseconds. */
const RETRY = 3_000

type LiveDeps = Pick<Deps, 'db' | 'clock' | 'browser' | 'log'>

interface Stream {
  res: Response
  /** Digest of the session's token. */
  session: string
  /** Guide that the page shows; undefined for a page with several guides. */
  guia: string | undefined
  /**
   * PostgreSQL snapshots up to which the page knows all events; undefined until the stream's first own read has ended.
   */
  since?: Snapshots
  /** Digest of the notes and messages that the page knows, if it shows one guide. */
  mark?: string | undefined
}

/**
 * Serves the stream of the office's pages. Returns the object that gives each page its cursor, at which its stream
 * starts.
 */
export function serveLive(app: Express, deps: LiveDeps): Pick<LiveStreams, 'cursor'> {
  const streams = new LiveStreams(deps)
  const limit = createLimit(OPENINGS)
  app.get('/central/en-vivo', (req, res, next) => {
    const wait = limit(networkOf(req.ip ?? ''))
    if (wait > 0) return refuse(res, 429, wait)
    open(deps, streams, req, res).catch(next)
  })
  return streams
}

async function open({ db, clock, browser }: LiveDeps, streams: LiveStreams, req: Request, res: Response) {
  const token = browser.readPersonaSesion(req)
  const identity = token === undefined ? undefined : await sesionOfToken({ db, clock }, token)
  if (token === undefined || !identity || !mayWatch(identity)) return refuse(res, identity ? 403 : 401)
  if (req.method === 'HEAD' || res.destroyed) return void res.end()
  const { guia, desde } = req.query
  const stream = { res, session: tokenHashText(token), guia: normalizeGuideCode(typeof guia === 'string' ? guia : '') }
  if (!streams.hasRoom(stream)) return refuse(res, 503, 60)
  await streams.add(stream, readPosition(req.headers['last-event-id'] ?? desde))
}

/** Answers without a stream, in a way that keeps the browser from opening the stream again by itself. */
function refuse(res: Response, status: number, wait?: number) {
  if (wait !== undefined) res.setHeader('Retry-After', wait)
  res.status(status).end()
}

/** Reports whether a session may see the office's guides. */
const mayWatch = (person: ReturnType<typeof personaIdentity>): boolean =>
  !person.lacksSecondFactor && companyLlave(person, 'ver') !== undefined

/** Open streams of this process, and the read of new events that they share. It reads only while a stream is open. */
class LiveStreams {
  readonly #deps: LiveDeps
  readonly #streams = new Set<Stream>()
  /** PostgreSQL's snapshots up to which the streams have been told of events. Undefined while no stream is open. */
  #seen: Snapshots | undefined
  #loop: Promise<void> | undefined
  #readings = 0

  constructor(deps: LiveDeps) {
    this.#deps = deps
  }

  /**
   * Returns the cursor for a page that is about to be read. A stream from this cursor reports every change that the
   * page may lack.
   * @param guia guide, if the page shows a single one
   */
  async cursor(guia?: string): Promise<string> {
    const { db } = this.#deps
    const [{ snapshots }, marks] = await Promise.all([readNews(db, undefined), readMarks(db, guia ? [guia] : [])])
    return writePosition({ snapshots, mark: guia && marks.get(guia) })
  }

  hasRoom({ session }: Stream): boolean {
    const mine = [...this.#streams].filter((one) => one.session === session)
    return this.#streams.size < MAX_STREAMS && mine.length < MAX_PER_SESSION
  }

  /** Adds a stream. Tells its page at once if something has changed since the cursor, or if that is unknown. */
  async add(stream: Stream, from: NewsPosition | undefined): Promise<void> {
    const { res } = stream
    res.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Proxies such as nginx would buffer the stream.
      'X-Accel-Buffering': 'no',
    })
    res.write(`retry: ${RETRY}\n\n`)
    this.#streams.add(stream)
    res.once('close', () => this.#streams.delete(stream))
    stream.mark = from?.mark
    stream.since = await this.#readAlone(stream, from?.snapshots)
    this.#seen ??= stream.since
    this.#loop ??= this.#run()
  }

  /**
   * Reads new events for one stream alone. Repeats the read if a shared read, which skips this stream, has ended
   * meanwhile.
   */
  async #readAlone(stream: Stream, from: Snapshots | undefined): Promise<Snapshots> {
    let since = from
    for (;;) {
      const seen = this.#seen
      const news = await readNews(this.#deps.db, since)
      if (since?.length !== news.snapshots.length || concerns(stream, news)) tell(stream, changeAt(stream, news))
      since = news.snapshots
      if (seen === this.#seen) return since
    }
  }

  /** Reads new events repeatedly, as long as a stream is open. */
  async #run(): Promise<void> {
    do {
      await sleep(INTERVAL, undefined, { ref: false })
      // The next read also covers the events of a failed one.
      await this.#read().catch((err) => this.#deps.log.warn({ err }, 'reading new events for live pages failed'))
    } while (this.#streams.size > 0)
    this.#seen = undefined
    this.#loop = undefined
  }

  /** Reads new events, and tells each stream about those that its page does not know. */
  async #read(): Promise<void> {
    await this.#endClosedSessions()
    const ready = new Set([...this.#streams].filter(({ since }) => since))
    const before = this.#seen
    const guias = [...new Set([...this.#streams].flatMap(({ guia }) => guia ?? []))]
    const [news, marks] = await Promise.all([readNews(this.#deps.db, before), readMarks(this.#deps.db, guias)])
    this.#seen = news.snapshots
    const beat = ++this.#readings % HEARTBEAT === 0
    for (const stream of this.#streams) {
      if (!stream.since) continue
      const hasNews = concerns(stream, stream.since === before ? news : newsAfter(stream.since, news))
      if (takeMark(stream, marks) || hasNews) tell(stream, changeAt(stream, news))
      else if (beat) tell(stream, ':\n\n')
      // A stream that was added meanwhile has read for itself, perhaps later than this read.
      if (ready.has(stream)) stream.since = news.snapshots
    }
  }

  /** Ends the streams of sessions that have ended, or that may no longer see guides. */
  async #endClosedSessions(): Promise<void> {
    const { db, clock } = this.#deps
    const sessions = [...new Set([...this.#streams].map(({ session }) => session))]
    if (sessions.length === 0) return
    const rows = await findPersonaSesiones(db, sessions)
    const now = clock()
    for (const { res, session } of this.#streams) {
      const row = rows.get(session)
      if (!row || !isOpen(row, now) || !mayWatch(personaIdentity(row))) res.end()
    }
  }
}

/** Reports whether the page of a stream shows, or may show, one of the guides. */
const concerns = ({ guia }: Stream, { events, more }: News): boolean =>
  more || events.some((event) => guia === undefined || event.guia === guia)

/** Gives a stream the newest digest of its guide. Returns true if the page knows another one. */
function takeMark(stream: Stream, marks: ReadonlyMap<string, string>): boolean {
  const { guia, mark } = stream
  const newest = guia && marks.get(guia)
  if (!newest) return false
  stream.mark = newest
  return mark !== undefined && mark !== newest
}

/**
 * Writes to a stream. Skips a reader whose buffer is full, because an earlier change still waits there and will make
 * its page load.
 */
function tell({ res }: Stream, text: string): void {
  if (!res.writableEnded && !res.writableNeedDrain) res.write(text)
}

/**
 * Returns the stream event that tells a page to load itself again. Its id is the cursor from which the stream
 * continues.
 */
const changeAt = ({ mark }: Stream, { snapshots }: News): string =>
  `id: ${writePosition({ snapshots, mark })}\nevent: cambio\ndata:\n\n`
