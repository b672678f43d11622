import type { AvanceSimulado, Conocido, Estado as ReceivedEstado } from '@guias/sdk'
import { MOTIVOS, STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import type { Comercio } from '../environment.ts'

export type Estado = Conocido<ReceivedEstado>
/** State to which the types of the SDK let the simulator move a guide. */
export type SimulatorEstado = NonNullable<AvanceSimulado['estado']>

export const transiciones: Readonly<Record<string, readonly Estado[]>> = STATE_MACHINE.transiciones
export const ALL_ESTADOS = Object.keys(transiciones) as Estado[]
export const findReason = (estado: Estado) => {
  const reasons: Readonly<Record<string, object>> = MOTIVOS
  return Object.keys(reasons[estado] ?? {})[0] as never
}
/** The shortest way from a new guide to that state. */
export function findPathTo(meta: Estado): Estado[] {
  const paths: Estado[][] = [['aceptado']]
  for (const path of paths) {
    if (path.at(-1) === meta) return path.slice(1)
    for (const other of transiciones[path.at(-1)!]!) if (!path.includes(other)) paths.push([...path, other])
  }
  throw new Error(`there is no way to ${meta}`)
}
export const simulateStep = ({ api }: Comercio, guia: string, estado: Estado) =>
  estado === 'cancelado'
    ? api.guias.cancelar(guia)
    : api.simulador.avanzar(guia, { estado: estado as SimulatorEstado, motivo: findReason(estado) })
export const moveGuiaTo = async (comercio: Comercio, guia: string, meta: Estado) => {
  for (const estado of findPathTo(meta)) await simulateStep(comercio, guia, estado)
}
export const readEventoTypes = async ({ api }: Comercio, guia: string) =>
  (await api.guias.eventos(guia)).datos.map(({ tipo }) => tipo)
