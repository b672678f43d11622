/** A limit says for how many seconds whoever `clave` names has to wait; 0 lets him go ahead. */
export type Limite = (clave: string) => number

interface Cubo {
  fichas: number
  contado_en: number
}

/**
 * A limit by a token bucket per key, in this process alone: it keeps a runaway client off, it isn't an account. Beyond
 * `maximo` keys the one that was used longest ago is forgotten, and so starts afresh.
 * @param reloj in milliseconds, of which only differences count
 */
export function crearLimite(porMinuto: number, reloj: () => number = () => performance.now(), maximo = 10_000): Limite {
  const cubos = new Map<string, Cubo>()
  const porMs = porMinuto / 60_000
  return (clave) => {
    const ahora = reloj()
    const anterior = cubos.get(clave)
    const fichas = anterior ? Math.min(porMinuto, anterior.fichas + (ahora - anterior.contado_en) * porMs) : porMinuto
    const pasa = fichas >= 1
    cubos.delete(clave) // a Map keeps the order of insertion: the first is always the oldest
    cubos.set(clave, { fichas: pasa ? fichas - 1 : fichas, contado_en: ahora })
    if (cubos.size > maximo) cubos.delete(cubos.keys().next().value!)
    return pasa ? 0 : Math.max(1, Math.ceil((1 - fichas) / porMs / 1000))
  }
}
