import { ChevronRight } from '../../../../generated/contract/icons.ts'
import { DESCRIPCIONES_DE_SIN_FIRMA } from '../../../../generated/contract/vocabulary.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { FaultNotice, withFault } from '../faults.tsx'
import { Firma } from '../firma.tsx'
import type { GeoPosition } from '../hooks.ts'
import { formatDistance } from '../list.ts'
import { renameReceiver } from '../sameDoor.ts'
import { readStoredImage } from '../store/actions.ts'
import type { EntregaDraft } from '../store/base.ts'
import { type MotivoSinFirma, type PoliticaDeEvidencia, RELATION_NAMES, type Relation } from '../vocabulary.ts'
import type { DeliveryStep, DraftHandle, Faults } from './draft.ts'
import { Fotos } from './fotos.tsx'
import { BackLink, Icon, ScreenTitle, timeOf } from './pieces.tsx'
import { type AtDoor, farDistance, OtherParcels, ReceiverFields } from './sameDoor.tsx'

const POOR_PRECISION_M = 100

/** Data that the steps of a delivery share. */
export interface DeliverView {
  draftHandle: DraftHandle
  door: AtDoor
  /** Evidence that suffices for all parcels of the delivery. */
  policy: PoliticaDeEvidencia
  posicion: GeoPosition
  fallas: Faults
  /** Number of photos that are not ready yet. */
  preparing: number
  /** Checks the step, and goes to the next one. */
  goOn: () => void
}

/** Way back, the parcel's recipient, the progress through the steps, and at the first step the address. */
export function DeliverHeader(props: {
  draft: EntregaDraft
  door: AtDoor
  steps: readonly DeliveryStep[]
  step: DeliveryStep
}) {
  const { draft, door, steps, step } = props
  const { guia, ocurrido_en, zona } = draft
  const index = steps.indexOf(step)
  return (
    <>
      <BackLink a={index === 0 ? `guia/${guia}` : `guia/${guia}/entregar/${steps[index - 1]}`}>
        {door.destinatario ?? <span class="codigo">{inGroups(guia)}</span>}
      </BackLink>
      <p class="tramos" role="img" aria-label={`Paso ${index + 1} de ${steps.length}`}>
        {steps.map((item, i) => (
          <span key={item} class={i <= index ? 'hecho' : ''} />
        ))}
      </p>
      {index === 0 && door.direccion && <p>{door.direccion}</p>}
      {ocurrido_en && <p class="nota">Corrige la entrega de las {timeOf(ocurrido_en, zona)}.</p>}
    </>
  )
}

export function FotosStep({ draftHandle: { draft, removeFoto }, policy, fallas, preparing }: DeliverView) {
  const { fotos } = draft
  const minimum = policy.fotos_minimas
  return (
    <>
      <ScreenTitle>Tome una foto</ScreenTitle>
      <p class="suave">
        El paquete, con la puerta o con quien lo recibe. De {minimum === 10 ? '10' : `${minimum} a 10`}.
      </p>
      <Fotos
        fotos={fotos.map((id) => ({ id, readFile: async () => (await readStoredImage(id))?.blob }))}
        preparing={preparing}
        removeFoto={removeFoto}
        fault={fallas.fotos}
      />
    </>
  )
}

/** Receiver. One tap chooses the recipient, and goes on. */
export function ReceiverStep({ draftHandle, door: { destinatario }, fallas, goOn }: DeliverView) {
  const { draft, actual, changeDraft, changeReceiver } = draftHandle
  const chooseDestinatario = (nombre: string) => {
    changeReceiver({ nombre, relacion: 'destinatario' })
    goOn()
  }
  return (
    <>
      <ScreenTitle>¿Quién recibe?</ScreenTitle>
      {destinatario && (
        <button type="button" class="opcion" onClick={() => chooseDestinatario(destinatario)}>
          <span>
            {destinatario} <small>Es a quien viene</small>
          </span>
          <Icon drawing={ChevronRight} />
        </button>
      )}
      <ReceiverFields
        suffix=""
        valor={draft}
        labels={{ nombre: 'Nombre', relacion: 'Quién es', noRelation: 'Sin decir' }}
        fallas={{ nombre: fallas.nombre }}
        onRename={(name) => changeReceiver(renameReceiver(actual.current, name, destinatario))}
        onRelation={(relacion) => changeDraft({ relacion })}
      />
      <p class="suave">{document.getElementById('app')!.dataset.privacidad}</p>
    </>
  )
}

