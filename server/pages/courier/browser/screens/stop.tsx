import { DoorOpen, MessageCircle, Navigation, Phone } from '../../../../generated/contract/icons.ts'
import { withSoftHyphens } from '../../../../platform/softHyphens.ts'
import type { Heading } from '../heading.ts'
import { type DispatchRow, formatDistance } from '../list.ts'
import { canEnter } from '../lote.ts'
import { EXTERNAL_LINK, linksTo } from '../reach.ts'
import { compareDoors, doorOf } from '../sameDoor.ts'
import { decisionWords, type Estado, possibleSteps, STEP_LABELS, splitSteps, stepPath } from '../vocabulary.ts'
import { Icon } from './pieces.tsx'
import { rememberGuia } from './row.tsx'

/** Distance from the phone to the place, in metres, at which the courier has arrived. */
const AT_DOOR_M = 60

const TASKS: Readonly<Record<Heading['target'], string>> = {
  recogida: 'recoger',
  destinatario: 'entregar',
  comercio: 'devolver',
}

/** House number or zone within an address, such as «3-45» and «zona 1». */
const WHOLE_PART = /(\d+-\d+|zona \d+)/i

/** Returns an address whose house number and zone stand in one line each. */
const inWholeParts = (address: string) =>
  address.split(WHOLE_PART).map((part, i) => (i % 2 === 0 ? withSoftHyphens(part) : <span class="entero">{part}</span>))

/**
 * Next stop: its address, the person there, and the task. The filled button is the likely next action: before leaving,
 * one step for all guides; on the road, navigation; at the door, the guide's own step.
 * @param carriedRows guides that the courier carries
 * @param isLocated true if the phone knows where it is
 */
export function NextStop(props: {
  row: DispatchRow
  carriedRows: readonly DispatchRow[]
  quien: string
  isLocated: boolean
}) {
  const { row, carriedRows, quien, isLocated } = props
  const { guia, distance, heading } = row
  const datos = row.datos!
  const { target, street, zona, directions, nombre } = heading!
  const hasArrived = isLocated && distance !== null && distance <= AT_DOOR_M
  const { callUrl, messageUrl, google } = linksTo(datos, heading!, quien)
  const chips = chipsOf(row, carriedRows)
  return (
    <article class="parada" aria-labelledby="parada">
      <p class="cinta">
        <span>{hasArrived ? 'Ya está aquí' : `Siguiente: ${TASKS[target]}`}</span>
        {distance !== null && !hasArrived && <span>a {formatDistance(distance)}</span>}
      </p>
      <h2 id="parada">
        <a id={`g-${guia}`} class="donde" href={`#/guia/${guia}`} onClick={() => rememberGuia(guia)}>
          <span>{inWholeParts(street || zona)}</span>
        </a>
      </h2>
      {street && zona && <p class="suave">{withSoftHyphens(zona)}</p>}
      {directions.length > 0 && (
        <p class="senas">
          <Icon drawing={DoorOpen} />
          <span>{withSoftHyphens(directions.join(' · '))}</span>
        </p>
      )}
      <div class="quien">
        <strong>{withSoftHyphens(nombre ?? 'Sin nombre de quien recibe')}</strong>
        {callUrl && (
          <a class="boton solo-icono" href={callUrl} aria-label="Llamar" title="Llamar">
            <Icon drawing={Phone} />
          </a>
        )}
        {messageUrl && (
          <a class="boton solo-icono" {...EXTERNAL_LINK} href={messageUrl} aria-label="WhatsApp" title="WhatsApp">
            <Icon drawing={MessageCircle} />
          </a>
        )}
      </div>
      {chips.length > 0 && (
        <ul class="chips">
          {chips.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <div class="par">
        {buttonsOf(row, carriedRows, hasArrived).map((stopButton, i) => {
          const className = i === 0 ? 'boton principal' : 'boton'
          if (stopButton === 'ir')
            return (
              <a key={stopButton} class={className} {...EXTERNAL_LINK} href={google}>
                <Icon drawing={Navigation} />
                Ir
              </a>
            )
          return (
            <a key={stopButton.path} class={className} href={`#/${stopButton.path}`}>
              {stopButton.text}
            </a>
          )
        })}
      </div>
    </article>
  )
}

/** Facts about a stop that affect what the courier does there. */
function chipsOf(row: DispatchRow, carriedRows: readonly DispatchRow[]): string[] {
  const { datos, isUnsent, steps } = row
  const { intentos, decision, ubicacion } = datos!
  const door = doorOf(row)
  const parcelsHere = carriedRows.filter((otherRow) => {
    const otherDoor = doorOf(otherRow)
    return door && otherDoor && compareDoors(door, otherDoor) === 'misma'
  }).length
  const isUnconfirmed = ubicacion.estado !== 'confirmada' && steps.some(({ con_ubicacion }) => con_ubicacion)
  return [
    parcelsHere > 1 && `${parcelsHere} paquetes en esta puerta`,
    isUnconfirmed && 'Falta confirmar el lugar',
    decision && decisionWords(decision),
    intentos && (intentos === 1 ? 'Ya hubo un intento' : `Ya hubo ${intentos} intentos`),
    isUnsent && 'Por enviar',
  ].filter((text) => typeof text === 'string')
}

type StopButton = 'ir' | { path: string; text: string }

/** Returns the one or two buttons of a stop, the filled one first. */
function buttonsOf(
  { guia, steps, datos }: DispatchRow,
  carriedRows: readonly DispatchRow[],
  hasArrived: boolean,
): StopButton[] {
  const isConfirmed = datos!.ubicacion.estado === 'confirmada'
  const [paso, second] = splitSteps(possibleSteps(steps, isConfirmed)).handySteps.map((step): StopButton & object => ({
    path: stepPath(guia, step),
    text: STEP_LABELS[step.estado],
  }))
  const allows = (estado: Estado) => steps.some((step) => step.estado === estado)
  if (paso && allows('en_ruta') && !allows('recolectado')) return [leaveWith(carriedRows) ?? paso]
  if (!paso) return ['ir']
  return hasArrived ? [paso, second ?? 'ir'] : ['ir', paso]
}

/** Returns the button to leave with several guides at once; undefined if fewer than two can. */
function leaveWith(carriedRows: readonly DispatchRow[]): (StopButton & object) | undefined {
  const n = carriedRows.filter((row) => canEnter(row, 'en_ruta')).length
  return n > 1 ? { path: 'marcar/en_ruta', text: `${STEP_LABELS.en_ruta} con ${n}` } : undefined
}
