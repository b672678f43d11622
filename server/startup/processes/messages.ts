import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { Health } from '../../domain/deps.ts'

/** Metric values of a process's registry, in the form in which they go to another process. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[]

/** Questions that a process answers about itself, with the types of the answers. */
export interface ChildQuestions {
  metrics: MetricValues
  health: Health
}

/** Messages from the primary process to an API process. */
export type ToChild =
  /** Tells the process to finish the requests under way, begin nothing new, and end. */
  { kind: 'parar' } | { kind: 'pregunta'; numero: number; sobre: keyof ChildQuestions }

/** Messages from an API process to the primary process. */
export type FromChild =
  /** A line for the console. */
  | { kind: 'linea'; linea: string }
  /** The process serves. */
  | { kind: 'listo' }
  | { kind: 'respuesta'; numero: number; valor: ChildQuestions[keyof ChildQuestions] }
  /** The process ends; these are its metrics. */
  | { kind: 'fin'; metrics: MetricValues }
