import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { enviarAhora } from '../cola.ts'
import { useDatos } from '../hooks.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import type { Accion } from '../store/base.ts'
import type { Contexto } from './inicio.tsx'
import { horaDe, nombreDeGuia, situacionDe, Titulo, Volver } from './piezas.tsx'

const POR_ENVIAR = 8

/** Screen with the courier's actions of the day: those still to be sent, and those that the service has. */
export function Hoy({ sesion, enLinea, enviando }: Contexto) {
  const yo = sesion.repartidor
  const acciones = useDatos(leerAcciones, yo)
  if (!acciones) return null
  const sinEnviar = acciones.filter(({ situacion }) => situacion !== 'enviada')
  const detenidas = sinEnviar.filter(({ situacion }) => situacion === 'atencion')
  // Actions that need the courier's attention come first. A list of all unsent actions of the day is not useful to the
  // courier.
  const primeras = [...sinEnviar]
    .sort((una, otra) => Number(otra.situacion === 'atencion') - Number(una.situacion === 'atencion'))
    .slice(0, Math.max(POR_ENVIAR, detenidas.length))
  const enviadas = acciones.filter((una) => una.situacion === 'enviada' && una.repartidor === yo).reverse()
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
      <Volver a="">Inicio</Volver>
      <Titulo>Lo que hizo</Titulo>
      {sinEnviar.length + enviadas.length === 0 && <p class="suave">Todavía no ha anotado nada hoy.</p>}
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
      {enviadas.length > 0 && (
        <section aria-labelledby="enviado">
          <h2 id="enviado">Enviado hoy ({enviadas.length})</h2>
          <ul class="lista">{enviadas.map(fila)}</ul>
        </section>
      )}
    </>
  )
}
