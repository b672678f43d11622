// Draft of a delivery: its data, its steps, and what it lacks.
import { useRef, useState } from 'preact/hooks'
import { evidenceFor, findMissingEvidence, needsOwnEvidence } from '../evidence.ts'
import type { GeoPosition } from '../hooks.ts'
import { afterRename, isSameReceiver, lacksRelation, type Receiver } from '../sameDoor.ts'
import type { EntregaDraft, Sesion, StoredImage } from '../store/base.ts'
import { storeDraft } from '../store/drafts.ts'
import type { PoliticaDeEvidencia } from '../vocabulary.ts'
import { type AtDoor, farDistance, includedParcels } from './sameDoor.tsx'

export const createDraft = ({ repartidor }: Sesion, guia: string): EntregaDraft => ({
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
export interface FarParcel {
  guia: string
  /** Words for the confirmed place in the question to the courier. */
  lugar: string
  distance: number
}

export type Field = 'fotos' | 'nombre' | 'firma' | 'documento' | 'general' | `nombre-${string}` | `relacion-${string}`

export type Faults = Partial<Record<Field, string>>

/** Steps of a delivery, one decision each, as the last part of the screen's address. */
const DELIVERY_STEPS = ['fotos', 'quien', 'firma', 'confirmar'] as const
export type DeliveryStep = (typeof DELIVERY_STEPS)[number]

const FIELDS_BY_STEP: Readonly<Record<Exclude<DeliveryStep, 'confirmar'>, readonly Field[]>> = {
  fotos: ['fotos'],
  quien: ['nombre'],
  firma: ['firma', 'documento'],
}

/** Returns the steps of a delivery. If the merchants want neither a signature nor a document, there is no step for them. */
export const stepsOf = ({ firma, documento }: PoliticaDeEvidencia): DeliveryStep[] =>
  DELIVERY_STEPS.filter((step) => step !== 'firma' || firma !== 'no' || documento !== 'no')

/** Returns the faults that a step shows. The last step shows those that no other step does. */
export function faultsAt(step: DeliveryStep, faults: Faults): Faults {
  const ownFields = Object.values(FIELDS_BY_STEP).flat()
  return Object.fromEntries(
    (Object.entries(faults) as [Field, string][]).filter(([field]) =>
      step === 'confirmar' ? !ownFields.includes(field) : FIELDS_BY_STEP[step].includes(field),
    ),
  )
}

/** Returns the first step whose data are missing, or else the last step. */
export const firstOpenStep = (steps: readonly DeliveryStep[], faults: Faults): DeliveryStep =>
  steps.find((step) => Object.keys(faultsAt(step, faults)).length > 0) ?? 'confirmar'

/** Other parcels of the delivery. A corrected delivery covers only its own parcel, because its time and place are fixed. */
export const includedParcelsOf = (draft: EntregaDraft, door: AtDoor) =>
  draft.ocurrido_en ? [] : includedParcels(draft, door)

/** Parcels of the delivery with their policies, the form's parcel first. */
export const parcelsOf = (draft: EntregaDraft, door: AtDoor) => [
  { politica: door.politica, isSamePerson: true },
  ...includedParcelsOf(draft, door).map(({ other, candidate }) => ({
    politica: candidate.datos.evidencia,
    isSamePerson: isSameReceiver(other, draft),
  })),
]

/** Returns what the form lacks, by field. */
export function findSchemaFaults(draft: EntregaDraft, door: AtDoor): Faults {
  const missingFields: Faults = {
    ...findMissingEvidence(evidenceFor(parcelsOf(draft, door)), draft),
    ...(draft.nombre.trim() === '' ? { nombre: 'Escriba quién recibió.' } : {}),
  }
  for (const { other, candidate } of includedParcelsOf(draft, door)) {
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
export function findFarParcels(draft: EntregaDraft, door: AtDoor, here: GeoPosition['point']): FarParcel[] {
  if (draft.ocurrido_en) return []
  const { destinatario } = door
  const candidates = includedParcelsOf(draft, door).map(({ candidate }) => candidate)
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
export function useDraft(initialDraft: EntregaDraft, showFailure: (error: unknown) => void) {
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
export type DraftHandle = ReturnType<typeof useDraft>
