import type { KeyObject } from 'node:crypto'
import type { Job, PgBoss } from 'pg-boss'
import type { Alimentacion, Bomba } from '../cola/trabajo.ts'
import { sentencia } from '../db.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { traducirError } from '../errores.ts'
import { asentarIntentos, type Resultado } from './asentarIntentos.ts'
import { cabecerasDe } from './cabeceras.ts'
import { FALLAS_PARA_FRENAR } from './calendario.ts'
import { type Contenido, cargarContenidos, cuerpoDe, type FilaEntregaDeWebhook, YA } from './entrega.ts'
import type { Encargo } from './entregasPendientes.ts'
import { claveDe, firmar } from './firma.ts'
import { descifrar, type FilaSecreto } from './secreto.ts'
import type { ClaveDeWebhook, FilaWebhook } from './webhook.ts'

/**
 * Exchanges under way at a time. One that takes longer than {@link LENTO} milliseconds costs nothing but its socket and
 * isn't counted…
 */
const EN_VUELO = 64
const LENTO = 1_000
/** …up to so many in all. */
const EN_VUELO_MAXIMO = 512
/** …of one endpoint, and of one merchant: no more than half of the quick ones, and fewer the fuller it is. */
const POR_WEBHOOK = 4
const POR_COMERCIO = 32
/**
 * Deliveries that are read and wait for their turn: in all, and from how many on an endpoint or a merchant gets no
 * others.
 */
const EN_ESPERA = 160
const EN_ESPERA_POR_WEBHOOK = 16
const EN_ESPERA_POR_COMERCIO = 40
/**
 * How long one waits at most, in milliseconds: its endpoint may be paused, moved or deleted meanwhile, and with the exchange
 * after it, it must be over well within what its claim lasts.
 */
const ESPERA_MAXIMA = 2_000
/** How many results are settled at once, and how long the first of them waits for the others, in milliseconds. */
const GRUPO = 100
const REUNION = 4
/** How soon after a settlement the feeder looks for more of the same endpoints, in milliseconds. */
const REPOSICION = 25
/** Results that aren't settled yet, beyond which nothing new is begun. */
const SIN_ASENTAR = 400
/** How often it looks for jobs that nobody told it of, in milliseconds. */
const RONDA = 250
/** How long a stop waits for exchanges under way, in milliseconds: longer than one may take. */
const PLAZO = 17_000

type DepsDeBomba = Pick<
  DepsDeTrabajo,
  'db' | 'log' | 'reloj' | 'nuevoId' | 'secretos' | 'enviador' | 'azar' | 'destinos' | 'metricas'
>

/** An endpoint as the pump needs it. */
type Destino = ClaveDeWebhook &
  Pick<FilaWebhook, 'url' | 'estado' | 'fallas' | 'freno_vence_en'> & {
    versiones: FilaSecreto['version'][]
    cifrados: FilaSecreto['cifrado'][]
  }

const DESTINOS = sentencia<{ claves: string; ahora: Date }, Destino>(
  'webhooks.destinos',
  `select w.comercio_id, w.modo, w.webhook, w.url, w.estado, w.fallas, w.freno_vence_en,
     array_agg(s.version order by s.version desc) as versiones, array_agg(s.cifrado order by s.version desc) as cifrados
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
   join webhook_secreto s on s.comercio_id = w.comercio_id and s.modo = w.modo and s.webhook = w.webhook
     and (s.vence_en is null or s.vence_en > :ahora)
   where w.estado <> 'eliminado' group by w.comercio_id, w.modo, w.webhook`,
)

/** A delivery that waits in memory for its turn. */
interface EnEspera {
  trabajo: Job<Encargo>
  contenido: Contenido
  destino: Destino
  claves: KeyObject[]
  /** Since when it waits. */
  desde: number
}

/** One endpoint's line: what waits for it, and what is under way. */
interface Linea {
  espera: EnEspera[]
  enVuelo: number
  /** When one of its exchanges last began from idle, or ended. */
  movida: number
  /** Failures in a row that this process saw since it last read the endpoint. */
  fallas: number
  tope: number
}

/** One merchant's share of the pump. */
interface Parte {
  enVuelo: number
  enEspera: number
  /** When one of its exchanges last began. */
  arranque: number
  /** Its endpoints that were seen: what is passed over while it has enough. */
  webhooks: Set<string>
}

