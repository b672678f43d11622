import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { Salud } from '../../deps.ts'

/** The values of a process's registry, as they go to another one. */
export type Valores = MetricObjectWithValues<MetricValue<string>>[]

/** What a process can be asked about itself, and what it answers. */
export interface Preguntas {
  metricas: Valores
  salud: Salud
}

/** What one of several API processes is told by the one that looks after them. */
export type AlHijo =
  /** It finishes what is under way, begins nothing new and ends. */
  { que: 'parar' } | { que: 'pregunta'; numero: number; sobre: keyof Preguntas }

/** What it says. */
export type DelHijo =
  /** A line for the console. */
  | { que: 'linea'; linea: string }
  /** It serves. */
  | { que: 'listo' }
  | { que: 'respuesta'; numero: number; valor: Preguntas[keyof Preguntas] }
  /** What it had counted when it ended. */
  | { que: 'fin'; metricas: Valores }
