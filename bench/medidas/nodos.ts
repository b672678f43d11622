import pg from 'pg'
import { isDistributed } from '../../server/data/db.ts'
import { cargar, type ParametrosDeCarga } from '../arnes/carga.ts'
import { nuevaGuia, nuevoLote } from '../arnes/datos.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { FilaDeInforme, Marca, ResultadoDeMedida } from '../arnes/informe.ts'
import { ErrorDeOpciones } from '../arnes/opciones.ts'
import { cpuConHijos, cpuDe } from '../arnes/proceso.ts'
import { intercalar, razones, resumir, type Serie } from '../arnes/rondas.ts'
import { lanzarReceptor, registrarEndpoints, vaciar } from '../arnes/webhooks.ts'
import { analizar } from './crear.ts'
import type { Medida } from './medida.ts'
import { SIN_ENVIAR } from './webhooks.ts'

const COMERCIOS = 8
const LOTE = 100
/** Seconds of warm-up for each kind of request: a session may keep a generic plan from the sixth execution on. */
const CALENTAMIENTO = 4

type Parte = 'servicio' | 'coordinador' | 'workers'

/** Running service over a database, with the postmasters behind it. A single PostgreSQL counts as a worker. */
interface Lado {
  base: Base
  programa: Programa
  comercios: readonly ComercioDeBench[]
  coordinador: readonly number[]
  workers: readonly number[]
  /** CPU per measured item, in microseconds, one entry per cell. */
  costos: Record<Parte, number>[]
}

interface Caso {
  nombre: string
  conexiones: number
  espera: number
  /** Counted items per request, for example guides per batch. */
  cuantas?: number
  marca?: Marca
  siguiente: (lado: Lado, conexion: number) => ReturnType<ParametrosDeCarga['siguiente']>
  /** Waits until the service has finished all work that the requests of a cell caused. */
  acabar?: (lado: Lado) => Promise<void>
}

const POSTMASTER = "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid"

/** Returns the postmasters of a cluster on this machine, or of a single PostgreSQL. */
async function procesosDe({ db }: Base): Promise<Pick<Lado, 'coordinador' | 'workers'>> {
  const { rows } = await db.pool.query<{ pid: number; coordina: boolean }>(
    isDistributed(db)
      ? `select result::int as pid, groupid = 0 as coordina
         from run_command_on_all_nodes($$${POSTMASTER}$$) join pg_dist_node using (nodeid)`
      : `select pid, false as coordina from (${POSTMASTER}) p`,
  )
  const de = (coordina: boolean) => rows.filter((una) => una.coordina === coordina).map(({ pid }) => pid)
  return { coordinador: de(true), workers: de(false) }
}

async function abrirLado(base: Base): Promise<Lado> {
  const comercios = await base.crearComercios(COMERCIOS)
  const programa = await base.servicio()
  return { base, programa, comercios, ...(await procesosDe(base)), costos: [] }
}

const sumar = (pids: readonly number[], de: (pid: number) => number | undefined) =>
  pids.reduce((suma, pid) => suma + (de(pid) ?? Number.NaN), 0)

/**
 * Measures one cell.
 * @returns CPU of all PostgreSQL nodes per measured item, in microseconds
 */
async function medir(lado: Lado, { conexiones, espera, cuantas = 1, siguiente, acabar }: Caso, segundos: number) {
  const leer = (): Record<Parte, number> => ({
    servicio: cpuDe(lado.programa.pid) ?? Number.NaN,
    coordinador: sumar(lado.coordinador, cpuConHijos),
    workers: sumar(lado.workers, cpuConHijos),
  })
  const { url } = lado.programa
  const antes = leer()
  const { total } = await cargar({ url, conexiones, segundos, siguiente: (n) => siguiente(lado, n), espera })
  await acabar?.(lado)
  const despues = leer()
  const por = (parte: Parte) => ((despues[parte] - antes[parte]) / total / cuantas) * 1e6
  const costo = { servicio: por('servicio'), coordinador: por('coordinador'), workers: por('workers') }
  lado.costos.push(costo)
  return costo.coordinador + costo.workers
}

const delCaso = (lado: Lado, parte: Parte): Serie => resumir(lado.costos.map((costo) => costo[parte]))

