import { useState } from 'preact/hooks'
import { canEnter } from '../lote.ts'
import type { Sesion } from '../store/base.ts'
import type { Estado } from '../vocabulary.ts'
import { Lote } from './lote.tsx'
import { BackLink, ScreenTitle } from './pieces.tsx'
import { RowText, useRows } from './row.tsx'

/**
 * Screen that takes one step with several guides.
 * @param estado step whose guides are ticked from the start; undefined to tick none
 */
export function Mark({ sesion, estado }: { sesion: Sesion; estado: Estado | undefined }) {
  const rows = useRows(sesion)
  const [chosenGuias, setChosenGuias] = useState<ReadonlySet<string> | null>(null)
  if (!rows) return null
  const markableRows = rows.filter(({ final, isUnknown }) => !final && !isUnknown)
  const initialGuias = () => markableRows.filter((row) => estado && canEnter(row, estado)).map(({ guia }) => guia)
  const markedGuias = chosenGuias ?? new Set(initialGuias())
  const toggle = (guia: string) => {
    const newMarked = new Set(markedGuias)
    if (!newMarked.delete(guia)) newMarked.add(guia)
    setChosenGuias(newMarked)
  }
  const todas = markedGuias.size === markableRows.length
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>Marcar varias</ScreenTitle>
      {markableRows.length > 0 && (
        <button
          type="button"
          onClick={() => setChosenGuias(new Set(todas ? [] : markableRows.map(({ guia }) => guia)))}
        >
          {todas
            ? 'No marcar ninguna'
            : markableRows.length === 1
              ? 'Marcar la única'
              : `Marcar las ${markableRows.length}`}
        </button>
      )}
      <ul class="lista">
        {rows.map((row) => (
          <li key={row.guia}>
            <label class="marcable">
              <input
                type="checkbox"
                checked={markedGuias.has(row.guia)}
                disabled={row.final || row.isUnknown}
                onChange={() => toggle(row.guia)}
              />
              <span>
                <RowText row={row} />
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Lote
        sesion={sesion}
        rows={rows.filter(({ guia }) => markedGuias.has(guia))}
        dice={markedGuias.size === 1 ? '1 marcada' : `${markedGuias.size} marcadas`}
      />
    </>
  )
}
