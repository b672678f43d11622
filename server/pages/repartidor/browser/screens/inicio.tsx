import { useEffect, useMemo } from 'preact/hooks'
import { EllipsisVertical, History, PackageOpen, ScanBarcode, Search } from '../../../../generado/contrato/iconos.ts'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { useAqui, useDatos } from '../hooks.ts'
import {
  aparteHoy,
  type DelMunicipio,
  esSuya,
  type FilaDeReparto,
  filasDeReparto,
  porMunicipio,
  siguienteParada,
  terminadas,
} from '../lista.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import { leerAjuste, ponerAjuste, type Sesion } from '../store/base.ts'
import { borradores as leerBorradores } from '../store/borradores.ts'
import { guiasDe } from '../store/guias.ts'
import { esVisible, FilaBreve, recordar, useVolverA } from './fila.tsx'
import { Instalar } from './instalar.tsx'
import { Parada } from './parada.tsx'
import { Icono, Titulo } from './piezas.tsx'

/** State of the page that several screens use. */
export interface Contexto {
  sesion: Sesion
  enLinea: boolean
  enviando: readonly number[]
}

/** Hook that reads the courier's parcels, actions and drafts from the phone, and orders the parcels by the place. */
function useReparto(yo: string) {
  const aqui = useAqui()
  const datos = useDatos(async () => {
    const [acciones, borradores, guias, hoy, asignadas, desfase = 0, desde = null] = await Promise.all([
      leerAcciones(),
      leerBorradores(yo),
      guiasDe(yo),
      leerAjuste('hoy'),
      leerAjuste('asignadas'),
      leerAjuste('desfase'),
      leerAjuste('desde'),
    ])
    return {
      acciones,
      borradores,
      guias: guias.filter(esVisible),
      desde,
      asignadas: porMunicipio(asignadas, acciones),
      hechas: terminadas(acciones, yo, hoy, Date.now() + desfase),
    }
  }, yo)
  const filas = useMemo(
    () => (datos ? filasDeReparto(datos.guias, datos.acciones, datos.desde, aqui ?? datos.desde) : []),
    [datos, aqui],
  )
  const sinComienzo = datos?.desde === null
  useEffect(() => {
    if (sinComienzo && aqui) ponerAjuste('desde', aqui)
  }, [sinComienzo, aqui])
  return { datos, filas, situado: aqui !== null }
}

function Pestanas({ sinEnviar }: { sinEnviar: number }) {
  return (
    <nav class="pestanas" aria-label="Reparto">
      <a href="#/buscar">
        <Icono dibujo={Search} />
        Buscar
      </a>
      <a class="escanear" href="#/escanear">
        <Icono dibujo={ScanBarcode} />
        Escanear
      </a>
      <a href="#/hoy">
        <Icono dibujo={History} />
        Hecho
        {sinEnviar > 0 && (
          <span class="cuenta">
            {sinEnviar}
            <span class="oculto"> por enviar</span>
          </span>
        )}
      </a>
    </nav>
  )
}

