import { useEffect, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { type Estado, HECHOS, NOMBRES } from '../dominio.ts'
import { useDatos } from '../hooks.ts'
import { aparteHoy, esSuya } from '../lista.ts'
import type { Sesion } from '../store/base.ts'
import { guiaDe } from '../store/guias.ts'
import { leerFilas } from './fila.tsx'
import { Titulo } from './piezas.tsx'

/** Screen after a step: confirms that the step is stored, shows whether it was sent, and leads to the next guide. */
export function PantallaDeHecho(props: { sesion: Sesion; guia: string; estado: Estado; cuantas: number }) {
  const { sesion, guia, estado, cuantas } = props
  const yo = sesion.repartidor
  const leido = useDatos(async () => {
    const { acciones, filas } = await leerFilas(yo)
    const siguiente = filas.find(
      (fila) =>
        fila.guia !== guia &&
        esSuya(fila) &&
        aparteHoy(fila) === null &&
        fila.pasos.some((paso) => paso.estado === tras(estado)),
    )
    const deEsta = acciones.filter((una) => una.guia === guia)
    const ultima = deEsta.findLast((una) => una.estado === estado)
    return { siguiente, ultima, detenida: deEsta.find(({ situacion }) => situacion === 'atencion') }
  }, guia)
  const nombre = useNombre(yo, guia)
  if (!leido) return null
  const { siguiente, ultima, detenida } = leido
  return (
    <>
      <p class="palomita" aria-hidden="true">
        ✓
      </p>
      <Titulo>
        {HECHOS[estado]}
        {cuantas > 1 && `: ${cuantas} guías`}
      </Titulo>
      {nombre && <p class="destinatario">{nombre}</p>}
      <p>
        {cuantas > 1 ? 'Esta guía y las que iban con ella: ' : 'Guía '}
        <a class="codigo" href={`#/guia/${guia}`}>
          {inGroups(guia)}
        </a>
      </p>
      <p class="estado" role="status">
        {NOMBRES[estado]}
        {ultima?.situacion === 'pendiente' && ' (por enviar)'}
      </p>
      {detenida ? (
        <p class="nota mal">
          El servicio no aceptó lo que hizo. <a href={`#/accion/${detenida.orden}`}>Vea por qué</a>
        </p>
      ) : (
        <p class="suave">
          {ultima?.situacion === 'pendiente'
            ? 'Está guardado en el teléfono y se envía solo.'
            : 'El servicio ya lo tiene.'}
        </p>
      )}
      <nav class="barra pegada" aria-label="Seguir">
        {siguiente && (
          <a class="boton principal" href={`#/guia/${siguiente.guia}`}>
            Siguiente: {siguiente.titulo}
          </a>
        )}
        <a class={siguiente ? 'boton' : 'boton principal'} href="#/">
          Ver la lista
        </a>
      </nav>
    </>
  )
}

/**
 * Returns the step that the next guide should allow: the same step after `recolectado`, `en_ruta` and `devuelto`,
 * otherwise `entregado`.
 */
const tras = (estado: Estado): Estado =>
  estado === 'recolectado' || estado === 'en_ruta' || estado === 'devuelto' ? estado : 'entregado'

/**
 * Returns the recipient's name as it was before the step, because a finished guide is deleted from the phone once its
 * step is sent.
 */
function useNombre(repartidor: string, guia: string) {
  const [nombre, poner] = useState<string | null>(null)
  useEffect(() => {
    guiaDe(repartidor, guia).then((guardada) => poner((antes) => antes ?? guardada?.datos?.destinatario ?? null))
  }, [])
  return nombre
}
