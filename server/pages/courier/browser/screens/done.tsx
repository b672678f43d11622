import { useEffect, useState } from 'preact/hooks'
import { Undo2 } from '../../../../generated/contract/icons.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { goTo, useStoredData } from '../hooks.ts'
import { isCarried, partToday, searchView } from '../list.ts'
import { canBeUndone, endUndo, undoActions } from '../store/actions.ts'
import type { CourierAction, Sesion } from '../store/base.ts'
import { readGuiaOf } from '../store/guias.ts'
import { ESTADO_NAMES, type Estado } from '../vocabulary.ts'
import { Icon, ScreenTitle } from './pieces.tsx'
import { readRows } from './row.tsx'

/**
 * Screen after a step: confirms that the step is stored, lets the courier undo it for some seconds, and leads to the next
 * guide. Leaving the screen or the page ends the time to undo.
 */
export function DoneScreen(props: { sesion: Sesion; guia: string; estado: Estado; entregaCount: number }) {
  const { sesion, guia, estado, entregaCount } = props
  const repartidor = sesion.repartidor
  const storedData = useStoredData(async () => {
    const { actions, rows } = await readRows(repartidor)
    const nextRow = rows.find(
      (row) =>
        row.guia !== guia &&
        isCarried(row) &&
        partToday(row) === null &&
        row.steps.some((step) => step.estado === stepAfter(estado)),
    )
    const guiaActions = actions.filter((action) => action.guia === guia)
    const ultima = guiaActions.findLast((action) => action.estado === estado)
    const otherGuias = actions.flatMap(({ order, guia: other }) =>
      ultima && order > ultima.order && order < ultima.order + entregaCount ? [other] : [],
    )
    return { nextRow, ultima, otherGuias, stoppedAction: guiaActions.find(({ status }) => status === 'atencion') }
  }, guia)
  const name = useDestinatarioName(repartidor, guia)
  // The list opens at the next stop. The guide that was opened from the list is done.
  useEffect(() => {
    searchView.ultima = null
  }, [])
  if (!storedData) return null
  const { nextRow, ultima, otherGuias, stoppedAction } = storedData
  return (
    <>
      <p class="palomita" aria-hidden="true">
        ✓
      </p>
      <ScreenTitle>
        {ESTADO_NAMES[estado]}
        {entregaCount > 1 && `: ${entregaCount} guías`}
      </ScreenTitle>
      {name && <p class="destinatario">{name}</p>}
      {[guia, ...otherGuias].map((code) => (
        <p key={code}>
          Guía{' '}
          <a class="codigo" href={`#/guia/${code}`}>
            {inGroups(code)}
          </a>
        </p>
      ))}
      {stoppedAction ? (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${stoppedAction.order}`}>Vea por qué</a>
        </p>
      ) : (
        <p class="suave" role="status">
          {ultima?.status === 'pendiente' ? 'Por enviar: está guardado en el teléfono y se envía solo.' : 'Enviado.'}
        </p>
      )}
      {ultima && <Undo key={ultima.order} accion={ultima} count={entregaCount} />}
      <nav class="barra pegada" aria-label="Seguir">
        {nextRow && (
          <p>
            Sigue: <strong>{nextRow.heading?.street || nextRow.titulo}</strong>
          </p>
        )}
        {nextRow && (
          <a class="boton principal" href={`#/guia/${nextRow.guia}`}>
            Siguiente
          </a>
        )}
        <a class={nextRow ? 'boton' : 'boton principal'} href="#/">
          Ver la lista
        </a>
      </nav>
    </>
  )
}

/**
 * Button that undoes a step while it waits to be sent.
 * @param count number of actions of the step. Their numbers follow each other, because one transaction stored them.
 */
function Undo({ accion, count }: { accion: CourierAction; count: number }) {
  const [canUndo, setCanUndo] = useState(canBeUndone(accion))
  const { guia, estado, order } = accion
  const orders = Array.from({ length: count }, (_, i) => order + i)
  useEffect(() => {
    if (!canUndo) return
    const end = () => setCanUndo(false)
    const timer = setTimeout(end, accion.notBefore - Date.now())
    document.addEventListener('visibilitychange', end)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', end)
      endUndo(orders)
    }
  }, [canUndo])
  if (!canUndo) return null
  const undo = async () => {
    if (await undoActions(orders)) goTo(accion.entrega ? `guia/${guia}/entregar` : `guia/${guia}/paso/${estado}`, true)
    else setCanUndo(false)
  }
  return (
    <button type="button" onClick={undo}>
      <Icon drawing={Undo2} />
      Deshacer
    </button>
  )
}

/**
 * Returns the step that the next guide should allow: the same step after `recolectado`, `en_ruta` and `devuelto`,
 * otherwise `entregado`.
 */
const stepAfter = (estado: Estado): Estado =>
  estado === 'recolectado' || estado === 'en_ruta' || estado === 'devuelto' ? estado : 'entregado'

/**
 * Returns the recipient's name as it was before the step, because a finished guide is deleted from the phone once its
 * step is sent.
 */
function useDestinatarioName(repartidor: string, guia: string) {
  const [name, setName] = useState<string | null>(null)
  useEffect(() => {
    readGuiaOf(repartidor, guia).then((storedGuia) =>
      setName((before) => before ?? storedGuia?.datos?.destinatario ?? null),
    )
  }, [])
  return name
}
