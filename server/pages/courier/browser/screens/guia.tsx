import { useEffect, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { readGuia } from '../api.ts'
import { type Prediction, predict } from '../expected.ts'
import { goTo, useStoredData } from '../hooks.ts'
import { readActions } from '../store/actions.ts'
import type { CourierAction, Sesion } from '../store/base.ts'
import { readGuiaOf, releaseGuia, storeGuias, storeUnassigned, storeWithoutData } from '../store/guias.ts'
import {
  decisionWords,
  ESTADO_NAMES,
  type Estado,
  type EstadoSiguiente,
  type GuiaDeReparto,
  isFinalEstado,
  possibleSteps,
  splitSteps,
  stepLabel,
  stepPath,
} from '../vocabulary.ts'
import { BackLink, CallCentral, ScreenTitle, timeAgo } from './pieces.tsx'
import { GuiaView } from './view.tsx'

/** Screen of a guide. */
export function Guia({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const repartidor = sesion.repartidor
  const [hasNoResponse, setHasNoResponse] = useState(false)
  const storedData = useStoredData(async () => {
    const [storedGuia, actions] = await Promise.all([readGuiaOf(repartidor, guia), readActions()])
    const guiaActions = actions.filter((action) => action.guia === guia)
    return { storedGuia, prediction: predict(storedGuia ?? { guia, datos: null }, guiaActions), guiaActions }
  }, guia)
  // Sent actions may have changed which data the courier may see, so the guide is fetched again.
  const sentCount = storedData?.guiaActions.filter(({ status }) => status === 'enviada').length ?? 0
  useEffect(() => {
    let isMounted = true
    updateGuia(repartidor, guia).then((bien) => isMounted && setHasNoResponse(!bien))
    return () => {
      isMounted = false
    }
  }, [repartidor, guia, sentCount])
  if (!storedData) return null
  const { storedGuia, prediction, guiaActions } = storedData
  const datos = storedGuia?.datos ?? null
  const stoppedAction = guiaActions.find(({ status }) => status === 'atencion')
  const terminada = datos ? null : endOf(guiaActions)
  const estado = terminada ?? prediction.estado
  const isUnknown = !datos && !terminada && storedGuia?.isUnknown
  const isUnassigned = !datos && !terminada && storedGuia?.isUnassigned
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>
        <span class="codigo">{inGroups(guia)}</span>
      </ScreenTitle>
      <p class="estado">
        {estado
          ? ESTADO_NAMES[estado]
          : isUnknown
            ? 'No existe'
            : isUnassigned
              ? 'No la tiene asignada'
              : 'Sin datos todavía'}
        {prediction.isUnsent && ' (por enviar)'}
      </p>
      {datos?.modo === 'test' && <p class="nota">Guía de prueba: nadie la espera.</p>}
      {datos?.etiqueta_desactualizada && <p class="nota">La etiqueta puede ser vieja: valen los datos de aquí.</p>}
      {datos?.decision && <p class="nota">{decisionWords(datos.decision)}</p>}
      {stoppedAction && (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${stoppedAction.order}`}>Vea por qué</a>
        </p>
      )}
      {datos && !isFinalEstado(datos.estado) && (
        <GuiaView datos={datos} prediction={prediction} quien={sesion.nombre} />
      )}
      {isUnknown && (
        <>
          <p>El servicio no conoce esta guía. Revise la etiqueta y escanéela otra vez.</p>
          <button type="button" onClick={() => releaseGuia(guia).then(() => goTo('', true))}>
            Quitar de la lista
          </button>
        </>
      )}
      {isUnassigned && (
        <p class="nota">
          Se abre cuando la central se la asigne. <CallCentral />
        </p>
      )}
      {!datos && !terminada && !isUnknown && !isUnassigned && (
        <p class="nota">
          {hasNoResponse
            ? 'Sin cobertura no se ve el destino. Puede anotar lo que hizo: se enviará con su hora. Si no la llevaba ya, registre antes que la recoge o que sale a ruta.'
            : 'Buscando los datos…'}
        </p>
      )}
      {datos && storedGuia && hasNoResponse && (
        <p class="suave">Datos de {timeAgo(storedGuia.readAt)}, sin cobertura ahora.</p>
      )}
      {!terminada && !isUnknown && !isUnassigned && (datos || hasNoResponse) && (
        <Steps
          guia={guia}
          datos={datos}
          prediction={prediction}
          isConfirmed={datos ? datos.ubicacion.estado === 'confirmada' : true}
        />
      )}
    </>
  )
}

/** Returns the final state of a guide that left the phone when it was finished; null for any other guide. */
export function endOf(actions: readonly CourierAction[]): Estado | null {
  const lastApplied = actions.findLast(({ status, aplicado }) => status === 'enviada' && aplicado)?.estado
  return lastApplied && isFinalEstado(lastApplied) && actions.every(({ status }) => status === 'enviada')
    ? lastApplied
    : null
}

/**
 * Fetches a guide from the server.
 * @returns false if the server gave no usable response
 */
export async function updateGuia(repartidor: string, guia: string): Promise<boolean> {
  try {
    const { status, body, serverTime } = await readGuia(guia)
    if (status === 200) await storeGuias(repartidor, [body], serverTime)
    if (status === 404) await storeWithoutData(repartidor, guia, true)
    if (status === 403) await storeUnassigned(repartidor, guia)
    return status === 200 || status === 404 || status === 403
  } catch {
    return false
  }
}

/**
 * Steps that the guide allows. The frequent steps are in a bar at the bottom, within reach of the thumb. Steps that end
 * the parcel's way to its recipient are apart.
 */
function Steps(props: { guia: string; datos: GuiaDeReparto | null; prediction: Prediction; isConfirmed: boolean }) {
  const { guia, datos, prediction, isConfirmed } = props
  const { steps, final, isOwn } = prediction
  if (final) return <p class="suave">Esta guía ya terminó.</p>
  const possible = possibleSteps(steps, isConfirmed)
  const { handySteps, otherSteps, dangerousSteps } = splitSteps(possible)
  const link = (step: EstadoSiguiente, className: string) => (
    <a key={step.estado} class={className} href={`#/${stepPath(guia, step)}`}>
      {stepLabel(datos, step.estado)}
    </a>
  )
  return (
    <>
      {possible.length < steps.length && (
        <p class="nota">
          No puede salir a ruta: falta confirmar el lugar. <CallCentral />
        </p>
      )}
      {(otherSteps.length > 0 || isOwn) && (
        <nav class="pasos" aria-label="Otras cosas que hizo">
          {otherSteps.map((step) => link(step, 'boton'))}
          {isOwn && (
            <a class="discreto" href={`#/guia/${guia}/nota`}>
              Anotar algo
            </a>
          )}
        </nav>
      )}
      {dangerousSteps.length > 0 && (
        <nav class="pasos apartados" aria-label="Si ya no se entrega">
          <h2>Si ya no se entrega</h2>
          {dangerousSteps.map((step) => link(step, 'boton peligro'))}
        </nav>
      )}
      {handySteps.length > 0 && (
        <nav class="barra pegada" aria-label="Qué hizo">
          {handySteps.map((step, i) => link(step, i === 0 ? 'boton principal' : 'boton'))}
        </nav>
      )}
    </>
  )
}
