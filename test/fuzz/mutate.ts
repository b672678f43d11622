/** A number from 0 to below n. */
export type RandomBelow = (n: number) => number

/** Longer inputs take longer and find no more. */
const LARGO = 4_096
const NOTABLES = [0, 1, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x39, 0x5c, 0x7f, 0x80, 0xff]

type Mutacion = (de: Buffer, azar: RandomBelow, otherInput: Buffer, palabras: readonly string[]) => Buffer

const cambiar = (de: Buffer, desde: number, hasta: number, por: Uint8Array) =>
  Buffer.concat([de.subarray(0, desde), por, de.subarray(hasta)])

/** A stretch of an input: mostly short ones. */
function tramo(de: Uint8Array, azar: RandomBelow): [desde: number, hasta: number] {
  const desde = azar(de.length + 1)
  const largo = azar(azar(4) === 0 ? de.length + 1 : 8)
  return [desde, Math.min(de.length, desde + largo)]
}

const MUTACIONES: readonly Mutacion[] = [
  function bit(de, azar) {
    const mutated = Buffer.from(de)
    const donde = azar(de.length)
    if (de.length > 0) mutated[donde] = mutated[donde]! ^ (1 << azar(8))
    return mutated
  },
  function byte(de, azar) {
    const donde = azar(de.length + 1)
    const valor = azar(2) === 0 ? NOTABLES[azar(NOTABLES.length)]! : azar(256)
    return cambiar(de, donde, donde + azar(2), Buffer.of(valor))
  },
  function quitar(de, azar) {
    return cambiar(de, ...tramo(de, azar), Buffer.alloc(0))
  },
  function repetir(de, azar) {
    const [desde, hasta] = tramo(de, azar)
    const parte = de.subarray(desde, hasta)
    return cambiar(
      de,
      hasta,
      hasta,
      Buffer.concat(Array.from({ length: 1 + azar(azar(8) === 0 ? 40 : 3) }, () => parte)),
    )
  },
  function mover(de, azar) {
    const [desde, hasta] = tramo(de, azar)
    const remaining = cambiar(de, desde, hasta, Buffer.alloc(0))
    const donde = azar(remaining.length + 1)
    return cambiar(remaining, donde, donde, de.subarray(desde, hasta))
  },
  function cruzar(de, azar, otherInput) {
    const [desde, hasta] = tramo(otherInput, azar)
    return cambiar(de, ...tramo(de, azar), otherInput.subarray(desde, hasta))
  },
  function palabra(de, azar, _otherInput, palabras) {
    const puesta = Buffer.from(palabras[azar(palabras.length)] ?? '')
    const [desde, hasta] = tramo(de, azar)
    return cambiar(de, desde, azar(2) === 0 ? desde : hasta, puesta)
  },
  function cifra(de, azar) {
    const cifras = [...de.keys()].filter((i) => de[i]! >= 0x30 && de[i]! <= 0x39)
    const mutated = Buffer.from(de)
    if (cifras.length > 0) mutated[cifras[azar(cifras.length)]!] = 0x30 + azar(10)
    return mutated
  },
]

/** An input made of one by a few small changes, some of which take pieces of another one. */
export function mutateInput(de: Buffer, azar: RandomBelow, otherInput: Buffer, palabras: readonly string[]): Buffer {
  let mutated = de
  for (let veces = 1 + azar(azar(3) === 0 ? 8 : 3); veces > 0; veces--)
    mutated = MUTACIONES[azar(MUTACIONES.length)]!(mutated, azar, otherInput, palabras).subarray(0, LARGO)
  return mutated
}
