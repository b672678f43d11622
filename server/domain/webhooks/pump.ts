import type { PgBoss } from 'pg-boss'
import { byPart } from '../../data/spread.ts'
import { translateError } from '../../platform/errors.ts'
import { sleep } from '../../platform/time/timers.ts'
import { inSpan } from '../../platform/tracing.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import type { EventoRecien } from '../eventos/evento.ts'
import { Admission, type AdmissionTurn, SLOW_AFTER } from './admission.ts'
import { DueReader } from './dueReader.ts'
import { type Endpoint, type ReadyDelivery, toReady } from './endpoint.ts'
import { Endpoints } from './endpoints.ts'
import { type ContenidoDeEntrega, entregasDe } from './entrega.ts'
import { exchange } from './exchange.ts'
import { Hosts, hostSendOf } from './hosts.ts'
import { Retries } from './retries.ts'
import { DueSearch } from './search.ts'
import type { AttemptResult } from './settleAttempts.ts'
import { Settlement } from './settlement.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** Interval between two rounds over the endpoints, in milliseconds. */
const RONDA = 500
/** Maximum time that a delivery waits in memory, in milliseconds. Other deliveries may need its place. */
const ESPERA_MAXIMA = 5_000
/** Time that a stop waits for exchanges in progress, in milliseconds; longer than an exchange may take. */
const PLAZO = 17_000

type DepsDeBomba = Pick<
  DepsDeTrabajo,
  | ('db' | 'dbSinEspera' | 'log' | 'reloj' | 'timers' | 'nuevoId' | 'azar')
  | ('secretos' | 'enviador' | 'destinos' | 'metricas' | 'senalar' | 'despertar' | 'hayTrabajo')
>

/** Returns the `traceparent` of the delivery's event; null if the event is not traced. */
const traceparentOf = (contenido: ContenidoDeEntrega) => ('evento' in contenido ? contenido.evento.traza : null)
/** Returns the id of the trace of the delivery's event. */
const traceOf = (contenido: ContenidoDeEntrega) => traceparentOf(contenido)?.split('-')[1]

/**
 * Sends due deliveries to merchants' servers. Holds endpoints, reads their due deliveries, sends the deliveries within
 * each merchant's share, and settles the results. A separate class does each of these tasks; this class connects them.
 */
export class Pump {
  readonly #deps: DepsDeBomba
  readonly #cupos = new Admission<ReadyDelivery, Endpoint>()
  readonly #anfitriones = new Hosts<Endpoint>()
  readonly #endpoints: Endpoints
  readonly #lector: DueReader
  readonly #asiento: Settlement
  readonly #busqueda: DueSearch
  readonly #reintentos: Retries
  #cancelRonda = () => {}
  #detenida = false
  #abandonada = false

