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
const LISTAS = 160
const LISTAS_POR_WEBHOOK = 16
const LISTAS_POR_COMERCIO = 40
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

interface Lista {
  trabajo: Job<Encargo>
  contenido: Contenido
  destino: Destino
  claves: KeyObject[]
  /** Since when it waits. */
  desde: number
}

/** One endpoint's share of the pump. */
interface Fila {
  espera: Lista[]
  enVuelo: number
  /** When one of its exchanges last began from idle, or ended. */
  movida: number
  /** Failures in a row that this process saw since it last read the endpoint. */
  fallas: number
  tope: number
}

/** One merchant's share. */
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
  const filas = new Map<string, Fila>()
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

  const filaDe = (webhook: string): Fila => {
    let fila = filas.get(webhook)
    if (!fila) {
      fila = { espera: [], enVuelo: 0, movida: 0, fallas: 0, tope: POR_WEBHOOK }
      filas.set(webhook, fila)
    }
    return fila
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
    enEspera >= LISTAS_POR_COMERCIO || (enVuelo >= topeDeComercio() && performance.now() - arranque > LENTO / 4)
  const rapidos = () => {
    const lento = performance.now() - LENTO
    let cuantos = 0
    for (const { inicio } of enVuelo) if (inicio > lento) cuantos++
    return cuantos
  }
  /** Whether all its exchanges have been waiting for so long. */
  const estaColgada = (fila: Fila, ms: number) => fila.enVuelo >= fila.tope && performance.now() - fila.movida > ms
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
      const cupo = LISTAS - enEspera
      if (detenido || cupo < LISTAS / 4 || porAsentar.length + asentando > SIN_ASENTAR || !hayCupo()) return
      const pasados = new Set(
        [...filas]
          .filter(([, fila]) => fila.espera.length >= LISTAS_POR_WEBHOOK || estaColgada(fila, LENTO / 4))
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
      const fila = filaDe(destino.webhook)
      fila.tope = destino.fallas >= FALLAS_PARA_FRENAR ? 1 : POR_WEBHOOK
      if (destino.fallas === 0) fila.fallas = 0
      fila.espera.push({ trabajo, contenido, destino, claves, desde: performance.now() })
      parte.enEspera++
      enEspera++
    }
    // The queue gives what was fed at once in any order.
    for (const { espera } of filas.values()) espera.sort(porEdad)
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

  const soltar = (fila: Fila, cuales: (lista: Lista) => boolean = () => true) => {
    const listas = fila.espera.filter(cuales)
    if (listas.length === 0) return
    fila.espera = fila.espera.filter((lista) => !cuales(lista))
    enEspera -= listas.length
    for (const { destino } of listas) parteDe(destino.comercio_id).enEspera--
    devolver(listas.map(({ trabajo }) => trabajo)).catch((err) => log.warn({ err }, 'deliveries'))
  }

  // --- sending

  /** One of each endpoint in turn, as long as there is room. */
  const arrancar = () => {
    if (enEspera === 0) return
    let cupo = Math.min(EN_VUELO - rapidos(), EN_VUELO_MAXIMO - enVuelo.size)
    const tope = topeDeComercio()
    for (let alguno = true; alguno && cupo > 0; ) {
      alguno = false
      for (const [webhook, fila] of filas) {
        if (cupo === 0) break
        const primera = fila.espera[0]
        if (!primera || fila.enVuelo >= fila.tope) continue
        const parte = parteDe(primera.destino.comercio_id)
        if (parte.enVuelo >= tope) continue
        fila.espera.shift()
        parte.enEspera--
        enEspera--
        cupo--
        alguno = true
        void enviar(webhook, fila, primera)
      }
    }
  }

  const enviar = async (webhook: string, fila: Fila, lista: Lista) => {
    const marca = { inicio: performance.now() }
    const { comercio_id } = lista.destino
    const parte = parteDe(comercio_id)
    enVuelo.add(marca)
    if (fila.enVuelo++ === 0) fila.movida = marca.inicio
    parte.enVuelo++
    parte.arranque = marca.inicio
    const resultado = await intercambiar(lista).catch((err: unknown) => void log.error({ err, webhook }, 'delivery'))
    enVuelo.delete(marca)
    fila.enVuelo--
    fila.movida = performance.now()
    parte.enVuelo--
    // It may have been cut by the stop itself: then it never happened, and another process sends it again.
    if (resultado && !abandonado) anotar(fila, resultado)
    if (fila.espera.length === 0 && fila.enVuelo === 0) filas.delete(webhook)
    if (parte.enVuelo === 0 && parte.enEspera === 0) partes.delete(comercio_id)
    arrancar()
    if (enEspera < LISTAS / 2) llenar()
  }

  const anotar = (fila: Fila, resultado: Resultado) => {
    const bueno = resultado.respuesta.error === null
    fila.fallas = bueno ? 0 : fila.fallas + 1
    if (bueno) fila.tope = POR_WEBHOOK
    deps.metricas.intento(resultado.respuesta.error, resultado.respuesta.total_ms / 1000)
    porAsentar.push(resultado)
    if (fila.fallas >= FALLAS_PARA_FRENAR) soltar(fila)
    reunir()
  }

  const intercambiar = async ({ trabajo, contenido, destino, claves }: Lista): Promise<Resultado> => {
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
    for (const fila of filas.values()) soltar(fila, ({ desde }) => desde < viejo || estaColgada(fila, LENTO))
    arrancar()
    llenar()
  }, RONDA)

  return {
    despertar: llenar,
    async detener() {
      detenido = true
      clearInterval(ronda)
      await Promise.race([llenando, new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
      for (const fila of filas.values()) soltar(fila)
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

const porEdad = ({ contenido: { entrega: a } }: Lista, { contenido: { entrega: b } }: Lista) =>
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
