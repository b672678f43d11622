import type { Conocido, TipoDesconocido } from './abierto.js'
import type {
  Estado,
  EventoDelContrato,
  Forzado,
  Motivo,
  MotivosDeEstado,
  TipoDeEvento,
} from './generado/evento.gen.js'

/** Los tipos de evento que esta versión conoce, y uno que está por el de los que no. */
export type TipoDeEventoRecibido = Conocido<TipoDeEvento> | TipoDesconocido

/** What only the types of `U` have, and of a type that nobody knows yet perhaps. */
type Si<T, U, Valor> = T extends TipoDesconocido ? Valor | null : T extends U ? Valor : null

type EstadoDe<T> = T extends `guia.${infer E extends Conocido<Estado>}` ? E : Estado

type MotivoDe<T> = T extends `guia.${infer E extends keyof MotivosDeEstado}`
  ? MotivosDeEstado[E] | (string & Record<never, never>) | null
  : Si<T, 'guia.escaneo_tardio', Motivo | null>

type DelTipo =
  | 'tipo'
  | 'estado'
  | 'estado_anterior'
  | 'motivo'
  | 'estado_reportado'
  | 'numero_intento'
  | 'requiere_accion'
  | 'forzado'

interface EventoDe<T extends TipoDeEventoRecibido> extends Omit<EventoDelContrato, DelTipo> {
  /** Qué pasó; dice qué traen los demás miembros. */
  tipo: T
  /** Estado de la guía con este evento. */
  estado: EstadoDe<T>
  /** Estado de la guía antes del evento; nulo en la creación. */
  estado_anterior: Si<T, Exclude<TipoDeEventoRecibido, 'guia.aceptado'>, Estado>
  /** Por qué, en los tipos que lo llevan ({@link MotivosDeEstado}); nulo si no se dijo. */
  motivo: MotivoDe<T>
  /** El estado que traía la lectura, en `guia.escaneo_tardio`. */
  estado_reportado: Si<T, 'guia.escaneo_tardio', Estado>
  /** Qué intento fue, desde 1, en `guia.intento_fallido`. */
  numero_intento: Si<T, 'guia.intento_fallido', number>
  /** Si usted debe hacer algo antes del próximo intento, en `guia.intento_fallido`. */
  requiere_accion: Si<T, 'guia.intento_fallido', boolean>
  /** Por qué el operador pasó por alto una regla, en `guia.en_ruta`; nulo si no lo hizo. */
  forzado: Si<T, 'guia.en_ruta', Forzado | null>
}

/**
 * Algo que le pasó a una guía. `tipo` dice qué trae:
 *
 * ```ts
 * if (evento.tipo === 'guia.intento_fallido' && evento.requiere_accion) await llamar(evento.guia, evento.motivo)
 * ```
 *
 * `Evento<'guia.entregado'>` es el de un tipo.
 */
export type Evento<T extends TipoDeEventoRecibido = TipoDeEventoRecibido> = T extends TipoDeEventoRecibido
  ? EventoDe<T>
  : never
