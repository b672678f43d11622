import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { dayInWords } from '../../../../platform/time/day.ts'
import { DAY_MS } from '../../../../platform/time/units.ts'
import { FaultNotice, useFaults, withFault } from '../faults.tsx'
import { goTo, usePosition, useStoredData } from '../hooks.ts'
import { localDayOf } from '../list.ts'
import { enqueue, UNDO_MS } from '../store/actions.ts'
import { isOutOfSpace, type Sesion, type StoredImage } from '../store/base.ts'
import { readGuiaOf } from '../store/guias.ts'
import {
  DANGEROUS_ESTADOS,
  type Estado,
  groupReasons,
  isHandover,
  type Motivo,
  REASON_NAMES,
  STEP_LABELS,
  stepLabel,
  stepTo,
} from '../vocabulary.ts'
import { explainFoto, Fotos, TakeFoto, useFotos } from './fotos.tsx'
import { BackLink, ConfirmDialog, ScreenTitle } from './pieces.tsx'

/** Message for a phone without free storage. */
export const NO_SPACE =
  'El teléfono no tiene espacio. Borre fotos o aplicaciones que no use y pruebe otra vez: esta página espera.'

/**
 * Days that the recipient may ask for, by the phone's calendar. If the server's first possible day is later, the server
 * takes that day.
 */
const NEW_DAY_RANGE = {
  desde: () => localDayOf(Date.now() + DAY_MS),
  hasta: () => localDayOf(Date.now() + 30 * DAY_MS),
}
const isValidDay = (day: string) =>
  /^\d{4}-\d\d-\d\d$/.test(day) && day >= NEW_DAY_RANGE.desde() && day <= NEW_DAY_RANGE.hasta()

/** Photos of a step that the screen shows. */
function useStepFotos(guia: string, fail: (faults: { fotos?: string }) => void) {
  const currentFotos = useRef<StoredImage[]>([])
  const [fotos, setFotos] = useState<readonly StoredImage[]>([])
  const keepFotos = (newFotos: StoredImage[]) => {
    currentFotos.current = newFotos
    setFotos(newFotos)
  }
  const { preparing, takeFotos } = useFotos({
    guia,
    countFotos: () => currentFotos.current.length,
    addFoto: (foto) => keepFotos([...currentFotos.current, foto]),
    fail: (cause) =>
      fail(cause === undefined ? {} : { fotos: explainFoto(cause) ?? 'No se pudo tomar la foto. Pruebe otra vez.' }),
  })
  const removeFoto = (id: string) => keepFotos(currentFotos.current.filter((foto) => foto.id !== id))
  return { fotos, preparing, takeFotos, removeFoto }
}

const reasonsFor = (estado: Estado | null): readonly Motivo[] => (estado ? stepTo(estado).motivos : [])

/** Returns the first fault of the form, if it has one. */
function findStepFault(
  motivos: readonly Motivo[],
  estado: Estado | null,
  { motivo, dia, descripcion }: { motivo: Motivo | null; dia: string | null; descripcion: string },
) {
  if (motivos.length > 0 && !motivo) return { motivo: 'Elija el motivo.' }
  if (motivo === 'reprogramado' && dia !== null && !isValidDay(dia))
    return { dia: `Elija un día, desde mañana hasta el ${dayInWords(NEW_DAY_RANGE.hasta())}, o marque que no lo dijo.` }
  if (motivo === 'otro' && !descripcion) return { nota: 'Escriba en la nota qué pasó.' }
  if (!estado && !descripcion) return { nota: 'Escriba la nota.' }
  return undefined
}

/**
 * Screen of one change of state, with its reason if it has reasons. A failed attempt may also have photos of the door.
 * @param estado null for a note without a change of state
 */
