import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { useStoredData } from '../hooks.ts'
import { sendNow } from '../queue.ts'
import { readActions } from '../store/actions.ts'
import type { CourierAction } from '../store/base.ts'
import type { ScreenContext } from './home.tsx'
import { BackLink, nameOfAction, ScreenTitle, statusOfAction, timeOf } from './pieces.tsx'

const MAX_UNSENT_SHOWN = 8

/** Screen with the courier's actions of the day: those still to be sent, and those that the service has. */
export function Hoy({ sesion, isOnline, sending }: ScreenContext) {
  const repartidor = sesion.repartidor
  const actions = useStoredData(readActions, repartidor)
  if (!actions) return null
  const unsent = actions.filter(({ status }) => status !== 'enviada')
  const stoppedActions = unsent.filter(({ status }) => status === 'atencion')
  // Actions that need the courier's attention come first. A list of all unsent actions of the day is not useful to the
  // courier.
  const sortedUnsent = [...unsent]
    .sort((action, other) => Number(other.status === 'atencion') - Number(action.status === 'atencion'))
    .slice(0, Math.max(MAX_UNSENT_SHOWN, stoppedActions.length))
  const sentActions = actions
    .filter((action) => action.status === 'enviada' && action.repartidor === repartidor)
    .reverse()
  const renderAction = (action: CourierAction) => (
    <li key={action.order} class={action.status}>
      <a href={`#/accion/${action.order}`}>
        <strong>{nameOfAction(action)}</strong> <span class="codigo">{inGroups(action.guia)}</span>{' '}
        <small>
          {timeOf(action.ocurrido_en, action.zona)} ·{' '}
          {statusOfAction(action, sending, repartidor, isOnline, sesion.isActive)}
        </small>
      </a>
    </li>
  )
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>Lo que hizo</ScreenTitle>
      {unsent.length + sentActions.length === 0 && <p class="suave">Todavía no ha anotado nada hoy.</p>}
      {unsent.length > 0 && (
        <section aria-labelledby="por-enviar">
          <h2 id="por-enviar">Por enviar ({unsent.length})</h2>
          <ul class="lista">{sortedUnsent.map(renderAction)}</ul>
          {sortedUnsent.length < unsent.length && (
            <p class="suave">Y {unsent.length - sortedUnsent.length} más, en su orden.</p>
          )}
          {sesion.isActive && (
            <button type="button" onClick={sendNow}>
              Enviar ahora
            </button>
          )}
        </section>
      )}
      {sentActions.length > 0 && (
        <section aria-labelledby="enviado">
          <h2 id="enviado">Enviado hoy ({sentActions.length})</h2>
          <ul class="lista">{sentActions.map(renderAction)}</ul>
        </section>
      )}
    </>
  )
}
