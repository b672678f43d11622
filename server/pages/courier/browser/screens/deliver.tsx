import { useEffect, useRef, useState } from 'preact/hooks'
import { DESCRIPCIONES_DE_SIN_FIRMA } from '../../../../generated/contract/vocabulary.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { evidenceFor, evidenceParts, findMissingEvidence, needsOwnEvidence } from '../evidence.ts'
import { AvisoDeFalla, conFalla, useFaults } from '../faults.tsx'
import { Firma, firmaToPng } from '../firma.tsx'
import { type GeoPosition, goTo, usePosition, useStoredData } from '../hooks.ts'
import { formatDistance } from '../list.ts'
import { afterRename, isSameReceiver, lacksRelation, type Receiver, receiverOf, renameReceiver } from '../sameDoor.ts'
import { enqueue, readStoredImage } from '../store/actions.ts'
import { type EntregaDraft, isOutOfSpace, type Sesion, type StoredImage } from '../store/base.ts'
import { discardDraft, readDraft, storeDraft } from '../store/drafts.ts'
import type { MotivoSinFirma, PoliticaDeEvidencia, Relation } from '../vocabulary.ts'
import { explainFoto, Fotos, useFotos } from './fotos.tsx'
import { BackLink, ConfirmDialog, horaDe, ScreenTitle } from './pieces.tsx'
import { type AtDoor, farDistance, includedParcels, OtherParcels, ReceiverFields, readDoor } from './sameDoor.tsx'
import { NO_SPACE } from './step.tsx'

const POOR_PRECISION_M = 100

/** Screen of a delivery. */
export function Deliver({ sesion, guia }: { sesion: Sesion; guia: string }) {
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
  return draft && door ? <DeliverForm sesion={sesion} initialDraft={draft} door={door} /> : null
}

const createDraft = ({ repartidor }: Sesion, guia: string): EntregaDraft => ({
  guia,
  repartidor,
  fotos: [],
  otherParcels: [],
  strokes: null,
  sin_firma: '',
  nombre: '',
  documento: '',
  relacion: '',
  descripcion: '',
  ocurrido_en: null,
  zona: null,
  lugar: null,
})

/** Parcel of the delivery that is far from its confirmed place. */
interface FarParcel {
  guia: string
  /** Words for the confirmed place in the question to the courier. */
  lugar: string
  distance: number
}

type Campo = 'fotos' | 'nombre' | 'firma' | 'documento' | 'general' | `nombre-${string}` | `relacion-${string}`

/** Other parcels of the delivery. A corrected delivery covers only its own parcel, because its time and place are fixed. */
const vanCon = (draft: EntregaDraft, door: AtDoor) => (draft.ocurrido_en ? [] : includedParcels(draft, door))

/** Parcels of the delivery with their policies, the form's parcel first. */
const parcelsOf = (draft: EntregaDraft, door: AtDoor) => [
  { politica: door.politica, isSamePerson: true },
  ...vanCon(draft, door).map(({ other, candidate }) => ({
    politica: candidate.datos.evidencia,
    isSamePerson: isSameReceiver(other, draft),
  })),
]

/** Returns what the form lacks, by field. */
function findSchemaFaults(draft: EntregaDraft, door: AtDoor): Partial<Record<Campo, string>> {
  const missingFields: Partial<Record<Campo, string>> = {
    ...findMissingEvidence(evidenceFor(parcelsOf(draft, door)), draft),
    ...(draft.nombre.trim() === '' ? { nombre: 'Escriba quién recibió.' } : {}),
  }
  for (const { other, candidate } of vanCon(draft, door)) {
    const isSamePerson = isSameReceiver(other, draft)
    if (needsOwnEvidence({ politica: candidate.datos.evidencia, isSamePerson }))
      missingFields[`nombre-${other.guia}`] = 'Pide la firma o el documento de quien lo recibe: entréguelo aparte.'
    if (other.nombre?.trim() === '') missingFields[`nombre-${other.guia}`] = 'Escriba quién lo recibió.'
    if (lacksRelation(other, draft, candidate.isForSamePerson))
      missingFields[`relacion-${other.guia}`] = 'Elija quién es.'
  }
  return missingFields
}

