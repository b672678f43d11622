import { useEffect } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { withSoftHyphens } from '../../../../platform/softHyphens.ts'
import { useStoredData } from '../hooks.ts'
import { type DispatchRow, dispatchRows, formatDistance, searchView } from '../list.ts'
import { readActions } from '../store/actions.ts'
import { type CourierAction, readSetting, type Sesion, type StoredGuia } from '../store/base.ts'
import { readGuiasOf } from '../store/guias.ts'
import { decisionWords, ESTADO_NAMES, type Estado, type Motivo, REASON_NAMES } from '../vocabulary.ts'

/** Remembers which guide was opened from a list, so that the list continues there afterwards. */
export const rememberGuia = (guia: string) => {
  searchView.ultima = guia
}

/** Returns the text of a row about its guide's state; empty while the parcel is on the way to its recipient. */
function statusOfRow({ estado, motivo, isUnsent, datos }: DispatchRow, isBrief: boolean): string {
  const { decision } = datos ?? {}
  const estadoParts = [
    (!isBrief || estado !== 'en_ruta') && (estado ? nameOfState(estado, motivo) : 'estado desconocido'),
    isUnsent && '(por enviar)',
  ].filter(Boolean)
  return [estadoParts.join(' '), decision && decisionWords(decision)].filter(Boolean).join(' · ')
}

/** Returns the name of a state. A failed attempt is named by its reason, if the phone knows it. */
const nameOfState = (estado: Estado, motivo: Motivo | null) =>
  estado === 'intento_fallido' && motivo ? REASON_NAMES[motivo] : ESTADO_NAMES[estado]

/** Row of the first screen for a stop after the next one: address, distance and name. */
export function BriefRow({ row }: { row: DispatchRow }) {
  const { guia, titulo, heading, distance } = row
  const where = heading?.street || heading?.zona
  const details = [where && where !== titulo && titulo, statusOfRow(row, true)].filter(Boolean)
  return (
    <li>
      <a id={`g-${guia}`} class="breve" href={`#/guia/${guia}`} onClick={() => rememberGuia(guia)}>
        <strong>{withSoftHyphens(where || titulo)}</strong>{' '}
        <small>
          {distance !== null && <b>{formatDistance(distance)}</b>}
          {distance !== null && details.length > 0 && ' · '}
          {withSoftHyphens(details.join(' · '))}
          {!where && <span class="codigo"> {inGroups(guia)}</span>}
        </small>
      </a>
    </li>
  )
}

/** Text of a row of the search, which also contains the guide's code and its whole address. */
export function RowText({ row }: { row: DispatchRow }) {
  const { guia, titulo, heading, distance } = row
  const statusText = statusOfRow(row, false)
  return (
    <>
      <strong>{withSoftHyphens(titulo)}</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
      {heading && heading.direccion !== titulo && <span class="direccion">{withSoftHyphens(heading.direccion)}</span>}{' '}
      <small>{distance === null ? statusText : `${statusText} · a ${formatDistance(distance)}`}</small>
    </>
  )
}

/** Tells whether lists show a guide. A guide that is not assigned to the courier any more disappears from them. */
export const isVisible = ({ isUnassigned }: StoredGuia) => !isUnassigned

/** Reads the actions on the phone, and the courier's guides in the order of the stops. */
export async function readRows(repartidor: string): Promise<{ actions: CourierAction[]; rows: DispatchRow[] }> {
  const [actions, guias, from] = await Promise.all([readActions(), readGuiasOf(repartidor), readSetting('desde')])
  return { actions, rows: dispatchRows(guias.filter(isVisible), actions, from) }
}

/** Returns the courier's guides in the order of the stops; undefined until they are read. */
export const useRows = ({ repartidor }: Sesion): DispatchRow[] | undefined =>
  useStoredData(() => readRows(repartidor), repartidor)?.rows

/** Moves the focus to the guide that was opened from the list, if the list still shows it. */
export function useReturnFocus(isListReady: boolean) {
  useEffect(() => {
    const last = isListReady && searchView.ultima && document.getElementById(`g-${searchView.ultima}`)
    if (!last) return
    searchView.ultima = null
    last.focus()
    last.scrollIntoView({ block: 'center' })
  }, [isListReady])
}
