import type { ContractEvento, Estado, Forzado, Motivo, MotivosDeEstado, TipoDeEvento } from './generated/evento.gen.js'
import type { Conocido, TipoDesconocido } from './openValues.js'

/** Tipos de evento que esta versión conoce, y `TipoDesconocido`, que representa los demás. */
export type TipoDeEventoRecibido = Conocido<TipoDeEvento> | TipoDesconocido

/**
 * `Valor` if the event type `T` is one of `U`, else null. For a type that this version does not know, either is
 * possible.
 */
type OnlyFor<T, U, Valor> = T extends TipoDesconocido ? Valor | null : T extends U ? Valor : null

type EstadoDe<T> = T extends `guia.${infer E extends Conocido<Estado>}` ? E : Estado

type MotivoDe<T> = T extends `guia.${infer E extends keyof MotivosDeEstado}`
  ? MotivosDeEstado[E] | (string & Record<never, never>) | null
  : OnlyFor<T, 'guia.escaneo_tardio', Motivo | null>

type TypeDependentKey =
  | 'tipo'
  | 'estado'
  | 'estado_anterior'
  | 'motivo'
  | 'estado_reportado'
  | 'numero_intento'
  | 'requiere_accion'
  | 'forzado'
  | 'decision'

type DeDecision = 'guia.decision_pendiente' | 'guia.decision_tomada'

interface EventoDe<T extends TipoDeEventoRecibido> extends Omit<ContractEvento, TypeDependentKey> {
  /** Tipo del evento: dice qué pasó y qué traen los demás miembros. */
  tipo: T
  /** Estado de la guía después del evento. */
  estado: EstadoDe<T>
  /** Estado de la guía antes del evento; nulo en la creación. */
  estado_anterior: OnlyFor<T, Exclude<TipoDeEventoRecibido, 'guia.aceptado'>, Estado>
  /** Motivo, en los tipos que lo llevan ({@link MotivosDeEstado}); nulo si no se dijo. */
  motivo: MotivoDe<T>
  /** Estado que traía la lectura, en `guia.escaneo_tardio`. */
  estado_reportado: OnlyFor<T, 'guia.escaneo_tardio', Estado>
  /** Número del intento, desde 1, en `guia.intento_fallido`. */
  numero_intento: OnlyFor<T, 'guia.intento_fallido', number>
  /** Verdadero si usted debe hacer algo antes del próximo intento, en `guia.intento_fallido`. */
  requiere_accion: OnlyFor<T, 'guia.intento_fallido', boolean>
  /** Razón por la que el operador pasó por alto una regla, en `guia.en_ruta`; nula si no lo hizo. */
  forzado: OnlyFor<T, 'guia.en_ruta', Forzado | null>
  /** La decisión como quedó, en `guia.decision_pendiente` y `guia.decision_tomada`. */
  decision: OnlyFor<T, DeDecision, NonNullable<ContractEvento['decision']>>
}

/**
 * Evento de una guía. `tipo` dice qué trae:
 *
 * ```ts
 * if (evento.tipo === 'guia.decision_pendiente') await decidir(evento.guia, evento.decision.opciones)
 * ```
 *
 * `Evento<'guia.entregado'>` es el evento de ese tipo.
 */
export type Evento<T extends TipoDeEventoRecibido = TipoDeEventoRecibido> = T extends TipoDeEventoRecibido
  ? EventoDe<T>
  : never
