// Finds the names that a misspelled text may mean. Pure.
import { clavesDe } from './claves.ts'

export interface Nombre {
  nombre: string
  /** Key of the name that ignores most differences in spelling: the last key of `clavesDe`. */
  clave: string
}

/** Number of characters of a key that are compared, which bounds the cost. No name is longer. */
const LARGO = 40
/** Maximum edit distance. A greater distance means a different name. */
const MAXIMO = 4

/**
 * Returns up to `cuantos` names nearest to a text by edit distance. The distance is at most a third of the text's
 * length, and at most 4.
 */
export function cercanos(texto: string, nombres: readonly Nombre[], cuantos: number): string[] {
  const clave = clavesDe(texto).at(-1)!.slice(0, LARGO)
  if (clave.trim() === '') return []
  let tope = Math.min(MAXIMO, Math.max(1, Math.floor(clave.length / 3)))
  const mejores: { nombre: string; distancia: number }[] = []
  for (const { nombre, clave: suya } of nombres) {
    // The beginning of a name is near, however much of the name is missing.
    const distancia = clave.length > 3 && suya.startsWith(clave) ? 1 : distanciaDeEdicion(clave, suya, tope)
    if (distancia > tope || mejores.some((otro) => otro.nombre === nombre)) continue
    const puesto = mejores.findIndex((otro) => otro.distancia > distancia)
    mejores.splice(puesto < 0 ? mejores.length : puesto, 0, { nombre, distancia })
    if (mejores.length > cuantos) mejores.pop()
    // Once the list is full, the distance of its last name becomes the bound. The smaller bound makes the search cheap.
    if (mejores.length === cuantos) tope = mejores.at(-1)!.distancia
  }
  return mejores.map(({ nombre }) => nombre)
}

let [anterior, actual, previa] = [0, 0, 0].map(() => new Uint8Array(LARGO * 2 + 2)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

/**
 * Edit distance of two keys: insertions, deletions, substitutions and swaps of neighbours. Returns a number above
 * `tope` if the distance is greater than `tope`.
 */
function distanciaDeEdicion(a: string, b: string, tope: number): number {
  const n = b.length > LARGO ? LARGO : b.length
  if (Math.abs(a.length - n) > tope) return tope + 1
  for (let j = 0; j <= n; j++) anterior[j] = j
  let menorDeAntes = 0
  for (let i = 1; i <= a.length; i++) {
    // Only cells at most `tope` away from the diagonal can stay within the bound. The cells at both edges of this band
    // count as too far.
    const [desde, hasta] = [Math.max(1, i - tope), Math.min(n, i + tope)]
    actual[desde - 1] = desde === 1 ? i : tope + 1
    let menor = actual[desde - 1]!
    const ca = a.charCodeAt(i - 1)
    for (let j = desde; j <= hasta; j++) {
      const cb = b.charCodeAt(j - 1)
      let costo = anterior[j - 1]!
      if (ca !== cb) {
        costo = 1 + Math.min(costo, anterior[j]!, actual[j - 1]!)
        const cruzadas = i > 1 && j > 1 && ca === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === cb
        if (cruzadas && previa[j - 2]! + 1 < costo) costo = previa[j - 2]! + 1
      }
      actual[j] = costo
      if (costo < menor) menor = costo
    }
    if (hasta < n) actual[hasta + 1] = tope + 1
    // A swap uses the row before the previous one, so the search stops only when two rows exceed the bound.
    if (menor > tope && menorDeAntes >= tope) return tope + 1
    menorDeAntes = menor
    ;[previa, anterior, actual] = [anterior, actual, previa]
  }
  return anterior[n]!
}
