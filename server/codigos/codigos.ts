import { randomFillSync } from 'node:crypto'
import { ALFABETO, verificador } from './codigoDeGuia.ts'

export { enGrupos, normalizarBase32, normalizarCodigoDeGuia, verificador } from './codigoDeGuia.ts'

export type Azar = (bytes: number) => Buffer

const RESERVA = Buffer.alloc(8_192)
let usados = RESERVA.length

/**
 * Random bytes out of a reserve, to be used at once: asking the system for eight at a time costs more than a query's
 * parsing.
 */
const azarDeReserva: Azar = (bytes) => {
  if (usados + bytes > RESERVA.length) {
    randomFillSync(RESERVA)
    usados = 0
  }
  usados += bytes
  return RESERVA.subarray(usados - bytes, usados)
}

/** `largo` random characters, 5 bits each. */
export function base32AlAzar(largo: number, azar: Azar = azarDeReserva): string {
  let texto = ''
  for (const byte of azar(largo)) texto += ALFABETO[byte & 31]
  return texto
}

/**
 * Returns a new code of a guide: 11 random characters and their check character.
 * @param primero the first character, if it isn't to be random: then 50 random bits remain
 */
export function nuevoCodigoDeGuia(primero = '', azar: Azar = azarDeReserva): string {
  const cuerpo = primero + base32AlAzar(11 - primero.length, azar)
  return cuerpo + verificador(cuerpo)
}

/** How far back a clock may step without ids following it, in milliseconds. */
const RETROCESO = 1_000

/**
 * RFC 9562 UUIDv7, strictly increasing within the process: ids sort as they were made, also within a millisecond. A clock
 * that steps back further than a second is followed, or everything made until it catches up would be dated ahead.
 */
export function crearGeneradorDeIds(
  reloj: () => Date,
  azar: Azar = azarDeReserva,
): () => { id: string; creado_en: Date } {
  let ms = 0
  let contador = 0
  return () => {
    const ahora = reloj().getTime()
    // 12 bits of counter per millisecond; a full one moves on to the next millisecond.
    if (ahora > ms || ahora < ms - RETROCESO) {
      ms = ahora
      contador = 0
    } else if (++contador > 0xfff) {
      ms++
      contador = 0
    }
    const cola = azar(8).toString('hex')
    const variante = ((Number.parseInt(cola[0]!, 16) & 3) | 8).toString(16)
    return { id: uuid(ms, contador, `${variante}${cola.slice(1)}`), creado_en: new Date(ms) }
  }
}

/** The lowest id of an instant: `id >= menorId(t)` is `creado_en >= t`. Instants before 1970 count as 1970. */
export const menorId = (instante: Date) =>
  uuid(Math.min(Math.max(0, instante.getTime()), 2 ** 48 - 1), 0, '0000000000000000')

function uuid(ms: number, contador: number, cola: string): string {
  const hex = `${ms.toString(16).padStart(12, '0')}7${contador.toString(16).padStart(3, '0')}${cola}`
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