export function StepScreen({ sesion, guia, estado }: { sesion: Sesion; guia: string; estado: Estado | null }) {
  const [motivo, setReason] = useState<Motivo | null>(null)
  const [hasNoDay, setHasNoDay] = useState(false)
  const [faults, fail] = useFaults<'motivo' | 'dia' | 'nota' | 'fotos' | 'general'>()
  const [isAsking, setIsAsking] = useState(false)
  const nota = useRef<HTMLTextAreaElement>(null)
  const day = useRef<HTMLInputElement>(null)
  const isSaving = useRef(false)
  const { fotos, preparing, takeFotos, removeFoto } = useStepFotos(guia, fail)
  const storedGuia = useStoredData(() => readGuiaOf(sesion.repartidor, guia), guia)
  const isReceived = isHandover(storedGuia?.datos, estado)
  const isDangerous = estado !== null && DANGEROUS_ESTADOS.includes(estado) && !isReceived
  const { point } = usePosition(false)
  const readFormValues = () => ({
    motivo,
    dia: motivo === 'reprogramado' && !hasNoDay ? day.current!.value : null,
    descripcion: nota.current!.value.replace(/\s+/g, ' ').trim(),
  })
  const confirm = (evento: SubmitEvent) => {
    evento.preventDefault()
    const fault = findStepFault(isReceived ? [] : reasonsFor(estado), estado, readFormValues())
    if (fault) return fail(fault)
    if (isSaving.current || preparing > 0) return
    if (isDangerous) setIsAsking(true)
    else storeStep()
  }
  const storeStep = async () => {
    isSaving.current = true
    try {
      const { repartidor, nombre } = sesion
      const { dia: fecha, descripcion } = readFormValues()
      const evento = {
        ...(motivo ? { motivo } : {}),
        ...(fecha === null ? {} : { fecha }),
        ...(descripcion ? { descripcion } : {}),
        ...(point ? { lat: point.lat, lng: point.lng } : {}),
      }
      const attachments = { fotos: fotos.map(({ id }) => ({ imagen: id })), firma: null, strokes: null }
      const undoMs = estado && !isDangerous ? UNDO_MS : 0
      await enqueue([{ repartidor, nombre, guia, estado, evento, ...attachments }], Date.now(), null, fotos, undoMs)
      goTo(estado ? `guia/${guia}/hecho/${estado}` : `guia/${guia}`, true)
    } catch (error) {
      isSaving.current = false
      fail({ general: isOutOfSpace(error) ? NO_SPACE : 'No se pudo guardar en el teléfono. Pruebe otra vez.' })
    }
  }
  return (
    <form onSubmit={confirm} noValidate>
      <BackLink a={`guia/${guia}`}>
        <span class="codigo">{inGroups(guia)}</span>
      </BackLink>
      <ScreenTitle>{estado ? stepLabel(storedGuia?.datos, estado) : 'Anotar algo'}</ScreenTitle>
      {estado && !isReceived && (
        <ReasonPicker
          estado={estado}
          fault={faults.motivo}
          onChoose={(reason) => {
            setReason(reason)
            fail({})
          }}
        />
      )}
      {motivo === 'reprogramado' && (
        <OtherDay campo={day} fault={faults.dia} hasNoDay={hasNoDay} onNoDay={setHasNoDay} />
      )}
      {estado === 'intento_fallido' && (
        <>
          <Fotos
            fault={faults.fotos}
            fotos={fotos.map(({ id, blob }) => ({ id, readFile: async () => blob }))}
            preparing={preparing}
            removeFoto={removeFoto}
          />
          <TakeFoto count={fotos.length} fallas={faults} takeFotos={takeFotos} />
        </>
      )}
      <Nota campo={nota} label={estado ? 'Nota (si hace falta)' : 'Nota'} fault={faults.nota} />
      <div class="barra pegada">
        <FaultNotice de="general">{faults.general}</FaultNotice>
        <FaultNotice de="motivo">{faults.motivo}</FaultNotice>
        <button type="submit" class="principal" aria-disabled={preparing > 0 || undefined}>
          {estado ? 'Registrar' : 'Guardar la nota'}
        </button>
      </div>
      {isAsking && estado && (
        <StepQuestion guia={guia} estado={estado} onClose={() => setIsAsking(false)} onAccept={storeStep} />
      )}
    </form>
  )
}

/** Reasons of a change of state, in two columns, so that a phone shows all of them. The bar shows a missing choice. */
function ReasonPicker(props: { estado: Estado; fault: string | undefined; onChoose: (motivo: Motivo) => void }) {
  const groups = groupReasons(stepTo(props.estado).motivos)
  return (
    <div role="radiogroup" aria-label="¿Por qué?" {...withFault('motivo', props.fault)}>
      {groups.map(({ titulo, reasons }) => (
        <fieldset key={titulo} class="motivos">
          <legend>{titulo}</legend>
          {reasons.map((reason) => (
            <label key={reason} class="opcion">
              <input type="radio" name="motivo" value={reason} onChange={() => props.onChoose(reason)} />
              <span>{REASON_NAMES[reason]}</span>
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  )
}

/** Field for the day that the recipient asks for. */
function OtherDay(props: {
  campo: RefObject<HTMLInputElement | null>
  fault: string | undefined
  hasNoDay: boolean
  onNoDay: (hasNoDay: boolean) => void
}) {
  const { campo, fault, hasNoDay, onNoDay } = props
  return (
    <>
      <label for="dia">¿Qué día lo quiere?</label>
      <input
        id="dia"
        ref={campo}
        type="date"
        min={NEW_DAY_RANGE.desde()}
        max={NEW_DAY_RANGE.hasta()}
        disabled={hasNoDay}
        {...withFault('dia', fault)}
      />
      <FaultNotice de="dia">{fault}</FaultNotice>
      <label class="opcion">
        <input type="checkbox" checked={hasNoDay} onChange={({ currentTarget }) => onNoDay(currentTarget.checked)} /> No
        dijo qué día
      </label>
    </>
  )
}

function Nota(props: { campo: RefObject<HTMLTextAreaElement | null>; label: string; fault: string | undefined }) {
  const { campo, label, fault } = props
  return (
    <>
      <label for="nota">{label}</label>
      <textarea
        id="nota"
        ref={campo}
        rows={2}
        maxLength={300}
        aria-invalid={fault ? true : undefined}
        aria-describedby="falla-nota nota-ayuda"
      />
      <FaultNotice de="nota">{fault}</FaultNotice>
      <p id="nota-ayuda" class="suave">
        El comercio la lee.
      </p>
    </>
  )
}

function StepQuestion(props: { guia: string; estado: Estado; onClose: () => void; onAccept: () => void }) {
  const step = STEP_LABELS[props.estado]
  return (
    <ConfirmDialog titulo={`¿${step}?`} yes={step} no="No, volver" onClose={props.onClose} onAccept={props.onAccept}>
      <p>Es la guía {inGroups(props.guia)}, y desde aquí no se puede deshacer.</p>
    </ConfirmDialog>
  )
}
