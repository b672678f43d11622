import { useEffect, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { leerGuia } from '../api.ts'
import {
  type Estado,
  type EstadoSiguiente,
  esEstadoFinal,
  NOMBRES,
  PASOS,
  posiblesDe,
  queSeDecidio,
  repartirPasos,
  rutaDe,
} from '../dominio.ts'
import { ir, useDatos } from '../hooks.ts'
import { type Prevision, previsto } from '../previsto.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import type { Accion, Sesion } from '../store/base.ts'
import { guardarGuias, guardarSinAsignar, guardarSinDatos, guiaDe, soltarGuia } from '../store/guias.ts'
import { AvisarALaCentral, hace, Titulo, Volver } from './piezas.tsx'
import { Vista } from './view.tsx'

/** Screen of a guide. */
export function Guia({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const yo = sesion.repartidor
  const [sinRespuesta, decir] = useState(false)
  const leido = useDatos(async () => {
    const [guardada, acciones] = await Promise.all([guiaDe(yo, guia), leerAcciones()])
    const deEsta = acciones.filter((una) => una.guia === guia)
    return { guardada, prevision: previsto(guardada ?? { guia, datos: null }, deEsta), deEsta }
  }, guia)
  // Sent actions may have changed which data the courier may see, so the guide is fetched again.
  const enviadas = leido?.deEsta.filter(({ situacion }) => situacion === 'enviada').length ?? 0
  useEffect(() => {
    let vivo = true
    actualizar(yo, guia).then((bien) => vivo && decir(!bien))
    return () => {
      vivo = false
    }
  }, [yo, guia, enviadas])
  if (!leido) return null
  const { guardada, prevision, deEsta } = leido
  const datos = guardada?.datos ?? null
  const detenida = deEsta.find(({ situacion }) => situacion === 'atencion')
  const terminada = datos ? null : finDe(deEsta)
  const estado = terminada ?? prevision.estado
  const desconocida = !datos && !terminada && guardada?.desconocida
  const sinAsignar = !datos && !terminada && guardada?.sinAsignar
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>
        <span class="codigo">{inGroups(guia)}</span>
      </Titulo>
      <p class="estado">
        {estado
          ? NOMBRES[estado]
          : desconocida
            ? 'No existe'
            : sinAsignar
              ? 'No la tiene asignada'
              : 'Sin datos todavía'}
        {prevision.porEnviar && ' (por enviar)'}
      </p>
      {datos?.modo === 'test' && <p class="nota">Guía de prueba: nadie la espera.</p>}
      {datos?.etiqueta_desactualizada && <p class="nota">La etiqueta puede ser vieja: valen los datos de aquí.</p>}
      {datos?.decision && <p class="nota">{queSeDecidio(datos.decision)}</p>}
      {detenida && (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${detenida.orden}`}>Vea por qué</a>
        </p>
      )}
      {datos && !esEstadoFinal(datos.estado) && <Vista datos={datos} prevision={prevision} quien={sesion.nombre} />}
      {desconocida && (
        <>
          <p>El servicio no conoce esta guía. Revise la etiqueta y escanéela otra vez.</p>
          <button type="button" onClick={() => soltarGuia(guia).then(() => ir('', true))}>
            Quitar de la lista
          </button>
        </>
      )}
      {sinAsignar && (
        <p class="nota">
          Se abre cuando la central se la asigne. <AvisarALaCentral />
        </p>
      )}
      {!datos && !terminada && !desconocida && !sinAsignar && (
        <p class="nota">
          {sinRespuesta
            ? 'Sin cobertura no se ve el destino. Puede anotar lo que hizo: se enviará con su hora. Si no la llevaba ya, registre antes que la recoge o que sale a ruta.'
            : 'Buscando los datos…'}
        </p>
      )}
      {datos && guardada && sinRespuesta && <p class="suave">Datos de {hace(guardada.leida)}, sin cobertura ahora.</p>}
      {!terminada && !desconocida && !sinAsignar && (datos || sinRespuesta) && (
        <Pasos guia={guia} prevision={prevision} confirmada={datos ? datos.ubicacion.estado === 'confirmada' : true} />
      )}
    </>
  )
}

/** Returns the final state of a guide that left the phone when it was finished; null for any other guide. */
export function finDe(acciones: readonly Accion[]): Estado | null {
  const hecha = acciones.findLast(({ situacion, aplicado }) => situacion === 'enviada' && aplicado)?.estado
  return hecha && esEstadoFinal(hecha) && acciones.every(({ situacion }) => situacion === 'enviada') ? hecha : null
}

/**
 * Fetches a guide from the server.
 * @returns false if the server gave no usable response
 */
export async function actualizar(repartidor: string, guia: string): Promise<boolean> {
  try {
    const { status, cuerpo, servidor } = await leerGuia(guia)
    if (status === 200) await guardarGuias(repartidor, [cuerpo], servidor)
    if (status === 404) await guardarSinDatos(repartidor, guia, true)
    if (status === 403) await guardarSinAsignar(repartidor, guia)
    return status === 200 || status === 404 || status === 403
  } catch {
    return false
  }
}

/**
 * Steps that the guide allows. The frequent steps are in a bar at the bottom, within reach of the thumb. Steps that end
 * the parcel's way to its recipient are apart.
 */
function Pasos({ guia, prevision, confirmada }: { guia: string; prevision: Prevision; confirmada: boolean }) {
  const { pasos, final, suya } = prevision
  if (final) return <p class="suave">Esta guía ya terminó.</p>
  const posibles = posiblesDe(pasos, confirmada)
  const { aMano, otros, peligrosos } = repartirPasos(posibles)
  const enlace = (paso: EstadoSiguiente, clase: string) => (
    <a key={paso.estado} class={clase} href={`#/${rutaDe(guia, paso)}`}>
      {PASOS[paso.estado]}
    </a>
  )
  return (
    <>
      {posibles.length < pasos.length && (
        <p class="nota">
          No puede salir a ruta: falta confirmar el lugar. <AvisarALaCentral />
        </p>
      )}
      {(otros.length > 0 || suya) && (
        <nav class="pasos" aria-label="Otras cosas que hizo">
          {otros.map((paso) => enlace(paso, 'boton'))}
          {suya && (
            <a class="discreto" href={`#/guia/${guia}/nota`}>
              Anotar algo
            </a>
          )}
        </nav>
      )}
      {peligrosos.length > 0 && (
        <nav class="pasos apartados" aria-label="Si ya no se entrega">
          <h2>Si ya no se entrega</h2>
          {peligrosos.map((paso) => enlace(paso, 'boton peligro'))}
        </nav>
      )}
      {aMano.length > 0 && (
        <nav class="barra pegada" aria-label="Qué hizo">
          {aMano.map((paso, i) => enlace(paso, i === 0 ? 'boton principal' : 'boton'))}
        </nav>
      )}
    </>
  )
}