/** Returns the parcels of the delivery that are far from their confirmed places. */
function findFarParcels(draft: EntregaDraft, door: AtDoor, here: GeoPosition['point']): FarParcel[] {
  if (draft.ocurrido_en) return []
  const { destinatario } = door
  const candidates = vanCon(draft, door).map(({ candidate }) => candidate)
  const lugar = candidates.length > 0 && destinatario ? `lugar de ${destinatario}` : 'lugar confirmado'
  return [
    { guia: draft.guia, lugar, point: door.point },
    ...candidates.map(({ guia, titulo, point }) => ({ guia, lugar: `lugar de ${titulo}`, point })),
  ].flatMap(({ point, ...parcel }) => {
    const distance = farDistance(here, point)
    return distance === null ? [] : [{ ...parcel, distance }]
  })
}

/** Draft on the screen and in the phone's storage. */
function useDraft(initialDraft: EntregaDraft, showFailure: (error: unknown) => void) {
  const [draft, setDraft] = useState(initialDraft)
  const actual = useRef(initialDraft)
  const writing = useRef<Promise<void>>(null)
  const isDirty = useRef(false)
  /** Shows a change on the screen at once, and then stores it. Changes during a write cause only one further write. */
  const changeDraft = (change: Partial<EntregaDraft>) => {
    actual.current = { ...actual.current, ...change }
    setDraft(actual.current)
    isDirty.current = true
    writing.current ??= (async () => {
      while (isDirty.current) {
        isDirty.current = false
        await storeDraft(actual.current).catch(showFailure)
      }
      writing.current = null
    })()
  }
  /** Stores a photo before the screen shows it, so that the photo is never lost. */
  const addFoto = async (newImage: StoredImage) => {
    const fotos = [...actual.current.fotos, newImage.id]
    await storeDraft({ ...actual.current, fotos }, newImage)
    actual.current = { ...actual.current, fotos }
    setDraft(actual.current)
  }
  const removeFoto = async (id: string) => {
    const fotos = actual.current.fotos.filter((other) => other !== id)
    actual.current = { ...actual.current, fotos }
    setDraft(actual.current)
    await storeDraft(actual.current, undefined, id).catch(showFailure)
  }
  /** Changes the receiver. A new name drops the relations that were chosen for the earlier name. */
  const changeReceiver = (nuevo: Receiver) => {
    const { nombre, otherParcels } = actual.current
    changeDraft({ ...nuevo, otherParcels: nuevo.nombre === nombre ? otherParcels : afterRename(otherParcels) })
  }
  return { draft, actual, writing, changeDraft, addFoto, removeFoto, changeReceiver }
}
type DraftHandle = ReturnType<typeof useDraft>

interface ConfirmationOptions {
  sesion: Sesion
  door: AtDoor
  posicion: GeoPosition
  fail: (fallas: Partial<Record<Campo, string>>) => void
}

