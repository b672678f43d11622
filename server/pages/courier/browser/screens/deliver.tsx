import { useEffect, useRef, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { evidenceFor, evidenceParts } from '../evidence.ts'
import { FaultNotice, useFaults } from '../faults.tsx'
import { firmaToPng } from '../firma.tsx'
import { type GeoPosition, goTo, usePosition, useStoredData } from '../hooks.ts'
import { formatDistance } from '../list.ts'
import { isSameReceiver, type Receiver, receiverOf } from '../sameDoor.ts'
import { enqueue, readStoredImage, UNDO_MS } from '../store/actions.ts'
import { type EntregaDraft, isOutOfSpace, type Sesion, type StoredImage } from '../store/base.ts'
import { discardDraft, readDraft } from '../store/drafts.ts'
import type { MotivoSinFirma, PoliticaDeEvidencia, Relation } from '../vocabulary.ts'
import {
  ConfirmStep,
  DeliverHeader,
  type DeliverView,
  FotosStep,
  ReceiverStep,
  SignatureStep,
} from './deliverSteps.tsx'
import {
  createDraft,
  type DeliveryStep,
  type DraftHandle,
  type FarParcel,
  type Faults,
  type Field,
  faultsAt,
  findFarParcels,
  findSchemaFaults,
  firstOpenStep,
  includedParcelsOf,
  parcelsOf,
  stepsOf,
  useDraft,
} from './draft.ts'
import { explainFoto, TakeFoto, useFotos } from './fotos.tsx'
import { ConfirmDialog } from './pieces.tsx'
import { type AtDoor, readDoor } from './sameDoor.tsx'
import { NO_SPACE } from './step.tsx'

/**
 * Screens of a delivery, one for each decision.
 * @param path step in the screen's address; without one, the delivery opens at the first step whose data are missing
 */
export function Deliver({ sesion, guia, path }: { sesion: Sesion; guia: string; path: string }) {
  const [draft, setDraft] = useState<EntregaDraft>()
  useEffect(() => {
    let isMounted = true
    readDraft(guia).then((storedDraft) => {
      // A draft from an earlier version of the page may lack newer fields.
      if (isMounted)
        setDraft({
          ...createDraft(sesion, guia),
          ...(storedDraft?.repartidor === sesion.repartidor ? storedDraft : {}),
        })
    })
    return () => {
      isMounted = false
    }
  }, [guia, sesion.repartidor])
  const door = useStoredData(() => readDoor(sesion.repartidor, guia), guia)
  return draft && door ? <DeliverForm sesion={sesion} initialDraft={draft} door={door} path={path} /> : null
}

interface ConfirmationOptions {
  sesion: Sesion
  door: AtDoor
  posicion: GeoPosition
  fail: (faults: Faults) => void
  goToStep: (step: DeliveryStep) => void
}

/** Confirmation of the delivery: checks the form, asks about parcels that are far away, and stores the deliveries. */
function useConfirmation({ actual, writing }: DraftHandle, options: ConfirmationOptions) {
  const { sesion, door, posicion, fail, goToStep } = options
  const isSaving = useRef(false)
  const [farParcels, setFarParcels] = useState<FarParcel[]>([])
  const confirm = () => {
    const missingFields = findSchemaFaults(actual.current, door)
    fail(missingFields)
    // Another parcel of the door may need more evidence than the earlier steps asked for.
    if (Object.keys(missingFields).length > 0)
      return goToStep(firstOpenStep(stepsOf(evidenceFor(parcelsOf(actual.current, door))), missingFields))
    if (isSaving.current) return
    const foundFarParcels = findFarParcels(actual.current, door, posicion.point)
    if (foundFarParcels.length > 0) setFarParcels(foundFarParcels)
    else deliver([])
  }
  /**
   * Stores the deliveries, and goes to the next screen.
   * @param warnedParcels parcels whose distance the courier was warned of
   */
  const deliver = async (warnedParcels: readonly FarParcel[]) => {
    const now = Date.now()
    const draft = actual.current
    const { guia } = draft
    const otherEntregas = includedParcelsOf(draft, door).map(({ other, candidate }) => ({
      guia: other.guia,
      receiver: receiverOf(other, draft, candidate.isForSamePerson),
      isSamePerson: isSameReceiver(other, draft),
      politica: candidate.datos.evidencia,
    }))
    isSaving.current = true
    try {
      // The draft must not be written again afterwards, because it would bring back a parcel that is already delivered.
      await writing.current
      const entregas = [{ guia, receiver: draft, isSamePerson: true, politica: door.politica }, ...otherEntregas].map(
        (parcel) => ({
          ...parcel,
          warnedDistance: warnedParcels.find((farParcel) => farParcel.guia === parcel.guia)?.distance ?? null,
        }),
      )
      await storeEntregas(sesion, draft, entregas, posicion, now)
      goTo(`guia/${guia}/hecho/entregado/${entregas.length}`, true)
    } catch (error) {
      isSaving.current = false
      fail({ general: isOutOfSpace(error) ? NO_SPACE : 'El teléfono no pudo guardar la entrega. Pruebe otra vez.' })
    }
  }
  return { confirm, deliver, farParcels, setFarParcels }
}

function DeliverForm(props: { sesion: Sesion; initialDraft: EntregaDraft; door: AtDoor; path: string }) {
  const { sesion, initialDraft, door, path } = props
  const { guia } = initialDraft
  const [fallas, fail] = useFaults<Field>()
  const [isAsking, setIsAsking] = useState(false)
  const posicion = usePosition(true)
  const showFailure = (error: unknown) =>
    fail({ general: isOutOfSpace(error) ? NO_SPACE : 'El teléfono no pudo guardarlo. Pruebe otra vez.' })
  const draftHandle = useDraft(initialDraft, showFailure)
  const { draft, actual, writing, addFoto } = draftHandle
  const { preparing, takeFotos } = useFotos({
    guia,
    countFotos: () => actual.current.fotos.length,
    addFoto,
    fail: (cause) => {
      const text = explainFoto(cause)
      if (cause === undefined) fail({})
      else if (text) fail({ fotos: text })
      else showFailure(cause)
    },
  })
  const policy = evidenceFor(parcelsOf(draft, door))
  const steps = stepsOf(policy)
  const [initialStep] = useState(() => firstOpenStep(steps, findSchemaFaults(draft, door)))
  const step = steps.find((item) => item === path) ?? initialStep
  const goToStep = (to: DeliveryStep) => goTo(`guia/${guia}/entregar/${to}`)
  const goOn = () => {
    const missingFields = faultsAt(step, findSchemaFaults(actual.current, door))
    fail(missingFields)
    if (Object.keys(missingFields).length === 0) goToStep(steps[steps.indexOf(step) + 1]!)
  }
  const confirmation = useConfirmation(draftHandle, { sesion, door, posicion, fail, goToStep })
  const { confirm, deliver, farParcels, setFarParcels } = confirmation
  const submit = (evento: SubmitEvent) => {
    evento.preventDefault()
    if (step === 'confirmar') confirm()
    else goOn()
  }
  const view: DeliverView = { draftHandle, door, policy, posicion, fallas, preparing, goOn }
  const Step = { fotos: FotosStep, quien: ReceiverStep, firma: SignatureStep, confirmar: ConfirmStep }[step]
  const entregaCount = includedParcelsOf(draft, door).length + 1
  const mustTakeFoto = step === 'fotos' && draft.fotos.length < policy.fotos_minimas
  return (
    <form onSubmit={submit} noValidate>
      <DeliverHeader draft={draft} door={door} steps={steps} step={step} />
      <Step key={step} {...view} />
      {step === 'confirmar' && (
        <button type="button" class="discreto" onClick={() => setIsAsking(true)}>
          Descartar
        </button>
      )}
      <div class="barra pegada">
        <FaultNotice de="general">{fallas.general}</FaultNotice>
        {step === 'fotos' && <TakeFoto count={draft.fotos.length} isMain={mustTakeFoto} {...{ fallas, takeFotos }} />}
        {!(mustTakeFoto && draft.fotos.length === 0) && (
          <button type="submit" class={mustTakeFoto ? '' : 'principal'} aria-disabled={preparing > 0 || undefined}>
            {step !== 'confirmar'
              ? 'Seguir'
              : entregaCount > 1
                ? `Confirmar las ${entregaCount} entregas`
                : 'Confirmar la entrega'}
          </button>
        )}
      </div>
      {farParcels.length > 0 && (
        <FarQuestion farParcels={farParcels} onClose={() => setFarParcels([])} onAccept={() => deliver(farParcels)} />
      )}
      {isAsking && <DiscardQuestion guia={guia} writing={() => writing.current} onClose={() => setIsAsking(false)} />}
    </form>
  )
}

function DiscardQuestion(props: { guia: string; writing: () => Promise<void> | null; onClose: () => void }) {
  const { guia, writing, onClose } = props
  return (
    <ConfirmDialog
      titulo="¿Borrar lo que llenó, con sus fotos?"
      yes="Borrar"
      no="Seguir llenando"
      onClose={onClose}
      onAccept={async () => {
        await writing()
        await discardDraft(guia)
        goTo(`guia/${guia}`, true)
      }}
    />
  )
}

/** Question before parcels are handed over far from their confirmed places, with each distance. */
function FarQuestion(props: { farParcels: readonly FarParcel[]; onClose: () => void; onAccept: () => void }) {
  const { farParcels, onClose, onAccept } = props
  const phrases = farParcels.map(({ guia, lugar, distance }) => ({
    guia,
    text: `a ${formatDistance(distance)} del ${lugar}`,
  }))
  const title =
    phrases.length === 1 ? `Está ${phrases[0]!.text}` : `Está lejos de ${phrases.length} lugares confirmados`
  return (
    <ConfirmDialog titulo={title} yes="Entregar aquí" no="Volver" onClose={onClose} onAccept={onAccept}>
      {phrases.length > 1 && (
        <ul>
          {phrases.map(({ guia, text }) => (
            <li key={guia}>
              Está {text} <span class="codigo">({inGroups(guia)})</span>
            </li>
          ))}
        </ul>
      )}
      <p>Si entrega aquí, la prueba dirá a qué distancia, y que se le avisó.</p>
    </ConfirmDialog>
  )
}

/** Delivery of one parcel, as it enters the queue. */
interface Entrega {
  guia: string
  receiver: Receiver
  /** True if the form's receiver also receives this parcel. The document and the signature belong to that person. */
  isSamePerson: boolean
  /** Evidence that the merchant needs; undefined if the phone does not know. */
  politica: PoliticaDeEvidencia | undefined
  /** Distance that the courier was warned of, in metres; null without a warning. */
  warnedDistance: number | null
}

/**
 * Stores a delivery for each parcel. Each has its own copies of the images, so that a refused delivery does not hold
 * back others.
 */
async function storeEntregas(
  sesion: Sesion,
  draft: EntregaDraft,
  entregas: readonly Entrega[],
  { point }: GeoPosition,
  now: number,
) {
  const { fotos, strokes, sin_firma, documento, descripcion, ocurrido_en, lugar } = draft
  const png = strokes ? await firmaToPng(strokes) : undefined
  const storedFotos = await Promise.all(entregas.length > 1 ? fotos.map(readStoredImage) : [])
  const images: StoredImage[] = []
  const copyImage = (de: string, blob: Blob, capturado_en: string | null) => {
    const id = crypto.randomUUID()
    images.push({ id, guia: de, blob, capturado_en })
    return { imagen: id }
  }
  const optional = <C extends string>(field: C, value: string) =>
    (value.trim() ? { [field]: value.trim() } : {}) as Partial<Record<C, string>>
  const buildAction = ({ guia, receiver: { nombre, relacion }, isSamePerson, politica, warnedDistance }: Entrega) => {
    const lleva = evidenceParts({ politica, isSamePerson })
    return {
      repartidor: sesion.repartidor,
      nombre: sesion.nombre,
      guia,
      estado: 'entregado' as const,
      entrega: {
        recibido_por: {
          nombre: nombre.trim(),
          ...(lleva.documento ? optional('documento', documento) : {}),
          ...(relacion ? { relacion: relacion as Relation } : {}),
        },
        // A corrected delivery keeps its position, because the courier may be elsewhere by now.
        ...((ocurrido_en ? lugar : point) ?? {}),
        ...(warnedDistance === null ? {} : { distancia_avisada_m: warnedDistance }),
        ...optional('descripcion', descripcion),
        ...(lleva.reason && !png && sin_firma ? { sin_firma: sin_firma as MotivoSinFirma } : {}),
        // If the phone does not know what the merchant needs, leaves out `evidencia`.
        ...(politica ? { evidencia: politica } : {}),
      },
      fotos:
        guia === draft.guia
          ? fotos.map((imagen) => ({ imagen }))
          : storedFotos.flatMap((foto) => (foto ? [copyImage(guia, foto.blob, foto.capturado_en)] : [])),
      firma: png && lleva.firma ? copyImage(guia, png, null) : null,
      strokes: png && lleva.firma ? strokes : null,
    }
  }
  await enqueue(entregas.map(buildAction), now, ocurrido_en, images, ocurrido_en ? 0 : UNDO_MS)
}
