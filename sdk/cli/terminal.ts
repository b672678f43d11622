import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { ErrorAbortado } from '@guias/sdk'
import { ErrorDeUso } from './orden.ts'

const CODIGOS = { verde: 32, rojo: 31, amarillo: 33, gris: 90, fuerte: 1 }
export type Tono = keyof typeof CODIGOS

/** Only on a terminal that has them; `hasColors` knows of NO_COLOR and of TERM=dumb. */
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
/** The colour of a guide's state, of those that have one. */
export const tonoDe = (estado: string): Tono | undefined => TONOS[estado]

/** Writes what was asked for to the standard output; what is only said (`avisar`) goes to the other one. */
export const decir = (texto: string) => process.stdout.write(`${texto}\n`)
export const avisar = (texto: string) => process.stderr.write(`${texto}\n`)

/** Waits until whoever reads has read: a long list is made no faster than it is taken. */
export async function desahogar() {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

/** What happens when whoever reads has closed the pipe (`| head`), which is no fault. */
let alCerrar = () => {}
export function alCerrarse(hacer: () => void) {
  alCerrar = hacer
}
for (const flujo of [process.stdout, process.stderr]) {
  flujo.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    alCerrar()
  })
}

/** How many columns the terminal has on which lists are shown; undefined elsewhere, where nothing is cut. */
export const columnas = () => (process.stdout.isTTY ? process.stdout.columns || 80 : undefined)

/** Is there somebody to be asked? */
export const hayQuien = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Asks before what can't be undone; `--si` says it beforehand. @throws ErrorDeUso where there is nobody to ask */
export async function confirmar(pregunta: string, si: boolean, signal: AbortSignal): Promise<boolean> {
  if (si) return true
  if (!hayQuien()) throw new ErrorDeUso('Aquí no hay a quién preguntarle si está seguro: repita la orden con --si.')
  process.stderr.write(`${pregunta} [s/N] `)
  return /^\s*(s|si|sí|y|yes)\s*$/i.test(await leerLinea(signal))
}

function leerLinea(signal: AbortSignal): Promise<string> {
  // Without a terminal mode of its own, Ctrl-C is a signal as everywhere else.
  const linea = createInterface({ input: process.stdin, terminal: false })
  return new Promise<string>((cumplir, rechazar) => {
    linea.once('line', cumplir)
    linea.once('close', () => cumplir(''))
    signal.addEventListener('abort', () => rechazar(new ErrorAbortado('Interrumpido.')))
  }).finally(() => linea.close())
}

const ANCHO = 24
/** Elsewhere than on a terminal there is a line of progress every so many. */
const CADA = 1_000

/** Progress: a line that is written over on a terminal, plain lines of the long ones elsewhere. */
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

/** The text of a server or a file without what would move the cursor or colour the screen. */
export const limpio = (texto: string) =>
  Array.from(texto, (letra) => (/[\p{Cc}\p{Cf}]/u.test(letra) ? ' ' : letra)).join('')

/** An instant by the clock of this machine. */
export const hora = (iso: string) => new Date(iso).toLocaleString('sv-SE')
