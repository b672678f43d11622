import { availableParallelism } from 'node:os'
import { cargar } from '../arnes/carga.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { ResultadoDeMedida } from '../arnes/informe.ts'
import { miles } from '../arnes/numero.ts'
import { intercalar } from '../arnes/rondas.ts'
import { lanzarReceptor, registrarEndpoints, vaciar } from '../arnes/webhooks.ts'
import { calentar, cargaDeCrear, fila } from './crear.ts'
import type { Medida } from './medida.ts'
import {
  crearAlRitmo,
  cronometro,
  destinosEnMarcha,
  deWorker,
  PLAZO,
  RITMO_DE_EVENTOS,
  SIN_ENVIAR,
  tiempos,
} from './webhooks.ts'

const WEBHOOKS = 8_000

type Celda = () => Promise<number>

/** Starts `cuantos` processes of the API on one port, and as many workers. */
async function levantar(base: Base, cuantos: number) {
  const api = await base.servicio({ WORKERS: '0', ...(cuantos > 1 ? { API_PROCESSES: `${cuantos}` } : {}) })
  const workers = await Promise.all(Array.from({ length: cuantos }, () => base.worker()))
  return { api, workers: workers as [Programa, ...Programa[]] }
}

/** Compares two processes of each kind with one of each, in turns, each side over a database of its own. */
const comparar = (banco: Banco, preparar: (base: Base, cuantos: number) => Promise<Celda>) =>
  banco.conBase((una) =>
    banco.conBase(async (otra) =>
      intercalar(banco.opciones.rondas, { programa: await preparar(otra, 2), referencia: await preparar(una, 1) }),
    ),
  )

const crear = (banco: Banco) => async (base: Base, cuantos: number) => {
  const comercios = await base.crearComercios(1)
  const { api } = await levantar(base, cuantos)
  const carga = cargaDeCrear(api.url, comercios, 32, banco.opciones.segundos)
  await calentar(banco, base, carga)
  return async () => (await cargar(carga)).porSegundo
}

const enviar = (banco: Banco) => async (base: Base, cuantos: number) => {
  const receptor = await lanzarReceptor(base)
  const destinos = await destinosEnMarcha(banco, base, receptor)
  const { workers } = await levantar(base, cuantos)
  const lado = cronometro(banco, receptor, deWorker(base, destinos, workers[0]))
  await lado.medir(WEBHOOKS)
  return () => lado.medir(WEBHOOKS)
}

/**
 * Prepares a cell that measures the delay from commit to reception of a webhook, and returns its p50 in milliseconds.
 * @param alMedir receives the p99 of each cell
 */
const avisar =
  (banco: Banco, alMedir: (cuantos: number, p99: number) => void) => async (base: Base, cuantos: number) => {
    const { segundos } = banco.opciones
    const receptor = await lanzarReceptor(base)
    const [comercio] = (await base.crearComercios(1, 'test')) as [ComercioDeBench]
    await registrarEndpoints(banco, base, [comercio], () => `${receptor.url}/r`)
    const { api } = await levantar(base, cuantos)
    const medir = async (duracion: number) => {
      await receptor.reiniciar()
      const confirmadas = await crearAlRitmo(api.url, [comercio], duracion)
      await receptor.esperar(confirmadas.size, PLAZO)
      const suyos = tiempos(confirmadas, await receptor.llegadas())
      await vaciar(base, SIN_ENVIAR)
      return suyos
    }
    await medir(2 * segundos)
    await base.db.pool.query('analyze')
    return async () => {
      const { p50, p99 } = await medir(segundos)
      alMedir(cuantos, p99)
      return p50
    }
  }

const NOMBRE = 'uno de cada'

export const procesos: Medida[] = [
  {
    clave: 'procesos',
    descripcion: 'dos procesos de la API y dos workers contra uno de cada: crear, enviar y de confirmado a recibido',
    async medir(banco): Promise<ResultadoDeMedida> {
      const deDos = 'dos API y dos workers'
      const p99 = { programa: [] as number[], referencia: [] as number[] }
      const anotar = (cuantos: number, ms: number) => void p99[cuantos === 2 ? 'programa' : 'referencia'].push(ms)
      const lapso = `${deDos}: de confirmado a recibido, ${RITMO_DE_EVENTOS} eventos/s`
      return {
        filas: [
          fila(`${deDos}: crear, 32 conexiones`, 'guías/s', NOMBRE, await comparar(banco, crear(banco))),
          fila(
            `${deDos}: enviar ${miles(WEBHOOKS)} webhooks en espera`,
            'webhooks/s',
            NOMBRE,
            await comparar(banco, enviar(banco)),
          ),
          fila(`${lapso}, p50`, 'ms', NOMBRE, await comparar(banco, avisar(banco, anotar))),
          fila(`${lapso}, p99`, 'ms', NOMBRE, p99),
        ],
        notas: [
          `cuatro procesos, PostgreSQL, receptor y generador comparten ${availableParallelism()} núcleos: solo una seña`,
        ],
      }
    },
  },
]
