/** A number from 0 to below n. */
export type RandomBelow = (n: number) => number

/** Longer inputs take longer and find no more. */
const LARGO = 4_096
const NOTABLES = [0, 1, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x5c, 0x7f, 0x80, 0xff]

type Mutation = (source: Buffer, randomBelow: RandomBelow, otherInput: Buffer, words: readonly string[]) => Buffer

const change = (source: Buffer, from: number, hasta: number, por: Uint8Array) =>
  Buffer.concat([source.subarray(0, from), por, source.subarray(hasta)])

/** A stretch of an input: mostly short ones. */
function drawRange(source: Uint8Array, randomBelow: RandomBelow): [desde: number, hasta: number] {
  const from = randomBelow(source.length + 1)
  const length = randomBelow(randomBelow(4) === 0 ? source.length + 1 : 8)
  return [from, Math.min(source.length, from + length)]
}

const MUTATIONS: readonly Mutation[] = [
  function bit(source, randomBelow) {
    const mutated = Buffer.from(source)
    const position = randomBelow(source.length)
    if (source.length > 0) mutated[position] = mutated[position]! ^ (1 << randomBelow(8))
    return mutated
  },
  function byte(source, randomBelow) {
    const position = randomBelow(source.length + 1)
    const value = randomBelow(2) === 0 ? NOTABLES[randomBelow(NOTABLES.length)]! : randomBelow(256)
    return change(source, position, position + randomBelow(2), Buffer.of(value))
  },
  function remove(source, randomBelow) {
    return change(source, ...drawRange(source, randomBelow), Buffer.alloc(0))
  },
  function repeat(source, randomBelow) {
    const [from, hasta] = drawRange(source, randomBelow)
    const part = source.subarray(from, hasta)
    return change(
      source,
      hasta,
      hasta,
      Buffer.concat(Array.from({ length: 1 + randomBelow(randomBelow(8) === 0 ? 40 : 3) }, () => part)),
    )
  },
  function move(source, randomBelow) {
    const [from, hasta] = drawRange(source, randomBelow)
    const remaining = change(source, from, hasta, Buffer.alloc(0))
    const position = randomBelow(remaining.length + 1)
    return change(remaining, position, position, source.subarray(from, hasta))
  },
  function crossOver(source, randomBelow, otherInput) {
    const [from, hasta] = drawRange(otherInput, randomBelow)
    return change(source, ...drawRange(source, randomBelow), otherInput.subarray(from, hasta))
  },
  function insertWord(source, randomBelow, _otherInput, words) {
    const insertedWord = Buffer.from(words[randomBelow(words.length)] ?? '')
    const [from, hasta] = drawRange(source, randomBelow)
    return change(source, from, randomBelow(2) === 0 ? from : hasta, insertedWord)
  },
  function replaceDigit(source, randomBelow) {
    const digitPositions = [...source.keys()].filter((i) => source[i]! >= 0x30 && source[i]! <= 0x39)
    const mutated = Buffer.from(source)
    if (digitPositions.length > 0) mutated[digitPositions[randomBelow(digitPositions.length)]!] = 0x30 + randomBelow(10)
    return mutated
  },
]

/** An input made of one by a few small changes, some of which take pieces of another one. */
export function mutateInput(
  source: Buffer,
  randomBelow: RandomBelow,
  otherInput: Buffer,
  words: readonly string[],
): Buffer {
  let mutated = source
  for (let remainingChanges = 1 + randomBelow(randomBelow(3) === 0 ? 8 : 3); remainingChanges > 0; remainingChanges--)
    mutated = MUTATIONS[randomBelow(MUTATIONS.length)]!(mutated, randomBelow, otherInput, words).subarray(0, LARGO)
  return mutated
}
