import { setTimeout as dormir } from 'node:timers/promises'
import { cargar } from '../arnes/carga.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme } from '../arnes/informe.ts'
import { formatearNumero } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'

/** Merchants that create guides at their usual rate (VECINOS), and requests per second of each (RITMO). */
export const VECINOS = 8
export const RITMO_DE_VECINOS = 20
/** Connections of the flood. */
export const CONEXIONES = 32

interface Partes {
  servicio: Programa
  vecinos: readonly ComercioDeBench[]
  /** Status with which a bare server answers the same flood, as reference. `referencia` is its name in the report. */
  status: number
  referencia: string
  /** Name of the flood in the report, in Spanish. */
  de: string
  /**
   * Prepares the flood. Returns a function that floods a program for `segundos` seconds and resolves with the requests
   * sent per second.
   */
  preparar: () => Promise<(programa: Programa, segundos: number) => Promise<number>>
}

/**
 * Measures the p95 latency of the neighbours while a flood hits the service, and while the same flood hits a bare
 * server.
 * @returns the report row, and the median rate of the flood on the service for a note
 */
export async function medirVecinos(
  banco: Banco,
  base: Base,
  { servicio, vecinos, status, referencia, de, preparar }: Partes,
): Promise<{ filas: FilaDeInforme[]; inundacion: string }> {
  const { segundos, rondas } = banco.opciones
  const desnudo = await base.programa('desnudo.ts', [`${status}`])
  const deVecinos = { ...cargaDeCrear(servicio.url, vecinos, VECINOS, segundos), ritmo: RITMO_DE_VECINOS }
  await calentar(banco, base, { ...deVecinos, ritmo: 100 })
  const inundar = await preparar()
  const enviadas: number[] = []
  const con = (programa: Programa) => async () => {
    const inundando = inundar(programa, segundos + 1)
    // The flood reaches full rate before the neighbours start.
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
    inundacion: formatearNumero(resumir(enviadas).mediana),
  }
}
