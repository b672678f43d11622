import { useEffect } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { NOMBRES, queSeDecidio } from '../dominio.ts'
import { useDatos } from '../hooks.ts'
import { type FilaDeReparto, filasDeReparto, metros, vista } from '../lista.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import { type Accion, type GuiaGuardada, leerAjuste, type Sesion } from '../store/base.ts'
import { guiasDe } from '../store/guias.ts'

/** Remembers which guide was opened from a list, so that the list continues there afterwards. */
export const recordar = (guia: string) => {
  vista.ultima = guia
}

/** Returns the text of a row about its guide's state; empty while the parcel is on the way to its recipient. */
function situacionDe({ estado, porEnviar, datos }: FilaDeReparto, breve: boolean): string {
  const { decision } = datos ?? {}
  const dicho = [
    (!breve || estado !== 'en_ruta') && (estado ? NOMBRES[estado] : 'estado desconocido'),
    porEnviar && '(por enviar)',
  ].filter(Boolean)
  return [dicho.join(' '), decision && queSeDecidio(decision)].filter(Boolean).join(' · ')
}

/** Row of the first screen for a stop after the next one: address, distance and name. */
export function FilaBreve({ fila }: { fila: FilaDeReparto }) {
  const { guia, titulo, rumbo, distancia } = fila
  const donde = rumbo?.calle || rumbo?.zona
  const resto = [donde && donde !== titulo && titulo, situacionDe(fila, true)].filter(Boolean)
  return (
    <li>
      <a id={`g-${guia}`} class="breve" href={`#/guia/${guia}`} onClick={() => recordar(guia)}>
        <strong>{donde || titulo}</strong>{' '}
        <small>
          {distancia !== null && <b>{metros(distancia)}</b>}
          {distancia !== null && resto.length > 0 && ' · '}
          {resto.join(' · ')}
          {!donde && <span class="codigo"> {inGroups(guia)}</span>}
        </small>
      </a>
    </li>
  )
}

/** Text of a row of the search, which also contains the guide's code and its whole address. */
export function DichoDeFila({ fila }: { fila: FilaDeReparto }) {
  const { guia, titulo, rumbo, distancia } = fila
  const situacion = situacionDe(fila, false)
  return (
    <>
      <strong>{titulo}</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
      {rumbo && rumbo.direccion !== titulo && <span class="direccion">{rumbo.direccion}</span>}{' '}
      <small>{distancia === null ? situacion : `${situacion} · a ${metros(distancia)}`}</small>
    </>
  )
}

/** Tells whether lists show a guide. A guide that is not assigned to the courier any more disappears from them. */
export const esVisible = ({ sinAsignar }: GuiaGuardada) => !sinAsignar

/** Reads the actions on the phone, and the courier's guides in the order of the stops. */
export async function leerFilas(repartidor: string): Promise<{ acciones: Accion[]; filas: FilaDeReparto[] }> {
  const [acciones, guias, desde] = await Promise.all([leerAcciones(), guiasDe(repartidor), leerAjuste('desde')])
  return { acciones, filas: filasDeReparto(guias.filter(esVisible), acciones, desde) }
}

/** Returns the courier's guides in the order of the stops; undefined until they are read. */
export const useFilas = ({ repartidor }: Sesion): FilaDeReparto[] | undefined =>
  useDatos(() => leerFilas(repartidor), repartidor)?.filas

/** Moves the focus to the guide that was opened from the list, if the list still shows it. */
export function useVolverA(lista: boolean) {
  useEffect(() => {
    const ultima = lista && vista.ultima && document.getElementById(`g-${vista.ultima}`)
    if (!ultima) return
    vista.ultima = null
    ultima.focus()
    ultima.scrollIntoView({ block: 'center' })
  }, [lista])
}
