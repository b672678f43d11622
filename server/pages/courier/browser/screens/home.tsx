import { useEffect, useMemo } from 'preact/hooks'
import { EllipsisVertical, History, PackageOpen, ScanBarcode, Search } from '../../../../generated/contract/icons.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { useHere, useStoredData } from '../hooks.ts'
import {
  type AssignedGroup,
  type DispatchRow,
  dispatchRows,
  findNextStop,
  groupAssigned,
  isCarried,
  partToday,
  terminadas,
} from '../list.ts'
import { readActions } from '../store/actions.ts'
import { readSetting, type Sesion, setSetting } from '../store/base.ts'
import { readDrafts } from '../store/drafts.ts'
import { readGuiasOf } from '../store/guias.ts'
import { Install } from './install.tsx'
import { Icon, ScreenTitle } from './pieces.tsx'
import { BriefRow, isVisible, rememberGuia, useReturnFocus } from './row.tsx'
import { NextStop } from './stop.tsx'

/** State of the page that several screens use. */
export interface ScreenContext {
  sesion: Sesion
  isOnline: boolean
  sending: readonly number[]
}

/** Hook that reads the courier's parcels, actions and drafts from the phone, and orders the parcels by the place. */
function useReparto(repartidor: string) {
  const here = useHere()
  const datos = useStoredData(async () => {
    const [actions, drafts, guias, today, asignadas, clockOffset = 0, desde = null] = await Promise.all([
      readActions(),
      readDrafts(repartidor),
      readGuiasOf(repartidor),
      readSetting('hoy'),
      readSetting('asignadas'),
      readSetting('clockOffset'),
      readSetting('desde'),
    ])
    return {
      actions,
      drafts,
      guias: guias.filter(isVisible),
      desde,
      asignadas: groupAssigned(asignadas, actions),
      doneCount: terminadas(actions, repartidor, today, Date.now() + clockOffset),
    }
  }, repartidor)
  const rows = useMemo(
    () => (datos ? dispatchRows(datos.guias, datos.actions, datos.desde, here ?? datos.desde) : []),
    [datos, here],
  )
  const lacksStart = datos?.desde === null
  useEffect(() => {
    if (lacksStart && here) setSetting('desde', here)
  }, [lacksStart, here])
  return { datos, rows, isLocated: here !== null }
}

function Tabs({ unsent }: { unsent: number }) {
  return (
    <nav class="pestanas" aria-label="Reparto">
      <a href="#/buscar">
        <Icon drawing={Search} />
        Buscar
      </a>
      <a class="escanear" href="#/escanear">
        <Icon drawing={ScanBarcode} />
        Escanear
      </a>
      <a href="#/hoy">
        <Icon drawing={History} />
        Hecho
        {unsent > 0 && (
          <span class="cuenta">
            {unsent}
            <span class="oculto"> por enviar</span>
          </span>
        )}
      </a>
    </nav>
  )
}

