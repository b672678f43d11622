import type { AvanceSimulado, Conocido, Estado as ReceivedEstado } from '@guias/sdk'
import { MAQUINA_DE_ESTADOS, MOTIVOS } from '../../server/generated/contract/vocabulary.ts'
import type { Comercio } from '../environment.ts'

export type Estado = Conocido<ReceivedEstado>
/** State to which the types of the SDK let the simulator move a guide. */
export type SimulableEstado = NonNullable<AvanceSimulado['estado']>

export const transiciones: Readonly<Record<string, readonly Estado[]>> = MAQUINA_DE_ESTADOS.transiciones
export const ALL_ESTADOS = Object.keys(transiciones) as Estado[]
export const findReason = (estado: Estado) => {
  const reasons: Readonly<Record<string, object>> = MOTIVOS
  return Object.keys(reasons[estado] ?? {})[0] as never
}
/** The shortest way from a new guide to that state. */
export function findPathTo(meta: Estado): Estado[] {
  const caminos: Estado[][] = [['aceptado']]
  for (const camino of caminos) {
    if (camino.at(-1) === meta) return camino.slice(1)
    for (const otro of transiciones[camino.at(-1)!]!) if (!camino.includes(otro)) caminos.push([...camino, otro])
  }
  throw new Error(`there is no way to ${meta}`)
}
export const simulateStep = ({ api }: Comercio, guia: string, estado: Estado) =>
  estado === 'cancelado'
    ? api.guias.cancelar(guia)
    : api.simulador.avanzar(guia, { estado: estado as SimulableEstado, motivo: findReason(estado) })
export const moveGuiaTo = async (comercio: Comercio, guia: string, meta: Estado) => {
  for (const estado of findPathTo(meta)) await simulateStep(comercio, guia, estado)
}
export const readEventoTypes = async ({ api }: Comercio, guia: string) =>
  (await api.guias.eventos(guia)).datos.map(({ tipo }) => tipo)
