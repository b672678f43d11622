import { useState } from 'preact/hooks'
import { DESCRIPCIONES_DE_SIN_FIRMA } from '../../../../generated/contract/vocabulary.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { goTo, useStoredData } from '../hooks.ts'
import { CENTRAL } from '../office.ts'
import { runExclusively, sendNow } from '../queue.ts'
import {
  changeAction,
  discardAction,
  insertTakeBefore,
  isDiscardable,
  readAction,
  reopenEntrega,
} from '../store/actions.ts'
import type { CourierAction, Sesion } from '../store/base.ts'
import { type Estado, REASON_NAMES, STEP_LABELS } from '../vocabulary.ts'
import { BackLink, CallCentral, ConfirmDialog, nameOfAction, ScreenTitle, statusOfAction, timeOf } from './pieces.tsx'

/** Screen of one action: its status, the server's response, and what the courier can do. */
export function ActionDetail(props: { sesion: Sesion; isOnline: boolean; sending: readonly number[]; order: number }) {
  const { sesion, isOnline, sending, order } = props
  const action = useStoredData(async () => (await readAction(order)) ?? null, String(order))
  const [isAsking, setIsAsking] = useState(false)
  if (action === undefined) return null
  if (action === null) {
    return (
      <>
        <BackLink a="">Inicio</BackLink>
        <ScreenTitle>Ya no está</ScreenTitle>
        <p>Esta acción se descartó, o se envió hace más de un día.</p>
      </>
    )
  }
  const isOwn = action.repartidor === sesion.repartidor
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>{nameOfAction(action)}</ScreenTitle>
      <p>
        Guía{' '}
        <a class="codigo" href={`#/guia/${action.guia}`}>
          {inGroups(action.guia)}
        </a>
        , a las {timeOf(action.ocurrido_en, action.zona)}.
      </p>
      <p class="estado">{statusOfAction(action, sending, sesion.repartidor, isOnline, sesion.isActive)}</p>
      {!isOwn && action.status !== 'enviada' && (
        <p class="nota">La hizo {action.nombre}. Nadie más puede enviarla: se envía cuando entre en este teléfono.</p>
      )}
      <ActionContent accion={action} />
      {action.fault && <Refusal accion={action} />}
      {action.status === 'atencion' && isOwn && <Remedies accion={action} />}
      {isOwn && isDiscardable(action) && (
        <button type="button" class="peligro" onClick={() => setIsAsking(true)}>
          Descartar
        </button>
      )}
      {isAsking && (
        <ConfirmDialog
          titulo="¿Descartar esta acción?"
          yes="Descartar"
          no="Conservarla"
          onClose={() => setIsAsking(false)}
          onAccept={() =>
            runExclusively(() => discardAction(order)).then(() => {
              // The deleted action may have held back other actions, which are now sent.
              sendNow()
              goTo('', true)
            })
          }
        >
          <p>No quedará registrada en ninguna parte{action.fotos.length > 0 && ', y sus fotos se borran'}.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** Buttons for an action that the server refused. */
function Remedies({ accion }: { accion: CourierAction }) {
  const { order, guia, fault, entrega } = accion
  const resetForRetry = () => ({ status: 'pendiente' as const, falla: null, noAntesDe: 0, isReuploaded: false })
  return (
    <>
      {fault?.takenEstado && <TakeFirst accion={accion} takenEstado={fault.takenEstado} />}
      {entrega && (
        <button
          type="button"
          class={fault?.takenEstado ? '' : 'principal'}
          onClick={() => runExclusively(() => reopenEntrega(order)).then(() => goTo(`guia/${guia}/entregar`, true))}
        >
          Corregir
        </button>
      )}
      <button type="button" onClick={() => runExclusively(() => changeAction(order, resetForRetry))}>
        Intentar otra vez
      </button>
    </>
  )
}

/**
 * Button for a courier who had the parcel but never reported taking it. It adds that step, and sends the refused action
 * again.
 */
function TakeFirst({ accion: { order, guia }, takenEstado }: { accion: CourierAction; takenEstado: Estado }) {
  return (
    <button
      type="button"
      class="principal"
      onClick={() => runExclusively(() => insertTakeBefore(order, takenEstado)).then(() => goTo(`guia/${guia}`, true))}
    >
      La tenía yo: {STEP_LABELS[takenEstado].toLowerCase()}, y enviarlo otra vez
    </button>
  )
}

function ActionContent({ accion: { evento, entrega, fotos, firma } }: { accion: CourierAction }) {
  const parts = [
    evento?.motivo && REASON_NAMES[evento.motivo],
    entrega && `Recibió ${entrega.recibido_por.nombre}`,
    fotos.length > 0 && (fotos.length === 1 ? '1 foto' : `${fotos.length} fotos`),
    firma && 'firma',
    entrega?.sin_firma && `sin firma: ${DESCRIPCIONES_DE_SIN_FIRMA[entrega.sin_firma].toLowerCase()}`,
    evento?.descripcion ?? entrega?.descripcion,
  ].filter(Boolean)
  return parts.length > 0 ? <p class="suave">{parts.join(' · ')}</p> : null
}

function Refusal({ accion: { fault, fotos, firma, entrega } }: { accion: CourierAction }) {
  const number = fotos.findIndex(({ imagen }) => imagen === fault!.imagen)
  const refusedImage =
    number >= 0 ? `la foto ${number + 1}` : fault!.imagen && firma?.imagen === fault!.imagen ? 'la firma' : null
  return (
    <div class="nota mal">
      <p>
        <strong>{fault!.titulo}</strong>
        {refusedImage && ` (${refusedImage})`}
      </p>
      {fault!.detalle && <p>{fault!.detalle}</p>}
      {fault!.errores.map((error) => (
        <p key={error}>{error}</p>
      ))}
      <p>
        {entrega
          ? 'Corríjala, inténtelo otra vez, o descártela si ya no vale.'
          : 'Inténtelo otra vez, o descártelo y registre lo que corresponda.'}
      </p>
      {CENTRAL && (
        <p>
          <CallCentral />
        </p>
      )}
    </div>
  )
}
