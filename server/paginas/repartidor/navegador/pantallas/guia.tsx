import { useEffect, useState } from 'preact/hooks'
import { enGrupos } from '../../../../codigos/codigoDeGuia.ts'
import { acciones as leerAcciones } from '../almacen/acciones.ts'
import type { Accion, Sesion } from '../almacen/base.ts'
import { guardarGuias, guardarSinDatos, guiaDe, soltarGuia } from '../almacen/guias.ts'
import { leerGuia } from '../api.ts'
import { type Estado, esFinal, type GuiaDeReparto, NOMBRES, PASOS } from '../dominio.ts'
import { ir, useDatos } from '../hooks.ts'
import { type Prevision, previsto } from '../previsto.ts'
import { hace, Titulo, Volver } from './piezas.tsx'

export function Guia({ sesion, guia }: { sesion: Sesion; guia: string }) {
  const yo = sesion.repartidor
  const [sinRespuesta, decir] = useState(false)
  const leido = useDatos(async () => {
    const [guardada, acciones] = await Promise.all([guiaDe(yo, guia), leerAcciones()])
    const deEsta = acciones.filter((una) => una.guia === guia)
    return { guardada, prevision: previsto({ guia, datos: guardada?.datos ?? null }, deEsta), deEsta }
  }, guia)
  // What was sent may have changed what may be seen.
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
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>
        <span class="codigo">{enGrupos(guia)}</span>
      </Titulo>
      <p class="estado">
        {estado ? NOMBRES[estado] : guardada?.desconocida ? 'No existe' : 'Sin datos todavía'}
        {prevision.porEnviar && ' (por enviar)'}
      </p>
      {datos?.modo === 'test' && <p class="nota">Guía de prueba: nadie la espera.</p>}
      {detenida && (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${detenida.orden}`}>Vea por qué</a>
        </p>
      )}
      {datos && !esFinal(datos.estado) && <Vista datos={datos} suya={prevision.suya} />}
      {!datos && !terminada && guardada?.desconocida && (
        <>
          <p>El servicio no conoce esta guía. Revise la etiqueta y escanéela otra vez.</p>
          <button type="button" onClick={() => soltarGuia(guia).then(() => ir('', true))}>
            Quitar de la lista
          </button>
        </>
      )}
      {!datos && !terminada && !guardada?.desconocida && (
        <p class="nota">
          {sinRespuesta
            ? 'Sin cobertura no se ve el destino ni el estado. Puede anotar lo que hizo: se enviará con su hora, y el servicio dirá si vale. Si no la llevaba ya, registre antes que la recoge o que sale a ruta.'
            : 'Buscando los datos…'}
        </p>
      )}
      {!terminada && !guardada?.desconocida && (datos || sinRespuesta) && (
        <Pasos guia={guia} prevision={prevision} confirmada={datos ? datos.ubicacion.estado === 'confirmada' : true} />
      )}
      {datos && guardada && sinRespuesta && (
        <p class="suave">Datos de {hace(guardada.leida)}; ahora no hay cobertura.</p>
      )}
    </>
  )
}

/** How a guide ended that left the phone when it was done; null if it didn't. */
function finDe(acciones: readonly Accion[]): Estado | null {
  const hecha = acciones.findLast(({ situacion, aplicado }) => situacion === 'enviada' && aplicado)?.estado
  return hecha && esFinal(hecha) && acciones.every(({ situacion }) => situacion === 'enviada') ? hecha : null
}

/** False: the server could not be asked. */
async function actualizar(repartidor: string, guia: string): Promise<boolean> {
  try {
    const { status, cuerpo, servidor } = await leerGuia(guia)
    if (status === 200) await guardarGuias(repartidor, [cuerpo], servidor)
    if (status === 404) await guardarSinDatos(repartidor, guia, true)
    return status === 200 || status === 404
  } catch {
    return false
  }
}

function Pasos({ guia, prevision, confirmada }: { guia: string; prevision: Prevision; confirmada: boolean }) {
  const { pasos, final, suya } = prevision
  if (final) return <p class="suave">Esta guía ya terminó: no hay nada más que hacer.</p>
  if (pasos.length === 0 && !suya) return null
  return (
    <nav class="pasos" aria-label="Qué hizo">
      {pasos.map(({ estado, con_prueba, con_ubicacion }, i) => {
        const falta = con_ubicacion && !confirmada
        const clase = i === 0 ? 'boton principal' : 'boton'
        if (falta) {
          return (
            <p key={estado} class="nota">
              No puede salir a ruta: falta que se confirme el lugar. Avise a la central.
            </p>
          )
        }
        return (
          <a key={estado} class={clase} href={`#/guia/${guia}/${con_prueba ? 'entregar' : `paso/${estado}`}`}>
            {PASOS[estado]}
          </a>
        )
      })}
      {suya && (
        <a class="discreto" href={`#/guia/${guia}/nota`}>
          Anotar algo
        </a>
      )}
    </nav>
  )
}

