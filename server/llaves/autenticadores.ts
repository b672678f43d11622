import { presentarRitmos } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import type { Autenticadores } from '../http/identidad.ts'
import { leerRango } from '../http/red.ts'
import { buscarSesion } from '../repartidores/repartidor.ts'
import { buscarPorTexto, estaVigente, type TipoDeLlave } from './llave.ts'

/**
 * How long a row read from the database is believed, in milliseconds: a revocation holds everywhere in less than 1 s, counted
 * from its own instant, which is some time before its commit.
 */
const VIGENCIA = 500
const CUANTAS = 10_000

/**
 * Remembers what a credential's text stands for, so that a request costs no digest. Concurrent requests share a read, a
 * failed one is forgotten at once, and unknown texts are remembered like the others.
 * @param buscar undefined, and nothing is remembered, for a text that can't be such a credential
 */
function recordar<Fila>(ahoraMs: () => number, buscar: (texto: string) => Promise<Fila | undefined> | undefined) {
  const leidas = new Map<string, { vence_en: number; fila: Promise<Fila | undefined> }>()
  return (texto: string): Promise<Fila | undefined> | undefined => {
    const ahora = ahoraMs()
    const leida = leidas.get(texto)
    if (leida && leida.vence_en > ahora) return leida.fila
    const fila = buscar(texto)
    if (!fila) return undefined
    leidas.delete(texto)
    if (leidas.size >= CUANTAS) leidas.delete(leidas.keys().next().value!)
    leidas.set(texto, { vence_en: ahora + VIGENCIA, fila })
    fila.catch(() => leidas.delete(texto))
    return fila
  }
}

/**
 * Creates one authenticator per security scheme of the contract.
 * @param ahoraMs a clock that nobody sets back, in milliseconds
 */
export function crearAutenticadores(
  { db, reloj, usos }: Pick<Deps, 'db' | 'reloj' | 'usos'>,
  ahoraMs = () => performance.now(),
): Autenticadores {
  const leer = recordar(ahoraMs, (texto) =>
    buscarPorTexto(db, texto)?.then((fila) => {
      if (fila && estaVigente(fila, reloj())) usos.anotar(fila, reloj())
      return fila && { ...fila, ritmos: presentarRitmos(fila), rangos: fila.redes.map(leerRango) }
    }),
  )
  const leerSesion = recordar(ahoraMs, (token) => buscarSesion(db, token))

  const verificar = async (texto: string, sirve: (tipo: TipoDeLlave) => boolean) => {
    const fila = await leer(texto)
    return fila && sirve(fila.tipo) && estaVigente(fila, reloj()) ? fila : undefined
  }

  return {
    async llaveDeComercio(texto) {
      const fila = await verificar(texto, (tipo) => tipo !== 'oper')
      if (!fila || fila.tipo === 'oper') return undefined
      return {
        comercioId: fila.comercio_id,
        comercio: fila.dueno,
        modo: fila.tipo,
        llave: fila.id,
        alcances: fila.alcances,
        nombre: fila.nombre,
        pais: fila.pais,
        estricto: fila.estricto === true,
        ritmos: fila.ritmos,
        vence_en: fila.vence_en,
        rangos: fila.rangos,
      }
    },
    async llaveDeOperacion(texto) {
      const fila = await verificar(texto, (tipo) => tipo === 'oper')
      if (fila?.tipo !== 'oper') return undefined
      const { operador_id: operadorId, dueno: operador, id: llave, alcances, rangos } = fila
      return { operadorId, operador, llave, alcances, rangos }
    },
    async sesionDeRepartidor(token) {
      const fila = await leerSesion(token)
      if (!fila || fila.vence_en <= reloj()) return undefined
      const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en } = fila
      return { repartidorId, repartidor, nombre, sesion, vence_en }
    },
  }
}
