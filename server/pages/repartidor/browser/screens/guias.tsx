import { useEffect, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { codigoDe } from '../codigos.ts'
import { type Estado, NOMBRES, queSeDecidio } from '../dominio.ts'
import { AvisoDeFalla, conFalla } from '../fallas.tsx'
import { ir, pedirPosicion } from '../hooks.ts'
import { buscar, contarEstados, esSuya, type FilaDeReparto, metros, vista } from '../lista.ts'
import { ponerAjuste, type Sesion } from '../store/base.ts'
import { guardarSinDatos } from '../store/guias.ts'
import { Lote } from './lote.tsx'

/** Number of guides from which the list offers filters, order by distance and selection. */
const MUCHAS = 3

/**
 * List of the guides on the phone in the order of the stops: searched by words, filtered by state, and selected for one
 * step.
 */
export function Guias({
  sesion,
  filas,
  alCambiar,
}: {
  sesion: Sesion
  filas: readonly FilaDeReparto[]
  alCambiar: () => void
}) {
  const [marcadas, marcar] = useState<ReadonlySet<string> | null>(null)
  const [falla, fallar] = useState('')
  const poner = (cambio: Partial<typeof vista>) => {
    Object.assign(vista, cambio)
    alCambiar()
  }
  useVolverA(marcadas === null)
  const halladas = buscar(filas, vista.busca)
  const vistas = halladas.filter(({ estado }) => vista.estado === null || estado === vista.estado)
  const abrir = async (evento: SubmitEvent) => {
    evento.preventDefault()
    const guia = codigoDe(vista.busca) ?? (vistas.length === 1 ? vistas[0]!.guia : undefined)
    if (!guia) return fallar(vistas.length > 1 && vista.busca ? '' : porQueNo(vista.busca))
    await guardarSinDatos(sesion.repartidor, guia, false)
    poner({ busca: '', ultima: guia })
    ir(`guia/${guia}`)
  }
  const alternar = (guia: string) => {
    const nuevas = new Set(marcadas)
    if (!nuevas.delete(guia)) nuevas.add(guia)
    marcar(nuevas)
  }
  const marcables = vistas.filter(({ final, desconocida }) => !final && !desconocida)
  const fila = (una: FilaDeReparto) => (
    <Linea key={una.guia} fila={una} marcada={marcadas?.has(una.guia)} alMarcar={() => alternar(una.guia)} />
  )
  const [suyas, otras] = [vistas.filter(esSuya), vistas.filter((una) => !esSuya(una))]
  return (
    <>
      <form onSubmit={abrir} noValidate>
        <label for="guia">Busque, o escriba la guía</label>
        <div class="con-boton">
          <input
            id="guia"
            type="search"
            enterkeyhint="search"
            autocomplete="off"
            spellcheck={false}
            maxLength={60}
            value={vista.busca}
            onInput={({ currentTarget }) => {
              fallar('')
              poner({ busca: currentTarget.value })
            }}
            {...conFalla('guia', falla)}
          />
          <button type="submit">Abrir</button>
        </div>
        <AvisoDeFalla de="guia">{falla}</AvisoDeFalla>
      </form>
      {filas.length >= MUCHAS && <Filtros filas={halladas} alElegir={(estado) => poner({ estado })} />}
      {filas.length >= MUCHAS && (
        <div class="par">
          <Cercanas />
          <button type="button" aria-pressed={marcadas !== null} onClick={() => marcar(marcadas ? null : new Set())}>
            {marcadas ? 'Dejar de marcar' : 'Marcar varias'}
          </button>
        </div>
      )}
      {marcadas && (
        <button type="button" onClick={() => marcar(new Set(marcables.map(({ guia }) => guia)))}>
          {marcables.length === 1 ? 'Marcar la única' : `Marcar las ${marcables.length}`}
        </button>
      )}
      <p class="suave" role="status">
        {vistas.length < filas.length && `Se ven ${vistas.length} de ${filas.length}.`}
      </p>
      <section aria-labelledby="suyas">
        <h2 id="suyas">Las que lleva ({suyas.length})</h2>
        {filas.length === 0 && (
          <p class="suave">Escanee los paquetes antes de salir: así tendrá sus direcciones también sin cobertura.</p>
        )}
        <ul class="lista">{suyas.map(fila)}</ul>
      </section>
      {otras.length > 0 && (
        <section aria-labelledby="otras">
          <h2 id="otras">Otras a mano ({otras.length})</h2>
          <ul class="lista">{otras.map(fila)}</ul>
        </section>
      )}
      {marcadas && (
        <Lote
          sesion={sesion}
          filas={filas.filter(({ guia }) => marcadas.has(guia))}
          dice={marcadas.size === 1 ? '1 marcada' : `${marcadas.size} marcadas`}
        />
      )}
    </>
  )
}

function Linea({
  fila,
  marcada,
  alMarcar,
}: {
  fila: FilaDeReparto
  marcada: boolean | undefined
  alMarcar: () => void
}) {
  const { guia, titulo, rumbo, estado, porEnviar, distancia, final, desconocida } = fila
  const { resolucion } = fila.datos ?? {}
  const decidido = resolucion ? ` · ${queSeDecidio(resolucion)}` : ''
  const situacion = `${estado ? NOMBRES[estado] : 'estado desconocido'}${porEnviar ? ' (por enviar)' : ''}${decidido}`
  const dice = (
    <>
      <strong>{titulo}</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
      {rumbo && rumbo.direccion !== titulo && <span class="direccion">{rumbo.direccion}</span>}{' '}
      <small>{distancia === null ? situacion : `${situacion} · a ${metros(distancia)}`}</small>
    </>
  )
  if (marcada === undefined) {
    return (
      <li>
        <a
          id={`g-${guia}`}
          href={`#/guia/${guia}`}
          onClick={() => {
            vista.ultima = guia
          }}
        >
          {dice}
        </a>
      </li>
    )
  }
  return (
    <li>
      <label class="marcable">
        <input type="checkbox" checked={marcada} disabled={final || desconocida} onChange={alMarcar} />
        <span>{dice}</span>
      </label>
    </li>
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

/** Button that begins the order of the stops where the courier is. Each tap asks the phone once for its position. */
function Cercanas() {
  const [dicho, decir] = useState('')
  const pedir = () => {
    decir('Buscando…')
    pedirPosicion().then(
      (aqui) => {
        decir('')
        ponerAjuste('desde', aqui)
      },
      () => decir('No se sabe dónde está'),
    )
  }
  return (
    <button type="button" onClick={pedir}>
      <span aria-live="polite">{dicho || 'Más cercanas'}</span>
    </button>
  )
}

/** Moves the focus to the guide that was opened from the list, if the list still shows it. */
function useVolverA(enlaces: boolean) {
  useEffect(() => {
    const ultima = enlaces && vista.ultima && document.getElementById(`g-${vista.ultima}`)
    if (!ultima) return
    vista.ultima = null
    ultima.focus()
    ultima.scrollIntoView({ block: 'center' })
  }, [])
}

function porQueNo(texto: string) {
  const largo = texto.replace(/[\s-]/g, '').length
  if (largo === 0) return 'Escriba las 12 letras y números de la etiqueta.'
  if (!/\d/.test(texto)) return 'Nada en la lista dice eso.'
  if (largo !== 12) return `Una guía tiene 12 letras y números; aquí hay ${largo}.`
  return 'Esa guía no puede existir: alguna letra está cambiada. Compárela con la etiqueta.'
}
