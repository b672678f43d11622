import pg from 'pg'
import { type ResultadoDeCarga as Cargada, cargar, type ParametrosDeCarga } from '../arnes/carga.ts'
import { guionDeCrear, nuevaGuia } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme, Marca, Medida } from '../arnes/informe.ts'
import { formatearNumero } from '../arnes/numero.ts'
import { correrPgbench } from '../arnes/pgbench.ts'
import { intercalar, razones, resumir } from '../arnes/rondas.ts'
import { cpuOf, cpuSince, type Figures } from '../arnes/sides.ts'

/** Returns a load that creates guides. Connection n uses the key of merchant n, modulo the number of merchants. */
export const cargaDeCrear = (
  url: string,
  comercios: readonly ComercioDeBench[],
  conexiones: number,
  segundos: number,
): ParametrosDeCarga => ({
  url,
  conexiones,
  segundos,
  espera: 201,
  siguiente: (conexion) => ({
    metodo: 'POST',
    ruta: '/api/v1/guias',
    llave: comercios[conexion % comercios.length]!.llave,
    cuerpo: nuevaGuia(),
  }),
})

/** Returns a function that runs a load and returns its rate. Records latencies, and the CPU of each process. */
export function medidor({ pidDePostgres }: Banco, service: Programa, carga: ParametrosDeCarga) {
  const lado = { service, processes: { servidor: [service.pid], PostgreSQL: [pidDePostgres] } }
  /** Latencies, and microseconds of CPU per request. */
  const cargas: (Cargada & { cpu: Figures['cpu'] })[] = []
  return {
    cargas,
    async medir(): Promise<number> {
      const antes = cpuOf(lado)
      const cargada = await cargar(carga)
      cargas.push({ ...cargada, cpu: cpuSince(lado, antes, cargada.total) })
      return cargada.porSegundo
    },
    nota(nombre: string): string {
      const mediana = (de: (una: (typeof cargas)[number]) => number) => formatearNumero(resumir(cargas.map(de)).mediana)
      const cpu = Object.keys(lado.processes).map((parte) => `${parte} ${mediana((una) => una.cpu[parte]!)} µs`)
      return `${nombre}: p50 ${mediana(({ p50 }) => p50)} ms, p99 ${mediana(({ p99 }) => p99)} ms; CPU por solicitud: ${cpu.join(', ')}`
    },
  }
}

/**
 * Warms a program up, so that both sides run compiled code and prepared statements. Then runs ANALYZE, as autovacuum
 * does within a minute. Without statistics, PostgreSQL may check foreign keys through an index that scans all guides of
 * the merchant.
 */
export async function calentar(banco: Banco, { url }: Base, carga: ParametrosDeCarga): Promise<void> {
  await cargar({ ...carga, segundos: 2 * banco.opciones.segundos })
  await analizar(url)
}

/** Runs ANALYZE on a separate connection, because the service's connections have a statement timeout. */
export async function analizar(url: string): Promise<void> {
  const cliente = new pg.Client(url)
  await cliente.connect()
  await cliente.query('analyze').finally(() => cliente.end())
}

/** Returns the report row of a comparison, or of the service alone if the reference has no values. */
export function fila(
  medida: string,
  unidad: string,
  nombre: string,
  valores: { programa: number[]; referencia: number[] },
  marca?: Marca,
): FilaDeInforme {
  const { programa, referencia } = valores
  return {
    medida,
    unidad,
    programa: resumir(programa),
    ...(referencia.length > 0
      ? { referencia: { nombre, serie: resumir(referencia) }, razon: razones(programa, referencia) }
      : {}),
    ...(marca ? { marca } : {}),
  }
}

type Referencia = (
  banco: Banco,
  base: Base,
  comercios: readonly ComercioDeBench[],
  conexiones: number,
) => Promise<{ medir: (() => Promise<number>) | undefined; nota?: (nombre: string) => string }>

const pgbench: Referencia = async ({ opciones, pgbench: hay, carpeta }, { url }, comercios, clientes) => {
  const corrida = { url, carpeta, guion: guionDeCrear(comercios), clientes, segundos: opciones.segundos }
  return { medir: hay ? () => correrPgbench(corrida) : undefined }
}

const fastify: Referencia = async (banco, base, comercios, conexiones) => {
  const par = await base.programa('fastify.ts')
  const carga = cargaDeCrear(par.url, comercios, conexiones, banco.opciones.segundos)
  await calentar(banco, base, carga)
  return medidor(banco, par, carga)
}

const creacion = (
  clave: string,
  [conexiones, cuantos]: readonly [number, number],
  nombre: string,
  de: Referencia,
  valor: number,
): Medida => {
  const [una, uno] = [conexiones === 1 ? 'conexión' : 'conexiones', cuantos === 1 ? 'comercio' : 'comercios']
  const medida = `crear, ${conexiones} ${una}, ${cuantos} ${uno}`
  return {
    clave,
    descripcion: `${medida}, contra ${nombre}`,
    medir: (banco) =>
      banco.conBase(async (base) => {
        const comercios = await base.crearComercios(cuantos)
        const referencia = await de(banco, base, comercios, conexiones)
        const servicio = await base.servicio()
        const carga = cargaDeCrear(servicio.url, comercios, conexiones, banco.opciones.segundos)
        await calentar(banco, base, carga)
        const programa = medidor(banco, servicio, carga)
        const valores = await intercalar(banco.opciones.rondas, {
          programa: programa.medir,
          referencia: referencia.medir,
        })
        return {
          filas: [fila(medida, 'guías/s', nombre, valores, { sentido: '≥', valor })],
          notas: [programa.nota('servicio'), ...(referencia.nota ? [referencia.nota(nombre)] : [])],
        }
      }),
  }
}

export const medidasDeCrear: Medida[] = [
  creacion('crear32', [32, 1], 'pgbench', pgbench, 1.3),
  creacion('comercios32', [32, 32], 'pgbench', pgbench, 1.1),
  creacion('fastify32', [32, 1], 'Fastify + pg', fastify, 1.8),
  creacion('fastify1', [1, 1], 'Fastify + pg', fastify, 0.9),
]
