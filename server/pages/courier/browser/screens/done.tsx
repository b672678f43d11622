import { useEffect, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { useStoredData } from '../hooks.ts'
import { isCarried, partToday } from '../list.ts'
import type { Sesion } from '../store/base.ts'
import { readGuiaOf } from '../store/guias.ts'
import { DONE_LABELS, ESTADO_NAMES, type Estado } from '../vocabulary.ts'
import { ScreenTitle } from './pieces.tsx'
import { readRows } from './row.tsx'

/** Screen after a step: confirms that the step is stored, shows whether it was sent, and leads to the next guide. */
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
        row.steps.some((paso) => paso.estado === stepAfter(estado)),
    )
    const guiaActions = actions.filter((action) => action.guia === guia)
    const ultima = guiaActions.findLast((action) => action.estado === estado)
    return { nextRow, ultima, stoppedAction: guiaActions.find(({ status }) => status === 'atencion') }
  }, guia)
  const nombre = useDestinatarioName(repartidor, guia)
  if (!storedData) return null
  const { nextRow, ultima, stoppedAction } = storedData
  return (
    <>
      <p class="palomita" aria-hidden="true">
        ✓
      </p>
      <ScreenTitle>
        {DONE_LABELS[estado]}
        {entregaCount > 1 && `: ${entregaCount} guías`}
      </ScreenTitle>
      {nombre && <p class="destinatario">{nombre}</p>}
      <p>
        {entregaCount > 1 ? 'Esta guía y las que iban con ella: ' : 'Guía '}
        <a class="codigo" href={`#/guia/${guia}`}>
          {inGroups(guia)}
        </a>
      </p>
      <p class="estado" role="status">
        {ESTADO_NAMES[estado]}
        {ultima?.status === 'pendiente' && ' (por enviar)'}
      </p>
      {stoppedAction ? (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${stoppedAction.order}`}>Vea por qué</a>
        </p>
      ) : (
        <p class="suave">
          {ultima?.status === 'pendiente'
            ? 'Está guardado en el teléfono y se envía solo.'
            : 'El servicio ya lo tiene.'}
        </p>
      )}
      <nav class="barra pegada" aria-label="Seguir">
        {nextRow && (
          <a class="boton principal" href={`#/guia/${nextRow.guia}`}>
            Siguiente: {nextRow.titulo}
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
  const [nombre, setName] = useState<string | null>(null)
  useEffect(() => {
    readGuiaOf(repartidor, guia).then((storedGuia) =>
      setName((antes) => antes ?? storedGuia?.datos?.destinatario ?? null),
    )
  }, [])
  return nombre
}
