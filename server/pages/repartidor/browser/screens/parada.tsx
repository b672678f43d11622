import { DoorOpen, MessageCircle, Navigation, Phone } from '../../../../generado/contrato/iconos.ts'
import { type Estado, PASOS, posiblesDe, queSeDecidio, repartirPasos, rutaDe } from '../dominio.ts'
import { type FilaDeReparto, metros } from '../lista.ts'
import { FUERA, llegarA } from '../llegar.ts'
import { puede } from '../lote.ts'
import { compararPuertas, puertaDe } from '../puerta.ts'
import type { Rumbo } from '../rumbo.ts'
import { recordar } from './fila.tsx'
import { Icono } from './piezas.tsx'

/** Distance from the phone to the place, in metres, at which the courier has arrived. */
const EN_LA_PUERTA_M = 60

const QUE_HACER: Readonly<Record<Rumbo['hacia'], string>> = {
  recogida: 'recoger',
  destinatario: 'entregar',
  comercio: 'devolver',
}

/**
 * Next stop: its address, the person there, and the task. The filled button is the likely next action: before leaving,
 * one step for all guides; on the road, navigation; at the door, the guide's own step.
 * @param suyas guides that the courier carries
 * @param situado true if the phone knows where it is
 */
export function Parada(props: {
  fila: FilaDeReparto
  suyas: readonly FilaDeReparto[]
  quien: string
  situado: boolean
}) {
  const { fila, suyas, quien, situado } = props
  const { guia, distancia, rumbo } = fila
  const datos = fila.datos!
  const { hacia, calle, zona, senas, nombre } = rumbo!
  const llegado = situado && distancia !== null && distancia <= EN_LA_PUERTA_M
  const { llamar, escribir, google } = llegarA(datos, rumbo!, quien)
  const chips = chipsDe(fila, suyas)
  return (
    <article class="parada" aria-labelledby="parada">
      <p class="cinta">
        <span>{llegado ? 'Ya está aquí' : `Siguiente: ${QUE_HACER[hacia]}`}</span>
        {distancia !== null && !llegado && <span>a {metros(distancia)}</span>}
      </p>
      <h2 id="parada">
        <a id={`g-${guia}`} class="donde" href={`#/guia/${guia}`} onClick={() => recordar(guia)}>
          {calle || zona}
        </a>
      </h2>
      {calle && zona && <p class="suave">{zona}</p>}
      {senas.length > 0 && (
        <p class="senas">
          <Icono dibujo={DoorOpen} />
          <span>{senas.join(' · ')}</span>
        </p>
      )}
      <div class="quien">
        <strong>{nombre ?? 'Sin nombre de quien recibe'}</strong>
        {llamar && (
          <a class="boton solo-icono" href={llamar} aria-label="Llamar" title="Llamar">
            <Icono dibujo={Phone} />
          </a>
        )}
        {escribir && (
          <a class="boton solo-icono" {...FUERA} href={escribir} aria-label="WhatsApp" title="WhatsApp">
            <Icono dibujo={MessageCircle} />
          </a>
        )}
      </div>
      {chips.length > 0 && (
        <ul class="chips">
          {chips.map((dicho) => (
            <li key={dicho}>{dicho}</li>
          ))}
        </ul>
      )}
      <div class="par">
        {botonesDe(fila, suyas, llegado).map((que, i) => {
          const clase = i === 0 ? 'boton principal' : 'boton'
          if (que === 'ir')
            return (
              <a key={que} class={clase} {...FUERA} href={google}>
                <Icono dibujo={Navigation} />
                Ir
              </a>
            )
          return (
            <a key={que.ruta} class={clase} href={`#/${que.ruta}`}>
              {que.dicho}
            </a>
          )
        })}
      </div>
    </article>
  )
}

/** Facts about a stop that affect what the courier does there. */
function chipsDe(fila: FilaDeReparto, suyas: readonly FilaDeReparto[]): string[] {
  const { datos, porEnviar, pasos } = fila
  const { intentos, decision, ubicacion } = datos!
  const puerta = puertaDe(fila)
  const aqui = suyas.filter((otra) => {
    const suPuerta = puertaDe(otra)
    return puerta && suPuerta && compararPuertas(puerta, suPuerta) === 'misma'
  }).length
  const sinConfirmar = ubicacion.estado !== 'confirmada' && pasos.some(({ con_ubicacion }) => con_ubicacion)
  return [
    aqui > 1 && `${aqui} paquetes en esta puerta`,
    sinConfirmar && 'Falta confirmar el lugar',
    decision && queSeDecidio(decision),
    intentos && (intentos === 1 ? 'Ya hubo un intento' : `Ya hubo ${intentos} intentos`),
    porEnviar && 'Por enviar',
  ].filter((dicho) => typeof dicho === 'string')
}

type Boton = 'ir' | { ruta: string; dicho: string }

/** Returns the one or two buttons of a stop, the filled one first. */
function botonesDe({ guia, pasos, datos }: FilaDeReparto, suyas: readonly FilaDeReparto[], llegado: boolean): Boton[] {
  const confirmada = datos!.ubicacion.estado === 'confirmada'
  const [paso, segundo] = repartirPasos(posiblesDe(pasos, confirmada)).aMano.map((uno): Boton & object => ({
    ruta: rutaDe(guia, uno),
    dicho: PASOS[uno.estado],
  }))
  const permite = (estado: Estado) => pasos.some((uno) => uno.estado === estado)
  if (paso && permite('en_ruta') && !permite('recolectado')) return [salirCon(suyas) ?? paso]
  if (!paso) return ['ir']
  return llegado ? [paso, segundo ?? 'ir'] : ['ir', paso]
}

/** Returns the button to leave with several guides at once; undefined if fewer than two can. */
function salirCon(suyas: readonly FilaDeReparto[]): (Boton & object) | undefined {
  const n = suyas.filter((fila) => puede(fila, 'en_ruta')).length
  return n > 1 ? { ruta: 'marcar/en_ruta', dicho: `${PASOS.en_ruta} con ${n}` } : undefined
}