/**
 * Takes jobs, sends what they stand for and settles the results. Every endpoint has its own short line and its own few
 * exchanges: one that hangs holds up nobody else. What can't go now is given back to the feeder, never kept.
 */
export function bombear(boss: PgBoss, cola: string, deps: DepsDeBomba, alimentador: Alimentacion): Bomba {
  const { db, log, reloj, enviador } = deps
  const lineas = new Map<string, Linea>()
  const partes = new Map<string, Parte>()
  const enVuelo = new Set<{ inicio: number }>()
  let enEspera = 0
  const porAsentar: Resultado[] = []
  let asentando = 0
  let grupos = 0
  let reunion: NodeJS.Timeout | undefined
  let llenando: Promise<void> | undefined
  let otra = false
  let detenido = false

  const lineaDe = (webhook: string): Linea => {
    let linea = lineas.get(webhook)
    if (!linea) {
      linea = { espera: [], enVuelo: 0, movida: 0, fallas: 0, tope: POR_WEBHOOK }
      lineas.set(webhook, linea)
    }
    return linea
  }
  const parteDe = (comercio: string): Parte => {
    let parte = partes.get(comercio)
    if (!parte) {
      parte = { enVuelo: 0, enEspera: 0, arranque: 0, webhooks: new Set() }
      partes.set(comercio, parte)
    }
    return parte
  }
  const topeDeComercio = () =>
    Math.max(POR_WEBHOOK, Math.min(POR_COMERCIO, Math.floor((EN_VUELO_MAXIMO - enVuelo.size) / 8)))
  /** A merchant whose receivers are slow waits in the queue, not in everybody's places here. */
  const tieneBastante = ({ enVuelo, enEspera, arranque }: Parte) =>
    enEspera >= EN_ESPERA_POR_COMERCIO || (enVuelo >= topeDeComercio() && performance.now() - arranque > LENTO / 4)
  const rapidos = () => {
    const lento = performance.now() - LENTO
    let cuantos = 0
    for (const { inicio } of enVuelo) if (inicio > lento) cuantos++
    return cuantos
  }
  /** Whether all its exchanges have been waiting for so long. */
  const estaColgada = (linea: Linea, ms: number) => linea.enVuelo >= linea.tope && performance.now() - linea.movida > ms
  const hayCupo = () => enVuelo.size < EN_VUELO_MAXIMO && rapidos() < EN_VUELO

  // --- taking jobs

  const llenar = () => {
    if (detenido) return
    if (llenando) {
      otra = true
      return
    }
    llenando = tomar()
      .catch((err) => {
        log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'deliveries')
        otra = false
      })
      .finally(() => {
        llenando = undefined
        if (otra) {
          otra = false
          llenar()
        }
      })
  }

  const tomar = async () => {
    for (;;) {
      const cupo = EN_ESPERA - enEspera
      if (detenido || cupo < EN_ESPERA / 4 || porAsentar.length + asentando > SIN_ASENTAR || !hayCupo()) return
      const pasados = new Set(
        [...lineas]
          .filter(([, linea]) => linea.espera.length >= EN_ESPERA_POR_WEBHOOK || estaColgada(linea, LENTO / 4))
          .map(([webhook]) => webhook),
      )
      for (const parte of partes.values())
        if (tieneBastante(parte)) for (const webhook of parte.webhooks) pasados.add(webhook)
      const ignoreGroups = [...pasados]
      // Few different numbers: each is a statement of its own.
      const batchSize = cupo >= EN_VUELO ? EN_VUELO : EN_VUELO / 2
      const trabajos = await boss.fetch<Encargo>(cola, {
        batchSize,
        ...(ignoreGroups.length > 0 ? { ignoreGroups } : {}),
      })
      if (trabajos.length > 0) await admitir(trabajos)
      if (trabajos.length < batchSize) return
    }
  }

  const admitir = async (trabajos: readonly Job<Encargo>[]) => {
    const ahora = reloj()
    const suyos = [...new Map(trabajos.map(({ data }) => [data.webhook, data])).values()]
    const [contenidos, leidos] = await Promise.all([
      cargarContenidos(
        db,
        trabajos.map(({ data }) => data),
      ),
      db.consultar(DESTINOS, { claves: JSON.stringify(suyos), ahora }),
    ])
    const destinos = new Map(leidos.map((destino) => [destino.webhook, { destino, claves: clavesDe(destino) }]))
    const sobrantes: Job<Encargo>[] = []
    for (const [i, trabajo] of trabajos.entries()) {
      const contenido = contenidos[i]
      const hallado = destinos.get(trabajo.data.webhook)
      if (!contenido || !hallado || detenido || !vale(trabajo, contenido.entrega, hallado.destino, ahora)) {
        sobrantes.push(trabajo)
        continue
      }
      const { destino, claves } = hallado
      // Without the key of its secret nothing can be sent: the claim lapses, and it is tried again after that.
      if (!claves) continue
      const parte = parteDe(destino.comercio_id)
      parte.webhooks.add(destino.webhook)
      if (tieneBastante(parte)) {
        sobrantes.push(trabajo)
        continue
      }
      const linea = lineaDe(destino.webhook)
      linea.tope = destino.fallas >= FALLAS_PARA_FRENAR ? 1 : POR_WEBHOOK
      if (destino.fallas === 0) linea.fallas = 0
      linea.espera.push({ trabajo, contenido, destino, claves, desde: performance.now() })
      parte.enEspera++
      enEspera++
    }
    // The queue gives what was fed at once in any order.
    for (const { espera } of lineas.values()) espera.sort(porEdad)
    arrancar()
    await devolver(sobrantes)
  }

  const clavesDe = ({ webhook, versiones, cifrados }: Destino): KeyObject[] | undefined => {
    try {
      return versiones.map((version, i) => claveDe(descifrar(deps.secretos, { webhook, version }, cifrados[i]!)))
    } catch (err) {
      log.error({ err, webhook }, 'signing secret')
      return undefined
    }
  }

  /** Out of the queue, unsent: what still waits is fed again as soon as its endpoint allows. */
  const devolver = async (trabajos: readonly Job<Encargo>[]) => {
    if (trabajos.length === 0) return
    await boss.deleteJob(cola, trabajos.map(intento))
    alimentador.olvidar(trabajos.map(({ id }) => id))
  }

  const soltar = (linea: Linea, cuales: (una: EnEspera) => boolean = () => true) => {
    const sueltas = linea.espera.filter(cuales)
    if (sueltas.length === 0) return
    linea.espera = linea.espera.filter((una) => !cuales(una))
    enEspera -= sueltas.length
    for (const { destino } of sueltas) parteDe(destino.comercio_id).enEspera--
    devolver(sueltas.map(({ trabajo }) => trabajo)).catch((err) => log.warn({ err }, 'deliveries'))
  }

  // --- sending

  /** One of each endpoint in turn, as long as there is room. */
  const arrancar = () => {
    if (enEspera === 0) return
    let cupo = Math.min(EN_VUELO - rapidos(), EN_VUELO_MAXIMO - enVuelo.size)
    const tope = topeDeComercio()
    for (let alguno = true; alguno && cupo > 0; ) {
      alguno = false
      for (const [webhook, linea] of lineas) {
        if (cupo === 0) break
        const primera = linea.espera[0]
        if (!primera || linea.enVuelo >= linea.tope) continue
        const parte = parteDe(primera.destino.comercio_id)
        if (parte.enVuelo >= tope) continue
        linea.espera.shift()
        parte.enEspera--
        enEspera--
        cupo--
        alguno = true
        void enviar(webhook, linea, primera)
      }
    }
  }

  const enviar = async (webhook: string, linea: Linea, una: EnEspera) => {
    const marca = { inicio: performance.now() }
    const { comercio_id } = una.destino
    const parte = parteDe(comercio_id)
    enVuelo.add(marca)
    if (linea.enVuelo++ === 0) linea.movida = marca.inicio
    parte.enVuelo++
    parte.arranque = marca.inicio
    const resultado = await intercambiar(una).catch((err: unknown) => void log.error({ err, webhook }, 'delivery'))
    enVuelo.delete(marca)
    linea.enVuelo--
    linea.movida = performance.now()
    parte.enVuelo--
    // It may have been cut by the stop itself: then it never happened, and another process sends it again.
    if (resultado && !abandonado) anotar(linea, resultado)
    if (linea.espera.length === 0 && linea.enVuelo === 0) lineas.delete(webhook)
    if (parte.enVuelo === 0 && parte.enEspera === 0) partes.delete(comercio_id)
    arrancar()
    if (enEspera < EN_ESPERA / 2) llenar()
  }

  const anotar = (linea: Linea, resultado: Resultado) => {
    const bueno = resultado.respuesta.error === null
    linea.fallas = bueno ? 0 : linea.fallas + 1
    if (bueno) linea.tope = POR_WEBHOOK
    deps.metricas.intento(resultado.respuesta.error, resultado.respuesta.total_ms / 1000)
    porAsentar.push(resultado)
    if (linea.fallas >= FALLAS_PARA_FRENAR) soltar(linea)
    reunir()
  }

  const intercambiar = async ({ trabajo, contenido, destino, claves }: EnEspera): Promise<Resultado> => {
    const { entrega } = contenido
    const { webhook, modo, versiones } = destino
    const url = destino.url!
    const iniciado_en = reloj()
    const cuerpo = cuerpoDe(contenido)
    const firma = firmar(entrega.evento, Math.floor(iniciado_en.getTime() / 1000), cuerpo, claves)
    const respuesta = await enviador.enviar({
      canal: webhook,
      url,
      cabeceras: cabecerasDe(firma),
      cuerpo,
      loopback: deps.destinos.loopback && modo === 'test',
    })
    return {
      id: deps.nuevoId().id,
      trabajo: intento(trabajo),
      entrega,
      url,
      secretos: versiones,
      iniciado_en,
      respuesta,
    }
  }

  // --- settling

  const reunir = () => {
    if (porAsentar.length >= GRUPO) return void cerrarGrupo()
    reunion ??= setTimeout(cerrarGrupo, REUNION)
  }

  const cerrarGrupo = () => {
    clearTimeout(reunion)
    reunion = undefined
    // Two at a time: one is on its way to the disk while the other is made.
    while (porAsentar.length > 0 && grupos < 2) {
      const grupo = porAsentar.splice(0, GRUPO)
      asentando += grupo.length
      grupos++
      void asentarGrupo(grupo)
    }
  }

  const asentarGrupo = async (grupo: Resultado[]) => {
    const inicio = performance.now()
    for (let espera = 100; ; espera = Math.min(2 * espera, 5_000)) {
      try {
        await asentarIntentos(boss, cola, { db, log, reloj, azar: deps.azar, alAvisar: deps.metricas.aviso }, grupo)
        break
      } catch (err) {
        // Nothing of it was written. It is tried until it is: what is given up is sent again by somebody.
        log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err, entregas: grupo.length }, 'settle')
        if (abandonado) break
        await new Promise((resolve) => setTimeout(resolve, espera))
      }
    }
    const buenas = grupo.filter(({ respuesta }) => respuesta.error === null).length
    log.info({ cola, intentos: grupo.length, buenas, ms: Math.round(performance.now() - inicio) }, 'job')
    asentando -= grupo.length
    grupos--
    alimentador.avisar(REPOSICION)
    cerrarGrupo()
    llenar()
  }

  let abandonado = false
  const ronda = setInterval(() => {
    // What waits behind a receiver that hangs would keep the others' places; behind a slow one, its claim would lapse.
    const viejo = performance.now() - ESPERA_MAXIMA
    for (const linea of lineas.values()) soltar(linea, ({ desde }) => desde < viejo || estaColgada(linea, LENTO))
    arrancar()
    llenar()
  }, RONDA)

  return {
    despertar: llenar,
    async detener() {
      detenido = true
      clearInterval(ronda)
      await Promise.race([llenando, new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
      for (const linea of lineas.values()) soltar(linea)
      const fin = performance.now() + PLAZO
      while (performance.now() < fin && (enVuelo.size > 0 || porAsentar.length > 0 || asentando > 0)) {
        cerrarGrupo()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      abandonado = true
      await enviador.cerrar()
    },
  }
}

/** The claim on a job, with which it is settled: a later claim is another's. */
const intento = ({ id, retryCount }: Job<Encargo>) => ({ id, retryCount })

const porEdad = ({ contenido: { entrega: a } }: EnEspera, { contenido: { entrega: b } }: EnEspera) =>
  a.proximo_en.getTime() - b.proximo_en.getTime() || a.secuencia - b.secuencia

/** Whether it is still to be sent, and now. */
const vale = (
  { data }: Job<Encargo>,
  { estado, turno, proximo_en }: FilaEntregaDeWebhook,
  { estado: delDestino, freno_vence_en }: Destino,
  ahora: Date,
) =>
  estado === 'pendiente' &&
  turno === data.turno &&
  (proximo_en.getTime() === YA.getTime() ||
    (delDestino === 'activo' && (freno_vence_en === null || freno_vence_en <= ahora)))
