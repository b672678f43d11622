import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as dormir } from 'node:timers/promises'
import { abrirEnchufe, type Enchufe } from '../arnes/carga.ts'
import { INSERTAR_GUIA, nuevaGuia, nuevosEncargos, sembrarAvisosDeWebhook } from '../arnes/datos.ts'
import { type DestinoDeEntregas, type Encargo, relojMonotono } from '../arnes/encargo.ts'
import type { Banco, Base, ComercioDeBench, Programa } from '../arnes/entorno.ts'
import type { Medida, ResultadoDeMedida } from '../arnes/informe.ts'
import { formatearNumero, miles } from '../arnes/numero.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { cpuOf, cpuSince, type Figures } from '../arnes/sides.ts'
import { alRitmo, lanzarReceptor, mandar, type ReceptorDeBench, registrarEndpoints, vaciar } from '../arnes/webhooks.ts'
import { fila } from './crear.ts'

const ENDPOINTS = 20
const MUCHOS = 2_000
/** Events per second of the delay measurements. */
const RITMO_DE_EVENTOS = 200
/** Maximum wait for webhooks, in milliseconds. */
const PLAZO = 300_000

/** Remaining work in the queue of the service (SIN_ENVIAR) and of graphile-worker (SIN_TRABAJAR), for FROM clauses. */
const SIN_ENVIAR = "webhook_aviso where estado = 'pendiente'"
const SIN_TRABAJAR = 'graphile_worker._private_jobs'

// --- Deliveries per second: all deliveries are pending when the measurement starts

/**
 * Program under measurement: `poner` inserts `cuantas` pending deliveries, and `acabar` waits until no work is left
 * after the last reception.
 */
interface Lado {
  nombre: string
  pid: number
  poner(cuantas: number): Promise<void>
  acabar(): Promise<void>
}

/** Returns a function that measures deliveries per second, from the first to the last reception. */
function cronometro({ pidDePostgres }: Banco, receptor: ReceptorDeBench, lado: Lado) {
  const processes = { 'su proceso': [lado.pid], PostgreSQL: [pidDePostgres], receptor: [receptor.pid] }
  /** Microseconds of CPU per delivery. */
  const costos: Figures['cpu'][] = []
  let repetidas = 0
  return {
    async medir(cuantas: number): Promise<number> {
      await receptor.reiniciar()
      await lado.poner(cuantas)
      const antes = cpuOf({ processes })
      const resumen = await receptor.esperar(cuantas, PLAZO)
      await lado.acabar()
      costos.push(cpuSince({ processes }, antes, cuantas))
      repetidas += resumen.repetidas
      return ((cuantas - 1) / (resumen.ultima! - resumen.primera!)) * 1000
    },
    olvidar: () => void costos.splice(0),
    nota(): string {
      const cpu = Object.keys(processes).map(
        (parte) => `${parte} ${formatearNumero(resumir(costos.map((costo) => costo[parte]!)).mediana)} µs`,
      )
      const otraVez = repetidas > 0 ? `; ${repetidas} llegaron más de una vez` : ''
      return `${lado.nombre}: CPU por webhook: ${cpu.join(', ')}${otraVez}`
    },
  }
}

const deWorker = (base: Base, destinos: readonly DestinoDeEntregas[], { pid }: Programa): Lado => ({
  nombre: 'servicio',
  pid,
  poner: (cuantas) => sembrarAvisosDeWebhook(base.url, destinos, cuantas),
  acabar: () => vaciar(base, SIN_ENVIAR),
})

const deGraphile = (base: Base, destinos: readonly DestinoDeEntregas[], { pid }: Programa): Lado => ({
  nombre: 'graphile-worker',
  pid,
  async poner(cuantas) {
    const encargos = JSON.stringify(nuevosEncargos(destinos, cuantas))
    const cliente = await base.db.pool.connect()
    try {
      await cliente.query('begin')
      await cliente.query(
        `select count(*) from graphile_worker.add_jobs((
           select array_agg(row('enviar', x, null, null, null, null, null, null)::graphile_worker.job_spec)
           from json_array_elements($1::json) x))`,
        [encargos],
      )
      await cliente.query(`analyze ${SIN_TRABAJAR}`)
      await cliente.query('commit')
    } finally {
      cliente.release()
    }
  },
  acabar: () => vaciar(base, SIN_TRABAJAR),
})

const deUndici = (carpeta: string, destinos: readonly DestinoDeEntregas[], { url, pid }: Programa): Lado => {
  let enviando: Promise<void> | undefined
  const archivo = join(carpeta, 'encargos.json')
  return {
    nombre: 'undici',
    pid,
    async poner(cuantas) {
      writeFileSync(archivo, JSON.stringify(nuevosEncargos(destinos, cuantas)))
      enviando = mandar(`${url}${archivo}`)
      enviando.catch(() => {}) // `acabar` awaits this promise
    },
    async acabar() {
      await enviando
      rmSync(archivo)
    },
  }
}

