import type { WriteStream } from 'node:tty'

const CODIGOS = { verde: 32, rojo: 31, amarillo: 33, gris: 90, fuerte: 1 }
export type Tono = keyof typeof CODIGOS

/** Only on a terminal that has them; `hasColors` knows of NO_COLOR and of TERM=dumb. */
const conColores = (flujo: NodeJS.WriteStream) => flujo.isTTY && (flujo as WriteStream).hasColors()

const pintor = (flujo: NodeJS.WriteStream) => (tono: Tono, texto: string) =>
  conColores(flujo) ? `\x1b[${CODIGOS[tono]}m${texto}\x1b[0m` : texto

export const pintar = pintor(process.stdout)
export const pintarAviso = pintor(process.stderr)

/** Writes what was asked for to the standard output; what is only said (`avisar`) goes to the other one. */
export const decir = (texto: string) => process.stdout.write(`${texto}\n`)
export const avisar = (texto: string) => process.stderr.write(`${texto}\n`)

const ANCHO = 24

/** A line of progress that is written over on a terminal, and nothing elsewhere. */
export function barra() {
  const flujo = process.stderr
  return {
    mostrar(parte: number, texto: string) {
      if (!flujo.isTTY) return
      const llenos = Math.round(Math.min(1, parte) * ANCHO)
      const dibujo = `${'█'.repeat(llenos)}${'░'.repeat(ANCHO - llenos)}`
      flujo.write(`\r${pintarAviso('verde', dibujo)} ${String(Math.floor(parte * 100)).padStart(3)} %  ${texto}\x1b[K`)
    },
    borrar() {
      if (flujo.isTTY) flujo.write('\r\x1b[K')
    },
  }
}

/** The text of a server or a file without what would move the cursor or colour the screen. */
export const limpio = (texto: string) =>
  Array.from(texto, (letra) => (/[\p{Cc}\p{Cf}]/u.test(letra) ? ' ' : letra)).join('')
