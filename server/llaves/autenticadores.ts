import { presentarRitmos } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import type { Autenticadores, Averiguar } from '../http/identidad.ts'
import { leerRango } from '../http/red.ts'
import { buscarSesion, esToken } from '../repartidores/repartidor.ts'
import { buscarPresentada, estaVigente, leerLlave, type TipoDeLlave } from './llave.ts'

/**
 * How long a row read from the database is believed, in milliseconds: a revocation holds everywhere in less than 1 s, counted
 * from its own instant, which is some time before its commit.
 */
const VIGENCIA = 500
const CUANTAS = 10_000

const sinMas: Averiguar = (leer) => leer()

interface Leida<Fila> {
  vence_en: number
  fila: Promise<Fila | undefined>
}

/**
 * Remembers what a credential's text stands for, so that a request costs no digest. Concurrent requests share a read, a
 * failed one is forgotten at once. Texts that stand for nothing are remembered apart: however many there are, they have no
 * good one forgotten.
 * @param buscar undefined, and nothing is remembered, for a text that can't be such a credential
 */
function recordar<Fila>(
  ahoraMs: () => number,
  buscar: (texto: string) => (() => Promise<Fila | undefined>) | undefined,
) {
  const conocidas = new Map<string, Leida<Fila>>()
  const otras = new Map<string, Leida<Fila>>()
  const leer = (texto: string, averiguar: Averiguar): Promise<Fila | undefined> | undefined => {
    const ahora = ahoraMs()
    const conocida = conocidas.get(texto)
    const leida = conocida ?? otras.get(texto)
    if (leida && leida.vence_en > ahora) return leida.fila
    const leer = buscar(texto)
    if (!leer) return undefined
    const nueva = { vence_en: ahora + VIGENCIA, fila: conocida ? leer() : averiguar(leer) }
    poner(conocida ? conocidas : otras, texto, nueva)
    nueva.fila.then(
      (fila) => {
        if (Boolean(fila) === Boolean(conocida)) return
        const [de, a] = fila ? [otras, conocidas] : [conocidas, otras]
        de.delete(texto)
        poner(a, texto, nueva)
      },
      () => {
        nueva.vence_en = ahora
      },
    )
    return nueva.fila
  }
  return { leer, conoce: (texto: string) => conocidas.has(texto) }
}

/** Puts it last, and forgets the first where there are too many. */
function poner<Fila>(leidas: Map<string, Leida<Fila>>, texto: string, leida: Leida<Fila>): void {
  leidas.delete(texto)
  if (leidas.size >= CUANTAS) leidas.delete(leidas.keys().next().value!)
  leidas.set(texto, leida)
}

/**
 * Creates one authenticator per security scheme of the contract.
 * @param ahoraMs a clock that nobody sets back, in milliseconds
 */
export function crearAutenticadores(
  { db, reloj, usos }: Pick<Deps, 'db' | 'reloj' | 'usos'>,
  ahoraMs = () => performance.now(),
): Autenticadores {
  const llaves = recordar(ahoraMs, (texto) => {
    const partes = leerLlave(texto)
    if (!partes) return undefined
    return async () => {
      const fila = await buscarPresentada(db, partes)
      if (fila && estaVigente(fila, reloj())) usos.anotar(fila, reloj())
      return fila && { ...fila, ritmos: presentarRitmos(fila), rangos: fila.redes.map(leerRango) }
    }
  })
  const sesiones = recordar(ahoraMs, (token) => (esToken(token) ? () => buscarSesion(db, token) : undefined))

  const verificar = async (texto: string, averiguar: Averiguar, sirve: (tipo: TipoDeLlave) => boolean) => {
    const fila = await llaves.leer(texto, averiguar)
    return fila && sirve(fila.tipo) && estaVigente(fila, reloj()) ? fila : undefined
  }

  return {
    conoce: (texto) => llaves.conoce(texto) || sesiones.conoce(texto),
    async llaveDeComercio(texto, averiguar = sinMas) {
      const fila = await verificar(texto, averiguar, (tipo) => tipo !== 'oper')
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
        demostracion: fila.demostracion,
      }
    },
    async llaveDeOperacion(texto, averiguar = sinMas) {
      const fila = await verificar(texto, averiguar, (tipo) => tipo === 'oper')
      if (fila?.tipo !== 'oper') return undefined
      const { operador_id: operadorId, dueno: operador, id: llave, alcances, rangos, demostracion } = fila
      return { operadorId, operador, llave, alcances, rangos, demostracion }
    },
    async sesionDeRepartidor(token, averiguar = sinMas) {
      const fila = await sesiones.leer(token, averiguar)
      if (!fila || fila.vence_en <= reloj()) return undefined
      const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en, demostracion } = fila
      return { repartidorId, repartidor, nombre, sesion, vence_en, demostracion }
    },
  }
}
