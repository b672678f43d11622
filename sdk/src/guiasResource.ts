import { buildOtherRequest, buildRequest } from './call.js'
import type { ResourceClient } from './client.js'
import { isOfEndedGuide } from './endedGuide.js'
import { ErrorGuias } from './errors.js'
import type { Evento } from './evento.js'
import type {
  CancelacionParaCrear,
  CodigoDeGuia,
  CorreccionDeGuia,
  DevolucionDeGuia,
  EnlaceDeEtiquetas,
  FormatoDeEtiquetas,
  Guia,
  GuiaConEventos,
  GuiaIndividual,
  GuiaParaCrear,
  IntentoFallido,
  ListarEventosDeGuiaData,
  ListarGuiasData,
  ListarIntentosDeGuiaData,
  LoteCreado,
  LoteParaCrear,
  PaginaDeEventos,
  PaginaDeGuias,
  PaginaDeIntentos,
  PruebaDeEntrega,
  PuntosPorPulgada,
  ReintentoDeGuia,
  UbicacionParaConfirmar,
} from './generated/types.gen.js'
import { type CreacionDeMuchas, type OpcionesDeConversion, type OpcionesDeMuchas, prepareCreation } from './many.js'
import type { ConFechas, OpcionesConClave, OpcionesDeSolicitud } from './options.js'
import type { Listado } from './pages.js'
import type { ClavesPublicas } from './publicKeys.js'
import { Solicitud } from './request.js'
import { isEtiquetas, isFileContent, isGuia, isGuiaOrUnchanged, isKeySet, isLote, isPrueba } from './shapes.js'
import {
  followGuia,
  type OpcionesDeEspera,
  type OpcionesDeSeguimiento,
  type PruebaConPdf,
  waitForPruebaPdf,
} from './tracking.js'

/** Filtros de la lista de guías, con el cursor y el tamaño de la página. */
export type FiltrosDeGuias = ConFechas<NonNullable<ListarGuiasData['query']>>

/** Parte del historial de una guía que se pide: el cursor y el tamaño de la página. */
export type FiltrosDeHistorial = NonNullable<ListarEventosDeGuiaData['query']>

/** Opciones de la guía en detalle, con la parte del historial que viene con ella: el cursor y el tamaño de la página. */
export interface OpcionesDeDetalle extends OpcionesDeSolicitud, FiltrosDeHistorial {}

/** Intentos fallidos de una guía que se piden: el cursor y el tamaño de la página. */
export type FiltrosDeIntentos = NonNullable<ListarIntentosDeGuiaData['query']>

/** Opciones de las etiquetas de varias guías. */
export interface OpcionesDeEtiquetas extends OpcionesDeSolicitud {
  /** El papel: `10x15`, una por página, si falta; `carta`, cuatro por hoja carta. */
  formato?: FormatoDeEtiquetas | undefined
}

/** Opciones del PDF de una etiqueta, o de varias. */
export interface OpcionesDePdf extends OpcionesDeSolicitud {
  /** El papel, para varias guías: `10x15`, una por página, si falta; `carta`, cuatro por hoja carta. */
  formato?: FormatoDeEtiquetas | undefined
}

/** Opciones del ZPL de una etiqueta, o de varias. */
export interface OpcionesDeZpl extends OpcionesDeSolicitud {
  /** Puntos por pulgada de su impresora de etiquetas; 203 si falta. */
  ppp?: PuntosPorPulgada | undefined
}

