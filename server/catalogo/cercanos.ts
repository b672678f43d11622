// Which names somebody may have meant. Pure.
import { clavesDe } from './claves.ts'

export interface Nombre {
  nombre: string
  /** The loosest of its keys. */
  clave: string
}

/** Longer keys are compared by their beginning: it bounds the cost, and no name is longer. */
const LARGO = 40
/** More slips than these make another name. */
const MAXIMO = 4

/** Up to `cuantos` names nearest to a text by edit distance, no further off than a third of its letters or four. */
export function cercanos(texto: string, nombres: readonly Nombre[], cuantos: number): string[] {
  const clave = clavesDe(texto).at(-1)!.slice(0, LARGO)
  if (clave.trim() === '') return []
  let tope = Math.min(MAXIMO, Math.max(1, Math.floor(clave.length / 3)))
  const mejores: { nombre: string; distancia: number }[] = []
  for (const { nombre, clave: suya } of nombres) {
    // What has only been begun is near, however much is missing.
    const distancia = clave.length > 3 && suya.startsWith(clave) ? 1 : distanciaDeEdicion(clave, suya, tope)
    if (distancia > tope || mejores.some((otro) => otro.nombre === nombre)) continue
    const puesto = mejores.findIndex((otro) => otro.distancia > distancia)
    mejores.splice(puesto < 0 ? mejores.length : puesto, 0, { nombre, distancia })
    if (mejores.length > cuantos) mejores.pop()
    // A worse one than the last of a full list is of no use: the bound is what makes the search cheap.
    if (mejores.length === cuantos) tope = mejores.at(-1)!.distancia
  }
  return mejores.map(({ nombre }) => nombre)
}

let [anterior, actual, previa] = [0, 0, 0].map(() => new Uint8Array(LARGO * 2 + 2)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

/** Insertions, deletions, substitutions and swaps of neighbours; anything above `tope` if they are more than that. */
function distanciaDeEdicion(a: string, b: string, tope: number): number {
  const n = b.length > LARGO ? LARGO : b.length
  if (Math.abs(a.length - n) > tope) return tope + 1
  for (let j = 0; j <= n; j++) anterior[j] = j
  let menorDeAntes = 0
  for (let i = 1; i <= a.length; i++) {
    // Only the band around the diagonal can stay within the bound; its edges are as good as infinitely far.
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
    // A swap reaches back over two rows.
    if (menor > tope && menorDeAntes >= tope) return tope + 1
    menorDeAntes = menor
    ;[previa, anterior, actual] = [anterior, actual, previa]
  }
  return anterior[n]!
}
