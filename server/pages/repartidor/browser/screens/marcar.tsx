import { useState } from 'preact/hooks'
import type { Estado } from '../dominio.ts'
import { puede } from '../lote.ts'
import type { Sesion } from '../store/base.ts'
import { DichoDeFila, useFilas } from './fila.tsx'
import { Lote } from './lote.tsx'
import { Titulo, Volver } from './piezas.tsx'

/**
 * Screen that takes one step with several guides.
 * @param estado step whose guides are ticked from the start; undefined to tick none
 */
export function Marcar({ sesion, estado }: { sesion: Sesion; estado: Estado | undefined }) {
  const filas = useFilas(sesion)
  const [elegidas, elegir] = useState<ReadonlySet<string> | null>(null)
  if (!filas) return null
  const marcables = filas.filter(({ final, desconocida }) => !final && !desconocida)
  const deEntrada = () => marcables.filter((fila) => estado && puede(fila, estado)).map(({ guia }) => guia)
  const marcadas = elegidas ?? new Set(deEntrada())
  const alternar = (guia: string) => {
    const nuevas = new Set(marcadas)
    if (!nuevas.delete(guia)) nuevas.add(guia)
    elegir(nuevas)
  }
  const todas = marcadas.size === marcables.length
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>Marcar varias</Titulo>
      {marcables.length > 0 && (
        <button type="button" onClick={() => elegir(new Set(todas ? [] : marcables.map(({ guia }) => guia)))}>
          {todas ? 'No marcar ninguna' : marcables.length === 1 ? 'Marcar la única' : `Marcar las ${marcables.length}`}
        </button>
      )}
      <ul class="lista">
        {filas.map((fila) => (
          <li key={fila.guia}>
            <label class="marcable">
              <input
                type="checkbox"
                checked={marcadas.has(fila.guia)}
                disabled={fila.final || fila.desconocida}
                onChange={() => alternar(fila.guia)}
              />
              <span>
                <DichoDeFila fila={fila} />
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Lote
        sesion={sesion}
        filas={filas.filter(({ guia }) => marcadas.has(guia))}
        dice={marcadas.size === 1 ? '1 marcada' : `${marcadas.size} marcadas`}
      />
    </>
  )
}