/** Sus guías: crearlas, verlas, listarlas y cancelarlas. */
export class RecursoGuias {
  readonly #request: ResourceClient['request']
  readonly #list: ResourceClient['listar']
  readonly #send: ResourceClient['send']
  readonly #notify: (aviso: string) => void

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ request, listar, send }: ResourceClient, notify: (aviso: string) => void) {
    this.#request = request
    this.#list = listar
    this.#send = send
    this.#notify = notify
  }

  /**
   * Crea una guía y la devuelve en estado `aceptado`.
   *
   * Con `lat` y `lng`, o con `maps_url`, la ubicación queda confirmada. Sin ellos, el destinatario recibe un mensaje
   * para confirmarla.
   *
   * Ponga siempre `external_ref` (su número de pedido). Con ella, repetir la misma solicitud es seguro y devuelve la
   * guía que ya existe (`repetida` en `conRespuesta()`). La misma referencia con otros datos es un `ErrorConflicto`. Si la
   * red falla, el SDK repite la solicitud por su cuenta; sin `external_ref`, con una clave que vale para esta llamada: si
   * la llama otra vez, crea otra guía, salvo con su propia `claveDeIdempotencia`. Si la guía que ya existe no se entregará (cancelada,
   * devuelta, extraviada), lo avisa (`alAvisar`): no es un envío nuevo.
   *
   * ```ts
   * const { guia, estado } = await api.guias.crear({
   *   telefono: '+50231481676',
   *   departamento: 'Guatemala',
   *   municipio: 'San Juan Sacatepéquez',
   *   external_ref: 'PEDIDO-2026-00005',
   *   recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
   * })
   * ```
   */
  crear(guia: GuiaIndividual, opciones?: OpcionesConClave): Solicitud<Guia> {
    const sentRequest = this.#send(() => buildRequest('POST /guias', { body: guia }), isGuia, opciones)
    return new Solicitud(
      sentRequest.then((respuesta) => {
        const { guia: codigo, advertencias } = respuesta.datos
        const endedAdvertencia = advertencias?.find(isOfEndedGuide)
        if (endedAdvertencia) this.#notify(`${codigo}: ${endedAdvertencia.mensaje}.`)
        return respuesta
      }),
    )
  }

  /**
   * Crea de 1 a 100 guías. `recogida` es el punto de recogida de las guías que no traen el suyo.
   *
   * **La llamada no falla aunque fallen guías**: mire cada entrada de `resultados`. `ok` dice si la guía existe, y
   * `error`, por qué no. Si la respuesta se pierde, envíe el mismo lote otra vez: con `external_ref`, o con la misma `claveDeIdempotencia`, nada se duplica.
   * Las guías que ya existían cuentan en `repetidas` y no en `creadas`. `advertencias` trae lo que conviene revisar del
   * lote mismo.
   *
   * ```ts
   * const { resultados } = await api.guias.crearLote({ recogida, guias })
   * for (const r of resultados) {
   *   if (r.ok) console.log(r.indice, r.guia)
   *   else console.error(r.indice, r.error.mensaje, r.error.errores)
   * }
   * ```
   */
  crearLote(lote: LoteParaCrear, opciones?: OpcionesConClave): Solicitud<LoteCreado> {
    return this.#request('POST /guias/bulk', { body: lote }, opciones, isLote)
  }

  /**
   * Crea cuantas guías quiera: una lista, un generador, un flujo que las lee de un archivo. Las envía de 100 en 100,
   * dos solicitudes a la vez. Lee las siguientes a medida que usted toma los resultados.
   *
   * Cada guía debe traer su `external_ref`. Si algo se interrumpe, incluso su proceso, vuelva a pasar todas las guías:
   * las que ya existen vuelven con `repetida: true`. No falta ningún resultado: si una solicitud falla del todo, cada
   * una de sus guías sale con `ok: false` y ese error.
   *
   * ```ts
   * const creacion = api.guias.crearMuchas(pedidos, { recogida })
   * for await (const r of creacion) {
   *   if (r.ok) await anotar(r.entrada, r.guia)
   *   else console.error(r.posicion, r.error.message)
   * }
   * for await (const r of creacion.reintentarFallidas()) …
   * ```
   *
   * Si usted tiene pedidos y no guías, `aGuia` da la guía de cada pedido; `entrada` es entonces el pedido.
   */
  crearMuchas<E>(entradas: Iterable<E> | AsyncIterable<E>, opciones: OpcionesDeConversion<E>): CreacionDeMuchas<E>
  crearMuchas<E extends GuiaParaCrear>(
    entradas: Iterable<E> | AsyncIterable<E>,
    opciones?: OpcionesDeMuchas,
  ): CreacionDeMuchas<E>
  crearMuchas<E>(
    entradas: Iterable<E> | AsyncIterable<E>,
    opciones: OpcionesDeMuchas & Partial<OpcionesDeConversion<E>> = {},
  ): CreacionDeMuchas<E> {
    return prepareCreation(entradas, opciones, async (texto, loteOptions) => {
      // Repeating is safe, because `crearMuchas` sends only guides that have a reference.
      const loteRequest = {
        ...buildRequest('POST /guias/bulk', {}),
        cuerpo: texto,
        repetible: true,
        clave: undefined,
      }
      return (await this.#send(() => loteRequest, isLote, loteOptions)).datos
    })
  }

  /**
   * Da la guía como está ahora y su historial, del evento más antiguo al más reciente. `limite` y `cursor` paginan el
   * historial; la guía viene siempre entera. El código se acepta en minúsculas, con espacios o con guiones.
   */
  obtener(guia: CodigoDeGuia, { limite, cursor, ...opciones }: OpcionesDeDetalle = {}): Solicitud<GuiaConEventos> {
    return this.#request('GET /guias/{guia}', { path: { guia }, query: { limite, cursor } }, opciones, isGuia)
  }

  /**
   * Sigue una guía hasta el final: la da como está ahora y otra vez con cada cambio. Termina cuando la guía se entrega,
   * se devuelve o se cancela. Pregunta cada `intervalo` milisegundos; si nada cambió, el servicio contesta sin cuerpo
   * (`ETag`, 304). Salga con `break` cuando vea lo que esperaba, o corte con `signal`. Si una solicitud falla del todo,
   * lanza su error.
   *
   * Use este método para una guía que alguien está mirando. Para enterarse de los cambios de todas, use los webhooks o
   * `api.eventos.listar()`.
   *
   * ```ts
   * for await (const { ubicacion } of api.guias.seguir(guia, { intervalo: 10_000 })) {
   *   if (ubicacion.estado === 'confirmada') break
   * }
   * ```
   */
  seguir(
    guia: CodigoDeGuia,
    { intervalo, limite, ...opciones }: OpcionesDeSeguimiento = {},
  ): AsyncGenerator<GuiaConEventos, void, undefined> {
    const prepareRequest = () => buildRequest('GET /guias/{guia}', { path: { guia }, query: { limite } })
    return followGuia(
      (callOptions) => this.#send(prepareRequest, isGuiaOrUnchanged<GuiaConEventos>, callOptions),
      intervalo,
      opciones,
    )
  }

  /**
   * Lista sus guías, de la más reciente a la más antigua. Con `await` da la primera página; con `for await`, todas las
   * guías.
   *
   * Con un filtro sin índice, o con varios a la vez, cada página mira 2000 guías como mucho: puede venir vacía y traer un
   * `cursor_siguiente`. `for await` sigue hasta la última.
   *
   * Para enterarse de los cambios no recorra esta lista: use `api.eventos.listar()`.
   *
   * ```ts
   * for await (const guia of api.guias.listar({ estado: ['en_ruta', 'intento_fallido'] })) console.log(guia.guia)
   * ```
   */
  listar(filtros: FiltrosDeGuias = {}, opciones?: OpcionesDeSolicitud): Listado<Guia, PaginaDeGuias> {
    return this.#list('GET /guias', { query: filtros }, opciones)
  }

  /** Da la guía que tiene esa `external_ref`, que es única; `undefined` si no hay ninguna. */
  async porReferencia(external_ref: string, opciones?: OpcionesDeSolicitud): Promise<Guia | undefined> {
    // A missing reference must not find the first guide of all.
    if (!external_ref) throw new ErrorGuias('Falta la external_ref.')
    return (await this.listar({ external_ref }, opciones)).datos[0]
  }

  /**
   * Lista el historial de una guía, del evento más antiguo al más reciente. Con `await` da una página; con `for await`,
   * todos los eventos.
   */
  eventos(
    guia: CodigoDeGuia,
    filtros: FiltrosDeHistorial = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<Evento, PaginaDeEventos> {
    return this.#list('GET /guias/{guia}/eventos', { path: { guia }, query: filtros }, opciones)
  }

  /**
   * Confirma o corrige el lugar de entrega, con coordenadas o con un enlace de mapa, sin esperar al destinatario. Se
   * puede hasta que la guía sale a ruta; después es un `ErrorConflicto`. Enviar el mismo lugar otra vez no cambia nada.
   *
   * ```ts
   * await api.guias.confirmarUbicacion(guia, { lat: 14.70811, lng: -90.50042, referencia: 'Portón verde' })
   * ```
   */
  confirmarUbicacion(
    guia: CodigoDeGuia,
    lugar: UbicacionParaConfirmar,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Guia> {
    return this.#request('POST /guias/{guia}/ubicacion', { path: { guia }, body: lugar }, opciones, isGuia)
  }

  /**
   * Pide otra vez al destinatario que confirme el lugar, si el mensaje anterior venció, falló o quedó en duda. El
   * máximo es de 3 veces por guía y teléfono, y 5 al día por teléfono; después es un `ErrorConflicto` (`limite_de_solicitudes`).
   */
  reenviarSolicitud(guia: CodigoDeGuia, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('POST /guias/{guia}/reenviar-solicitud', { path: { guia } }, opciones, isGuia)
  }

  /**
   * Da la prueba de entrega: quién recibió, dónde y cuándo, con las fotos, la firma y el PDF. Cada archivo trae un
   * enlace firmado que se abre sin llave hasta `vence_en` (15 minutos). **No guarde los enlaces**: pida la prueba otra
   * vez.
   *
   * Antes de la entrega es un `ErrorNoEncontrado` (`prueba_no_disponible`). `pdf` y `manifiesto` son nulos durante los
   * segundos que tardan en hacerse. Con el manifiesto, `verificarPrueba` comprueba los archivos sin preguntarnos nada.
   *
   * ```ts
   * const { recibido_por, fotos, pdf } = await api.guias.pruebaEntrega(guia)
   * const foto = await (await fetch(fotos[0]!.url)).arrayBuffer()
   * ```
   */
  pruebaEntrega(guia: CodigoDeGuia, opciones?: OpcionesDeSolicitud): Solicitud<PruebaDeEntrega> {
    return this.#request('GET /guias/{guia}/prueba-entrega', { path: { guia } }, opciones, isPrueba)
  }

  /**
   * Da la prueba de entrega cuando ya tiene su PDF y su manifiesto, que se hacen segundos después de entregar: pregunta tan
   * a menudo como dice el servicio (`Retry-After`), durante un minuto, o lo que diga `espera`. Antes de la entrega es un
   * `ErrorNoEncontrado`, y si el PDF tarda más, un `ErrorTiempo`.
   *
   * ```ts
   * const { pdf } = await api.guias.esperarPrueba(guia)
   * await writeFile(`${guia}.pdf`, await api.archivos.descargar(pdf))
   * ```
   */
  esperarPrueba(guia: CodigoDeGuia, opciones: OpcionesDeEspera = {}): Promise<PruebaConPdf> {
    return waitForPruebaPdf(() => this.pruebaEntrega(guia, opciones).conRespuesta(), opciones)
  }

  /**
   * Lista los intentos de entrega fallidos de una guía, del más antiguo al más reciente: la hora, el motivo, el
   * repartidor y las fotos que tomó. Cada foto trae un enlace firmado que se abre sin llave hasta `vence_en` (15
   * minutos). Con `await` da una página; con `for await`, todos los intentos.
   *
   * ```ts
   * for await (const { numero_intento, motivo, fotos } of api.guias.intentos(guia)) console.log(numero_intento, motivo)
   * ```
   */
  intentos(
    guia: CodigoDeGuia,
    filtros: FiltrosDeIntentos = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<IntentoFallido, PaginaDeIntentos> {
    return this.#list('GET /guias/{guia}/intentos', { path: { guia }, query: filtros }, opciones)
  }

  /**
   * Da un enlace firmado al PDF de la etiqueta (10 × 15 cm), que se abre sin llave hasta `vence_en` (15 minutos). La
   * etiqueta lleva el código de barras, el QR de rastreo, el destino y su referencia. El PDF se hace al abrir el
   * enlace, con los datos que la guía tenga entonces. Una guía cancelada no tiene etiqueta: es un `ErrorConflicto`
   * (`guia_cancelada`).
   *
   * ```ts
   * const { url } = await api.guias.etiqueta(guia)
   * const pdf = await (await fetch(url)).arrayBuffer()
   * ```
   */
  etiqueta(guia: CodigoDeGuia, opciones?: OpcionesDeSolicitud): Solicitud<EnlaceDeEtiquetas> {
    return this.#request('GET /guias/{guia}/etiqueta', { path: { guia } }, opciones, isEtiquetas)
  }

  /**
   * Da el PDF de la etiqueta de una guía, o uno con las de 1 a 100 guías, en ese orden: sus bytes, y no un enlace. Una guía
   * cancelada no tiene etiqueta.
   *
   * ```ts
   * await writeFile(`${guia}.pdf`, await api.guias.etiquetaPdf(guia))
   * ```
   */
  etiquetaPdf(
    guia: CodigoDeGuia | readonly CodigoDeGuia[],
    opciones?: OpcionesDePdf,
  ): Solicitud<Uint8Array<ArrayBuffer>> {
    return this.#requestEtiquetas(guia, 'application/pdf', { formato: opciones?.formato }, opciones)
  }

  /**
   * Da la etiqueta de una guía, o las de 1 a 100 guías, una tras otra, en ZPL II: envíe los bytes tal cual a su impresora de
   * etiquetas (en la red, a su puerto 9100). `ppp` dice los puntos por pulgada de la impresora.
   *
   * ```ts
   * connect(9100, '192.168.1.50').end(await api.guias.etiquetaZpl(guia, { ppp: 300 }))
   * ```
   */
  etiquetaZpl(
    guia: CodigoDeGuia | readonly CodigoDeGuia[],
    opciones?: OpcionesDeZpl,
  ): Solicitud<Uint8Array<ArrayBuffer>> {
    return this.#requestEtiquetas(guia, 'application/zpl', { ppp: opciones?.ppp }, opciones)
  }

  #requestEtiquetas(
    guia: CodigoDeGuia | readonly CodigoDeGuia[],
    accepts: string,
    etiquetaOptions: object,
    opciones: OpcionesDeSolicitud | undefined,
  ) {
    const prepareRequest = () => ({
      ...(Array.isArray(guia)
        ? buildRequest('POST /etiquetas', { body: { guias: guia, ...etiquetaOptions } })
        : buildRequest('GET /guias/{guia}/etiqueta', { path: { guia }, query: etiquetaOptions })),
      accepts,
    })
    return new Solicitud(this.#send(prepareRequest, isFileContent, opciones))
  }

  /**
   * Da las claves públicas con que se comprueban los manifiestos de las pruebas de entrega, también las retiradas.
   * Guárdelas con las pruebas. Si `verificarPrueba` dice `clave_desconocida`, pida las claves otra vez.
   *
   * ```ts
   * await verificarPrueba({ manifiesto, claves: await api.guias.clavesPublicas(), archivos: [pdf] })
   * ```
   */
  clavesPublicas(opciones?: OpcionesDeSolicitud): Solicitud<ClavesPublicas> {
    // The request for the public keys is sent without an API key, and is not in the contract's table of operations.
    const preparedRequest = { ...buildOtherRequest('GET', '/.well-known/jwks.json', {}), needsLlave: false }
    return new Solicitud(this.#send(() => preparedRequest, isKeySet<ClavesPublicas>, opciones))
  }

  /**
   * Da un enlace firmado a un solo PDF con las etiquetas de 1 a 100 guías, en ese orden: una por página de 10 × 15 cm,
   * o cuatro por hoja carta (`formato: 'carta'`). Si alguna guía no existe, está cancelada o se repite, no hay enlace:
   * es un `ErrorValidacion` que dice cuáles (`/guias/3`).
   *
   * ```ts
   * const { url } = await api.guias.etiquetas(resultados.filter((r) => r.ok).map((r) => r.guia), { formato: 'carta' })
   * ```
   */
  etiquetas(codigos: readonly CodigoDeGuia[], opciones?: OpcionesDeEtiquetas): Solicitud<EnlaceDeEtiquetas> {
    if (!Array.isArray(codigos)) throw new ErrorGuias('Los códigos deben ser una lista.')
    const body = { guias: [...codigos], formato: opciones?.formato }
    return this.#request('POST /etiquetas', { body }, opciones, isEtiquetas)
  }

  /**
   * Cancela una guía que aún no se recolectó (estado `aceptado`). Cancelar una guía ya cancelada no cambia nada, así
   * que repetir es seguro. En otro estado es un `ErrorConflicto` (`transicion_invalida`), que trae el `estado` actual.
   *
   * La guía cancelada conserva su `external_ref`: un envío nuevo necesita otra referencia.
   */
  cancelar(guia: CodigoDeGuia, cancelacion?: CancelacionParaCrear, opciones?: OpcionesDeSolicitud): Solicitud<Guia> {
    return this.#request('POST /guias/{guia}/cancelar', { path: { guia }, body: cancelacion }, opciones, isGuia)
  }

  /**
   * Corrige los campos que se envían, hasta que la guía sale a ruta y otra vez tras un intento fallido; `null` borra uno
   * opcional. Con `secuencia`, solo si la guía no ha cambiado desde que la leyó. Se reintenta si la red falla.
   * @throws {ErrorConflicto} `no_corregible`, `carrera_perdida` o `limite_de_correcciones`
   */
  corregir(guia: string, correccion: CorreccionDeGuia, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('PATCH /guias/{guia}', { path: { guia }, body: correccion }, opciones, isGuia)
  }

  /**
   * Decide que el paquete de un intento fallido se lleve otra vez, y corrige en la misma solicitud los datos que cambien.
   * Sin `fecha`, el primer día que se puede. Se reintenta si la red falla.
   * @throws {ErrorConflicto} `decision_tomada`, con la `decision` que vale, o `decision_no_admitida`
   */
  reintentar(guia: string, reintento: ReintentoDeGuia = {}, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('POST /guias/{guia}/reintentar', { path: { guia }, body: reintento }, opciones, isGuia)
  }

  /**
   * Decide que el paquete vuelva. Si viaja, la devolución sigue a su próxima lectura. Se reintenta si la
   * red falla.
   * @throws {ErrorConflicto} `decision_tomada`, con la `decision` que vale, o `transicion_invalida`
   */
  devolver(guia: string, devolucion: DevolucionDeGuia, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('POST /guias/{guia}/devolver', { path: { guia }, body: devolucion }, opciones, isGuia)
  }
}
