import { setTimeout as dormir } from 'node:timers/promises'
import { cargar } from '../arnes/carga.ts'
import type { Banco, Base, Comercio, Programa } from '../arnes/entorno.ts'
import type { Fila } from '../arnes/informe.ts'
import { numero } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'

/** Merchants that do what they always do, and what each asks for in a second. */
export const VECINOS = 8
export const RITMO = 20
/** Connections of a flood. */
export const CONEXIONES = 32

interface Partes {
  servicio: Programa
  vecinos: readonly Comercio[]
  /** What meets the same flood in the service's place: a bare server that answers with this, and its name. */
  status: number
  referencia: string
  /** What floods, in words. */
  de: string
  /** Makes what floods a program for so many seconds, and says how much it sent in each. */
  preparar: () => Promise<(programa: Programa, segundos: number) => Promise<number>>
}

/**
 * The neighbours' p95, while somebody floods the service, and while the same flood meets a bare server.
 * @returns besides, how much the service was sent in a second, for a note
 */
export async function medirVecinos(
  banco: Banco,
  base: Base,
  { servicio, vecinos, status, referencia, de, preparar }: Partes,
): Promise<{ filas: Fila[]; inundacion: string }> {
  const { segundos, rondas } = banco.opciones
  const desnudo = await base.programa('desnudo.ts', [`${status}`])
  const deVecinos = { ...cargaDeCrear(servicio.url, vecinos, VECINOS, segundos), ritmo: RITMO }
  await calentar(banco, base, { ...deVecinos, ritmo: 100 })
  const inundar = await preparar()
  const enviadas: number[] = []
  const con = (programa: Programa) => async () => {
    const inundando = inundar(programa, segundos + 1)
    // The flood stands already when its neighbours come.
    await dormir(500)
    const [{ p95 }, porSegundo] = await Promise.all([cargar(deVecinos), inundando])
    if (programa === servicio) enviadas.push(porSegundo)
    return p95
  }
  await con(servicio)()
  enviadas.length = 0
  const valores = await intercalar(rondas, { programa: con(servicio), referencia: con(desnudo) })
  const marca = { sentido: '≤' as const, valor: 1.25, holgura: 10 }
  return {
    filas: [fila(`p95 de ${VECINOS} comercios, otro inunda de ${de}`, 'ms', referencia, valores, marca)],
    inundacion: numero(resumir(enviadas).mediana),
  }
}
