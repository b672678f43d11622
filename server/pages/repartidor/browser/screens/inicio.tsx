import { useEffect, useMemo, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { nadieDentro, pedirSalida } from '../api.ts'
import { aSolas, enviarAhora } from '../cola.ts'
import { ir, pedirPosicion, puedeSituarse, useDatos } from '../hooks.ts'
import { esSuya, filasDeReparto, terminadas } from '../lista.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import { type Accion, leerAjuste, ponerAjuste, type Sesion } from '../store/base.ts'
import { borradores as leerBorradores } from '../store/borradores.ts'
import { guiasDe } from '../store/guias.ts'
import { olvidarSesion } from '../store/limpieza.ts'
import { Guias } from './guias.tsx'
import { Instalar } from './instalar.tsx'
import { horaDe, nombreDeGuia, Pregunta, situacionDe, Titulo } from './piezas.tsx'

const POR_ENVIAR = 8

/** State of the page that several screens need. */
export interface Contexto {
  sesion: Sesion
  enLinea: boolean
  enviando: readonly number[]
}

/** Home screen. */
export function Inicio({ sesion, enLinea, enviando }: Contexto) {
  const yo = sesion.repartidor
  const datos = useDatos(async () => {
    const [acciones, borradores, guias, hoy, desfase = 0, desde = null] = await Promise.all([
      leerAcciones(),
      leerBorradores(yo),
      guiasDe(yo),
      leerAjuste('hoy'),
      leerAjuste('desfase'),
      leerAjuste('desde'),
    ])
    return { acciones, borradores, guias, desde, hechas: terminadas(acciones, yo, hoy, Date.now() + desfase) }
  }, yo)
  const [, cambiar] = useState(0)
  const filas = useMemo(() => (datos ? filasDeReparto(datos.guias, datos.acciones, datos.desde) : []), [datos])
  const sinComienzo = datos?.desde === null
  useEffect(() => {
    if (sinComienzo) situarSinPreguntar()
  }, [sinComienzo])
  if (!datos) return null
  const sinEnviar = datos.acciones.filter(({ situacion }) => situacion !== 'enviada')
  // Actions that need the courier's attention come first. A courier does not need the list of a whole day's unsent
  // actions.
  const primeras = [...sinEnviar]
    .sort((una, otra) => Number(otra.situacion === 'atencion') - Number(una.situacion === 'atencion'))
    .slice(0, Math.max(POR_ENVIAR, sinEnviar.filter(({ situacion }) => situacion === 'atencion').length))
  const enviadas = datos.acciones.filter((una) => una.situacion === 'enviada' && una.repartidor === yo).reverse()
  const fila = (accion: Accion) => (
    <li key={accion.orden} class={accion.situacion}>
      <a href={`#/accion/${accion.orden}`}>
        <strong>{nombreDeGuia(accion)}</strong> <span class="codigo">{inGroups(accion.guia)}</span>{' '}
        <small>
          {horaDe(accion.ocurrido_en, accion.zona)} · {situacionDe(accion, enviando, yo, enLinea, sesion.vigente)}
        </small>
      </a>
    </li>
  )
  return (
    <>
      <Titulo>Hola, {sesion.nombre.split(' ')[0]}</Titulo>
      <Avance hechas={datos.hechas} faltan={filas.filter(esSuya).length} />
      <a class="boton principal" href="#/escanear">
        Escanear
      </a>
      <Instalar />
      {sinEnviar.length > 0 && (
        <section aria-labelledby="por-enviar">
          <h2 id="por-enviar">Por enviar ({sinEnviar.length})</h2>
          <ul class="lista">{primeras.map(fila)}</ul>
          {primeras.length < sinEnviar.length && (
            <p class="suave">Y {sinEnviar.length - primeras.length} más, en su orden.</p>
          )}
          {sesion.vigente && (
            <button type="button" onClick={enviarAhora}>
              Enviar ahora
            </button>
          )}
        </section>
      )}
      {datos.borradores.length > 0 && (
        <section aria-labelledby="a-medias">
          <h2 id="a-medias">Entregas a medias</h2>
          <ul class="lista">
            {datos.borradores.map(({ guia, fotos }) => (
              <li key={guia} class="atencion">
                <a href={`#/guia/${guia}/entregar`}>
                  <strong>Terminar la entrega</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
                  <small>{fotos.length === 1 ? '1 foto' : `${fotos.length} fotos`}</small>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Guias sesion={sesion} filas={filas} alCambiar={() => cambiar((n) => n + 1)} />
      {enviadas.length > 0 && (
        <details>
          <summary>Enviado hoy ({enviadas.length})</summary>
          <ul class="lista">{enviadas.map(fila)}</ul>
        </details>
      )}
      <Salir sinEnviar={sinEnviar.length} aMedias={datos.borradores.length} />
    </>
  )
}

/** Begins the order of the stops where the phone is, if the courier has allowed it before. */
async function situarSinPreguntar() {
  if (await puedeSituarse())
    await pedirPosicion().then(
      (aqui) => ponerAjuste('desde', aqui),
      () => {},
    )
}

/** Progress of the day: «12 de 40». */
function Avance({ hechas, faltan }: { hechas: number; faltan: number }) {
  const todas = hechas + faltan
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

function Salir({ sinEnviar, aMedias }: { sinEnviar: number; aMedias: number }) {
  const [preguntando, preguntar] = useState(false)
  const salir = () =>
    aSolas(async () => {
      const dicho = await pedirSalida().then(nadieDentro, () => false)
      await olvidarSesion(!dicho)
      ir('', true)
    })
  return (
    <>
      <button type="button" class="discreto" onClick={() => (sinEnviar + aMedias > 0 ? preguntar(true) : salir())}>
        Salir
      </button>
      {preguntando && (
        <Pregunta
          titulo="¿Salir sin haberlo enviado todo?"
          si="Salir de todos modos"
          no="Quedarme"
          cerrar={() => preguntar(false)}
          alAceptar={salir}
        >
          {sinEnviar > 0 && (
            <p>
              {sinEnviar === 1 ? 'Hay una acción' : `Hay ${sinEnviar} acciones`} sin enviar. Quedan guardadas en este
              teléfono, y se envían cuando vuelva a entrar quien las hizo.
            </p>
          )}
          {aMedias > 0 && <p>Lo que no terminó de llenar se borra, con sus fotos.</p>}
        </Pregunta>
      )}
    </>
  )
}