/** First screen: the next stop, the stops after it, and notices that need the courier's attention. */
export function Inicio({ sesion }: Contexto) {
  const { datos, filas, situado } = useReparto(sesion.repartidor)
  useVolverA(datos !== undefined)
  if (!datos) return null
  const parada = siguienteParada(filas)
  const suyas = filas.filter(esSuya)
  const deLaParte = (parte: ReturnType<typeof aparteHoy>) =>
    suyas.filter((fila) => fila !== parada && aparteHoy(fila) === parte)
  const [deAhora, queVuelven, deOtroDia] = [deLaParte(null), deLaParte('vuelve'), deLaParte('otro_dia')]
  const otras = filas.filter((fila) => fila !== parada && !esSuya(fila))
  const ahora = suyas.filter((fila) => aparteHoy(fila) === null)
  const sinEnviar = datos.acciones.filter(({ situacion }) => situacion !== 'enviada')
  const detenidas = sinEnviar.filter(({ situacion }) => situacion === 'atencion').length
  return (
    <>
      <header class="encabezado">
        <Titulo>{tituloDe(ahora, datos.hechas, sesion)}</Titulo>
        <a class="boton solo-icono callado" href="#/mas" aria-label="Más" title="Más">
          <Icono dibujo={EllipsisVertical} />
        </a>
      </header>
      <Pestanas sinEnviar={sinEnviar.length} />
      <Avance hechas={datos.hechas} lleva={suyas.length} />
      {detenidas > 0 && (
        <p class="nota mal">
          <a href="#/hoy">
            {detenidas === 1
              ? 'Algo que hizo necesita su atención'
              : `${detenidas} cosas que hizo necesitan su atención`}
          </a>
        </p>
      )}
      {datos.borradores.map(({ guia }) => (
        <p key={guia} class="nota">
          <a href={`#/guia/${guia}/entregar`}>
            Terminar la entrega de <span class="codigo">{inGroups(guia)}</span>
          </a>
        </p>
      ))}
      {parada && <Parada fila={parada} suyas={suyas} quien={sesion.nombre} situado={situado} />}
      {filas.length === 0 && datos.asignadas.length === 0 && (
        <div class="vacio">
          <Icono dibujo={PackageOpen} />
          <p>Escanee los paquetes antes de salir: así tendrá sus direcciones también sin cobertura.</p>
        </div>
      )}
      {!parada && <Instalar />}
      <Lista titulo="Después" filas={deAhora} />
      <Asignados grupos={datos.asignadas} />
      <Lista titulo="Vuelven a bodega" filas={queVuelven} />
      <Lista titulo="Para otro día" filas={deOtroDia} />
      <Lista titulo="Otras a mano" filas={otras} />
    </>
  )
}

/** Returns the heading of the screen: the work that is left. */
function tituloDe(ahora: readonly FilaDeReparto[], hechas: number, { nombre }: Sesion): string {
  const devolver = ahora.filter(({ estado }) => estado === 'en_devolucion').length
  const entregar = ahora.length - devolver
  const dichos = [entregar > 0 && `${entregar} por entregar`, devolver > 0 && `${devolver} por devolver`].filter(
    Boolean,
  )
  if (dichos.length > 0) return dichos.join(', ')
  return `${hechas > 0 ? 'Terminó' : 'Hola'}, ${nombre.split(' ')[0]}`
}

/** Progress of the day: «12 de 40 entregadas». */
function Avance({ hechas, lleva }: { hechas: number; lleva: number }) {
  const todas = hechas + lleva
  if (todas === 0) return null
  return (
    <p class="avance">
      <label for="avance">
        {hechas} de {todas} entregadas
      </label>
      <progress id="avance" max={todas} value={hechas} />
    </p>
  )
}

/**
 * Guides that are assigned to the courier, grouped by municipality. The destination of each becomes visible when the
 * courier takes the parcel.
 */
function Asignados({ grupos }: { grupos: readonly DelMunicipio[] }) {
  if (grupos.length === 0) return null
  const todas = grupos.reduce((suma, { guias }) => suma + guias.length, 0)
  return (
    <section aria-labelledby="asignados">
      <h2 id="asignados">Asignados ({todas})</h2>
      <p class="suave">Escanéelos al recogerlos: entonces verá a quién van.</p>
      {grupos.map(({ municipio, guias }) => (
        <details key={municipio} class="municipio">
          <summary>
            {municipio} ({guias.length})
          </summary>
          <ul class="lista">
            {guias.map((guia) => (
              <li key={guia}>
                <a id={`g-${guia}`} href={`#/guia/${guia}`} onClick={() => recordar(guia)}>
                  <span class="codigo">{inGroups(guia)}</span>
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  )
}

function Lista({ titulo, filas }: { titulo: string; filas: readonly FilaDeReparto[] }) {
  if (filas.length === 0) return null
  return (
    <section aria-label={titulo}>
      <h2>
        {titulo} ({filas.length})
      </h2>
      <ul class="lista">
        {filas.map((fila) => (
          <FilaBreve key={fila.guia} fila={fila} />
        ))}
      </ul>
    </section>
  )
}