/** Signature and document of the receiver, as far as the merchants want them. */
export function SignatureStep({ draftHandle, policy: { firma, documento }, fallas }: DeliverView) {
  const { draft, changeDraft } = draftHandle
  return (
    <>
      <ScreenTitle>{firma === 'no' ? 'Documento' : 'Firma'}</ScreenTitle>
      {firma !== 'no' && (
        <>
          <p class="suave">
            De {draft.nombre.trim()}, con el dedo. {firma === 'obligatoria' ? 'La pide el comercio.' : 'Si puede.'}
          </p>
          <Firma
            strokes={draft.strokes}
            onSign={(strokes) => changeDraft(strokes ? { strokes, sin_firma: '' } : { strokes })}
          />
          {firma === 'obligatoria' && !draft.strokes && (
            <SinFirma
              valor={draft.sin_firma}
              fault={fallas.firma}
              onChoose={(sin_firma) => changeDraft({ sin_firma })}
            />
          )}
        </>
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
            {...withFault('documento', fallas.documento)}
            {...texto(draftHandle, 'documento')}
          />
          <FaultNotice de="documento">{fallas.documento}</FaultNotice>
        </>
      )}
    </>
  )
}

/** Returns the attributes of an input that writes to a field of the draft. */
const texto = ({ draft, changeDraft }: DraftHandle, field: 'documento' | 'descripcion') => ({
  value: draft[field],
  onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => changeDraft({ [field]: currentTarget.value }),
})

/** Reasons for a missing signature that the courier can choose. */
function SinFirma(props: { valor: string; fault: string | undefined; onChoose: (motivo: string) => void }) {
  const { valor, fault, onChoose } = props
  return (
    <>
      <label for="sin-firma">Si no firma, ¿por qué?</label>
      <select
        id="sin-firma"
        {...withFault('sin-firma', fault)}
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
      <FaultNotice de="sin-firma">{fault}</FaultNotice>
    </>
  )
}

/** Last step: other parcels of the door, the place, and what was chosen before, each with a way to change it. */
export function ConfirmStep({ draftHandle, door, policy, posicion, fallas }: DeliverView) {
  const { draft, actual, changeDraft } = draftHandle
  return (
    <>
      <ScreenTitle>Entregar</ScreenTitle>
      {!draft.ocurrido_en && (
        <>
          <OtherParcels
            draft={draft}
            door={door}
            here={posicion.point}
            fallas={fallas}
            onChange={(change) => changeDraft({ otherParcels: change(actual.current.otherParcels) })}
          />
          <PositionStatus posicion={posicion} far={farDistance(posicion.point, door.point)} />
        </>
      )}
      <ul class="resumen">
        {summaryOf(draft, policy).map(({ step, text }) => (
          <li key={text}>
            <span>{text}</span>{' '}
            <a href={`#/guia/${draft.guia}/entregar/${step}`}>
              Cambiar<span class="oculto">: {text}</span>
            </a>
          </li>
        ))}
      </ul>
      <label for="descripcion">Nota (si hace falta)</label>
      <input id="descripcion" type="text" autocomplete="off" maxLength={300} {...texto(draftHandle, 'descripcion')} />
    </>
  )
}

/** Returns what the earlier steps contain, in words. */
function summaryOf(draft: EntregaDraft, { firma, documento }: PoliticaDeEvidencia) {
  const { fotos, nombre, relacion, strokes, sin_firma } = draft
  const relation = relacion && RELATION_NAMES[relacion as Relation].toLowerCase()
  const reason = sin_firma && DESCRIPCIONES_DE_SIN_FIRMA[sin_firma as MotivoSinFirma].toLowerCase()
  const parts: { step: DeliveryStep; text: string | false }[] = [
    { step: 'fotos', text: fotos.length === 1 ? '1 foto' : `${fotos.length} fotos` },
    { step: 'quien', text: [`Recibe ${nombre.trim()}`, relation].filter(Boolean).join(', ') },
    { step: 'firma', text: firma !== 'no' && (strokes ? 'Firmó' : ['Sin firma', reason].filter(Boolean).join(': ')) },
    { step: 'firma', text: documento !== 'no' && draft.documento.trim() && `Documento ${draft.documento.trim()}` },
  ]
  return parts.flatMap(({ step, text }) => (text ? [{ step, text }] : []))
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
    <p
      class={far !== null ? 'recuadro lugar lejos' : estado === 'found' ? 'recuadro lugar listo' : 'recuadro lugar'}
      role="status"
    >
      {far !== null && <strong>Está a {formatDistance(far)} del lugar confirmado. </strong>}
      {texts[estado]}
    </p>
  )
}
