import { useEffect, useRef, useState } from 'preact/hooks'
import { parseGuiaCode } from '../codigos.ts'
import { ESTADO_NAMES, type Estado } from '../dominio.ts'
import { AvisoDeFalla, conFalla } from '../fallas.tsx'
import { ir } from '../hooks.ts'
import { buscar, countEstados, type DispatchRow, vista } from '../lista.ts'
import type { Sesion } from '../store/base.ts'
import { storeWithoutData } from '../store/guias.ts'
import { RowText, rememberGuia, useReturnFocus, useRows } from './fila.tsx'
import { BackLink } from './piezas.tsx'

/** Screen that finds a guide on the phone by its words, its code and its state, or opens one by its code. */
export function SearchScreen({ sesion }: { sesion: Sesion }) {
  const rows = useRows(sesion)
  const [, redraw] = useState(0)
  const [falla, setFailure] = useState('')
  const updateView = (change: Partial<typeof vista>) => {
    Object.assign(vista, change)
    setFailure('')
    redraw((n) => n + 1)
  }
  const campo = useRef<HTMLInputElement>(null)
  const listo = rows !== undefined
  useEffect(() => {
    if (listo && !vista.ultima) campo.current!.focus()
  }, [listo])
  useReturnFocus(listo)
  if (!rows) return null
  const foundRows = buscar(rows, vista.searchText)
  const vistas = foundRows.filter(({ estado }) => vista.estado === null || estado === vista.estado)
  const openGuia = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const guia = parseGuiaCode(vista.searchText) ?? (vistas.length === 1 ? vistas[0]!.guia : undefined)
    if (!guia) return setFailure(vistas.length > 1 && vista.searchText ? '' : explainNoGuia(vista.searchText))
    await storeWithoutData(sesion.repartidor, guia, false)
    updateView({ searchText: '' })
    rememberGuia(guia)
    ir(`guia/${guia}`)
  }
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <h1>Buscar</h1>
      <form onSubmit={openGuia} noValidate>
        <label for="guia">Código, nombre o dirección</label>
        <div class="con-boton">
          <input
            ref={campo}
            id="guia"
            type="search"
            enterkeyhint="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={60}
            value={vista.searchText}
            onInput={({ currentTarget }) => updateView({ searchText: currentTarget.value })}
            {...conFalla('guia', falla)}
          />
          <button type="submit">Abrir</button>
        </div>
        <AvisoDeFalla de="guia">{falla}</AvisoDeFalla>
      </form>
      <Filters rows={foundRows} onChoose={(estado) => updateView({ estado })} />
      <p class="suave" role="status">
        {vistas.length < rows.length && `Se ven ${vistas.length} de ${rows.length}.`}
      </p>
      <ul class="lista">
        {vistas.map((fila) => (
          <li key={fila.guia}>
            <a id={`g-${fila.guia}`} href={`#/guia/${fila.guia}`} onClick={() => rememberGuia(fila.guia)}>
              <RowText fila={fila} />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Filters({ rows, onChoose }: { rows: readonly DispatchRow[]; onChoose: (estado: Estado | null) => void }) {
  const estados = countEstados(rows)
  if (estados.length < 2 && vista.estado === null) return null
  const filterButton = (estado: Estado | null, label: string) => (
    <button type="button" aria-pressed={vista.estado === estado} onClick={() => onChoose(estado)}>
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

function explainNoGuia(texto: string) {
  const largo = texto.replace(/[\s-]/g, '').length
  if (largo === 0) return 'Escriba las 12 letras y números de la etiqueta.'
  if (!/\d/.test(texto)) return 'Nada en la lista dice eso.'
  if (largo !== 12) return `Una guía tiene 12 letras y números; aquí hay ${largo}.`
  return 'Esa guía no puede existir: alguna letra está cambiada. Compárela con la etiqueta.'
}
