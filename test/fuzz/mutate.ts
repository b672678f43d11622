/** A number from 0 to below n. */
export type RandomBelow = (n: number) => number

/** Longer inputs take longer and find no more. */
const LARGO = 4_096
const NOTABLES = [0, 1, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x5c, 0x7f, 0x80, 0xff]

type Mutation = (de: Buffer, randomBelow: RandomBelow, otherInput: Buffer, words: readonly string[]) => Buffer

const change = (de: Buffer, from: number, hasta: number, por: Uint8Array) =>
  Buffer.concat([de.subarray(0, from), por, de.subarray(hasta)])

/** A stretch of an input: mostly short ones. */
function drawRange(de: Uint8Array, randomBelow: RandomBelow): [desde: number, hasta: number] {
  const from = randomBelow(de.length + 1)
  const length = randomBelow(randomBelow(4) === 0 ? de.length + 1 : 8)
  return [from, Math.min(de.length, from + length)]
}

const MUTATIONS: readonly Mutation[] = [
  function bit(de, randomBelow) {
    const mutated = Buffer.from(de)
    const donde = randomBelow(de.length)
    if (de.length > 0) mutated[donde] = mutated[donde]! ^ (1 << randomBelow(8))
    return mutated
  },
  function byte(de, randomBelow) {
    const donde = randomBelow(de.length + 1)
    const value = randomBelow(2) === 0 ? NOTABLES[randomBelow(NOTABLES.length)]! : randomBelow(256)
    return change(de, donde, donde + randomBelow(2), Buffer.of(value))
  },
  function remove(de, randomBelow) {
    return change(de, ...drawRange(de, randomBelow), Buffer.alloc(0))
  },
  function repeat(de, randomBelow) {
    const [from, hasta] = drawRange(de, randomBelow)
    const part = de.subarray(from, hasta)
    return change(
      de,
      hasta,
      hasta,
      Buffer.concat(Array.from({ length: 1 + randomBelow(randomBelow(8) === 0 ? 40 : 3) }, () => part)),
    )
  },
  function move(de, randomBelow) {
    const [from, hasta] = drawRange(de, randomBelow)
    const remaining = change(de, from, hasta, Buffer.alloc(0))
    const donde = randomBelow(remaining.length + 1)
    return change(remaining, donde, donde, de.subarray(from, hasta))
  },
  function crossOver(de, randomBelow, otherInput) {
    const [from, hasta] = drawRange(otherInput, randomBelow)
    return change(de, ...drawRange(de, randomBelow), otherInput.subarray(from, hasta))
  },
  function insertWord(de, randomBelow, _otherInput, words) {
    const insertedWord = Buffer.from(words[randomBelow(words.length)] ?? '')
    const [from, hasta] = drawRange(de, randomBelow)
    return change(de, from, randomBelow(2) === 0 ? from : hasta, insertedWord)
  },
  function replaceDigit(de, randomBelow) {
    const digitPositions = [...de.keys()].filter((i) => de[i]! >= 0x30 && de[i]! <= 0x39)
    const mutated = Buffer.from(de)
    if (digitPositions.length > 0) mutated[digitPositions[randomBelow(digitPositions.length)]!] = 0x30 + randomBelow(10)
    return mutated
  },
]

/** An input made of one by a few small changes, some of which take pieces of another one. */
export function mutateInput(
  de: Buffer,
  randomBelow: RandomBelow,
  otherInput: Buffer,
  words: readonly string[],
): Buffer {
  let mutated = de
  for (let remainingChanges = 1 + randomBelow(randomBelow(3) === 0 ? 8 : 3); remainingChanges > 0; remainingChanges--)
    mutated = MUTATIONS[randomBelow(MUTATIONS.length)]!(mutated, randomBelow, otherInput, words).subarray(0, LARGO)
  return mutated
}
