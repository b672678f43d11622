import { IN_FLIGHT } from '../../server/domain/webhooks/admission.ts'
import type { Banco } from '../arnes/entorno.ts'
import type { FilaDeInforme } from '../arnes/informe.ts'
import { formatearNumero, miles } from '../arnes/numero.ts'
import { resumir } from '../arnes/rondas.ts'
import type { Comportamiento, Costos } from '../simulacion/bomba.ts'
import { type Caso, cuelga, enPunto, simular, tras } from '../simulacion/simulacion.ts'
import { fila } from './crear.ts'
import { EVENTOS } from './crecer.ts'
import type { Medida } from './medida.ts'
import { levantarLado } from './webhooks.ts'

const ENDPOINTS = 20
/** Cores of the bench's machine. Generator, service, receiver and PostgreSQL share them. */
const NUCLEOS = 2

interface Escena {
  nombre: string
  comercios: number
  /** Milliseconds until the receiver answers. */
  tras: number
  /** Pending webhooks: enough for a second, because Linux reports CPU time in hundredths of a second. */
  webhooks: number
}

const ESCENAS: readonly Escena[] = [
  { nombre: 'receptores que contestan en seguida', comercios: 20, tras: 0, webhooks: 20_000 },
  { nombre: 'receptores que tardan 20 ms', comercios: 20, tras: 20, webhooks: 3_000 },
  { nombre: 'los mismos, de un solo comercio', comercios: 1, tras: 20, webhooks: 3_000 },
  { nombre: 'receptores que tardan 100 ms', comercios: 20, tras: 100, webhooks: 3_000 },
]

/** Compares the measured rate of the service with the simulated rate. The simulation uses the costs of the same run. */
const comprobar = (banco: Banco, { nombre, comercios, tras: ms, webhooks }: Escena) =>
  banco.conBase(async (base) => {
    const lado = await levantarLado(banco, base, webhooks, { comercios, cuantos: ENDPOINTS, ruta: `/tras/${ms}` })
    const medidas: number[] = []
    const simuladas: number[] = []
    for (let n = 0; n < banco.opciones.rondas; n++) {
      medidas.push(await lado.medir(webhooks))
      const { suyo, hilo, postgres, receptor, demora } = lado.costos.at(-1)!
      const costos = {
        envio: hilo / 1_000,
        ayudantes: (suyo - hilo) / 1_000,
        postgres: postgres / 1_000,
        receptor: receptor / 1_000,
        disco: 1,
      }
      const caso = { semilla: n, nucleos: NUCLEOS, procesos: 1, endpoints: ENDPOINTS, comercios, costos, eventos: 1 }
      simuladas.push(
        simular({ ...caso, enCola: webhooks, responder: () => (ms > 0 ? enPunto(demora) : tras(demora)) }).porSegundo,
      )
    }
    return fila(`simulación: ${nombre}`, 'webhooks/s', 'medido', { programa: simuladas, referencia: medidas })
  })

const contraLoMedido = async (banco: Banco) => {
  const filas: FilaDeInforme[] = []
  for (const escena of ESCENAS) filas.push(await comprobar(banco, escena))
  return { filas }
}

const GUIAS_AL_DIA = [100_000, 1_000_000, 10_000_000, 100_000_000]
/** Deliveries per event (ENTREGAS), and rate of the busiest hour relative to the day's mean (PICO). */
const ENTREGAS = 1.1
const PICO = 3
/** Simulated seconds of the busiest hour. */
const DURANTE = 20
/** Costs in milliseconds that `npm run bench -- --solo costos` reported on this machine. */
const COSTOS: Costos = { envio: 0.09, ayudantes: 0.03, postgres: 0.045, receptor: 0, disco: 2 }
/** Average answer time of receivers, in milliseconds. */
const MEDIA = 80
/** Target share, 0 to 1, of a process's exchanges in flight and of PostgreSQL's cores, in the busiest hour. */
const HOLGURA = 0.6

/**
 * Returns the receiver of an endpoint. Of a hundred endpoints two hang, one takes two seconds, and the others answer in
 * 20 to about 400 ms.
 */
const receptores = (endpoint: number): Comportamiento => {
  if (endpoint % 100 < 2) return cuelga
  if (endpoint % 100 === 2) return tras(2_000)
  return (azar) => ({ ms: 20 - Math.log(1 - azar()) * (MEDIA - 20), buena: azar() < 0.999 })
}

/**
 * Returns the number of sending processes for the busiest hour, so that exchanges in flight fill at most
 * {@link HOLGURA} of {@link IN_FLIGHT}.
 */
const procesosPara = (porSegundo: number) =>
  Math.max(2, Math.ceil((porSegundo * MEDIA) / 1_000 / (IN_FLIGHT * HOLGURA)))

async function escala() {
  const filas: FilaDeInforme[] = []
  const notas: string[] = []
  for (const guias of GUIAS_AL_DIA) {
    const porSegundo = (guias * EVENTOS * ENTREGAS * PICO) / 86_400
    const procesos = procesosPara(porSegundo)
    const endpoints = Math.max(100, Math.min(20_000, Math.round(guias / 1_000)))
    const postgres = Math.max(1, Math.ceil((porSegundo * COSTOS.postgres) / 1_000 / HOLGURA))
    const caso: Omit<Caso, 'semilla'> = {
      nucleos: 1,
      aparte: { postgres },
      procesos,
      endpoints,
      comercios: endpoints,
      costos: COSTOS,
      responder: receptores,
      cuenta: (endpoint) => endpoint % 100 > 2,
      porSegundo,
      durante: DURANTE * 1_000,
      hasta: 2 * DURANTE * 1_000,
    }
    const corridas = [1, 2, 3].map((semilla) => simular({ ...caso, semilla }))
    const de = (cual: 'p50' | 'p99') => resumir(corridas.map((corrida) => corrida[cual]))
    const nombre = `${miles(guias)} guías al día, ${formatearNumero(porSegundo)} entregas/s en la hora punta`
    for (const cual of ['p50', 'p99'] as const)
      filas.push({ medida: `${nombre}: ${cual} de los receptores sanos`, unidad: 'ms', programa: de(cual) })
    notas.push(
      `${nombre}: ${procesos} procesos que envían, ${postgres} núcleos de PostgreSQL, ocupados al ` +
        `${formatearNumero(100 * resumir(corridas.map(({ ocupacion }) => ocupacion)).mediana)} %, ${miles(endpoints)} endpoints`,
    )
  }
  return { filas, notas }
}

export const simulacion: Medida[] = [
  {
    clave: 'simulacion',
    descripcion: 'lo que la simulación de los envíos hace con los costos de la misma corrida, contra lo medido',
    aparte: () => true,
    medir: contraLoMedido,
  },
  {
    clave: 'escala',
    descripcion: 'la simulación de los envíos de cien mil a cien millones de guías al día (docs/escala.md)',
    aparte: () => true,
    medir: escala,
  },
]
