import { useEffect, useRef, useState } from 'preact/hooks'
import { codigoDe } from '../codigos.ts'
import { type Estado, NOMBRES } from '../dominio.ts'
import { AvisoDeFalla, conFalla } from '../fallas.tsx'
import { ir } from '../hooks.ts'
import { buscar, contarEstados, type FilaDeReparto, vista } from '../lista.ts'
import type { Sesion } from '../store/base.ts'
import { guardarSinDatos } from '../store/guias.ts'
import { DichoDeFila, recordar, useFilas, useVolverA } from './fila.tsx'
import { Volver } from './piezas.tsx'

/** Screen that finds a guide on the phone by its words, its code and its state, or opens one by its code. */
export function Buscar({ sesion }: { sesion: Sesion }) {
  const filas = useFilas(sesion)
  const [, redibujar] = useState(0)
  const [falla, fallar] = useState('')
  const poner = (cambio: Partial<typeof vista>) => {
    Object.assign(vista, cambio)
    fallar('')
    redibujar((n) => n + 1)
  }
  const campo = useRef<HTMLInputElement>(null)
  const listo = filas !== undefined
  useEffect(() => {
    if (listo && !vista.ultima) campo.current!.focus()
  }, [listo])
  useVolverA(listo)
  if (!filas) return null
  const halladas = buscar(filas, vista.busca)
  const vistas = halladas.filter(({ estado }) => vista.estado === null || estado === vista.estado)
  const abrir = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const guia = codigoDe(vista.busca) ?? (vistas.length === 1 ? vistas[0]!.guia : undefined)
    if (!guia) return fallar(vistas.length > 1 && vista.busca ? '' : porQueNo(vista.busca))
    await guardarSinDatos(sesion.repartidor, guia, false)
    poner({ busca: '' })
    recordar(guia)
    ir(`guia/${guia}`)
  }
  return (
    <>
      <Volver a="">Inicio</Volver>
      <h1>Buscar</h1>
      <form onSubmit={abrir} noValidate>
        <label for="guia">Código, nombre o dirección</label>
        <div class="con-boton">
          <input
            ref={campo}
            id="guia"
            type="search"
            enterkeyhint="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={60}
            value={vista.busca}
            onInput={({ currentTarget }) => poner({ busca: currentTarget.value })}
            {...conFalla('guia', falla)}
          />
          <button type="submit">Abrir</button>
        </div>
        <AvisoDeFalla de="guia">{falla}</AvisoDeFalla>
      </form>
      <Filtros filas={halladas} alElegir={(estado) => poner({ estado })} />
      <p class="suave" role="status">
        {vistas.length < filas.length && `Se ven ${vistas.length} de ${filas.length}.`}
      </p>
      <ul class="lista">
        {vistas.map((fila) => (
          <li key={fila.guia}>
            <a id={`g-${fila.guia}`} href={`#/guia/${fila.guia}`} onClick={() => recordar(fila.guia)}>
              <DichoDeFila fila={fila} />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Filtros({ filas, alElegir }: { filas: readonly FilaDeReparto[]; alElegir: (estado: Estado | null) => void }) {
  const estados = contarEstados(filas)
  if (estados.length < 2 && vista.estado === null) return null
  const uno = (estado: Estado | null, dicho: string) => (
    <button type="button" aria-pressed={vista.estado === estado} onClick={() => alElegir(estado)}>
      {dicho}
    </button>
  )
  return (
    <fieldset class="filtros">
      <legend class="oculto">Por estado</legend>
      {uno(null, `Todas ${filas.length}`)}
      {estados.map(([estado, cuantas]) => uno(estado, `${NOMBRES[estado]} ${cuantas}`))}
    </fieldset>
  )
}

function porQueNo(texto: string) {
  const largo = texto.replace(/[\s-]/g, '').length
  if (largo === 0) return 'Escriba las 12 letras y números de la etiqueta.'
  if (!/\d/.test(texto)) return 'Nada en la lista dice eso.'
  if (largo !== 12) return `Una guía tiene 12 letras y números; aquí hay ${largo}.`
  return 'Esa guía no puede existir: alguna letra está cambiada. Compárela con la etiqueta.'
}
