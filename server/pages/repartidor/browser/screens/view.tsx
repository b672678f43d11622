import { MessageCircle, Phone } from '../../../../generado/contrato/iconos.ts'
import type { GuiaDeReparto } from '../dominio.ts'
import { metros } from '../lista.ts'
import { FUERA, type Llegar, llegarA } from '../llegar.ts'
import type { Prevision } from '../previsto.ts'
import { type Rumbo, rumboDe } from '../rumbo.ts'
import { AvisarALaCentral, Icono } from './piezas.tsx'

/** Precision of a place from the recipient's phone, in metres, above which the place may be another house. */
const IMPRECISO_M = 200

/** Data of a guide that the courier may see: the next destination, or else how to take the parcel. */
export function Vista(props: { datos: GuiaDeReparto; prevision: Prevision; quien: string }) {
  const { datos, prevision, quien } = props
  const rumbo = rumboDe(datos, prevision.estado)
  return (
    <>
      {rumbo && <Hacia datos={datos} rumbo={rumbo} quien={quien} />}
      <Custodia datos={datos} suya={prevision.suya} conRumbo={rumbo !== null} />
    </>
  )
}

/** Reason why the courier cannot see the destination, if there is a reason. */
function Custodia({ datos, suya, conRumbo }: { datos: GuiaDeReparto; suya: boolean; conRumbo: boolean }) {
  const { custodia, nombre_comercio, municipio, contenido, siguientes } = datos
  if (custodia === 'propia') return null
  if (suya) return <p class="nota">El destino se verá cuando el servicio sepa que la lleva usted.</p>
  if (custodia === 'ninguna') {
    return (
      <>
        {!conRumbo && <p class="destinatario">{nombre_comercio ?? municipio}</p>}
        {!conRumbo && contenido && <p class="suave">Lleva: {contenido}</p>}
        <p class="nota">No la lleva nadie. A quién va y adónde se ve al tomarla.</p>
      </>
    )
  }
  return (
    <p class="nota">
      La lleva otro repartidor: pídale que se la entregue. <AvisarALaCentral />
      {siguientes.length > 0 && ' Si ya la tiene usted, regístrelo aquí.'}
    </p>
  )
}

const ROTULOS = { recogida: 'Se recoge en', destinatario: 'Se entrega a', comercio: 'Se devuelve a' } as const

function Hacia({ datos, rumbo, quien }: { datos: GuiaDeReparto; rumbo: Rumbo; quien: string }) {
  const { contenido, intentos, nombre_comercio } = datos
  const aDestino = rumbo.hacia === 'destinatario'
  return (
    <section class="destino" aria-label={ROTULOS[rumbo.hacia]}>
      <p class="rotulo">{ROTULOS[rumbo.hacia]}</p>
      <p class="destinatario">{rumbo.nombre ?? 'Sin nombre de quien recibe'}</p>
      <p>{rumbo.direccion}</p>
      {rumbo.senas.length > 0 && <p class="suave">{rumbo.senas.join(' · ')}</p>}
      {rumbo.precision_m !== null && rumbo.precision_m > IMPRECISO_M && (
        <p class="nota">El lugar es aproximado, de unos {metros(rumbo.precision_m)}: llame antes de llegar.</p>
      )}
      <Ayudas {...llegarA(datos, rumbo, quien)} />
      {aDestino && nombre_comercio && <p class="suave">De: {nombre_comercio}</p>}
      {contenido && <p class="suave">Lleva: {contenido}</p>}
      {aDestino && intentos !== null && intentos > 0 && (
        <p class="suave">{intentos === 1 ? 'Ya hubo un intento' : `Ya hubo ${intentos} intentos`}</p>
      )}
    </section>
  )
}

/** Links to call, to write and to navigate. */
function Ayudas({ llamar, escribir, google, waze, conLugar }: Llegar) {
  return (
    <div class="par">
      {llamar && (
        <a class="boton" href={llamar}>
          <Icono dibujo={Phone} />
          Llamar
        </a>
      )}
      {escribir && (
        <a class="boton" {...FUERA} href={escribir}>
          <Icono dibujo={MessageCircle} />
          WhatsApp
        </a>
      )}
      <a class="boton" {...FUERA} href={google}>
        {conLugar ? 'Google Maps' : 'Buscar en el mapa'}
      </a>
      {waze && (
        <a class="boton" {...FUERA} href={waze}>
          Waze
        </a>
      )}
    </div>
  )
}
