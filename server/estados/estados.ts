import type { Estado, EstadoDeUbicacion, Motivo } from '../contrato/generado/tipos/index.ts'
import { MAQUINA_DE_ESTADOS, MAQUINA_DE_UBICACION, MOTIVOS } from '../contrato/generado/vocabulario.ts'
import { Problema } from '../errores.ts'

const transiciones: Readonly<Record<Estado, readonly Estado[]>> = MAQUINA_DE_ESTADOS.transiciones
const deUbicacion: Readonly<Record<EstadoDeUbicacion, readonly EstadoDeUbicacion[]>> = MAQUINA_DE_UBICACION.transiciones
const motivos: Readonly<Partial<Record<Estado, Readonly<Partial<Record<Motivo, { requiere_accion: boolean }>>>>>> =
  MOTIVOS

/** The states a guide may go to. */
export const siguientes = (estado: Estado): readonly Estado[] => transiciones[estado]

/** What may be reported of a parcel by whoever carries it: cancelling is the merchant's alone. */
export const reportables = (estado: Estado): readonly Estado[] =>
  siguientes(estado).filter((otro) => otro !== 'cancelado')

/** Nobody sets out without knowing where to. */
export const exigeUbicacion = (estado: Estado) => estado === 'en_ruta'

export const esFinal = (estado: Estado) => siguientes(estado).length === 0

export const siguientesDeUbicacion = (estado: EstadoDeUbicacion): readonly EstadoDeUbicacion[] => deUbicacion[estado]

/** The reasons of a state; empty when it has none. */
export const motivosDe = (estado: Estado): readonly Motivo[] => Object.keys(motivos[estado] ?? {}) as Motivo[]

/** Whether the merchant must do something before the next attempt can succeed. */
export const requiereAccion = (estado: Estado, motivo: Motivo | null): boolean =>
  motivo !== null && (motivos[estado]?.[motivo]?.requiere_accion ?? false)

/** @throws Problema 409 `transicion_invalida` with the states that are possible, unless `nuevo` is one of them. */
export function exigirTransicion(estado: Estado, nuevo: Estado, posibles: readonly Estado[] = siguientes(estado)) {
  if (posibles.includes(nuevo)) return
  const cuales = posibles.length > 0 ? `Puede pasar a ${posibles.join(', ')}.` : 'Es un estado final.'
  throw new Problema('transicion_invalida', `La guía está en ${estado} y no puede pasar a ${nuevo}. ${cuales}`, {
    estado,
    transiciones: [...posibles],
  })
}
