import type { Db } from '../db.ts'
import type { Autenticadores } from '../http/identidad.ts'
import { buscarSesion } from '../repartidores/repartidor.ts'
import { buscarLlave, esSuyo, estaVigente, leerLlave, type TipoDeLlave } from './llave.ts'

/**
 * How long a row read from the database is believed, in milliseconds: a revocation holds everywhere in less than 1 s, counted
 * from its own instant, which is some time before its commit.
 */
const VIGENCIA = 500
const CUANTAS = 10_000

/**
 * Concurrent requests share a read. A failed one is forgotten at once, and unknown ids are remembered like the others.
 */
function recordar<Fila>(ahoraMs: () => number, buscar: (id: string) => Promise<Fila | undefined>) {
  const leidas = new Map<string, { vence_en: number; fila: Promise<Fila | undefined> }>()
  return (id: string) => {
    const ahora = ahoraMs()
    const leida = leidas.get(id)
    if (leida && leida.vence_en > ahora) return leida.fila
    leidas.delete(id)
    if (leidas.size >= CUANTAS) leidas.delete(leidas.keys().next().value!)
    const fila = buscar(id)
    leidas.set(id, { vence_en: ahora + VIGENCIA, fila })
    fila.catch(() => leidas.delete(id))
    return fila
  }
}

/**
 * Creates one authenticator per security scheme of the contract.
 * @param ahoraMs a clock that nobody sets back, in milliseconds
 */
export function crearAutenticadores(db: Db, reloj: () => Date, ahoraMs = () => performance.now()): Autenticadores {
  const leer = recordar(ahoraMs, (id) => buscarLlave(db, id))
  const leerSesion = recordar(ahoraMs, (token) => buscarSesion(db, token))

  const verificar = async (texto: string, sirve: (tipo: TipoDeLlave) => boolean) => {
    const partes = leerLlave(texto)
    if (!partes || !sirve(partes.tipo)) return undefined
    const fila = await leer(partes.id)
    return fila && fila.tipo === partes.tipo && esSuyo(fila, partes.secreto) && estaVigente(fila, reloj())
      ? fila
      : undefined
  }

  return {
    async llaveDeComercio(texto) {
      const fila = await verificar(texto, (tipo) => tipo !== 'oper')
      if (!fila || fila.tipo === 'oper' || fila.comercio_id === null) return undefined
      return {
        comercioId: fila.comercio_id,
        comercio: fila.dueno,
        modo: fila.tipo,
        llave: fila.id,
        alcances: fila.alcances,
        nombre: fila.nombre,
        pais: fila.pais,
        estricto: fila.estricto === true,
      }
    },
    async llaveDeOperacion(texto) {
      const fila = await verificar(texto, (tipo) => tipo === 'oper')
      if (!fila || fila.operador_id === null) return undefined
      return { operadorId: fila.operador_id, operador: fila.dueno, llave: fila.id }
    },
    async sesionDeRepartidor(token) {
      const fila = await leerSesion(token)
      if (!fila || fila.vence_en <= reloj()) return undefined
      const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en } = fila
      return { repartidorId, repartidor, nombre, sesion, vence_en }
    },
  }
}
