import type { Estado, EstadoDeUbicacion, Motivo } from '../contrato/generado/tipos/index.ts'
import { MAQUINA_DE_ESTADOS, MAQUINA_DE_UBICACION, MOTIVOS } from '../contrato/generado/vocabulario.ts'
import { Problema } from '../errores.ts'

const transiciones: Readonly<Record<Estado, readonly Estado[]>> = MAQUINA_DE_ESTADOS.transiciones
const deUbicacion: Readonly<Record<EstadoDeUbicacion, readonly EstadoDeUbicacion[]>> = MAQUINA_DE_UBICACION.transiciones
const motivos: Readonly<Partial<Record<Estado, Readonly<Partial<Record<Motivo, { requiere_accion: boolean }>>>>>> =
  MOTIVOS

/** The states that a guide may go to from that one. */
export const siguientes = (estado: Estado): readonly Estado[] => transiciones[estado]

/** What may be reported of a parcel by whoever carries it: cancelling is the merchant's alone. */
export const reportables = (estado: Estado): readonly Estado[] =>
  siguientes(estado).filter((otro) => otro !== 'cancelado')

/** Whether a guide needs a confirmed place for that state: nobody sets out without knowing where to. */
export const exigeUbicacion = (estado: Estado) => estado === 'en_ruta'

/** Whether nothing can follow that state. */
export const esFinal = (estado: Estado) => siguientes(estado).length === 0

/** The states that a guide's place may go to. */
export const siguientesDeUbicacion = (estado: EstadoDeUbicacion): readonly EstadoDeUbicacion[] => deUbicacion[estado]

/** The reasons that a state may have; empty when it takes none. */
export const motivosDe = (estado: Estado): readonly Motivo[] => Object.keys(motivos[estado] ?? {}) as Motivo[]

/** Whether the merchant must do something before the next attempt can succeed. */
export const requiereAccion = (estado: Estado, motivo: Motivo | null): boolean =>
  motivo !== null && (motivos[estado]?.[motivo]?.requiere_accion ?? false)

/** Refuses a state that can't be reported next. @throws Problema 409 `transicion_invalida`, with those that can */
export function exigirTransicion(estado: Estado, nuevo: Estado) {
  const posibles = reportables(estado)
  if (posibles.includes(nuevo)) return
  const cuales = posibles.length > 0 ? `Puede pasar a ${posibles.join(', ')}.` : 'Es un estado final.'
  throw new Problema('transicion_invalida', `La guía está en ${estado} y no puede pasar a ${nuevo}. ${cuales}`, {
    estado,
    transiciones: [...posibles],
  })
}

/** Refuses to cancel what the courier has or had. @throws Problema 409 `transicion_invalida`: no state can be asked for */
export function exigirCancelable(estado: Estado) {
  if (siguientes(estado).includes('cancelado')) return
  const remedio = esFinal(estado) ? '' : ' Si el paquete debe volver, hable con el servicio de mensajería.'
  const mensaje = `La guía está en ${estado} y ya no se puede cancelar: solo se cancela antes de que se recolecte.${remedio}`
  throw new Problema('transicion_invalida', mensaje, { estado, transiciones: [] })
}