/** Measures a case on both sides in turns, and the CPU of each process. */
async function comparar({ opciones }: Banco, cluster: Lado, uno: Lado, caso: Caso): Promise<FilaDeInforme[]> {
  for (const lado of [cluster, uno]) {
    await medir(lado, caso, CALENTAMIENTO)
    await analizar(lado.base.url)
    lado.costos.length = 0
  }
  const valores = await intercalar(opciones.rondas, {
    programa: () => medir(cluster, caso, opciones.segundos),
    referencia: () => medir(uno, caso, opciones.segundos),
  })
  const { nombre, marca } = caso
  const en = (que: string, programa: Serie, mas: Partial<FilaDeInforme> = {}): FilaDeInforme => ({
    medida: `${nombre}: CPU ${que}`,
    unidad: 'µs',
    programa,
    ...mas,
  })
  const deUno = (serie: Serie) => ({ nombre: 'un PostgreSQL', serie })
  return [
    en('de la base', resumir(valores.programa), {
      referencia: deUno(resumir(valores.referencia)),
      razon: razones(valores.programa, valores.referencia),
      ...(marca ? { marca } : {}),
    }),
    en('del coordinador', delCaso(cluster, 'coordinador'), { marca: { sentido: '≤', valor: 20, absoluta: true } }),
    en('de los workers', delCaso(cluster, 'workers')),
    en('del servicio', delCaso(cluster, 'servicio'), {
      referencia: deUno(delCaso(uno, 'servicio')),
      razon: razones(
        cluster.costos.map(({ servicio }) => servicio),
        uno.costos.map(({ servicio }) => servicio),
      ),
    }),
  ]
}

const deComercio = ({ comercios }: Lado, conexion: number) => comercios[conexion % comercios.length]!.llave

const creaciones = (conexiones: number, marca?: Marca): Caso => ({
  nombre: `una guía, ${conexiones} conexiones`,
  conexiones,
  espera: 201,
  ...(marca ? { marca } : {}),
  siguiente: (lado, n) => ({
    metodo: 'POST',
    ruta: '/api/v1/guias',
    llave: deComercio(lado, n),
    cuerpo: nuevaGuia(),
  }),
})

const lotes: Caso = {
  nombre: `una guía de un lote de ${LOTE}, 8 conexiones`,
  conexiones: 8,
  espera: 200,
  cuantas: LOTE,
  marca: { sentido: '≤', valor: 1.2 },
  siguiente: (lado, n) => ({
    metodo: 'POST',
    ruta: '/api/v1/guias/bulk',
    llave: deComercio(lado, n),
    cuerpo: nuevoLote(LOTE),
  }),
}

/** Returns a case that reads the detail of existing guides, each with the key of its merchant. */
async function detalles(lados: readonly Lado[]): Promise<Caso> {
  const suyas = new Map<Lado, readonly { guia: string; llave: string }[]>()
  for (const lado of lados) {
    const { rows } = await lado.base.db.pool.query<{ guia: string; comercio_id: string }>(
      'select guia, comercio_id from guia_indice order by random() limit 5000',
    )
    const llaves = new Map(lado.comercios.map(({ id, llave }) => [id, llave]))
    suyas.set(
      lado,
      rows.map(({ guia, comercio_id }) => ({ guia, llave: llaves.get(comercio_id)! })),
    )
  }
  return {
    nombre: 'un detalle, 16 conexiones',
    conexiones: 16,
    espera: 200,
    marca: { sentido: '≤', valor: 2.2 },
    siguiente(lado) {
      const guias = suyas.get(lado)!
      const { guia, llave } = guias[Math.floor(Math.random() * guias.length)]!
      return { metodo: 'GET', ruta: `/api/v1/guias/${guia}`, llave }
    },
  }
}

/**
 * Returns a case that creates guides of merchants with two endpoints each, and waits until all webhooks are sent and
 * settled. The merchants are in test mode, because its endpoints may use http.
 */
async function conWebhooks(banco: Banco, lados: readonly Lado[]): Promise<Caso> {
  const suyos = new Map<Lado, readonly ComercioDeBench[]>()
  for (const lado of lados) {
    const comercios = await lado.base.crearComercios(COMERCIOS, 'test')
    const { url } = await lanzarReceptor(lado.base)
    await registrarEndpoints(banco, lado.base, [...comercios, ...comercios], (i) => `${url}/r/${i}`)
    suyos.set(lado, comercios)
  }
  const caso = creaciones(16)
  return {
    ...caso,
    nombre: 'una guía con dos webhooks, enviados y asentados',
    siguiente: (lado, n) => caso.siguiente({ ...lado, comercios: suyos.get(lado)! }, n),
    acabar: ({ base }) => vaciar(base, SIN_ENVIAR),
  }
}