/** Starts senders of each kind with `endpoints` endpoints at one receiver, and warms them up with `cuantas` deliveries. */
async function levantar<Nombre extends 'programa' | 'graphile' | 'undici'>(
  banco: Banco,
  base: Base,
  nombres: readonly Nombre[],
  { endpoints = ENDPOINTS, cuantas = 3_000 } = {},
) {
  const receptor = await lanzarReceptor(base)
  const comercios = await base.crearComercios(Math.min(endpoints, 200), 'test')
  const duenos = Array.from({ length: endpoints }, (_, i) => comercios[i % comercios.length]!)
  const destinos = await registrarEndpoints(banco, base, duenos, (i) => `${receptor.url}/r/${i}`)
  const abrir = {
    programa: async () => deWorker(base, destinos, await base.worker()),
    graphile: async () => deGraphile(base, destinos, await base.programa('graphile.ts')),
    undici: async () => deUndici(banco.carpeta, destinos, await base.programa('undici.ts')),
  }
  const lados = new Map<Nombre, ReturnType<typeof cronometro>>()
  for (const nombre of nombres) {
    const lado = cronometro(banco, receptor, await abrir[nombre]())
    // The warm-up compiles code, prepares statements and opens connections.
    await lado.medir(cuantas)
    lado.olvidar()
    lados.set(nombre, lado)
  }
  return {
    /** Measures all sides in turns. */
    medir: (pendientes: number) =>
      intercalar(
        banco.opciones.rondas,
        Object.fromEntries(nombres.map((nombre) => [nombre, () => lados.get(nombre)!.medir(pendientes)])) as Record<
          Nombre,
          () => Promise<number>
        >,
      ),
    notas: () => [...lados.values()].map((lado) => lado.nota()),
  }
}

const rendimiento = (banco: Banco) =>
  banco.conBase(async (base): Promise<ResultadoDeMedida> => {
    const lados = await levantar(banco, base, ['programa', 'graphile', 'undici'])
    const filas: ResultadoDeMedida['filas'] = []
    for (const cuantas of [3_000, 8_000]) {
      const { programa, graphile, undici } = await lados.medir(cuantas)
      const medida = `enviar ${miles(cuantas)} webhooks en espera, ${ENDPOINTS} endpoints`
      const contra = (nombre: string, referencia: number[], valor: number) =>
        fila(medida, 'webhooks/s', nombre, { programa, referencia }, { sentido: '≥', valor })
      filas.push(contra('graphile-worker', graphile, 2), contra('undici sin base de datos', undici, 0.5))
    }
    return { filas, notas: lados.notas() }
  })

/** Measures two deliveries to each of many endpoints, for the cost of an endpoint. */
const muchos = (banco: Banco) =>
  banco.conBase(async (base): Promise<ResultadoDeMedida> => {
    const cuantas = 2 * MUCHOS
    const lados = await levantar(banco, base, ['programa', 'graphile'], { endpoints: MUCHOS, cuantas })
    const { programa, graphile: referencia } = await lados.medir(cuantas)
    const medida = `enviar 2 webhooks a cada uno de ${miles(MUCHOS)} endpoints`
    return {
      filas: [fila(medida, 'webhooks/s', 'graphile-worker', { programa, referencia }, { sentido: '≥', valor: 1.3 })],
      notas: lados.notas(),
    }
  })

/** Draws deliveries per second by the number of pending deliveries. */
const atraso = (banco: Banco) =>
  banco.conBase(async (base): Promise<ResultadoDeMedida> => {
    const lados = await levantar(banco, base, ['programa'])
    const puntos: { x: number; programa: number[] }[] = []
    for (const x of [1_000, 10_000, 100_000]) puntos.push({ x, ...(await lados.medir(x)) })
    const grafica = {
      titulo: 'Webhooks por segundo según cuántos esperan, 20 endpoints',
      ejeX: 'en espera al empezar',
      ejeY: 'webhooks/s',
      logaritmica: true,
      lineas: [{ nombre: 'servicio', puntos: puntos.map(({ x, programa }) => ({ x, y: resumir(programa) })) }],
    }
    return {
      filas: puntos.map(({ x, programa }) =>
        fila(`enviar ${miles(x)} webhooks en espera`, 'webhooks/s', '', { programa, referencia: [] }),
      ),
      notas: lados.notas(),
      graficas: [{ nombre: 'atraso', grafica }],
    }
  })

// --- Delay of a delivery: events at a steady pace

interface Tiempos {
  p50: number
  p99: number
}

