import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ChevronLeft } from '../../../../generated/contract/icons.ts'
import { createClock } from '../../../../platform/time/clock.ts'
import { CENTRAL } from '../office.ts'
import type { CourierAction } from '../store/base.ts'
import { ESTADO_NAMES } from '../vocabulary.ts'

/** Heading of a screen. It takes the focus, so that a screen reader announces the screen. */
export function ScreenTitle({ children }: { children: ComponentChildren }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    scrollTo(0, 0)
    title.current?.focus()
  }, [])
  return (
    <h1 ref={title} tabIndex={-1}>
      {children}
    </h1>
  )
}

/**
 * Icon. Screen readers skip it, because the text beside it or the control's name says the same.
 * @param drawing constant of `icons.ts`
 */
export const Icon = ({ drawing }: { drawing: string }) => (
  <svg class="icono" viewBox="0 0 24 24" aria-hidden="true" dangerouslySetInnerHTML={{ __html: drawing }} />
)

/**
 * Link back to another screen.
 * @param a address of that screen
 */
export const BackLink = ({ a, children = 'Volver' }: { a: string; children?: ComponentChildren }) => (
  <a class="volver" href={`#/${a}`}>
    <Icon drawing={ChevronLeft} />
    {children}
  </a>
)

/** Advice to call the central office, with its telephone if one is configured. */
export const CallCentral = ({ children = 'Avise' }: { children?: string }) =>
  CENTRAL ? (
    <a class="central" href={`tel:${CENTRAL.e164}`}>
      {children} a la central: {CENTRAL.visible}
    </a>
  ) : (
    <>{children} a la central.</>
  )

/** Question before a step that cannot be undone. Both answers close it; Escape means «no». */
export function ConfirmDialog(props: {
  titulo: string
  children?: ComponentChildren
  yes: string
  no?: string
  onClose: () => void
  onAccept: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef((_accepted: boolean) => {})
  answer.current = (accepted) => {
    props.onClose()
    if (accepted) props.onAccept()
  }
  useEffect(() => {
    dialog.current!.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="pregunta" onCancel={() => answer.current(false)}>
      <h2 id="pregunta">{props.titulo}</h2>
      {props.children}
      <button type="button" class="principal" onClick={() => answer.current(false)}>
        {props.no ?? 'No'}
      </button>
      <button type="button" class="peligro" onClick={() => answer.current(true)}>
        {props.yes}
      </button>
    </dialog>
  )
}

const phoneClock = createClock(new Intl.DateTimeFormat().resolvedOptions().timeZone)

/**
 * Returns the time of day of an event by the clock of its destination. The destination's zone is named if the phone's
 * clock shows another time.
 * @param zone IANA time zone of the destination; null to use the phone's
 */
export function timeOf(instant: string, zone: string | null) {
  const phoneTime = phoneClock.hora(instant)
  if (zone === null) return phoneTime
  const { hora, nombre } = createClock(zone)
  return hora(instant) === phoneTime ? phoneTime : `${hora(instant)} (${nombre})`
}

/**
 * Returns the time since an instant: «hace 5 min».
 * @param instant milliseconds since the epoch
 */
export const timeAgo = (instant: number) => {
  const minutes = Math.round((Date.now() - instant) / 60_000)
  if (minutes < 1) return 'hace un momento'
  return minutes < 60 ? `hace ${minutes} min` : `hace ${Math.round(minutes / 60)} h`
}

/** Returns the name of an action, such as «Entregado». */
export const nameOfAction = ({ estado }: Pick<CourierAction, 'estado'>) =>
  estado === null ? 'Nota' : ESTADO_NAMES[estado]

/** Returns the status of an action in words. */
export function statusOfAction(
  action: CourierAction,
  sending: readonly number[],
  repartidor: string,
  isOnline: boolean,
  isSesionActive: boolean,
) {
  if (action.status === 'enviada') return action.aplicado ? 'Enviado' : 'Enviado: anotado, sin cambiar el estado'
  if (action.status === 'atencion') return 'Necesita su atención'
  if (action.repartidor !== repartidor) return `Espera a ${action.nombre}`
  if (sending.includes(action.order)) return 'Enviando…'
  if (!isSesionActive) return 'Espera a que entre otra vez'
  if (!isOnline) return 'Espera cobertura'
  return action.notBefore > Date.now()
    ? `Se intentará a las ${phoneClock.hora(new Date(action.notBefore).toISOString())}`
    : 'En espera'
}
