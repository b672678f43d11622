import { levantarPooler, PGBOUNCER } from '../../test/pooler.ts'
import type { ParametrosDeCarga } from '../arnes/carga.ts'
import { guiasAlAzar, sembrar } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench } from '../arnes/entorno.ts'
import type { FilaDeInforme, ResultadoDeMedida } from '../arnes/informe.ts'
import { alTerminar } from '../arnes/limpieza.ts'
import { formatearNumero, miles } from '../arnes/numero.ts'
import { cpuDe } from '../arnes/proceso.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { calentar, cargaDeCrear, fila, medidor } from './crear.ts'
import { cargaDeLotes, GUIAS } from './lote.ts'
import type { Medida } from './medida.ts'
import { levantarLado } from './webhooks.ts'

/** Connections of PgBouncer to each database, equal to those of one process without a pooler. */
const SESIONES = 20
const WEBHOOKS = 3_000
const SEMBRADAS = 50_000

/** Service that reaches a database of its own either directly or through PgBouncer. */
interface Lado {
  medir(): Promise<number>
  nota(nombre: string): string
}

type Preparar = (banco: Banco, base: Base, env: Readonly<Record<string, string>>) => Promise<Lado>

/**
 * Prepares a side that measures a load of requests.
 * @param cargaDe returns the load after seeding the database
 * @param por items per request
 */
const conCarga =
  (
    cargaDe: (url: string, comercio: ComercioDeBench, base: Base, segundos: number) => Promise<ParametrosDeCarga>,
    por = 1,
  ): Preparar =>
  async (banco, base, env) => {
    const [comercio] = (await base.crearComercios(1)) as [ComercioDeBench]
    const servicio = await base.servicio({ ...env, WORKERS: '0' })
    const carga = await cargaDe(servicio.url, comercio, base, banco.opciones.segundos)
    await calentar(banco, base, carga)
    const lado = medidor(banco, servicio, carga)
    return { medir: async () => (await lado.medir()) * por, nota: lado.nota }
  }

const deDetalle = async (
  url: string,
  comercio: ComercioDeBench,
  base: Base,
  segundos: number,
): Promise<ParametrosDeCarga> => {
  await sembrar(base.url, { comercio, hasta: SEMBRADAS, eventos: 2 })
  const guias = await guiasAlAzar(base.db, 20_000)
  let n = 0
  const siguiente = () => ({
    metodo: 'GET' as const,
    ruta: `/api/v1/guias/${guias[++n % guias.length]!}`,
    llave: comercio.llave,
  })
  return { url, conexiones: 32, segundos, espera: 200, siguiente }
}

const conWebhooks: Preparar = async (banco, base, env) => {
  const lado = await levantarLado(banco, base, WEBHOOKS, { env })
  return { medir: () => lado.medir(WEBHOOKS), nota: (nombre) => `${nombre}, ${lado.nota()}` }
}

const CASOS: readonly { medida: string; unidad: string; preparar: Preparar }[] = [
  {
    medida: 'crear, 32 conexiones, 1 comercio',
    unidad: 'guías/s',
    preparar: conCarga(async (url, comercio, _base, segundos) => cargaDeCrear(url, [comercio], 32, segundos)),
  },
  {
    medida: `detalle de una de ${miles(SEMBRADAS)} guías, 32 conexiones`,
    unidad: 'lecturas/s',
    preparar: conCarga(deDetalle),
  },
  {
    medida: 'lotes de 100, 8 conexiones',
    unidad: 'guías/s',
    preparar: conCarga(async (url, comercio, _base, segundos) => cargaDeLotes(url, comercio, 8, segundos), GUIAS),
  },
  {
    medida: `enviar ${miles(WEBHOOKS)} webhooks en espera, 20 endpoints`,
    unidad: 'webhooks/s',
    preparar: conWebhooks,
  },
]

/** Measures a case directly and through PgBouncer without named prepared statements. */
async function comparar(banco: Banco, { medida, unidad, preparar }: (typeof CASOS)[number]) {
  return banco.conBase(async (directa) => {
    const pooler = await levantarPooler(directa.url, SESIONES)
    const bajar = alTerminar(() => pooler.bajar())
    try {
      return await banco.conBase(async (suya): Promise<{ fila: FilaDeInforme; notas: string[] }> => {
        const env = { DATABASE_POOLER_URL: pooler.url(suya.url), DATABASE_PREPARED: '0' }
        const lados = { programa: await preparar(banco, suya, env), referencia: await preparar(banco, directa, {}) }
        const cpu: number[] = []
        const valores = await intercalar(banco.opciones.rondas, {
          async programa() {
            const [antes, inicio] = [cpuDe(pooler.pid) ?? Number.NaN, performance.now()]
            const valor = await lados.programa.medir()
            cpu.push((((cpuDe(pooler.pid) ?? Number.NaN) - antes) / (performance.now() - inicio)) * 1e5)
            return valor
          },
          referencia: lados.referencia.medir,
        })
        return {
          fila: fila(`${medida}, por PgBouncer sin sentencias con nombre`, unidad, 'sin pooler', valores),
          notas: [
            `${medida}: PgBouncer ${formatearNumero(resumir(cpu).mediana)} % de un núcleo`,
            lados.programa.nota('por PgBouncer'),
            lados.referencia.nota('sin pooler'),
          ],
        }
      })
    } finally {
      await bajar()
    }
  })
}

export const medidasDePooler: Medida[] = [
  {
    clave: 'pooler',
    descripcion: 'crear, detalle, lotes y webhooks por PgBouncer en modo de transacción, contra lo mismo sin él',
    async medir(banco): Promise<ResultadoDeMedida> {
      if (!PGBOUNCER) return { filas: [], notas: ['no hay PgBouncer: no se mide'] }
      const hechos: Awaited<ReturnType<typeof comparar>>[] = []
      for (const caso of CASOS) hechos.push(await comparar(banco, caso))
      return { filas: hechos.map((uno) => uno.fila), notas: hechos.flatMap((uno) => uno.notas) }
    },
  },
]
