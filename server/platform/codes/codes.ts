import { randomFillSync } from 'node:crypto'
import { ALPHABET, checkDigit } from './guideCode.ts'

export type RandomSource = (bytes: number) => Buffer

const RANDOM_POOL = Buffer.alloc(8_192)
let usedBytes = RANDOM_POOL.length

/**
 * Returns random bytes from a reserve. The caller must use them before the next call. Asking the system for eight bytes
 * each time costs more than parsing a query.
 */
const pooledRandom: RandomSource = (bytes) => {
  if (usedBytes + bytes > RANDOM_POOL.length) {
    randomFillSync(RANDOM_POOL)
    usedBytes = 0
  }
  usedBytes += bytes
  return RANDOM_POOL.subarray(usedBytes - bytes, usedBytes)
}

/** Returns `length` random characters, with 5 bits each. */
export function randomBase32(length: number, random: RandomSource = pooledRandom): string {
  let text = ''
  for (const byte of random(length)) text += ALPHABET[byte & 31]
  return text
}

/**
 * Returns a new guide code: 11 random characters and their check character.
 * @param firstCharacter first character of the code; random if omitted. With it, 50 random bits remain
 */
export function newGuideCode(firstCharacter = '', random: RandomSource = pooledRandom): string {
  const body = firstCharacter + randomBase32(11 - firstCharacter.length, random)
  return body + checkDigit(body)
}

/** Milliseconds by which the clock may step back before the ids follow the clock. */
const CLOCK_STEP_BACK_MS = 1_000

/**
 * Creates a generator of UUIDv7 (RFC 9562), strictly increasing within the process. Ids sort by creation, even within a
 * millisecond. If the clock steps back by more than a second, the ids follow the clock. Otherwise all ids would have a
 * time in the future until the clock catches up.
 */
export function createIdGenerator(
  clock: () => Date,
  random: RandomSource = pooledRandom,
): () => { id: string; creado_en: Date } {
  let ms = 0
  let counter = 0
  return () => {
    const now = clock().getTime()
    // The counter has 12 bits per millisecond. A full counter moves on to the next millisecond.
    if (now > ms || now < ms - CLOCK_STEP_BACK_MS) {
      ms = now
      counter = 0
    } else if (++counter > 0xfff) {
      ms++
      counter = 0
    }
    const queue = random(8).toString('hex')
    const variant = ((Number.parseInt(queue[0]!, 16) & 3) | 8).toString(16)
    return { id: uuid(ms, counter, `${variant}${queue.slice(1)}`), creado_en: new Date(ms) }
  }
}

/**
 * Returns the lowest id of an instant: `id >= smallestId(t)` means `creado_en >= t`. Instants before 1970 count as 1970.
 */
export const smallestId = (instant: Date) =>
  uuid(Math.min(Math.max(0, instant.getTime()), 2 ** 48 - 1), 0, '0000000000000000')

function uuid(ms: number, counter: number, queue: string): string {
  const hex = `${ms.toString(16).padStart(12, '0')}7${counter.toString(16).padStart(3, '0')}${queue}`
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
