import { useState } from 'preact/hooks'
import { nadieDentro, pedirSalida } from '../api.ts'
import { aSolas } from '../cola.ts'
import { ir, pedirPosicion, useDatos } from '../hooks.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import { leerAjuste, ponerAjuste, type Sesion } from '../store/base.ts'
import { borradores as leerBorradores } from '../store/borradores.ts'
import { olvidarSesion } from '../store/limpieza.ts'
import { Instalar } from './instalar.tsx'
import { Pregunta, Titulo, Volver } from './piezas.tsx'

/** Screen with rarely used functions: order of the stops, colours, installation, and signing out. */
export function Mas({ sesion }: { sesion: Sesion }) {
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>Más</Titulo>
      <p class="suave">{sesion.nombre}</p>
      <a class="boton" href="#/marcar">
        Marcar varias
      </a>
      <Cercanas />
      <Tema />
      <Instalar />
      <Salir yo={sesion.repartidor} />
    </>
  )
}

/**
 * Button that lets the order of the stops begin at the courier's position. Each tap asks the phone once for its
 * position.
 */
function Cercanas() {
  const [dicho, decir] = useState('')
  const pedir = () => {
    decir('Buscando…')
    pedirPosicion()
      .then((aqui) => ponerAjuste('desde', aqui))
      .then(
        () => ir('', true),
        () => decir('No se sabe dónde está'),
      )
  }
  return (
    <button type="button" onClick={pedir}>
      <span aria-live="polite">{dicho || 'Ordenar desde aquí'}</span>
    </button>
  )
}

const TEMAS = [
  [undefined, 'Del teléfono'],
  ['claro', 'Claro'],
  ['oscuro', 'Oscuro'],
] as const

/** Choice between light and dark colours, because the phone's own setting may be hard to read in the sun. */
function Tema() {
  const tema = useDatos(async () => ({ es: await leerAjuste('tema') }), '')
  if (!tema) return null
  return (
    <>
      <h2 id="tema">Colores</h2>
      <fieldset class="segmento" aria-labelledby="tema">
        {TEMAS.map(([valor, dicho]) => (
          <label key={dicho}>
            <input
              class="oculto"
              type="radio"
              name="tema"
              checked={tema.es === valor}
              onChange={() => ponerAjuste('tema', valor)}
            />
            {dicho}
          </label>
        ))}
      </fieldset>
    </>
  )
}

function Salir({ yo }: { yo: string }) {
  const [preguntando, preguntar] = useState<{ sinEnviar: number; aMedias: number } | null>(null)
  const salir = () =>
    aSolas(async () => {
      const dicho = await pedirSalida().then(nadieDentro, () => false)
      await olvidarSesion(!dicho)
      ir('', true)
    })
  const pedir = async () => {
    const [acciones, borradores] = await Promise.all([leerAcciones(), leerBorradores(yo)])
    const sinEnviar = acciones.filter(({ situacion }) => situacion !== 'enviada').length
    if (sinEnviar + borradores.length > 0) preguntar({ sinEnviar, aMedias: borradores.length })
    else await salir()
  }
  return (
    <>
      <button type="button" class="discreto" onClick={pedir}>
        Salir
      </button>
      {preguntando && (
        <Pregunta
          titulo="¿Salir sin haberlo enviado todo?"
          si="Salir de todos modos"
          no="Quedarme"
          cerrar={() => preguntar(null)}
          alAceptar={salir}
        >
          {preguntando.sinEnviar > 0 && (
            <p>
              {preguntando.sinEnviar === 1 ? 'Hay una acción' : `Hay ${preguntando.sinEnviar} acciones`} sin enviar.
              Quedan guardadas en este teléfono, y se envían cuando vuelva a entrar quien las hizo.
            </p>
          )}
          {preguntando.aMedias > 0 && <p>Lo que no terminó de llenar se borra, con sus fotos.</p>}
        </Pregunta>
      )}
    </>
  )
}