/**
 * Moves all shards to the first `cuantos` workers. Uses a separate connection, because the service's connections have a
 * statement timeout.
 */
async function juntar({ url }: Base, cuantos: number): Promise<void> {
  const cliente = new pg.Client(url)
  await cliente.connect()
  try {
    await cliente.query(
      `select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', n <= $1) from (
         select *, row_number() over (order by groupid) as n from pg_dist_node where groupid > 0) w`,
      [cuantos],
    )
    await cliente.query(
      "select rebalance_table_shards(rebalance_strategy := 'by_shard_count', shard_transfer_mode := 'block_writes')",
    )
  } finally {
    await cliente.end()
  }
}

/** Measures the CPU of a creation for each number of workers. */
async function porWorkers({ opciones }: Banco, cluster: Lado): Promise<ResultadoDeMedida> {
  const caso = creaciones(16)
  const puntos: { x: number; total: Serie; coordinador: Serie }[] = []
  for (let cuantos = 1; cuantos <= cluster.workers.length; cuantos++) {
    await juntar(cluster.base, cuantos)
    await medir(cluster, caso, CALENTAMIENTO)
    cluster.costos.length = 0
    const total: number[] = []
    for (let n = 0; n < opciones.rondas; n++) total.push(await medir(cluster, caso, opciones.segundos))
    puntos.push({ x: cuantos, total: resumir(total), coordinador: delCaso(cluster, 'coordinador') })
  }
  const linea = (nombre: string, de: (punto: (typeof puntos)[number]) => Serie) => ({
    nombre,
    puntos: puntos.map((punto) => ({ x: punto.x, y: de(punto) })),
  })
  return {
    filas: puntos.map(({ x, total }) => ({
      medida: `una guía, 16 conexiones, ${x} workers: CPU de la base`,
      unidad: 'µs',
      programa: total,
    })),
    graficas: [
      {
        nombre: 'nodos',
        grafica: {
          titulo: 'CPU de la base por guía creada, según los workers',
          ejeX: 'workers',
          ejeY: 'µs',
          lineas: [
            linea('todas las máquinas', ({ total }) => total),
            linea('el coordinador', (uno) => uno.coordinador),
          ],
        },
      },
    ],
  }
}

function exigirBases() {
  const { CITUS_URL, POSTGRES_URL } = process.env
  if (!CITUS_URL || !POSTGRES_URL)
    throw new ErrorDeOpciones(
      'nodos pide CITUS_URL y POSTGRES_URL: una base vacía en un clúster y otra en un solo PostgreSQL de la misma versión, en esta máquina. Las llena y no las borra.',
    )
  return { CITUS_URL, POSTGRES_URL }
}

export const nodos: Medida[] = [
  {
    clave: 'nodos',
    descripcion:
      'CPU de cada proceso sobre un clúster (CITUS_URL) y sobre un PostgreSQL (POSTGRES_URL), y según los workers',
    aparte: () => true,
    medir(banco) {
      const { CITUS_URL, POSTGRES_URL } = exigirBases()
      return banco.conBaseDe(CITUS_URL, (repartida) =>
        banco.conBaseDe(POSTGRES_URL, async (una) => {
          const [cluster, uno] = [await abrirLado(repartida), await abrirLado(una)]
          const filas = [
            ...(await comparar(banco, cluster, uno, creaciones(16, { sentido: '≤', valor: 1.3 }))),
            ...(await comparar(banco, cluster, uno, creaciones(64, { sentido: '≤', valor: 1.6 }))),
            ...(await comparar(banco, cluster, uno, lotes)),
            ...(await comparar(banco, cluster, uno, await detalles([cluster, uno]))),
          ]
          const segun = await porWorkers(banco, cluster)
          filas.push(...segun.filas, ...(await comparar(banco, cluster, uno, await conWebhooks(banco, [cluster, uno]))))
          return { filas, graficas: segun.graficas! }
        }),
      )
    },
  },
]