/** First screen: the next stop, the stops after it, and notices that need the courier's attention. */
export function Home({ sesion }: ScreenContext) {
  const { datos, rows, isLocated } = useReparto(sesion.repartidor)
  useReturnFocus(datos !== undefined)
  if (!datos) return null
  const nextStop = findNextStop(rows)
  const carriedRows = rows.filter(isCarried)
  const rowsOfPart = (part: ReturnType<typeof partToday>) =>
    carriedRows.filter((row) => row !== nextStop && partToday(row) === part)
  const [currentRows, returningRows, laterRows] = [rowsOfPart(null), rowsOfPart('vuelve'), rowsOfPart('otro_dia')]
  const otherRows = rows.filter((row) => row !== nextStop && !isCarried(row))
  const now = carriedRows.filter((row) => partToday(row) === null)
  const unsent = datos.actions.filter(({ status }) => status !== 'enviada')
  const stoppedCount = unsent.filter(({ status }) => status === 'atencion').length
  return (
    <>
      <header class="encabezado">
        <ScreenTitle>{titleOf(now, datos.doneCount, sesion)}</ScreenTitle>
        <a class="boton solo-icono callado" href="#/mas" aria-label="Más" title="Más">
          <Icon drawing={EllipsisVertical} />
        </a>
      </header>
      <Tabs unsent={unsent.length} />
      <Progress doneCount={datos.doneCount} lleva={carriedRows.length} />
      {nextStop && <NextStop row={nextStop} carriedRows={carriedRows} quien={sesion.nombre} isLocated={isLocated} />}
      {stoppedCount > 0 && (
        <p class="nota mal">
          <a href="#/hoy">
            {stoppedCount === 1
              ? 'Algo que hizo necesita su atención'
              : `${stoppedCount} cosas que hizo necesitan su atención`}
          </a>
        </p>
      )}
      {datos.drafts.map(({ guia }) => (
        <p key={guia} class="nota">
          <a href={`#/guia/${guia}/entregar`}>
            Terminar la entrega de {rows.find((row) => row.guia === guia)?.titulo ?? inGroups(guia)}
          </a>
        </p>
      ))}
      {rows.length === 0 && datos.asignadas.length === 0 && (
        <div class="vacio">
          <Icon drawing={PackageOpen} />
          <p>Escanee los paquetes antes de salir: así tendrá sus direcciones también sin cobertura.</p>
        </div>
      )}
      {!nextStop && <Install />}
      <RowList titulo="Después" rows={currentRows} />
      <AssignedGuias groups={datos.asignadas} />
      <RowList titulo="Vuelven a bodega" rows={returningRows} />
      <RowList titulo="Para otro día" rows={laterRows} />
      <RowList titulo="Otras a mano" rows={otherRows} />
    </>
  )
}

/** Returns the heading of the screen: the work that is left. */
function titleOf(now: readonly DispatchRow[], doneCount: number, { nombre }: Sesion): string {
  const giveBack = now.filter(({ estado }) => estado === 'en_devolucion').length
  const toDeliver = now.length - giveBack
  const phrases = [toDeliver > 0 && `${toDeliver} por entregar`, giveBack > 0 && `${giveBack} por devolver`].filter(
    Boolean,
  )
  if (phrases.length > 0) return phrases.join(', ')
  return `${doneCount > 0 ? 'Terminó' : 'Hola'}, ${nombre.split(' ')[0]}`
}

/** Progress of the day: «12 de 40 entregadas». */
function Progress({ doneCount, lleva }: { doneCount: number; lleva: number }) {
  const todas = doneCount + lleva
  if (todas === 0) return null
  return (
    <p class="avance">
      <label for="avance">
        {doneCount} de {todas} entregadas
      </label>
      <progress id="avance" max={todas} value={doneCount} />
    </p>
  )
}

/**
 * Guides that are assigned to the courier, in groups. The destination of each becomes visible when the
 * courier takes the parcel.
 */
function AssignedGuias({ groups }: { groups: readonly AssignedGroup[] }) {
  if (groups.length === 0) return null
  const todas = groups.reduce((sum, { guias }) => sum + guias.length, 0)
  return (
    <section aria-labelledby="asignados">
      <h2 id="asignados">Asignados ({todas})</h2>
      <p class="suave">Escanéelos al recogerlos o recibirlos: entonces verá a quién van.</p>
      {groups.map(({ titulo, guias }) => (
        <details key={titulo} class="municipio">
          <summary>
            {titulo} ({guias.length})
          </summary>
          <ul class="lista">
            {guias.map((guia) => (
              <li key={guia}>
                <a id={`g-${guia}`} href={`#/guia/${guia}`} onClick={() => rememberGuia(guia)}>
                  <span class="codigo">{inGroups(guia)}</span>
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  )
}

function RowList({ titulo, rows }: { titulo: string; rows: readonly DispatchRow[] }) {
  if (rows.length === 0) return null
  return (
    <section aria-label={titulo}>
      <h2>
        {titulo} ({rows.length})
      </h2>
      <ul class="lista">
        {rows.map((row) => (
          <BriefRow key={row.guia} row={row} />
        ))}
      </ul>
    </section>
  )
}
