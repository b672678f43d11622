import { useState } from 'preact/hooks'
import { enGrupos } from '../../../../codigos/codigoDeGuia.ts'
import { acciones as leerAcciones } from '../almacen/acciones.ts'
import type { Accion, GuiaGuardada, Sesion } from '../almacen/base.ts'
import { borradores as leerBorradores } from '../almacen/borradores.ts'
import { guardarSinDatos, guiasDe } from '../almacen/guias.ts'
import { olvidar } from '../almacen/limpieza.ts'
import { cerrarSesion, nadieDentro } from '../api.ts'
import { codigoDe } from '../codigos.ts'
import { aSolas, enviarAhora } from '../cola.ts'
import { NOMBRES } from '../dominio.ts'
import { ir, useDatos } from '../hooks.ts'
import { type Prevision, previsto } from '../previsto.ts'
import { horaDe, nombreDe, Pregunta, situacionDe, Titulo } from './piezas.tsx'

export interface Contexto {
  sesion: Sesion
  enLinea: boolean
  enviando: number | null
}

export function Inicio({ sesion, enLinea, enviando }: Contexto) {
  const yo = sesion.repartidor
  const datos = useDatos(async () => {
    const [acciones, borradores, guias] = await Promise.all([leerAcciones(), leerBorradores(yo), guiasDe(yo)])
    return { acciones, borradores, guias }
  }, yo)
  if (!datos) return null
  const sinEnviar = datos.acciones.filter(({ situacion }) => situacion !== 'enviada')
  const enviadas = datos.acciones.filter((una) => una.situacion === 'enviada' && una.repartidor === yo).reverse()
  const aMano = datos.guias
    .map((guia) => ({ ...guia, ...previsto(guia, datos.acciones) }))
    .sort((una, otra) => Number(una.final) - Number(otra.final) || otra.leida - una.leida)
  const suyas = aMano.filter(esSuya)
  const otras = aMano.filter((una) => !esSuya(una))
  const fila = (accion: Accion) => (
    <li key={accion.orden} class={accion.situacion}>
      <a href={`#/accion/${accion.orden}`}>
        <strong>{nombreDe(accion)}</strong> <span class="codigo">{enGrupos(accion.guia)}</span>
        <small>
          {horaDe(accion.ocurrido_en, accion.zona)} · {situacionDe(accion, enviando, yo, enLinea, sesion.vigente)}
        </small>
      </a>
    </li>
  )
  return (
    <>
      <Titulo>Hola, {sesion.nombre.split(' ')[0]}</Titulo>
      <a class="boton principal" href="#/escanear">
        Escanear
      </a>
      <Teclear repartidor={yo} />
      {sinEnviar.length > 0 && (
        <section aria-labelledby="por-enviar">
          <h2 id="por-enviar">Por enviar ({sinEnviar.length})</h2>
          <ul class="lista">{sinEnviar.map(fila)}</ul>
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
                  <strong>Terminar la entrega</strong> <span class="codigo">{enGrupos(guia)}</span>
                  <small>{fotos.length === 1 ? '1 foto' : `${fotos.length} fotos`}</small>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="suyas">
        <h2 id="suyas">Las que lleva ({suyas.length})</h2>
        {aMano.length === 0 && (
          <p class="suave">Escanee los paquetes antes de salir: así tendrá sus direcciones también sin cobertura.</p>
        )}
        <Guias guias={suyas} />
      </section>
      {otras.length > 0 && (
        <section aria-labelledby="otras">
          <h2 id="otras">Otras a mano ({otras.length})</h2>
          <Guias guias={otras} />
        </section>
      )}
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

function Guias({ guias }: { guias: readonly (GuiaGuardada & Prevision)[] }) {
  return (
    <ul class="lista">
      {guias.map((una) => (
        <li key={una.guia}>
          <a href={`#/guia/${una.guia}`}>
            <strong>{tituloDe(una)}</strong> <span class="codigo">{enGrupos(una.guia)}</span>
            <small>
              {una.datos?.municipio && `${una.datos.municipio} · `}
              {una.estado ? NOMBRES[una.estado] : 'estado desconocido'}
              {una.porEnviar && ' (por enviar)'}
            </small>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Whether the courier carries a guide, as far as the phone can say. */
const esSuya = ({ datos, suya, final }: GuiaGuardada & Prevision) => datos !== null && suya && !final

function tituloDe({ datos, desconocida }: GuiaGuardada) {
  if (!datos) return desconocida ? 'No existe' : 'Sin datos todavía'
  if (datos.custodia === 'ajena') return 'La lleva otro'
  return datos.destinatario ?? datos.direccion ?? datos.nombre_comercio ?? 'Sin nombre'
}

function Teclear({ repartidor }: { repartidor: string }) {
  const [falla, fallar] = useState('')
  const abrir = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const texto = String(new FormData(evento.target as HTMLFormElement).get('guia'))
    const guia = codigoDe(texto)
    if (!guia) return fallar(porQueNo(texto))
    await guardarSinDatos(repartidor, guia, false)
    ir(`guia/${guia}`)
  }
  return (
    <form onSubmit={abrir} noValidate>
      <label for="guia">O escriba la guía</label>
      <div class="con-boton">
        <input
          id="guia"
          name="guia"
          type="text"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          maxLength={60}
          aria-describedby="falla-guia"
          aria-invalid={falla !== ''}
        />
        <button type="submit">Abrir</button>
      </div>
      <p id="falla-guia" class="falla" role="alert">
        {falla}
      </p>
    </form>
  )
}

function porQueNo(texto: string) {
  const largo = texto.replace(/[\s-]/g, '').length
  if (largo === 0) return 'Escriba las 12 letras y números de la etiqueta.'
  if (largo !== 12) return `Una guía tiene 12 letras y números; aquí hay ${largo}.`
  return 'Esa guía no puede existir: alguna letra está cambiada. Compárela con la etiqueta.'
}

function Salir({ sinEnviar, aMedias }: { sinEnviar: number; aMedias: number }) {
  const [preguntando, preguntar] = useState(false)
  const salir = () =>
    aSolas(async () => {
      const dicho = await cerrarSesion().then(nadieDentro, () => false)
      await olvidar(!dicho)
      ir('', true)
    })
  const decidir = (si: boolean) => {
    preguntar(false)
    if (si) salir()
  }
  return (
    <>
      <button type="button" class="discreto" onClick={() => (sinEnviar + aMedias > 0 ? preguntar(true) : salir())}>
        Salir
      </button>
      {preguntando && (
        <Pregunta titulo="¿Salir sin haberlo enviado todo?" si="Salir de todos modos" no="Quedarme" alDecidir={decidir}>
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
