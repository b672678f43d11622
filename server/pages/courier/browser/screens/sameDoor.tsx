import { useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { distanceBetween, type Point } from '../../../../platform/maps/point.ts'
import { FaultNotice, withFault } from '../faults.tsx'
import { dispatchRows, formatDistance, isCarried } from '../list.ts'
import {
  type Comparison,
  compareDoors,
  confirmedPoint,
  doorOf,
  isSameDestinatario,
  isSameReceiver,
  type OtherParcel,
  type Receiver,
  renameInOther,
} from '../sameDoor.ts'
import { readActions } from '../store/actions.ts'
import type { EntregaDraft } from '../store/base.ts'
import { readGuiasOf } from '../store/guias.ts'
import { type GuiaDeReparto, type PoliticaDeEvidencia, RELATION_NAMES } from '../vocabulary.ts'
import { ConfirmDialog } from './pieces.tsx'

/**
 * Distance from the confirmed place, in metres, above which the page asks the courier before a parcel is handed over.
 */
const FAR_M = 300

/** Parcel that may be handed over with the parcel of the form. */
interface Candidate {
  guia: string
  titulo: string
  direccion: string
  datos: GuiaDeReparto
  comparison: Exclude<Comparison, 'otra'>
  /** True if the parcel of the form has the same recipient. */
  isForSamePerson: boolean
  point: Point | null
}

/** Parcel of the form, and the parcels that may be handed over with it. */
export interface AtDoor {
  destinatario: string | null
  /** Address of the parcel of the form; empty if unknown. */
  direccion: string
  point: Point | null
  /** Evidence that the merchant needs; undefined if the phone does not know. */
  politica: PoliticaDeEvidencia | undefined
  candidates: Candidate[]
}

/** Reads what the phone knows of a parcel's door and of the other parcels that the courier carries. */
export async function readDoor(repartidor: string, guia: string): Promise<AtDoor> {
  const [guias, actions] = await Promise.all([readGuiasOf(repartidor), readActions()])
  const rows = dispatchRows(guias, actions)
  const formRow = rows.find((row) => row.guia === guia)
  const propia = formRow && doorOf(formRow)
  const candidates = rows.flatMap((row): Candidate[] => {
    const door = row.guia !== guia && isCarried(row) ? doorOf(row) : null
    if (!propia || !door) return []
    const comparison = compareDoors(propia, door)
    if (comparison === 'otra') return []
    const { titulo, heading, datos } = row
    const isForSamePerson = isSameDestinatario(formRow.datos!, datos!)
    const { direccion } = heading!
    return [{ guia: row.guia, titulo, direccion, datos: datos!, comparison, isForSamePerson, point: door.point }]
  })
  const datos = formRow?.datos
  return {
    destinatario: datos?.destinatario ?? null,
    direccion: formRow?.heading?.direccion ?? '',
    point: datos ? confirmedPoint(datos) : null,
    politica: datos?.evidencia,
    candidates,
  }
}

/**
 * Returns the candidates that are handed over with the form's parcel. They are selected and, if a confirmed place is
 * missing, confirmed by the courier.
 */
export const includedParcels = ({ otherParcels }: EntregaDraft, { candidates }: AtDoor) =>
  candidates.flatMap((candidate) => {
    const other = otherParcels.find(({ guia }) => guia === candidate.guia)
    return other && (candidate.comparison === 'misma' || other.wasAsked) ? [{ other, candidate }] : []
  })

/** Returns the metres to a parcel's confirmed place if the courier is far from it; null if near or unknown. */
export function farDistance(here: Point | undefined, place: Point | null): number | null {
  const distance = here && place ? distanceBetween(here, place) : null
  return distance !== null && distance > FAR_M ? distance : null
}

/** Fields of a receiver: name and relation to the recipient. */
export function ReceiverFields(props: {
  /** Suffix of the ids of these fields, which makes them unique on the page. */
  suffix: string
  valor: Receiver
  labels: { nombre: string; relacion: string; noRelation: string }
  fallas: { nombre: string | undefined; relacion?: string | undefined }
  onRename: (name: string) => void
  onRelation: (relacion: string) => void
}) {
  const { suffix, valor, labels, fallas, onRename, onRelation } = props
  const [name, relacion] = [`nombre${suffix}`, `relacion${suffix}`]
  return (
    <>
      <label for={name}>{labels.nombre}</label>
      <input
        id={name}
        type="text"
        autocomplete="off"
        autocapitalize="words"
        maxLength={120}
        {...withFault(name, fallas.nombre)}
        value={valor.nombre}
        onInput={({ currentTarget }) => onRename(currentTarget.value)}
      />
      <FaultNotice de={name}>{fallas.nombre}</FaultNotice>
      <label for={relacion}>{labels.relacion}</label>
      <select
        id={relacion}
        {...withFault(relacion, fallas.relacion)}
        value={valor.relacion}
        onChange={({ currentTarget }) => onRelation(currentTarget.value)}
      >
        <option value="">{labels.noRelation}</option>
        {Object.entries(RELATION_NAMES).map(([item, label]) => (
          <option key={item} value={item}>
            {label}
          </option>
        ))}
      </select>
      <FaultNotice de={relacion}>{fallas.relacion}</FaultNotice>
    </>
  )
}

type OtherFaults = Readonly<Partial<Record<string, string>>>

/**
 * Other parcels of the door. The page offers the parcels with the same door, and asks the courier if a confirmed place
 * is missing.
 */
export function OtherParcels(props: {
  draft: EntregaDraft
  door: AtDoor
  here: Point | undefined
  fallas: OtherFaults
  onChange: (change: (parcels: readonly OtherParcel[]) => OtherParcel[]) => void
}) {
  const { draft, door, here, fallas, onChange } = props
  const included = includedParcels(draft, door)
  const doubtful = door.candidates.filter(
    ({ guia, comparison }) => comparison === 'dudosa' && !included.some(({ other }) => other.guia === guia),
  )
  const offered = door.candidates.filter((item) => !doubtful.includes(item))
  const lostParcels = draft.otherParcels.filter(({ guia }) => !door.candidates.some((item) => item.guia === guia))
  const removeParcel = (guia: string) => onChange((parcels) => parcels.filter((item) => item.guia !== guia))
  const includeParcel = (guia: string, wasAsked: boolean) =>
    onChange((parcels) => [
      ...parcels.filter((item) => item.guia !== guia),
      { guia, nombre: null, relacion: '', wasAsked },
    ])
  return (
    <>
      {(offered.length > 0 || lostParcels.length > 0) && (
        <fieldset>
          <legend>También en esta puerta</legend>
          {lostParcels.map(({ guia }) => (
            <p key={guia} class="nota" role="status">
              La guía {inGroups(guia)} ya no va con esta entrega: cambió mientras tanto.{' '}
              <a href={`#/guia/${guia}`}>Vea cómo está</a>
            </p>
          ))}
          {offered.length > 0 && (
            <p class="suave">Cada paquete que marque tiene su propia prueba, con estas fotos y esta nota.</p>
          )}
          {offered.map((candidate) => {
            const { guia } = candidate
            const other = included.find((item) => item.other.guia === guia)?.other
            return (
              <div key={guia} class="recuadro otra">
                <label class="marcable">
                  <input
                    type="checkbox"
                    checked={other !== undefined}
                    onChange={({ currentTarget: { checked } }) =>
                      checked ? includeParcel(guia, false) : removeParcel(guia)
                    }
                  />
                  <Parcel candidate={candidate} knownAddress={door.direccion} />
                </label>
                {other && (
                  <OtherReceiver
                    other={other}
                    candidate={candidate}
                    draft={draft}
                    far={farDistance(here, candidate.point)}
                    fallas={fallas}
                    onChange={(changed) =>
                      onChange((parcels) => parcels.map((item) => (item.guia === guia ? changed : item)))
                    }
                  />
                )}
              </div>
            )
          })}
        </fieldset>
      )}
      {doubtful.length > 0 && <DoubtfulParcels candidates={doubtful} onInclude={(guia) => includeParcel(guia, true)} />}
    </>
  )
}

/** Parcels that may have the same door. Only the courier can tell. */
function DoubtfulParcels({
  candidates,
  onInclude,
}: {
  candidates: readonly Candidate[]
  onInclude: (guia: string) => void
}) {
  const [askedCandidate, setAskedCandidate] = useState<Candidate | null>(null)
  return (
    <>
      <fieldset>
        <legend>¿Son también de esta puerta?</legend>
        <p class="suave">
          Coincide la dirección escrita o el teléfono, pero falta un lugar confirmado. Solo usted puede decirlo.
        </p>
        {candidates.map((candidate) => (
          <div key={candidate.guia} class="recuadro otra">
            <Parcel candidate={candidate} />
            <button
              type="button"
              aria-label={`Entregar aquí también el de ${candidate.titulo}, guía ${inGroups(candidate.guia)}`}
              onClick={() => setAskedCandidate(candidate)}
            >
              Entregar aquí también
            </button>
          </div>
        ))}
      </fieldset>
      {askedCandidate && (
        <ConfirmDialog
          titulo="¿Este paquete va a esta misma puerta?"
          yes="Sí, es esta puerta"
          no="No, es otra puerta"
          onClose={() => setAskedCandidate(null)}
          onAccept={() => onInclude(askedCandidate.guia)}
        >
          <Parcel candidate={askedCandidate} />
          <p>Falta un lugar confirmado con que comprobarlo. Varias casas pueden tener la misma dirección.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

/**
 * Parcel of another recipient or of the same one.
 * @param knownAddress address that the screen shows already
 */
const Parcel = ({ candidate, knownAddress }: { candidate: Candidate; knownAddress?: string }) => {
  const { guia, titulo, direccion, datos, isForSamePerson } = candidate
  const details = [
    datos.contenido,
    isForSamePerson ? 'Mismo destinatario' : 'Otro destinatario',
    direccion !== titulo && direccion !== knownAddress && direccion,
  ]
  return (
    <span class="paquete">
      <strong>{titulo}</strong> <small class="codigo">{inGroups(guia)}</small>{' '}
      <small>{details.filter(Boolean).join(' · ')}</small>
    </span>
  )
}

function OtherReceiver(props: {
  other: OtherParcel
  candidate: Candidate
  draft: EntregaDraft
  far: number | null
  fallas: OtherFaults
  onChange: (changed: OtherParcel) => void
}) {
  const { other, candidate, draft, far, fallas, onChange } = props
  const { guia, datos, isForSamePerson } = candidate
  const { destinatario } = datos
  const isSamePerson = isSameReceiver(other, draft)
  const currentNombre = other.nombre ?? draft.nombre
  return (
    <>
      {far !== null && (
        <p class="recuadro lugar lejos" role="status">
          <strong>Está a {formatDistance(far)} del lugar confirmado de este paquete.</strong>
        </p>
      )}
      {destinatario && currentNombre !== destinatario && (
        <button
          type="button"
          onClick={() => onChange({ ...renameInOther(other, destinatario, draft.nombre), relacion: 'destinatario' })}
        >
          Lo recibe {destinatario}
        </button>
      )}
      <ReceiverFields
        suffix={`-${guia}`}
        valor={{ nombre: currentNombre, relacion: other.relacion }}
        labels={{
          nombre: 'Quién lo recibe',
          relacion: `Quién es para ${destinatario ?? 'quien espera este paquete'}`,
          noRelation: isForSamePerson && isSamePerson ? 'Lo mismo que arriba' : 'Elija',
        }}
        fallas={{ nombre: fallas[`nombre-${guia}`], relacion: fallas[`relacion-${guia}`] }}
        onRename={(nuevo) => onChange(renameInOther(other, nuevo, draft.nombre))}
        onRelation={(relacion) => onChange({ ...other, relacion })}
      />
      {!isSamePerson && (draft.strokes || draft.documento.trim()) && (
        <p class="nota">
          La firma y el documento son de otra persona: este paquete va sin ellos. Si los necesita, entréguelo aparte.
        </p>
      )}
    </>
  )
}