/**
 * Returns percentiles of the milliseconds from commit, as the client observes it, to arrival. Skips events that never
 * arrived.
 */
function tiempos(confirmadas: ReadonlyMap<string, number>, llegadas: ReadonlyMap<string, number>): Tiempos {
  const ms = [...confirmadas]
    .flatMap(([id, cuando]) => {
      const llegada = llegadas.get(id)
      return llegada === undefined ? [] : [llegada - cuando]
    })
    .sort((a, b) => a - b)
  const percentil = (p: number) => ms[Math.min(ms.length - 1, Math.floor(ms.length * p))] ?? Number.NaN
  return { p50: percentil(0.5), p99: percentil(0.99) }
}

/**
 * Creates guides at a steady pace, for the merchants in turn.
 * @returns by event, the instant at which the answer to its creation arrived
 */
async function crearAlRitmo(url: string, comercios: readonly ComercioDeBench[], segundos: number) {
  const confirmadas = new Map<string, number>()
  const libres: Enchufe[] = []
  const todos: Enchufe[] = []
  const abrir = () => {
    const nuevo = abrirEnchufe(url)
    todos.push(nuevo)
    return nuevo
  }
  try {
    await alRitmo(RITMO_DE_EVENTOS, segundos, async (i) => {
      const enchufe = libres.pop() ?? abrir()
      const { llave } = comercios[i % comercios.length]!
      const { status, cuerpo } = await enchufe.pedir({
        metodo: 'POST',
        ruta: '/api/v1/guias',
        llave,
        cuerpo: nuevaGuia(),
      })
      const cuando = relojMonotono()
      libres.push(enchufe)
      if (status !== 201) throw new Error(`POST /api/v1/guias: ${status} ${cuerpo().slice(0, 1000)}`)
      const { guia } = JSON.parse(cuerpo()) as { guia: string }
      confirmadas.set(`evt_${guia}_1`, cuando)
    })
  } finally {
    for (const enchufe of todos) enchufe.cerrar()
  }
  return confirmadas
}

/**
 * Inserts the rows of a guide and the job of its delivery in one transaction, at a steady pace.
 * @returns by event, the instant at which the COMMIT returned
 */
async function trabajosAlRitmo({ db }: Base, destinos: readonly DestinoDeEntregas[], segundos: number) {
  const confirmadas = new Map<string, number>()
  const encargos = nuevosEncargos(destinos, RITMO_DE_EVENTOS * segundos)
  await alRitmo(RITMO_DE_EVENTOS, segundos, async (i) => {
    const encargo: Encargo = encargos[i]!
    const cliente = await db.pool.connect()
    try {
      await cliente.query('begin')
      await cliente.query({
        name: 'bench.guia',
        text: INSERTAR_GUIA,
        values: [encargo.numero, encargo.comercio_id],
      })
      await cliente.query({
        name: 'bench.trabajo',
        text: "select from graphile_worker.add_job('enviar', $1::json)",
        values: [JSON.stringify(encargo)],
      })
      await cliente.query('commit')
      confirmadas.set(encargo.evento, relojMonotono())
    } finally {
      cliente.release()
    }
  })
  return confirmadas
}

/**
 * Measures the delay from commit to reception, against graphile-worker.
 * @param aparte if true, a worker sends the webhooks of events that the API commits in another process
 */
const latencia = (aparte: boolean) => (banco: Banco) =>
  banco.conBase(async (base): Promise<ResultadoDeMedida> => {
    const { rondas, segundos } = banco.opciones
    const receptor = await lanzarReceptor(base)
    const [suyo, ajeno] = await base.crearComercios(2, 'test')
    // The merchant of the reference has no endpoint in the service, so the service sends nothing for this merchant.
    const [destino] = await registrarEndpoints(banco, base, [suyo!], () => `${receptor.url}/r`)
    const deReferencia: DestinoDeEntregas = { ...destino!, comercio: ajeno! }
    const { url } = await base.servicio(aparte ? { WORKERS: '0' } : {})
    if (aparte) await base.worker()
    await base.programa('graphile.ts')
    const p99 = { programa: [] as number[], referencia: [] as number[] }
    const medir = async (lado: keyof typeof p99, duracion = segundos) => {
      await receptor.reiniciar()
      const confirmadas =
        lado === 'programa'
          ? await crearAlRitmo(url, [suyo!], duracion)
          : await trabajosAlRitmo(base, [deReferencia], duracion)
      await receptor.esperar(confirmadas.size, PLAZO)
      const suyos = tiempos(confirmadas, await receptor.llegadas())
      await vaciar(base, lado === 'programa' ? SIN_ENVIAR : SIN_TRABAJAR)
      p99[lado].push(suyos.p99)
      return suyos.p50
    }
    for (const lado of ['programa', 'referencia'] as const) {
      await medir(lado, 2 * segundos)
      p99[lado].pop()
    }
    await base.db.pool.query('analyze')
    const p50 = await intercalar(rondas, {
      programa: () => medir('programa'),
      referencia: () => medir('referencia'),
    })
    const donde = aparte ? 'de la API a un worker' : 'en un proceso'
    const filaDe = (percentil: string, valores: typeof p99, marca: Parameters<typeof fila>[4]) =>
      fila(
        `de confirmado a recibido, ${RITMO_DE_EVENTOS} eventos/s, ${donde}, ${percentil}`,
        'ms',
        'graphile-worker',
        valores,
        marca,
      )
    return {
      filas: [
        filaDe('p50', p50, { sentido: '≤', valor: aparte ? 1.2 : 0.2 }),
        filaDe('p99', p99, { sentido: '≤', valor: 20, absoluta: true }),
      ],
      notas: [
        'del servicio se cuenta desde que la respuesta de la creación llegó al cliente; de graphile-worker, desde que volvió el COMMIT.',
      ],
    }
  })

