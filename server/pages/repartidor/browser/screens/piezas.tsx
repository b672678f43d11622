import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ChevronLeft } from '../../../../generado/contrato/iconos.ts'
import { createClock } from '../../../../platform/time/clock.ts'
import { CENTRAL } from '../central.ts'
import { NOMBRES } from '../dominio.ts'
import type { Accion } from '../store/base.ts'

/** Heading of a screen. It takes the focus, so that a screen reader announces the screen. */
export function Titulo({ children }: { children: ComponentChildren }) {
  const titulo = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    scrollTo(0, 0)
    titulo.current?.focus()
  }, [])
  return (
    <h1 ref={titulo} tabIndex={-1}>
      {children}
    </h1>
  )
}

/**
 * Icon. Screen readers skip it, because the text beside it or the control's name says the same.
 * @param dibujo constant of `iconos.ts`
 */
export const Icono = ({ dibujo }: { dibujo: string }) => (
  <svg class="icono" viewBox="0 0 24 24" aria-hidden="true" dangerouslySetInnerHTML={{ __html: dibujo }} />
)

/**
 * Link back to another screen.
 * @param a address of that screen
 */
export const Volver = ({ a, children = 'Volver' }: { a: string; children?: ComponentChildren }) => (
  <a class="volver" href={`#/${a}`}>
    <Icono dibujo={ChevronLeft} />
    {children}
  </a>
)

/** Advice to call the central office, with its telephone if one is configured. */
export const AvisarALaCentral = () =>
  CENTRAL ? (
    <a class="central" href={`tel:${CENTRAL.e164}`}>
      Avise a la central: {CENTRAL.visible}
    </a>
  ) : (
    <>Avise a la central.</>
  )

/** Question before a step that cannot be undone. Both answers close it; Escape means «no». */
export function Pregunta(props: {
  titulo: string
  children?: ComponentChildren
  si: string
  no?: string
  cerrar: () => void
  alAceptar: () => void
}) {
  const dialogo = useRef<HTMLDialogElement>(null)
  const decidir = useRef((_si: boolean) => {})
  decidir.current = (si) => {
    props.cerrar()
    if (si) props.alAceptar()
  }
  useEffect(() => {
    dialogo.current!.showModal()
  }, [])
  return (
    <dialog ref={dialogo} aria-labelledby="pregunta" onCancel={() => decidir.current(false)}>
      <h2 id="pregunta">{props.titulo}</h2>
      {props.children}
      <button type="button" class="principal" onClick={() => decidir.current(false)}>
        {props.no ?? 'No'}
      </button>
      <button type="button" class="peligro" onClick={() => decidir.current(true)}>
        {props.si}
      </button>
    </dialog>
  )
}

const delTelefono = createClock(new Intl.DateTimeFormat().resolvedOptions().timeZone)

/**
 * Returns the time of day of an event by the clock of its destination. The destination's zone is named if the phone's
 * clock shows another time.
 * @param zona IANA time zone of the destination; null to use the phone's
 */
export function horaDe(instante: string, zona: string | null) {
  const suya = delTelefono.hora(instante)
  if (zona === null) return suya
  const { hora, nombre } = createClock(zona)
  return hora(instante) === suya ? suya : `${hora(instante)} (${nombre})`
}

/**
 * Returns the time since an instant: «hace 5 min».
 * @param instante milliseconds since the epoch
 */
export const hace = (instante: number) => {
  const minutos = Math.round((Date.now() - instante) / 60_000)
  if (minutos < 1) return 'hace un momento'
  return minutos < 60 ? `hace ${minutos} min` : `hace ${Math.round(minutos / 60)} h`
}

/** Returns the name of an action, such as «Entregado». */
export const nombreDeGuia = ({ estado }: Pick<Accion, 'estado'>) => (estado === null ? 'Nota' : NOMBRES[estado])

/** Returns the status of an action in words. */
export function situacionDe(
  accion: Accion,
  enviando: readonly number[],
  yo: string,
  enLinea: boolean,
  vigente: boolean,
) {
  if (accion.situacion === 'enviada') return accion.aplicado ? 'Enviado' : 'Enviado: anotado, sin cambiar el estado'
  if (accion.situacion === 'atencion') return 'Necesita su atención'
  if (accion.repartidor !== yo) return `Espera a ${accion.nombre}`
  if (enviando.includes(accion.orden)) return 'Enviando…'
  if (!vigente) return 'Espera a que entre otra vez'
  if (!enLinea) return 'Espera cobertura'
  return accion.noAntesDe > Date.now()
    ? `Se intentará a las ${delTelefono.hora(new Date(accion.noAntesDe).toISOString())}`
    : 'En espera'
}
