import { useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { distanceBetween, type Point } from '../../../../platform/maps/point.ts'
import { type GuiaDeReparto, type PoliticaDeEvidencia, RELACIONES } from '../dominio.ts'
import { AvisoDeFalla, conFalla } from '../fallas.tsx'
import { esSuya, filasDeReparto, metros } from '../lista.ts'
import {
  type Comparacion,
  compararPuertas,
  mismoDestinatario,
  type Otra,
  puertaDe,
  puntoConfirmado,
  type Recibe,
  recibeElMismo,
  renombrarEnOtra,
} from '../puerta.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import type { Borrador } from '../store/base.ts'
import { guiasDe } from '../store/guias.ts'
import { Pregunta } from './piezas.tsx'

/**
 * Distance from the confirmed place, in metres, above which the page asks the courier before a parcel is handed over.
 */
const LEJOS_M = 300

/** Parcel that may be handed over with the parcel of the form. */
interface Candidata {
  guia: string
  titulo: string
  direccion: string
  datos: GuiaDeReparto
  comparacion: Exclude<Comparacion, 'otra'>
  /** True if the parcel of the form has the same recipient. */
  paraElMismo: boolean
  punto: Point | null
}

/** Parcel of the form, and the parcels that may be handed over with it. */
export interface EnLaPuerta {
  destinatario: string | null
  punto: Point | null
  /** Evidence that the merchant needs; undefined if the phone does not know. */
  politica: PoliticaDeEvidencia | undefined
  candidatas: Candidata[]
}

/** Reads what the phone knows of a parcel's door and of the other parcels that the courier carries. */
export async function leerPuerta(repartidor: string, guia: string): Promise<EnLaPuerta> {
  const [guias, acciones] = await Promise.all([guiasDe(repartidor), leerAcciones()])
  const filas = filasDeReparto(guias, acciones)
  const esta = filas.find((fila) => fila.guia === guia)
  const propia = esta && puertaDe(esta)
  const candidatas = filas.flatMap((fila): Candidata[] => {
    const puerta = fila.guia !== guia && esSuya(fila) ? puertaDe(fila) : null
    if (!propia || !puerta) return []
    const comparacion = compararPuertas(propia, puerta)
    if (comparacion === 'otra') return []
    const { titulo, rumbo, datos } = fila
    const paraElMismo = mismoDestinatario(esta.datos!, datos!)
    const { direccion } = rumbo!
    return [{ guia: fila.guia, titulo, direccion, datos: datos!, comparacion, paraElMismo, punto: puerta.punto }]
  })
  const datos = esta?.datos
  return {
    destinatario: datos?.destinatario ?? null,
    punto: datos ? puntoConfirmado(datos) : null,
    politica: datos?.evidencia,
    candidatas,
  }
}

/**
 * Returns the candidates that are handed over with the form's parcel. They are selected and, if a confirmed place is
 * missing, confirmed by the courier.
 */
export const lasQueVan = ({ otras }: Borrador, { candidatas }: EnLaPuerta) =>
  candidatas.flatMap((candidata) => {
    const otra = otras.find(({ guia }) => guia === candidata.guia)
    return otra && (candidata.comparacion === 'misma' || otra.preguntada) ? [{ otra, candidata }] : []
  })

/** Returns the metres to a parcel's confirmed place if the courier is far from it; null if near or unknown. */
export function lejosDe(aqui: Point | undefined, lugar: Point | null): number | null {
  const distancia = aqui && lugar ? distanceBetween(aqui, lugar) : null
  return distancia !== null && distancia > LEJOS_M ? distancia : null
}

/** Fields of a receiver: name and relation to the recipient. */
export function QuienRecibe(props: {
  /** Suffix of the ids of these fields, which makes them unique on the page. */
  sufijo: string
  valor: Recibe
  destinatario: string | null
  /** Text of the button that fills in the recipient. */
  oferta: (destinatario: string) => string
  rotulos: { nombre: string; relacion: string; sinRelacion: string }
  fallas: { nombre: string | undefined; relacion?: string | undefined }
  alRenombrar: (nombre: string) => void
  alRelacionar: (relacion: string) => void
  alSerDestinatario: (nombre: string) => void
}) {
  const { sufijo, valor, destinatario, oferta, rotulos, fallas, alRenombrar, alRelacionar, alSerDestinatario } = props
  const [nombre, relacion] = [`nombre${sufijo}`, `relacion${sufijo}`]
  return (
    <>
      {destinatario && valor.nombre !== destinatario && (
        <button type="button" onClick={() => alSerDestinatario(destinatario)}>
          {oferta(destinatario)}
        </button>
      )}
      <label for={nombre}>{rotulos.nombre}</label>
      <input
        id={nombre}
        type="text"
        autocomplete="off"
        autocapitalize="words"
        maxLength={120}
        {...conFalla(nombre, fallas.nombre)}
        value={valor.nombre}
        onInput={({ currentTarget }) => alRenombrar(currentTarget.value)}
      />
      <AvisoDeFalla de={nombre}>{fallas.nombre}</AvisoDeFalla>
      <label for={relacion}>{rotulos.relacion}</label>
      <select
        id={relacion}
        {...conFalla(relacion, fallas.relacion)}
        value={valor.relacion}
        onChange={({ currentTarget }) => alRelacionar(currentTarget.value)}
      >
        <option value="">{rotulos.sinRelacion}</option>
        {Object.entries(RELACIONES).map(([una, dicha]) => (
          <option key={una} value={una}>
            {dicha}
          </option>
        ))}
      </select>
      <AvisoDeFalla de={relacion}>{fallas.relacion}</AvisoDeFalla>
    </>
  )
}

type FallasDeOtras = Readonly<Partial<Record<string, string>>>

/**
 * Other parcels of the door. The page offers the parcels with the same door, and asks the courier if a confirmed place
 * is missing.
 */
export function Otras(props: {
  borrador: Borrador
  puerta: EnLaPuerta
  aqui: Point | undefined
  fallas: FallasDeOtras
  alCambiar: (cambio: (otras: readonly Otra[]) => Otra[]) => void
}) {
  const { borrador, puerta, aqui, fallas, alCambiar } = props
  const van = lasQueVan(borrador, puerta)
  const dudosas = puerta.candidatas.filter(
    ({ guia, comparacion }) => comparacion === 'dudosa' && !van.some(({ otra }) => otra.guia === guia),
  )
  const ofrecidas = puerta.candidatas.filter((una) => !dudosas.includes(una))
  const perdidas = borrador.otras.filter(({ guia }) => !puerta.candidatas.some((una) => una.guia === guia))
  const quitar = (guia: string) => alCambiar((otras) => otras.filter((una) => una.guia !== guia))
  const poner = (guia: string, preguntada: boolean) =>
    alCambiar((otras) => [
      ...otras.filter((una) => una.guia !== guia),
      { guia, nombre: null, relacion: '', preguntada },
    ])
  return (
    <>
      {(ofrecidas.length > 0 || perdidas.length > 0) && (
        <fieldset>
          <legend>También en esta puerta</legend>
          {perdidas.map(({ guia }) => (
            <p key={guia} class="nota" role="status">
              La guía {inGroups(guia)} ya no va con esta entrega: cambió mientras tanto.{' '}
              <a href={`#/guia/${guia}`}>Vea cómo está</a>
            </p>
          ))}
          {ofrecidas.length > 0 && (
            <p class="suave">Cada paquete que marque tiene su propia prueba, con estas fotos y esta nota.</p>
          )}
          {ofrecidas.map((candidata) => {
            const { guia } = candidata
            const otra = van.find((una) => una.otra.guia === guia)?.otra
            return (
              <div key={guia} class="otra">
                <label class="marcable">
                  <input
                    type="checkbox"
                    checked={otra !== undefined}
                    onChange={({ currentTarget: { checked } }) => (checked ? poner(guia, false) : quitar(guia))}
                  />
                  <Paquete candidata={candidata} />
                </label>
                {otra && (
                  <RecibeOtra
                    otra={otra}
                    candidata={candidata}
                    borrador={borrador}
                    lejos={lejosDe(aqui, candidata.punto)}
                    fallas={fallas}
                    alCambiar={(nueva) => alCambiar((otras) => otras.map((una) => (una.guia === guia ? nueva : una)))}
                  />
                )}
              </div>
            )
          })}
        </fieldset>
      )}
      {dudosas.length > 0 && <Dudosas candidatas={dudosas} alPoner={(guia) => poner(guia, true)} />}
    </>
  )
}

/** Parcels that may have the same door. Only the courier can tell. */
function Dudosas({ candidatas, alPoner }: { candidatas: readonly Candidata[]; alPoner: (guia: string) => void }) {
  const [porPreguntar, preguntar] = useState<Candidata | null>(null)
  return (
    <>
      <fieldset>
        <legend>¿Son también de esta puerta?</legend>
        <p class="suave">
          Coincide la dirección escrita o el teléfono, pero falta un lugar confirmado. Solo usted puede decirlo.
        </p>
        {candidatas.map((candidata) => (
          <div key={candidata.guia} class="otra">
            <Paquete candidata={candidata} />
            <button
              type="button"
              aria-label={`Entregar aquí también el de ${candidata.titulo}, guía ${inGroups(candidata.guia)}`}
              onClick={() => preguntar(candidata)}
            >
              Entregar aquí también
            </button>
          </div>
        ))}
      </fieldset>
      {porPreguntar && (
        <Pregunta
          titulo="¿Este paquete va a esta misma puerta?"
          si="Sí, es esta puerta"
          no="No, es otra puerta"
          cerrar={() => preguntar(null)}
          alAceptar={() => alPoner(porPreguntar.guia)}
        >
          <Paquete candidata={porPreguntar} />
          <p>Falta un lugar confirmado con que comprobarlo. Varias casas pueden tener la misma dirección.</p>
        </Pregunta>
      )}
    </>
  )
}

const Paquete = ({ candidata: { guia, titulo, direccion, datos } }: { candidata: Candidata }) => (
  <span class="paquete">
    <strong>{titulo}</strong> <small class="codigo">{inGroups(guia)}</small>{' '}
    <small>{[titulo === direccion ? null : direccion, datos.contenido].filter(Boolean).join(' · ')}</small>
  </span>
)

function RecibeOtra(props: {
  otra: Otra
  candidata: Candidata
  borrador: Borrador
  lejos: number | null
  fallas: FallasDeOtras
  alCambiar: (nueva: Otra) => void
}) {
  const { otra, candidata, borrador, lejos, fallas, alCambiar } = props
  const { guia, datos, paraElMismo } = candidata
  const { destinatario } = datos
  const elMismo = recibeElMismo(otra, borrador)
  return (
    <>
      {lejos !== null && (
        <p class="lugar lejos" role="status">
          <strong>Está a {metros(lejos)} del lugar confirmado de este paquete.</strong>
        </p>
      )}
      <QuienRecibe
        sufijo={`-${guia}`}
        valor={{ nombre: otra.nombre ?? borrador.nombre, relacion: otra.relacion }}
        destinatario={destinatario}
        oferta={(nombre) => `Lo recibe ${nombre}`}
        rotulos={{
          nombre: 'Quién lo recibe',
          relacion: `Quién es para ${destinatario ?? 'quien espera este paquete'}`,
          sinRelacion: paraElMismo && elMismo ? 'Lo mismo que arriba' : 'Elija',
        }}
        fallas={{ nombre: fallas[`nombre-${guia}`], relacion: fallas[`relacion-${guia}`] }}
        alRenombrar={(nuevo) => alCambiar(renombrarEnOtra(otra, nuevo, borrador.nombre))}
        alRelacionar={(relacion) => alCambiar({ ...otra, relacion })}
        alSerDestinatario={(nombre) =>
          alCambiar({ ...renombrarEnOtra(otra, nombre, borrador.nombre), relacion: 'destinatario' })
        }
      />
      {!elMismo && (borrador.trazos || borrador.documento.trim()) && (
        <p class="nota">
          La firma y el documento son de otra persona: este paquete va sin ellos. Si los necesita, entréguelo aparte.
        </p>
      )}
    </>
  )
}
