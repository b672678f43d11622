import { setTimeout as dormir } from 'node:timers/promises'
import type { ParametrosDeCarga } from '../arnes/carga.ts'
import type { Banco, ComercioDeBench } from '../arnes/entorno.ts'
import { formatearNumero, miles } from '../arnes/numero.ts'
import { cpuConHijos, cpuDe } from '../arnes/proceso.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, fila, medidor } from './crear.ts'
import type { Medida } from './medida.ts'

const COMERCIOS = 1_000
/** Requests per second of all merchants together: three per merchant. */
const RITMO = 3_000
const CONEXIONES = 100

/**
 * Measures the CPU of a request when many merchants send requests now and then, against the same requests of one
 * merchant.
 */
const muchasLlaves = (banco: Banco) =>
  banco.conBase(async (base) => {
    const comercios = await base.crearComercios(COMERCIOS)
    const programa = await base.servicio({ WORKERS: '0' })
    const lado = (cuales: readonly ComercioDeBench[]) => {
      const carga: ParametrosDeCarga = {
        url: programa.url,
        conexiones: CONEXIONES,
        ritmo: RITMO / CONEXIONES,
        segundos: banco.opciones.segundos,
        espera: 200,
        siguiente: () => ({
          metodo: 'GET',
          ruta: '/api/v1/cuenta',
          llave: cuales[Math.floor(Math.random() * cuales.length)]!.llave,
        }),
      }
      return { carga, medidor: medidor(banco, programa, carga) }
    }
    const [todos, uno] = [lado(comercios), lado(comercios.slice(0, 1))]
    await calentar(banco, base, todos.carga)
    const cpu = ({ medidor: { medir, cargas } }: typeof todos) =>
      async function medirCpu() {
        await medir()
        const { servidor, postgres } = cargas.at(-1)!.cpu
        return servidor + postgres
      }
    const valores = await intercalar(banco.opciones.rondas, { programa: cpu(todos), referencia: cpu(uno) })
    const mediana = (de: typeof todos, parte: 'servidor' | 'postgres') =>
      formatearNumero(resumir(de.medidor.cargas.map((carga) => carga.cpu[parte])).mediana)
    const nombre = `${miles(COMERCIOS)} llaves`
    return {
      filas: [
        fila(
          `una solicitud de las ${miles(RITMO)} por segundo de ${nombre}: CPU del servicio y de PostgreSQL`,
          'µs',
          'una llave',
          valores,
          { sentido: '≤', valor: 1.5 },
        ),
      ],
      notas: [
        `servicio y PostgreSQL: ${nombre} ${mediana(todos, 'servidor')} y ${mediana(todos, 'postgres')} µs, una ` +
          `${mediana(uno, 'servidor')} y ${mediana(uno, 'postgres')} µs`,
      ],
    }
  })

const ENDPOINTS = 40_000
/** Seconds per cell, long enough for several heartbeats of the process. */
const ESPERA = 20

/** Measures the CPU of a process that holds leases of endpoints without deliveries. */
const arriendos = (banco: Banco) =>
  banco.conBase(async (base) => {
    const programa = await base.programa('arriendos.ts', [`${ENDPOINTS}`])
    const leer = () => ({
      proceso: cpuDe(programa.pid) ?? Number.NaN,
      postgres: cpuConHijos(banco.pidDePostgres) ?? Number.NaN,
    })
    await dormir(10_000)
    const medidas: ReturnType<typeof leer>[] = []
    for (let n = 0; n < banco.opciones.rondas; n++) {
      const antes = leer()
      await dormir(ESPERA * 1_000)
      const despues = leer()
      const por = (parte: keyof typeof antes) => ((despues[parte] - antes[parte]) / ESPERA) * 100
      medidas.push({ proceso: por('proceso'), postgres: por('postgres') })
    }
    const quedan = Number(await (await fetch(programa.url)).text())
    if (quedan !== ENDPOINTS) throw new Error(`de ${miles(ENDPOINTS)} endpoints quedan ${miles(quedan)}`)
    return {
      filas: (['proceso', 'postgres'] as const).map((parte) => ({
        medida: `${miles(ENDPOINTS)} endpoints en manos de un proceso, sin envíos: CPU ${parte === 'proceso' ? 'del proceso' : 'de PostgreSQL'}`,
        unidad: '% de un núcleo',
        programa: resumir(medidas.map((una) => una[parte])),
        marca: { sentido: '≤' as const, valor: parte === 'proceso' ? 3 : 10, absoluta: true },
      })),
    }
  })

export const activos: Medida[] = [
  {
    clave: 'llaves',
    descripcion: `CPU de una solicitud cuando piden ${miles(COMERCIOS)} comercios, contra uno`,
    medir: muchasLlaves,
  },
  {
    clave: 'arriendos',
    descripcion: `CPU que cuesta tener ${miles(ENDPOINTS)} endpoints en un proceso`,
    aparte: () => true,
    medir: arriendos,
  },
]
