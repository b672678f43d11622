import { useEffect, useRef, useState } from 'preact/hooks'
import { parseGuiaCode } from '../codes.ts'
import { FaultNotice } from '../faults.tsx'
import { goTo } from '../hooks.ts'
import { countEstados, type DispatchRow, find, searchView } from '../list.ts'
import type { Sesion } from '../store/base.ts'
import { storeWithoutData } from '../store/guias.ts'
import { ESTADO_NAMES, type Estado } from '../vocabulary.ts'
import { BackLink } from './pieces.tsx'
import { RowText, rememberGuia, useReturnFocus, useRows } from './row.tsx'

/** Screen that finds a guide on the phone by its words, its code and its state, or opens one by its code. */
export function SearchScreen({ sesion }: { sesion: Sesion }) {
  const rows = useRows(sesion)
  const [, redraw] = useState(0)
  const [fault, setFailure] = useState('')
  const updateView = (change: Partial<typeof searchView>) => {
    Object.assign(searchView, change)
    setFailure('')
    redraw((n) => n + 1)
  }
  const field = useRef<HTMLInputElement>(null)
  const listo = rows !== undefined
  useEffect(() => {
    if (listo && !searchView.ultima) field.current!.focus()
  }, [listo])
  useReturnFocus(listo)
  if (!rows) return null
  const foundRows = find(rows, searchView.searchText)
  const shownRows = foundRows.filter(({ estado }) => searchView.estado === null || estado === searchView.estado)
  const openGuia = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const guia = parseGuiaCode(searchView.searchText) ?? (shownRows.length === 1 ? shownRows[0]!.guia : undefined)
    if (!guia)
      return setFailure(shownRows.length > 1 && searchView.searchText ? '' : explainNoGuia(searchView.searchText))
    await storeWithoutData(sesion.repartidor, guia, false)
    updateView({ searchText: '' })
    rememberGuia(guia)
    goTo(`guia/${guia}`)
  }
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <h1>Buscar</h1>
      <form onSubmit={openGuia} noValidate>
        <label for="guia">Código, teléfono o nombre</label>
        <div class="con-boton">
          <input
            ref={field}
            id="guia"
            type="search"
            aria-describedby="falla-guia ayuda-guia"
            enterkeyhint="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={60}
            value={searchView.searchText}
            onInput={({ currentTarget }) => updateView({ searchText: currentTarget.value })}
            aria-invalid={fault ? true : undefined}
          />
          <button type="submit">Abrir</button>
        </div>
        <p id="ayuda-guia" class="suave">
          También por dirección, referencia o lo que lleva.
        </p>
        <FaultNotice de="guia">{fault}</FaultNotice>
      </form>
      <Filters rows={foundRows} onChoose={(estado) => updateView({ estado })} />
      <p class="suave" role="status">
        {shownRows.length === 0 && rows.length > 0 && `Ninguna de sus ${rows.length} guías dice eso.`}
        {shownRows.length > 0 && shownRows.length < rows.length && `Se ven ${shownRows.length} de ${rows.length}.`}
      </p>
      <ul class="lista">
        {shownRows.map((row) => (
          <li key={row.guia}>
            <a id={`g-${row.guia}`} href={`#/guia/${row.guia}`} onClick={() => rememberGuia(row.guia)}>
              <RowText row={row} />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Filters({ rows, onChoose }: { rows: readonly DispatchRow[]; onChoose: (estado: Estado | null) => void }) {
  const estados = countEstados(rows)
  if (estados.length < 2 && searchView.estado === null) return null
  const filterButton = (estado: Estado | null, label: string) => (
    <button type="button" aria-pressed={searchView.estado === estado} onClick={() => onChoose(estado)}>
      {label}
    </button>
  )
  return (
    <fieldset class="filtros">
      <legend class="oculto">Por estado</legend>
      {filterButton(null, `Todas ${rows.length}`)}
      {estados.map(([estado, count]) => filterButton(estado, `${ESTADO_NAMES[estado]} ${count}`))}
    </fieldset>
  )
}

function explainNoGuia(text: string) {
  const length = text.replace(/[\s-]/g, '').length
  if (length === 0) return 'Escriba las 12 letras y números de la etiqueta.'
  if (!/\d/.test(text)) return 'Nada en la lista dice eso.'
  if (length !== 12) return `Una guía tiene 12 letras y números; aquí hay ${length}.`
  return 'Esa guía no puede existir: alguna letra está cambiada. Compárela con la etiqueta.'
}