/** What a courier may see of a guide: where it goes if he carries it, or else what he can do to carry it. */
function Vista({ datos, suya }: { datos: GuiaDeReparto; suya: boolean }) {
  if (datos.custodia === 'propia') return <Destino datos={datos} />
  if (suya) return <p class="nota">El destino se verá cuando el servicio sepa que la lleva usted.</p>
  if (datos.custodia === 'ninguna') return <PorTomar datos={datos} />
  return (
    <p class="nota">
      La lleva otro repartidor: pídale que se la entregue o avise a la central.
      {datos.siguientes.length > 0 && ' Si ya la tiene usted, regístrelo aquí.'}
    </p>
  )
}

/** A guide that nobody carries: where it is collected, unless it was already. */
function PorTomar({ datos: { estado, nombre_comercio, recogida, contenido } }: { datos: GuiaDeReparto }) {
  const porRecoger = estado === 'aceptado' && recogida
  return (
    <>
      <section class="destino" aria-label="Recogida">
        <p class="destinatario">{nombre_comercio}</p>
        {porRecoger && <p>Se recoge en {recogida.nombre ?? 'el punto del mapa'}</p>}
        {contenido && <p class="suave">Lleva: {contenido}</p>}
        {porRecoger && (
          <div class="par">
            <Navegar lugar={recogida} direccion={recogida.nombre ?? ''} />
          </div>
        )}
      </section>
      <p class="nota">No la lleva nadie. A quién va y adónde se ve al tomarla.</p>
    </>
  )
}

function Destino({ datos }: { datos: GuiaDeReparto }) {
  const { destinatario, telefono, direccion, indicaciones, contenido, municipio, departamento, ubicacion } = datos
  const { intentos } = datos
  const zona = municipio === departamento ? municipio : `${municipio}, ${departamento}`
  return (
    <section class="destino" aria-label="Destino">
      {destinatario && <p class="destinatario">{destinatario}</p>}
      <p>{[direccion, zona].filter(Boolean).join(', ')}</p>
      {(indicaciones || ubicacion.referencia) && (
        <p class="suave">{[...new Set([ubicacion.referencia, indicaciones])].filter(Boolean).join(' · ')}</p>
      )}
      {contenido && <p class="suave">Lleva: {contenido}</p>}
      {intentos !== null && intentos > 0 && (
        <p class="suave">{intentos === 1 ? 'Ya hubo un intento' : `Ya hubo ${intentos} intentos`}</p>
      )}
      <div class="par">
        <a class="boton" href={`tel:${telefono}`}>
          Llamar
        </a>
        <Navegar lugar={ubicacion} direccion={[direccion, zona].filter(Boolean).join(', ')} />
      </div>
    </section>
  )
}

type Punto = Pick<GuiaDeReparto['ubicacion'], 'lat' | 'lng' | 'maps_url'>

/** Universal links: they open the app where there is one, and a map in the browser where there isn't. */
function Navegar({ lugar, direccion }: { lugar: Punto; direccion: string }) {
  const { lat, lng, maps_url } = lugar
  const punto = lat !== null && lng !== null ? `${lat},${lng}` : null
  const destino = encodeURIComponent(punto ?? direccion)
  const enMapa = !punto && /^(https|geo):/i.test(maps_url ?? '') ? maps_url : null
  const google = enMapa ?? `https://www.google.com/maps/dir/?api=1&destination=${destino}`
  return (
    <>
      <a class="boton" href={google} target="_blank" rel="noopener noreferrer">
        {punto || enMapa ? 'Cómo llegar' : 'Buscar en el mapa'}
      </a>
      {punto && (
        <a
          class="boton"
          href={`https://waze.com/ul?ll=${destino}&navigate=yes`}
          target="_blank"
          rel="noopener noreferrer"
        >
          Waze
        </a>
      )}
    </>
  )
}
