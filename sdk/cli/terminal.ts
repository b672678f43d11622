import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { ErrorAbortado } from '@guias/sdk'
import { UsageError } from './command.ts'

const COLOR_CODES = { green: 32, red: 31, yellow: 33, grey: 90, strong: 1 }
export type TextTone = keyof typeof COLOR_CODES

/** Tells whether a stream shows colours. `hasColors` respects NO_COLOR and TERM=dumb. */
const showsColors = (stream: NodeJS.WriteStream) => stream.isTTY && (stream as WriteStream).hasColors()

const createPainter = (stream: NodeJS.WriteStream) => (tone: TextTone, text: string) =>
  showsColors(stream) ? `\x1b[${COLOR_CODES[tone]}m${text}\x1b[0m` : text

export const paint = createPainter(process.stdout)
export const paintNotice = createPainter(process.stderr)

const STATE_TONES: Record<string, TextTone> = {
  entregado: 'green',
  intento_fallido: 'yellow',
  extraviado: 'red',
  cancelado: 'grey',
}
/** Returns the colour of a guide's state; undefined for most states. */
export const toneOfState = (estado: string): TextTone | undefined => STATE_TONES[estado]

/** Writes a result to standard output. Messages go to standard error, through {@link notify}. */
export const printLine = (text: string) => process.stdout.write(`${text}\n`)
/** Writes a message to standard error. */
export const notify = (text: string) => process.stderr.write(`${text}\n`)

/** Waits until the reader of standard output has taken the data. A long list is then not buffered in memory. */
export async function drainOutput() {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

/** Runs when the reader of the output closes the pipe (`| head`), which is not an error. */
let onPipeClosed = () => {}
/** Sets the function that runs when the reader of the output closes the pipe. */
export function setOnPipeClosed(handler: () => void) {
  onPipeClosed = handler
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    onPipeClosed()
  })
}

/**
 * Returns the columns of the terminal that shows the list. Undefined if standard output is not a terminal; nothing is
 * cut then.
 */
export const terminalColumns = () => (process.stdout.isTTY ? process.stdout.columns || 80 : undefined)

/** Tells whether a person can answer a question: standard input and standard error are terminals. */
export const isInteractive = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/**
 * Asks for confirmation before an action that cannot be undone. With `si` (the option `--si`), returns true without
 * asking.
 *
 * @throws UsageError without a terminal on which to ask
 */
export async function askToConfirm(question: string, isConfirmed: boolean, signal: AbortSignal): Promise<boolean> {
  if (isConfirmed) return true
  if (!isInteractive())
    throw new UsageError('Aquí no hay a quién preguntarle si está seguro: repita la orden con --si.')
  process.stderr.write(`${question} [s/N] `)
  return /^\s*(s|si|sí|y|yes)\s*$/i.test(await readLine(signal))
}

function readLine(signal: AbortSignal): Promise<string> {
  // Without terminal mode, readline leaves Ctrl-C to the signal handlers of the process.
  const line = createInterface({ input: process.stdin, terminal: false })
  return new Promise<string>((resolve, reject) => {
    line.once('line', resolve)
    line.once('close', () => resolve(''))
    signal.addEventListener('abort', () => reject(new ErrorAbortado('Interrumpido.')))
  }).finally(() => line.close())
}

const BAR_WIDTH = 24
/** Guides per line of progress when standard error is not a terminal. */
const PRINT_EVERY_GUIAS = 1_000

/**
 * Shows progress on standard error. A terminal gets a bar that is redrawn in place; any other output gets one line per
 * {@link PRINT_EVERY_GUIAS} guides.
 *
 * @param quiet true to write no lines when standard error is not a terminal
 */
export function createProgress(quiet: boolean) {
  const stream = process.stderr
  let printedSteps = 0
  return {
    show(part: number, doneCount: number, text: string) {
      if (stream.isTTY) {
        const filledCells = Math.round(Math.min(1, part) * BAR_WIDTH)
        const bar = `${'█'.repeat(filledCells)}${'░'.repeat(BAR_WIDTH - filledCells)}`
        stream.write(`\r${paintNotice('green', bar)} ${String(Math.floor(part * 100)).padStart(3)} %  ${text}\x1b[K`)
      } else if (!quiet && Math.floor(doneCount / PRINT_EVERY_GUIAS) > printedSteps) {
        printedSteps = Math.floor(doneCount / PRINT_EVERY_GUIAS)
        notify(`${Math.floor(part * 100)} %: ${text}`)
      }
    },
    clear() {
      if (stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}

/**
 * Replaces control and format characters with spaces, so that text of a server or a file cannot move the cursor or
 * colour the screen.
 */
export const sanitize = (text: string) =>
  Array.from(text, (character) => (/[\p{Cc}\p{Cf}]/u.test(character) ? ' ' : character)).join('')

const formatters = new Map<string | undefined, Intl.DateTimeFormat>()

/**
 * Returns the clock of an IANA time zone. Without a zone, or if this Node does not know the zone, returns this
 * machine's clock.
 */
function formatterFor(zone: string | undefined): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (!formatter) {
    const date = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    const timeFormat = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
    const format = { ...date, ...timeFormat, timeZoneName: 'shortOffset' } as const
    try {
      formatter = new Intl.DateTimeFormat('en-US', { ...format, timeZone: zone })
    } catch {
      formatter = new Intl.DateTimeFormat('en-US', format)
    }
    formatters.set(zone, formatter)
  }
  return formatter
}

/**
 * Formats an instant with its offset from UTC, e.g. `2026-11-20 15:00:00 UTC-6`.
 *
 * @param zone zone of a guide's destination; this machine's clock if left out
 * @param format `corta` leaves the seconds out
 */
export function hora(iso: string, zone?: string, format?: 'corta'): string {
  const instant = new Date(iso)
  if (Number.isNaN(instant.getTime())) return '—'
  const parts = formatterFor(zone).formatToParts(instant)
  const de = (partType: Intl.DateTimeFormatPartTypes) => parts.find(({ type }) => type === partType)?.value ?? ''
  const seconds = format === 'corta' ? '' : `:${de('second')}`
  const offset = de('timeZoneName').replace(/^GMT(?:\+0$)?/, 'UTC')
  return `${de('year')}-${de('month')}-${de('day')} ${de('hour')}:${de('minute')}${seconds} ${offset}`
}
