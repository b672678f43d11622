import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { ErrorAbortado } from '@guias/sdk'
import { ErrorDeUso } from './orden.ts'

const CODIGOS = { verde: 32, rojo: 31, amarillo: 33, gris: 90, fuerte: 1 }
export type Tono = keyof typeof CODIGOS

/** Tells whether a stream shows colours. `hasColors` respects NO_COLOR and TERM=dumb. */
const conColores = (flujo: NodeJS.WriteStream) => flujo.isTTY && (flujo as WriteStream).hasColors()

const pintor = (flujo: NodeJS.WriteStream) => (tono: Tono, texto: string) =>
  conColores(flujo) ? `\x1b[${CODIGOS[tono]}m${texto}\x1b[0m` : texto

export const pintar = pintor(process.stdout)
export const pintarAviso = pintor(process.stderr)

const TONOS: Record<string, Tono> = {
  entregado: 'verde',
  intento_fallido: 'amarillo',
  extraviado: 'rojo',
  cancelado: 'gris',
}
/** Returns the colour of a guide's state; undefined for most states. */
export const tonoDe = (estado: string): Tono | undefined => TONOS[estado]

/** Writes a result to standard output. Messages go to standard error, through {@link avisar}. */
export const decir = (texto: string) => process.stdout.write(`${texto}\n`)
/** Writes a message to standard error. */
export const avisar = (texto: string) => process.stderr.write(`${texto}\n`)

/** Waits until the reader of standard output has taken the data. A long list is then not buffered in memory. */
export async function desahogar() {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

/** Runs when the reader of the output closes the pipe (`| head`), which is not an error. */
let alCerrar = () => {}
/** Sets the function that runs when the reader of the output closes the pipe. */
export function alCerrarse(hacer: () => void) {
  alCerrar = hacer
}
for (const flujo of [process.stdout, process.stderr]) {
  flujo.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    alCerrar()
  })
}

/**
 * Returns the columns of the terminal that shows the list. Undefined if standard output is not a terminal; nothing is
 * cut then.
 */
export const columnas = () => (process.stdout.isTTY ? process.stdout.columns || 80 : undefined)

/** Tells whether a person can answer a question: standard input and standard error are terminals. */
export const hayQuien = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/**
 * Asks for confirmation before an action that cannot be undone. With `si` (the option `--si`), returns true without
 * asking.
 *
 * @throws ErrorDeUso without a terminal on which to ask
 */
export async function confirmar(pregunta: string, si: boolean, signal: AbortSignal): Promise<boolean> {
  if (si) return true
  if (!hayQuien()) throw new ErrorDeUso('Aquí no hay a quién preguntarle si está seguro: repita la orden con --si.')
  process.stderr.write(`${pregunta} [s/N] `)
  return /^\s*(s|si|sí|y|yes)\s*$/i.test(await leerLinea(signal))
}

function leerLinea(signal: AbortSignal): Promise<string> {
  // Without terminal mode, readline leaves Ctrl-C to the signal handlers of the process.
  const linea = createInterface({ input: process.stdin, terminal: false })
  return new Promise<string>((cumplir, rechazar) => {
    linea.once('line', cumplir)
    linea.once('close', () => cumplir(''))
    signal.addEventListener('abort', () => rechazar(new ErrorAbortado('Interrumpido.')))
  }).finally(() => linea.close())
}

const ANCHO = 24
/** Guides per line of progress when standard error is not a terminal. */
const CADA = 1_000

/**
 * Shows progress on standard error. A terminal gets a bar that is redrawn in place; any other output gets one line per
 * {@link CADA} guides.
 *
 * @param callado true to write no lines when standard error is not a terminal
 */
export function progreso(callado: boolean) {
  const flujo = process.stderr
  let dichas = 0
  return {
    mostrar(parte: number, hechas: number, texto: string) {
      if (flujo.isTTY) {
        const llenos = Math.round(Math.min(1, parte) * ANCHO)
        const dibujo = `${'█'.repeat(llenos)}${'░'.repeat(ANCHO - llenos)}`
        flujo.write(
          `\r${pintarAviso('verde', dibujo)} ${String(Math.floor(parte * 100)).padStart(3)} %  ${texto}\x1b[K`,
        )
      } else if (!callado && Math.floor(hechas / CADA) > dichas) {
        dichas = Math.floor(hechas / CADA)
        avisar(`${Math.floor(parte * 100)} %: ${texto}`)
      }
    },
    borrar() {
      if (flujo.isTTY) flujo.write('\r\x1b[K')
    },
  }
}

/**
 * Replaces control and format characters with spaces, so that text of a server or a file cannot move the cursor or
 * colour the screen.
 */
export const limpio = (texto: string) =>
  Array.from(texto, (letra) => (/[\p{Cc}\p{Cf}]/u.test(letra) ? ' ' : letra)).join('')

const relojes = new Map<string | undefined, Intl.DateTimeFormat>()

/**
 * Returns the clock of an IANA time zone. Without a zone, or if this Node does not know the zone, returns this
 * machine's clock.
 */
function relojDe(zona: string | undefined): Intl.DateTimeFormat {
  let reloj = relojes.get(zona)
  if (!reloj) {
    const fecha = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    const momento = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
    const formato = { ...fecha, ...momento, timeZoneName: 'shortOffset' } as const
    try {
      reloj = new Intl.DateTimeFormat('en-US', { ...formato, timeZone: zona })
    } catch {
      reloj = new Intl.DateTimeFormat('en-US', formato)
    }
    relojes.set(zona, reloj)
  }
  return reloj
}

/**
 * Formats an instant with its offset from UTC, e.g. `2026-11-20 15:00:00 UTC-6`.
 *
 * @param zona zone of a guide's destination; this machine's clock if left out
 * @param formato `corta` leaves the seconds out
 */
export function hora(iso: string, zona?: string, formato?: 'corta'): string {
  const instante = new Date(iso)
  if (Number.isNaN(instante.getTime())) return '—'
  const partes = relojDe(zona).formatToParts(instante)
  const de = (cual: Intl.DateTimeFormatPartTypes) => partes.find(({ type }) => type === cual)?.value ?? ''
  const segundos = formato === 'corta' ? '' : `:${de('second')}`
  const desfase = de('timeZoneName').replace(/^GMT(?:\+0$)?/, 'UTC')
  return `${de('year')}-${de('month')}-${de('day')} ${de('hour')}:${de('minute')}${segundos} ${desfase}`
}
