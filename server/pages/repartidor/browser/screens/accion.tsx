import { useState } from 'preact/hooks'
import { DESCRIPCIONES_DE_SIN_FIRMA } from '../../../../generado/contrato/vocabulario.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { CENTRAL } from '../central.ts'
import { aSolas, enviarAhora } from '../cola.ts'
import { type Estado, MOTIVOS_DICHOS, PASOS } from '../dominio.ts'
import { ir, useDatos } from '../hooks.ts'
import { cambiarAccion, descartable, descartar, accion as leerAccion, reabrir, tomarAntes } from '../store/acciones.ts'
import type { Accion, Sesion } from '../store/base.ts'
import { AvisarALaCentral, horaDe, nombreDeGuia, Pregunta, situacionDe, Titulo, Volver } from './piezas.tsx'

/** Screen of one action: its status, the server's response, and what the courier can do. */
export function DetalleDeAccion(props: {
  sesion: Sesion
  enLinea: boolean
  enviando: readonly number[]
  orden: number
}) {
  const { sesion, enLinea, enviando, orden } = props
  const accion = useDatos(async () => (await leerAccion(orden)) ?? null, String(orden))
  const [preguntando, preguntar] = useState(false)
  if (accion === undefined) return null
  if (accion === null) {
    return (
      <>
        <Volver a="">Inicio</Volver>
        <Titulo>Ya no está</Titulo>
        <p>Esta acción se descartó, o se envió hace más de un día.</p>
      </>
    )
  }
  const mia = accion.repartidor === sesion.repartidor
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>{nombreDeGuia(accion)}</Titulo>
      <p>
        Guía{' '}
        <a class="codigo" href={`#/guia/${accion.guia}`}>
          {inGroups(accion.guia)}
        </a>
        , a las {horaDe(accion.ocurrido_en, accion.zona)}.
      </p>
      <p class="estado">{situacionDe(accion, enviando, sesion.repartidor, enLinea, sesion.vigente)}</p>
      {!mia && accion.situacion !== 'enviada' && (
        <p class="nota">La hizo {accion.nombre}. Nadie más puede enviarla: se envía cuando entre en este teléfono.</p>
      )}
      <Contenido accion={accion} />
      {accion.falla && <Rechazo accion={accion} />}
      {accion.situacion === 'atencion' && mia && <Remedios accion={accion} />}
      {mia && descartable(accion) && (
        <button type="button" class="peligro" onClick={() => preguntar(true)}>
          Descartar
        </button>
      )}
      {preguntando && (
        <Pregunta
          titulo="¿Descartar esta acción?"
          si="Descartar"
          no="Conservarla"
          cerrar={() => preguntar(false)}
          alAceptar={() =>
            aSolas(() => descartar(orden)).then(() => {
              // The deleted action may have held back other actions, which are now sent.
              enviarAhora()
              ir('', true)
            })
          }
        >
          <p>No quedará registrada en ninguna parte{accion.fotos.length > 0 && ', y sus fotos se borran'}.</p>
        </Pregunta>
      )}
    </>
  )
}

/** Buttons for an action that the server refused. */
function Remedios({ accion }: { accion: Accion }) {
  const { orden, guia, falla, entrega } = accion
  const otraVez = () => ({ situacion: 'pendiente' as const, falla: null, noAntesDe: 0, resubida: false })
  return (
    <>
      {falla?.toma && <TomarAntes accion={accion} toma={falla.toma} />}
      {entrega && (
        <button
          type="button"
          class={falla?.toma ? '' : 'principal'}
          onClick={() => aSolas(() => reabrir(orden)).then(() => ir(`guia/${guia}/entregar`, true))}
        >
          Corregir
        </button>
      )}
      <button type="button" onClick={() => aSolas(() => cambiarAccion(orden, otraVez))}>
        Intentar otra vez
      </button>
    </>
  )
}

/**
 * Button for a courier who had the parcel but never reported taking it. It adds that step, and sends the refused action
 * again.
 */
function TomarAntes({ accion: { orden, guia }, toma }: { accion: Accion; toma: Estado }) {
  return (
    <button
      type="button"
      class="principal"
      onClick={() => aSolas(() => tomarAntes(orden, toma)).then(() => ir(`guia/${guia}`, true))}
    >
      La tenía yo: {PASOS[toma].toLowerCase()}, y enviarlo otra vez
    </button>
  )
}

function Contenido({ accion: { evento, entrega, fotos, firma } }: { accion: Accion }) {
  const partes = [
    evento?.motivo && MOTIVOS_DICHOS[evento.motivo],
    entrega && `Recibió ${entrega.recibido_por.nombre}`,
    fotos.length > 0 && (fotos.length === 1 ? '1 foto' : `${fotos.length} fotos`),
    firma && 'firma',
    entrega?.sin_firma && `sin firma: ${DESCRIPCIONES_DE_SIN_FIRMA[entrega.sin_firma].toLowerCase()}`,
    evento?.descripcion ?? entrega?.descripcion,
  ].filter(Boolean)
  return partes.length > 0 ? <p class="suave">{partes.join(' · ')}</p> : null
}

function Rechazo({ accion: { falla, fotos, firma, entrega } }: { accion: Accion }) {
  const numero = fotos.findIndex(({ imagen }) => imagen === falla!.imagen)
  const cual =
    numero >= 0 ? `la foto ${numero + 1}` : falla!.imagen && firma?.imagen === falla!.imagen ? 'la firma' : null
  return (
    <div class="nota mal">
      <p>
        <strong>{falla!.titulo}</strong>
        {cual && ` (${cual})`}
      </p>
      {falla!.detalle && <p>{falla!.detalle}</p>}
      {falla!.errores.map((error) => (
        <p key={error}>{error}</p>
      ))}
      <p>
        {entrega
          ? 'Corríjala, inténtelo otra vez, o descártela si ya no vale.'
          : 'Inténtelo otra vez, o descártelo y registre lo que corresponda.'}
      </p>
      {CENTRAL && (
        <p>
          <AvisarALaCentral />
        </p>
      )}
    </div>
  )
}
