// Reports one state for many guides. Each guide has its own event with its own idempotency key. All are stored on the
// phone, or none.

import type { Prediction } from './expected.ts'
import { dispatchRows } from './list.ts'
import { enqueue, readActions } from './store/actions.ts'
import type { Sesion } from './store/base.ts'
import { readGuiasOf } from './store/guias.ts'
import type { Estado } from './vocabulary.ts'

/** States that can be reported without further data. */
export const LOTE_ESTADOS = ['recolectado', 'en_ruta', 'en_bodega'] as const satisfies Estado[]
export type LoteStep = (typeof LOTE_ESTADOS)[number]

/** Tells whether a state can be reported for a guide without opening the guide's own screen. */
export const canEnter = (
  { steps, datos }: Pick<Prediction, 'steps'> & { datos: { ubicacion: { estado: string } } | null },
  estado: Estado,
) =>
  steps.some(
    (step) => step.estado === estado && (!step.con_ubicacion || !datos || datos.ubicacion.estado === 'confirmada'),
  )

/** Result of the last batch, for the screen after it. */
export let lastLote: { estado: LoteStep; doneCount: number; remaining: string[] } | null = null

/** Reports a state for each guide that can enter it, as far as the phone knows. */
export async function reportLote({ repartidor, nombre }: Sesion, guias: readonly string[], estado: LoteStep) {
  const [storedGuias, actions] = await Promise.all([readGuiasOf(repartidor), readActions()])
  const rows = dispatchRows(
    storedGuias.filter(({ guia }) => guias.includes(guia)),
    actions,
  )
  const guiasToReport = rows.filter((row) => canEnter(row, estado)).map(({ guia }) => guia)
  const emptyFields = { evento: {}, fotos: [], firma: null, strokes: null }
  await enqueue(
    guiasToReport.map((guia) => ({ repartidor, nombre, guia, estado, ...emptyFields })),
    Date.now(),
  )
  lastLote = {
    estado,
    doneCount: guiasToReport.length,
    remaining: guias.filter((guia) => !guiasToReport.includes(guia)),
  }
}