  constructor(boss: PgBoss, deps: DepsDeBomba) {
    this.#deps = deps
    this.#endpoints = new Endpoints(boss, deps, this.#cupos, {
      alTomar: (endpoint) => this.#lector.request(endpoint),
      alConocer: (endpoint) => this.#alConocer(endpoint),
      alDejar: (endpoint) => {
        this.#lector.forget(endpoint)
        this.#anfitriones.forget(endpoint)
      },
      alFallar: this.#fallo('webhook endpoint upkeep failed'),
    })
    this.#lector = new DueReader(deps, this.#cupos, {
      conocer: (endpoints) => this.#endpoints.conocerTodos(endpoints),
      alLeer: () => this.#enviar(),
      alFallar: this.#fallo('reading due webhook deliveries failed'),
    })
    const deAsiento = { ...deps, alAvisar: deps.metricas.aviso }
    this.#asiento = new Settlement(deAsiento, (grupo, conSalud) => this.#alAsentar(grupo, conSalud))
    this.#reintentos = new Retries(boss, deps)
    this.#busqueda = new DueSearch(deps, (claves) => this.#alHallar(claves), this.#fallo('webhook search failed'))
    this.#girarLuego()
    this.#busqueda.request()
  }

  /** Starts a search for due deliveries of any endpoint. */
  wake(): void {
    this.#busqueda.request()
  }

  /**
   * Reads the due deliveries of these endpoints. Requests the leases of endpoints that this process does not hold.
   * @param deOtro true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  look(claves: readonly ClaveDeWebhook[], deOtro = false): void {
    const ajenas: ClaveDeWebhook[] = []
    for (const clave of claves) {
      const endpoint = this.#endpoints.de(clave.webhook)
      if (!endpoint) ajenas.push(clave)
      else {
        endpoint.actividad = this.#deps.timers.now()
        this.#lector.request(endpoint)
      }
    }
    this.#endpoints.pedir(ajenas, deOtro)
  }

  /**
   * Receives events that this process has just committed. Their deliveries to endpoints that this process holds are not
   * read again.
   */
  receive(recientes: readonly EventoRecien[]): void {
    const ahora = this.#deps.timers.now()
    const porMirar: ClaveDeWebhook[] = []
    for (const reciente of recientes)
      for (const contenido of entregasDe(reciente)) {
        const { entrega } = contenido
        const endpoint = this.#endpoints.de(entrega.webhook)
        if (endpoint?.esNuevo(entrega.evento, reciente.desde) && this.#cabe(endpoint, entrega.secuencia)) {
          endpoint.actividad = ahora
          endpoint.enMemoria.add(entrega.evento)
          this.#cupos.poner(endpoint, toReady(contenido, ahora))
        } else porMirar.push(entrega)
      }
    this.#enviar()
    this.look(porMirar)
  }

  /**
   * Returns true if a new delivery may go directly into memory. The delivery must belong to the first event of its
   * guide, and no older delivery may wait to be read. This keeps each guide's deliveries in order.
   */
  #cabe(endpoint: Endpoint, secuencia: number): boolean {
    const { readMode, sendMode } = endpoint
    if (secuencia !== 1 || readMode !== 'read' || sendMode === 'probing' || this.#detenida) return false
    return endpoint.estaActivo(this.#deps.reloj()) && this.#cupos.cabida(endpoint) > 0
  }

  /** Returns the endpoints of dead processes to the queue. */
  async rescue(): Promise<void> {
    const endpoints = await this.#endpoints.rescatar()
    if (endpoints > 0) this.#deps.log.warn({ endpoints }, 'endpoints of a lost worker')
  }

  /** Claims the endpoints that no process holds. */
  take(): void {
    this.#endpoints.tomar()
  }

  async stop(): Promise<void> {
    this.#detenida = true
    this.#cancelRonda()
    this.#reintentos.close()
    this.#lector.close()
    await Promise.all([this.#busqueda.close(), this.#endpoints.cerrar()])
    for (const endpoint of this.#endpoints.todos()) this.#cupos.sacar(endpoint)
    const fin = this.#deps.timers.now() + PLAZO
    while (this.#deps.timers.now() < fin && this.#cupos.enVuelo + this.#asiento.pending > 0) {
      this.#asiento.flush()
      await sleep(this.#deps.timers, 10)
    }
    this.#abandonada = true
    this.#asiento.abandon()
    await this.#endpoints.soltar().catch(this.#fallo('releasing webhook leases failed'))
    await this.#deps.enviador.cerrar()
  }

  // --- Sending deliveries ---

  /** Begins all exchanges for which there is room. */
  #enviar(): void {
    const ahora = this.#deps.timers.now()
    const puede = (endpoint: Endpoint) => this.#puede(endpoint, ahora)
    while (!this.#detenida && this.#asiento.hasRoom) {
      const turno = this.#cupos.tomar(ahora, puede)
      if (!turno) return
      void this.#intentar(turno)
    }
  }

  /**
   * Returns true if the endpoint may be sent to now. If its data is too old, starts a read; the endpoint has its turn
   * after the read.
   */
  #puede(endpoint: Endpoint, ahora: number): boolean {
    if (!endpoint.esFresco(ahora)) this.#endpoints.conocer(endpoint)
    else
      return (
        endpoint.arriendo.isValid(ahora) && endpoint.receptor?.claves !== undefined && this.#cabeEnSuAnfitrion(endpoint)
      )
    return false
  }

  #cabeEnSuAnfitrion(endpoint: Endpoint): boolean {
    const { contenido } = endpoint.waiting[endpoint.primeraLibre()]!
    const envio = hostSendOf(endpoint.receptor!, contenido.entrega)
    return !envio || this.#anfitriones.maySend(envio, endpoint)
  }

  async #intentar(turno: AdmissionTurn<ReadyDelivery, Endpoint>): Promise<void> {
    const { linea: endpoint, entrega } = turno
    const envio = hostSendOf(endpoint.receptor!, entrega.contenido.entrega)
    if (envio) this.#anfitriones.start(envio)
    const resultado = await this.#intercambiar(endpoint, entrega.contenido).catch((err: unknown) => {
      this.#deps.log.error({ err, webhook: endpoint.arriendo.key.webhook }, 'webhook exchange failed')
      return undefined
    })
    const ahora = this.#deps.timers.now()
    this.#cupos.terminar(turno, ahora)
    if (envio)
      for (const otro of this.#anfitriones.finish(envio, resultado?.respuesta.error === null)) this.#cupos.citar(otro)
    endpoint.actividad = ahora
    // The process may have lost the endpoint during the exchange, and taken it again. The guide is now free in both.
    const present = this.#endpoints.de(endpoint.arriendo.key.webhook) ?? endpoint
    this.#cupos.citar(present)
    // A stop may have cut the exchange, so its result does not count. Another process sends the delivery again.
    if (resultado && !this.#abandonada) this.#anotar(present, resultado, traceOf(entrega.contenido))
    else this.#devolver(present, entrega)
    this.#enviar()
    this.#lector.consider(present)
  }

  /** Makes the attempt in the trace of its event, also when the event is days old. */
  #intercambiar(endpoint: Endpoint, contenido: ContenidoDeEntrega): Promise<AttemptResult> {
    const { jobId, key } = endpoint.arriendo
    const parent = traceparentOf(contenido)
    const attributes = { 'guias.webhook': key.webhook, 'guias.arriendo': jobId.id }
    return inSpan('webhook lease', { parent, attributes }, () => exchange(this.#deps, endpoint.receptor!, contenido))
  }

  #anotar(endpoint: Endpoint, resultado: AttemptResult, traza: string | undefined): void {
    const { error, total_ms } = resultado.respuesta
    this.#deps.metricas.intento(error, total_ms / 1_000, traza)
    const falla = endpoint.anotar(error === null)
    this.#asiento.add(resultado, endpoint.estaSano)
    // The endpoint now gets one delivery at a time. Its waiting deliveries are read again in their turn.
    if (falla) this.#soltarListas(endpoint)
  }

  // --- Settling results, and reading deliveries that a search has found ---

  #alAsentar(grupo: readonly AttemptResult[], conSalud: boolean): void {
    const tocados = new Set<Endpoint>()
    for (const { entrega, respuesta } of grupo) {
      const endpoint = this.#endpoints.de(entrega.webhook)
      if (endpoint) tocados.add(endpoint)
      endpoint?.asentar(entrega.evento, respuesta.error === null)
      this.#endpoints.olvidar(entrega.webhook, entrega.evento)
    }
    if (conSalud) this.#alCambiarSalud([...tocados])
    for (const endpoint of tocados) this.#lector.consider(endpoint)
    this.#enviar()
  }

  /**
   * Reads the endpoints again and schedules their retries. The pause, state and failure count of the endpoints have
   * changed, and so have the due times of failed deliveries.
   */
  #alCambiarSalud(endpoints: readonly Endpoint[]): void {
    for (const endpoint of endpoints) this.#endpoints.conocer(endpoint)
    const claves = endpoints.map(({ arriendo }) => arriendo.key)
    byPart(this.#deps.db, claves, ({ comercio_id }) => comercio_id).then((partes) => {
      for (const [, suyas] of partes)
        this.#reintentos.schedule(suyas).then((ya) => this.look(ya), this.#fallo('scheduling webhook retries failed'))
    }, this.#fallo('scheduling webhook retries failed'))
  }

  #alConocer(endpoint: Endpoint): void {
    const ahora = this.#deps.reloj()
    this.#soltarListas(endpoint, (lista) => !endpoint.admite(lista, ahora))
    this.#cupos.citar(endpoint)
    this.#enviar()
  }

  /**
   * Reads the due deliveries of endpoints that a search found.
   * @returns true if one of them is new to this process: not held, or held with no delivery in memory
   */
  #alHallar(claves: readonly ClaveDeWebhook[]): boolean {
    const nuevas = claves.filter(({ webhook }) => {
      const endpoint = this.#endpoints.de(webhook)
      // An endpoint with deliveries in memory is read again when one of these deliveries ends.
      endpoint?.announce()
      return !endpoint || (endpoint.enMemoria.size === 0 && !endpoint.isReading)
    })
    this.look(nuevas)
    if (nuevas.length > 0) this.#deps.hayTrabajo()
    return nuevas.length > 0
  }

  /** Removes a delivery whose exchange gave no result, and the waiting deliveries of its guide. */
  #devolver(endpoint: Endpoint, entrega: ReadyDelivery): void {
    this.#soltarListas(endpoint, ({ guia_id }) => guia_id === entrega.guia_id)
    endpoint.drop(entrega)
    this.#endpoints.olvidar(endpoint.arriendo.key.webhook, entrega.evento)
  }

  /**
   * Removes the chosen waiting deliveries from memory, and with each all waiting deliveries of its guide. A later one
   * that stayed would be sent before it. They are read again from the database when the memory has room, or when the
   * endpoint may be sent requests again.
   */
  #soltarListas(endpoint: Endpoint, cuales: (lista: ReadyDelivery) => boolean = () => true): void {
    const guias = new Set(endpoint.waiting.filter(cuales).map(({ guia_id }) => guia_id))
    if (guias.size === 0) return
    for (const lista of this.#cupos.sacar(endpoint, ({ guia_id }) => guias.has(guia_id))) endpoint.drop(lista)
  }

  #girarLuego(): void {
    this.#cancelRonda = this.#deps.timers.after(RONDA, () => {
      this.#girarLuego()
      this.#girar()
    })
  }

  #girar(): void {
    const ahora = this.#deps.timers.now()
    for (const endpoint of this.#endpoints.todos()) {
      const colgado = endpoint.estaColgada(ahora, SLOW_AFTER)
      this.#soltarListas(endpoint, ({ desde }) => colgado || desde < ahora - ESPERA_MAXIMA)
      if (!colgado) this.#lector.consider(endpoint)
      this.#cupos.citar(endpoint)
    }
    this.#endpoints.cuidar(ahora)
    this.#enviar()
  }

  #fallo(que: string) {
    return (err: unknown) =>
      this.#deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, que)
  }
}