/** Confirmation of the delivery: checks the form, asks about parcels that are far away, and stores the deliveries. */
function useConfirmation({ actual, writing }: DraftHandle, { sesion, door, posicion, fail }: ConfirmationOptions) {
  const isSaving = useRef(false)
  const [farParcels, setFarParcels] = useState<FarParcel[]>([])
  const confirm = (evento: SubmitEvent) => {
    evento.preventDefault()
    const missingFields = findSchemaFaults(actual.current, door)
    fail(missingFields)
    if (Object.keys(missingFields).length > 0 || isSaving.current) return
    const foundFarParcels = findFarParcels(actual.current, door, posicion.point)
    if (foundFarParcels.length > 0) setFarParcels(foundFarParcels)
    else deliver([])
  }
  /**
   * Stores the deliveries, and goes to the next screen.
   * @param warnedParcels parcels whose distance the courier was warned of
   */
  const deliver = async (warnedParcels: readonly FarParcel[]) => {
    const ahora = Date.now()
    const draft = actual.current
    const { guia } = draft
    const otherEntregas = vanCon(draft, door).map(({ other, candidate }) => ({
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
      await storeEntregas(sesion, draft, entregas, posicion, ahora)
      goTo(`guia/${guia}/hecho/entregado/${entregas.length}`, true)
    } catch (error) {
      isSaving.current = false
      fail({ general: isOutOfSpace(error) ? NO_SPACE : 'El teléfono no pudo guardar la entrega. Pruebe otra vez.' })
    }
  }
  return { confirm, deliver, farParcels, setFarParcels }
}

function DeliverForm({ sesion, initialDraft, door }: { sesion: Sesion; initialDraft: EntregaDraft; door: AtDoor }) {
  const { guia } = initialDraft
  const [fallas, fail] = useFaults<Campo>()
  const [isAsking, setIsAsking] = useState(false)
  const posicion = usePosition(true)
  const showFailure = (error: unknown) =>
    fail({ general: isOutOfSpace(error) ? NO_SPACE : 'El teléfono no pudo guardarlo. Pruebe otra vez.' })
  const draftHandle = useDraft(initialDraft, showFailure)
  const { draft, actual, writing, changeDraft, addFoto, removeFoto } = draftHandle
  const { preparing, takeFotos } = useFotos({
    guia,
    countFotos: () => actual.current.fotos.length,
    addFoto,
    fail: (causa) => {
      const text = explainFoto(causa)
      if (causa === undefined) fail({})
      else if (text) fail({ fotos: text })
      else showFailure(causa)
    },
  })
  const confirmation = useConfirmation(draftHandle, { sesion, door, posicion, fail })
  const { confirm, deliver, farParcels, setFarParcels } = confirmation
  const { fotos_minimas } = evidenceFor(parcelsOf(draft, door))
  return (
    <form onSubmit={confirm} noValidate>
      <DeliverHeader draft={draft} />
      <Fotos
        de={fotos_minimas === 10 ? '10' : `${fotos_minimas} a 10`}
        fotos={draft.fotos.map((id) => ({ id, leer: async () => (await readStoredImage(id))?.blob }))}
        preparing={preparing}
        takeFotos={takeFotos}
        removeFoto={removeFoto}
        falla={fallas.fotos}
      />
      <Receptor draftHandle={draftHandle} door={door} fallas={fallas} />
      <label for="descripcion">Nota (si hace falta)</label>
      <input id="descripcion" type="text" autocomplete="off" maxLength={300} {...texto(draftHandle, 'descripcion')} />
      {!draft.ocurrido_en && (
        <>
          <PositionStatus posicion={posicion} far={farDistance(posicion.point, door.point)} />
          <OtherParcels
            draft={draft}
            door={door}
            here={posicion.point}
            fallas={fallas}
            onChange={(change) => changeDraft({ otherParcels: change(actual.current.otherParcels) })}
          />
        </>
      )}
      <button type="button" class="discreto" onClick={() => setIsAsking(true)}>
        Descartar
      </button>
      <div class="barra pegada">
        <AvisoDeFalla de="general">{fallas.general}</AvisoDeFalla>
        <button type="submit" class="principal" aria-disabled={preparing > 0 || undefined}>
          Confirmar la entrega
        </button>
      </div>
      {farParcels.length > 0 && (
        <FarQuestion farParcels={farParcels} onClose={() => setFarParcels([])} onAccept={() => deliver(farParcels)} />
      )}
      {isAsking && <DiscardQuestion guia={guia} writing={() => writing.current} onClose={() => setIsAsking(false)} />}
    </form>
  )
}

function DeliverHeader({ draft: { guia, ocurrido_en, zona } }: { draft: EntregaDraft }) {
  return (
    <>
      <BackLink a={`guia/${guia}`}>
        <span class="codigo">{inGroups(guia)}</span>
      </BackLink>
      <ScreenTitle>Entregar</ScreenTitle>
      {ocurrido_en && <p class="nota">Corrige la entrega de las {horaDe(ocurrido_en, zona)}.</p>}
    </>
  )
}

/** Returns the attributes of an input that writes to a field of the draft. */
const texto = ({ draft, changeDraft }: DraftHandle, campo: 'documento' | 'descripcion') => ({
  value: draft[campo],
  onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => changeDraft({ [campo]: currentTarget.value }),
})

/** Part of the form about the receiver: name, relation, signature and document, as the merchant needs them. */
function Receptor(props: { draftHandle: DraftHandle; door: AtDoor; fallas: Partial<Record<Campo, string>> }) {
  const { draftHandle, door, fallas } = props
  const { draft, actual, changeDraft, changeReceiver } = draftHandle
  const { destinatario } = door
  const { firma, documento } = evidenceFor(parcelsOf(draft, door))
  return (
    <>
      <fieldset>
        <legend>Quién recibe</legend>
        <p class="nota">{document.getElementById('app')!.dataset.privacidad}</p>
        <ReceiverFields
          suffix=""
          valor={draft}
          destinatario={destinatario}
          offer={(nombre) => nombre}
          labels={{ nombre: 'Nombre', relacion: 'Quién es', noRelation: 'Sin decir' }}
          fallas={{ nombre: fallas.nombre }}
          onRename={(nombre) => changeReceiver(renameReceiver(actual.current, nombre, destinatario))}
          onRelation={(relacion) => changeDraft({ relacion })}
          onDestinatario={(nombre) => changeReceiver({ nombre, relacion: 'destinatario' })}
        />
      </fieldset>

      {firma !== 'no' && (
        <fieldset>
          <legend>
            Firma <small>({firma === 'obligatoria' ? 'la pide el comercio' : 'si puede'})</small>
          </legend>
          <Firma
            strokes={draft.strokes}
            onSign={(strokes) => changeDraft(strokes ? { strokes, sin_firma: '' } : { strokes })}
          />
          {firma === 'obligatoria' && !draft.strokes && (
            <SinFirma
              valor={draft.sin_firma}
              falla={fallas.firma}
              onChoose={(sin_firma) => changeDraft({ sin_firma })}
            />
          )}
        </fieldset>
      )}

      {documento !== 'no' && (
        <>
          <label for="documento">
            {documento === 'obligatoria' ? 'Número del documento' : 'Documento (si lo mostró)'}
          </label>
          <input
            id="documento"
            type="text"
            autocomplete="off"
            maxLength={40}
            {...conFalla('documento', fallas.documento)}
            {...texto(draftHandle, 'documento')}
          />
          <AvisoDeFalla de="documento">{fallas.documento}</AvisoDeFalla>
        </>
      )}
    </>
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

/** Reasons for a missing signature that the courier can choose. */
function SinFirma(props: { valor: string; falla: string | undefined; onChoose: (motivo: string) => void }) {
  const { valor, falla, onChoose } = props
  return (
    <>
      <label for="sin-firma">Si no firma, ¿por qué?</label>
      <select
        id="sin-firma"
        {...conFalla('sin-firma', falla)}
        value={valor}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        <option value="">Elija</option>
        {Object.entries(DESCRIPCIONES_DE_SIN_FIRMA).map(([motivo, text]) => (
          <option key={motivo} value={motivo}>
            {text}
          </option>
        ))}
      </select>
      <AvisoDeFalla de="sin-firma">{falla}</AvisoDeFalla>
    </>
  )
}

/** Question before parcels are handed over far from their confirmed places, with each distance. */
function FarQuestion(props: { farParcels: readonly FarParcel[]; onClose: () => void; onAccept: () => void }) {
  const { farParcels, onClose, onAccept } = props
  const phrases = farParcels.map(({ guia, lugar, distance }) => ({
    guia,
    text: `a ${formatDistance(distance)} del ${lugar}`,
  }))
  const titulo =
    phrases.length === 1 ? `Está ${phrases[0]!.text}` : `Está lejos de ${phrases.length} lugares confirmados`
  return (
    <ConfirmDialog titulo={titulo} yes="Entregar aquí" no="Volver" onClose={onClose} onAccept={onAccept}>
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
  ahora: number,
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
  const opcional = <C extends string>(campo: C, valor: string) =>
    (valor.trim() ? { [campo]: valor.trim() } : {}) as Partial<Record<C, string>>
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
          ...(lleva.documento ? opcional('documento', documento) : {}),
          ...(relacion ? { relacion: relacion as Relation } : {}),
        },
        // A corrected delivery keeps its position, because the courier may be elsewhere by now.
        ...((ocurrido_en ? lugar : point) ?? {}),
        ...(warnedDistance === null ? {} : { distancia_avisada_m: warnedDistance }),
        ...opcional('descripcion', descripcion),
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
  await enqueue(entregas.map(buildAction), ahora, ocurrido_en, images)
}

function PositionStatus({ posicion: { estado, point }, far }: { posicion: GeoPosition; far: number | null }) {
  const texts = {
    searching: 'Buscando dónde está…',
    denied: 'Sin permiso para ver dónde está: la entrega vale igual, sin el lugar.',
    unavailable: 'El teléfono no encuentra dónde está: la entrega vale igual, sin el lugar.',
    found: point
      ? `Lugar anotado, con precisión de unos ${Math.round(point.precision_m)} m.${point.precision_m > POOR_PRECISION_M ? ' Es poco exacto: si puede, salga a un lugar abierto.' : ''}`
      : '',
  }
  return (
    <p class={far !== null ? 'lugar lejos' : estado === 'found' ? 'lugar listo' : 'lugar'} role="status">
      {far !== null && <strong>Está a {formatDistance(far)} del lugar confirmado. </strong>}
      {texts[estado]}
    </p>
  )
}
