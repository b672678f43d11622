import { DoorOpen, MessageCircle, Phone } from '../../../../generated/contract/icons.ts'
import type { Prediction } from '../expected.ts'
import { type Heading, headingOf } from '../heading.ts'
import { formatDistance } from '../list.ts'
import { EXTERNAL_LINK, type Links, linksTo } from '../reach.ts'
import { type GuiaDeReparto, isHandover } from '../vocabulary.ts'
import { CallCentral, Icon } from './pieces.tsx'

/** Precision of a place from the recipient's phone, in metres, above which the place may be another house. */
const APPROXIMATE_ABOVE_M = 200

/** Data of a guide that the courier may see: the next destination, or else how to take the parcel. */
export function GuiaView(props: { datos: GuiaDeReparto; prediction: Prediction; quien: string }) {
  const { datos, prediction, quien } = props
  const heading = headingOf(datos, prediction.estado)
  return (
    <>
      {heading && <Target datos={datos} heading={heading} quien={quien} />}
      <Custodia datos={datos} isOwn={prediction.isOwn} hasHeading={heading !== null} />
    </>
  )
}

/** Reason why the courier cannot see the destination, if there is a reason. */
function Custodia({ datos, isOwn, hasHeading }: { datos: GuiaDeReparto; isOwn: boolean; hasHeading: boolean }) {
  const { custodia, nombre_comercio, municipio, contenido, siguientes } = datos
  if (custodia === 'propia') return null
  if (isOwn) return <p class="nota">El destino se verá cuando el servicio sepa que la lleva usted.</p>
  if (custodia === 'ninguna') {
    return (
      <>
        {!hasHeading && <p class="destinatario">{nombre_comercio ?? municipio}</p>}
        {!hasHeading && contenido && <p class="suave">Lleva: {contenido}</p>}
        <p class="nota">No la lleva nadie. A quién va y adónde se ve al tomarla.</p>
      </>
    )
  }
  if (isHandover(datos, datos.estado))
    return <p class="nota">La lleva otro repartidor y la central se la pasó a usted. Recíbala cuando la tenga.</p>
  return (
    <p class="nota">
      La lleva otro repartidor: pídale que se la entregue. <CallCentral />
      {siguientes.length > 0 && ' Si ya la tiene usted, regístrelo aquí.'}
    </p>
  )
}

const TARGET_LABELS = { recogida: 'Se recoge en', destinatario: 'Se entrega a', comercio: 'Se devuelve a' } as const

function Target({ datos, heading, quien }: { datos: GuiaDeReparto; heading: Heading; quien: string }) {
  const { contenido, intentos, nombre_comercio } = datos
  const aDestino = heading.target === 'destinatario'
  return (
    <section class="destino" aria-label={TARGET_LABELS[heading.target]}>
      <p class="rotulo">{TARGET_LABELS[heading.target]}</p>
      <p class="destinatario">{heading.nombre ?? 'Sin nombre de quien recibe'}</p>
      <p>{heading.direccion}</p>
      {heading.directions.length > 0 && (
        <p class="senas">
          <Icon drawing={DoorOpen} />
          <span>{heading.directions.join(' · ')}</span>
        </p>
      )}
      {heading.precision_m !== null && heading.precision_m > APPROXIMATE_ABOVE_M && (
        <p class="nota">
          El lugar es aproximado, de unos {formatDistance(heading.precision_m)}: llame antes de llegar.
        </p>
      )}
      <HelpLinks {...linksTo(datos, heading, quien)} />
      {aDestino && nombre_comercio && <p class="suave">De: {nombre_comercio}</p>}
      {contenido && <p class="suave">Lleva: {contenido}</p>}
      {aDestino && intentos !== null && intentos > 0 && (
        <p class="suave">{intentos === 1 ? 'Ya hubo un intento' : `Ya hubo ${intentos} intentos`}</p>
      )}
    </section>
  )
}

/** Links to call, to write and to navigate. */
function HelpLinks({ callUrl, messageUrl, google, waze, hasPlace }: Links) {
  return (
    <div class="par">
      {callUrl && (
        <a class="boton" href={callUrl}>
          <Icon drawing={Phone} />
          Llamar
        </a>
      )}
      {messageUrl && (
        <a class="boton" {...EXTERNAL_LINK} href={messageUrl}>
          <Icon drawing={MessageCircle} />
          WhatsApp
        </a>
      )}
      <a class="boton" {...EXTERNAL_LINK} href={google}>
        {hasPlace ? 'Google Maps' : 'Buscar en el mapa'}
      </a>
      {waze && (
        <a class="boton" {...EXTERNAL_LINK} href={waze}>
          Waze
        </a>
      )}
    </div>
  )
}