/** Measures the effect of an endpoint that never answers, with 100,000 pending deliveries, on the other endpoints. */
async function vecino(banco: Banco): Promise<ResultadoDeMedida> {
  const { rondas } = banco.opciones
  // Longer than the timeout of an attempt, so that the first attempts fail and the probes after them are measured too.
  const segundos = Math.max(20, banco.opciones.segundos)
  const cuantas = 100_000
  const hechas: number[] = []
  const celda = (lado: 'con' | 'sin') => () =>
    banco.conBase(async (base) => {
      const [receptor, mudo] = [await lanzarReceptor(base), await lanzarReceptor(base)]
      const comercios = await base.crearComercios(ENDPOINTS, 'test')
      const [enfermo, ...sanos] = await registrarEndpoints(banco, base, comercios, (i) =>
        i === 0 ? `${mudo.url}/colgado` : `${receptor.url}/r/${i}`,
      )
      const suyos = sanos.map(({ comercio }) => comercio)
      const { url } = await base.servicio()
      await receptor.esperar((await crearAlRitmo(url, suyos, 5)).size, PLAZO)
      await base.db.pool.query('analyze')
      await receptor.reiniciar()
      if (lado === 'con') {
        await sembrarAvisosDeWebhook(base.url, [enfermo!], cuantas)
        for (const limite = performance.now() + 10_000; (await mudo.resumen()).colgadas === 0; await dormir(20))
          if (performance.now() > limite) throw new Error('nada llegó al receptor que no responde')
      }
      const confirmadas = await crearAlRitmo(url, suyos, segundos)
      await receptor.esperar(confirmadas.size, 15_000).catch(() => {}) // missing arrivals are counted below
      const llegadas = await receptor.llegadas()
      if (lado === 'con')
        hechas.push(([...confirmadas.keys()].filter((id) => llegadas.has(id)).length / confirmadas.size) * 100)
      return tiempos(confirmadas, llegadas).p99
    })
  const { con, sin } = await intercalar(rondas, { con: celda('con'), sin: celda('sin') })
  const p99 = fila(
    `un endpoint de ${ENDPOINTS} no responde: de confirmado a recibido de los demás, ${RITMO_DE_EVENTOS} eventos/s, p99`,
    'ms',
    'sin él',
    { programa: con, referencia: sin },
    { sentido: '≤', valor: 2 },
  )
  return {
    filas: [
      {
        medida: `un endpoint de ${ENDPOINTS} no responde y ${miles(cuantas)} le esperan: los de los demás que llegan`,
        unidad: '%',
        programa: resumir(hechas),
        marca: { sentido: '≥', valor: 100, absoluta: true },
      },
      p99,
    ],
  }
}

export const medidasDeWebhooks: Medida[] = [
  {
    clave: 'webhooks',
    descripcion: 'webhooks por segundo, contra graphile-worker y undici sin base de datos',
    medir: rendimiento,
  },
  {
    clave: 'latencia',
    descripcion: 'de confirmado a recibido a 200 eventos por segundo, contra graphile-worker',
    medir: latencia(false),
  },
  {
    clave: 'latenciaAparte',
    descripcion: 'lo mismo, de la API a un worker en otro proceso',
    medir: latencia(true),
  },
  {
    clave: 'muchos',
    descripcion: 'webhooks por segundo a 2,000 endpoints, contra graphile-worker',
    medir: muchos,
  },
  { clave: 'vecino', descripcion: 'un endpoint de 20 no responde: qué les cuesta a los demás', medir: vecino },
  { clave: 'atraso', descripcion: 'webhooks por segundo según cuántos esperan', medir: atraso },
]
