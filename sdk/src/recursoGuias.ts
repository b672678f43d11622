import { esGuia, esLote, esPagina } from './formas.js'
import {
  cancelarGuia,
  confirmarUbicacion,
  crearGuia,
  crearLote,
  listarEventosDeGuia,
  listarGuias,
  obtenerGuia,
  reenviarSolicitud,
} from './generado/sdk.gen.js'
import type {
  CancelacionParaCrear,
  CodigoDeGuia,
  Evento,
  Guia,
  GuiaConEventos,
  GuiaIndividual,
  ListarEventosDeGuiaData,
  ListarGuiasData,
  LoteCreado,
  LoteParaCrear,
  PaginaDeEventos,
  PaginaDeGuias,
  UbicacionParaConfirmar,
} from './generado/types.gen.js'
import { Listado } from './paginas.js'
import { revisar } from './rutas.js'
import { Solicitud } from './solicitud.js'
import { cuerpo, type Enviar } from './transporte.js'

/** Qué guías se listan, desde dónde y de cuántas en cuántas. */
export type FiltrosDeGuias = NonNullable<ListarGuiasData['query']>

/** Qué parte del historial se pide. */
export type FiltrosDeHistorial = NonNullable<ListarEventosDeGuiaData['query']>

/** Sus guías: crearlas, verlas, listarlas y cancelarlas. */
export class RecursoGuias {
  readonly #enviar: Enviar

  /** @internal */
  constructor(enviar: Enviar) {
    this.#enviar = enviar
  }

  /**
   * Crea una guía y la devuelve en estado `aceptado`.
   *
   * Con `lat` y `lng`, o con `maps_url`, la ubicación queda confirmada; sin ninguna, el destinatario recibe un mensaje
   * para confirmarla.
   *
   * Ponga siempre `external_ref` (su número de pedido): así repetir la misma solicitud es seguro y devuelve la guía
   * que ya existe (`repetida` en `conRespuesta()`). La misma referencia con otros datos es un `ErrorConflicto`.
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
  crear(guia: GuiaIndividual): Solicitud<Guia> {
    return new Solicitud(this.#enviar(esGuia<Guia>, (comunes) => crearGuia({ ...comunes, ...cuerpo(guia) })))
  }

  /**
   * Crea de 1 a 100 guías. `recogida` es el punto de recogida de las que no traen el suyo.
   *
   * **No falla porque fallen guías**: mire cada entrada de `resultados`; `ok` dice si la guía existe, y `error` por
   * qué no. Si la respuesta se pierde, envíe el mismo lote otra vez: con `external_ref` nada se duplica.
   *
   * ```ts
   * const { resultados } = await api.guias.crearLote({ recogida, guias })
   * for (const r of resultados) {
   *   if (r.ok) console.log(r.indice, r.guia)
   *   else console.error(r.indice, r.error.detail, r.error.errores)
   * }
   * ```
   */
  crearLote(lote: LoteParaCrear): Solicitud<LoteCreado> {
    return new Solicitud(this.#enviar(esLote, (comunes) => crearLote({ ...comunes, ...cuerpo(lote) })))
  }

  /**
   * La guía como está ahora y su historial, del evento más antiguo al más reciente. `limite` y `cursor` paginan el
   * historial; la guía viene siempre entera. El código se acepta en minúsculas, con espacios o con guiones.
   */
  obtener(codigo: CodigoDeGuia, historial: FiltrosDeHistorial = {}): Solicitud<GuiaConEventos> {
    const query = { ...historial }
    return new Solicitud(
      this.#enviar(esGuia<GuiaConEventos>, (comunes) =>
        obtenerGuia({ ...comunes, path: { guia: revisarGuia(codigo) }, query }),
      ),
    )
  }

  /**
   * Sus guías, de la más reciente a la más antigua. Con `await`, la primera página; con `for await`, todas.
   *
   * Para enterarse de los cambios no recorra esta lista: use `api.eventos.listar()`.
   *
   * ```ts
   * for await (const guia of api.guias.listar({ estado: ['en_ruta', 'intento_fallido'] })) console.log(guia.guia)
   * ```
   */
  listar(filtros: FiltrosDeGuias = {}): Listado<Guia, PaginaDeGuias> {
    const query = { ...filtros, ...(Array.isArray(filtros.estado) ? { estado: [...filtros.estado] } : {}) }
    return new Listado<Guia, PaginaDeGuias>(query.cursor, (cursor) =>
      this.#enviar(esPagina<PaginaDeGuias>, (comunes) =>
        listarGuias({ ...comunes, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } }),
      ),
    )
  }

  /** El historial de una guía, del evento más antiguo al más reciente. Con `await`, una página; con `for await`, todo. */
  eventos(codigo: CodigoDeGuia, filtros: FiltrosDeHistorial = {}): Listado<Evento, PaginaDeEventos> {
    const query = { ...filtros }
    return new Listado<Evento, PaginaDeEventos>(query.cursor, (cursor) =>
      this.#enviar(esPagina<PaginaDeEventos>, (comunes) =>
        listarEventosDeGuia({
          ...comunes,
          path: { guia: revisarGuia(codigo) },
          query: { ...query, ...(cursor === undefined ? {} : { cursor }) },
        }),
      ),
    )
  }

  /**
   * Confirma o corrige el lugar de entrega, con coordenadas o con un enlace de mapa, sin esperar al destinatario. Vale
   * hasta que la guía sale a ruta (después es un `ErrorConflicto`); decir lo mismo otra vez no cambia nada.
   *
   * ```ts
   * await api.guias.confirmarUbicacion(guia, { lat: 14.70811, lng: -90.50042, referencia: 'Portón verde' })
   * ```
   */
  confirmarUbicacion(codigo: CodigoDeGuia, lugar: UbicacionParaConfirmar): Solicitud<Guia> {
    return new Solicitud(
      this.#enviar(esGuia<Guia>, (comunes) =>
        confirmarUbicacion({ ...comunes, path: { guia: revisarGuia(codigo) }, ...cuerpo(lugar) }),
      ),
    )
  }

  /**
   * Pide otra vez al destinatario que confirme el lugar: porque el mensaje anterior venció, falló o quedó en duda. Como
   * mucho 3 veces por guía y 5 al día por teléfono; pasado eso es un `ErrorConflicto` (`limite_de_solicitudes`).
   */
  reenviarSolicitud(codigo: CodigoDeGuia): Solicitud<Guia> {
    return new Solicitud(
      this.#enviar(esGuia<Guia>, (comunes) => reenviarSolicitud({ ...comunes, path: { guia: revisarGuia(codigo) } })),
    )
  }

  /**
   * Cancela una guía que aún no se recolectó (estado `aceptado`). Cancelar una ya cancelada no cambia nada, así que
   * repetir es seguro. En otro estado es un `ErrorConflicto` que dice en `transiciones` a cuáles puede pasar.
   *
   * La guía cancelada conserva su `external_ref`: un envío nuevo necesita otra referencia.
   */
  cancelar(codigo: CodigoDeGuia, cancelacion?: CancelacionParaCrear): Solicitud<Guia> {
    return new Solicitud(
      this.#enviar(esGuia<Guia>, (comunes) =>
        cancelarGuia({ ...comunes, path: { guia: revisarGuia(codigo) }, ...(cancelacion ? cuerpo(cancelacion) : {}) }),
      ),
    )
  }
}

const revisarGuia = (codigo: unknown): CodigoDeGuia => revisar(codigo, 'código de la guía', '7K3M9QX2A1BV')
