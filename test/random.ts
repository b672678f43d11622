/** Numbers from 0 to 1, small and seeded: the same at each run (mulberry32). */
export function createRandom(seed: number): () => number {
  let estado = seed
  return () => {
    estado = (estado + 0x6d2b79f5) | 0
    let t = Math.imul(estado ^ (estado >>> 15), 1 | estado)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
