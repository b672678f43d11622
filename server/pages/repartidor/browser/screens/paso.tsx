import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { diaDicho, type Estado, MOTIVOS_DICHOS, type Motivo, PASOS, PELIGROSOS, pasoA } from '../dominio.ts'
import { AvisoDeFalla, conFalla, useFallas } from '../fallas.tsx'
import { ir, usePosicion } from '../hooks.ts'
import { diaDe } from '../lista.ts'
import { encolar } from '../store/acciones.ts'
import { type ImagenGuardada, type Sesion, sinEspacio } from '../store/base.ts'
import { explicarFoto, Fotos, useFotos } from './fotos.tsx'
import { Pregunta, Titulo, Volver } from './piezas.tsx'

/** Message for a phone without free storage. */
export const SIN_ESPACIO =
  'El teléfono no tiene espacio. Borre fotos o aplicaciones que no use y pruebe otra vez: esta página espera.'

const DIA_MS = 24 * 3_600_000
/**
 * Days that the recipient may ask for, by the phone's calendar. If the server's first possible day is later, the server
 * takes that day.
 */
const DIAS = { desde: () => diaDe(Date.now() + DIA_MS), hasta: () => diaDe(Date.now() + 30 * DIA_MS) }
const esUnDia = (dia: string) => /^\d{4}-\d\d-\d\d$/.test(dia) && dia >= DIAS.desde() && dia <= DIAS.hasta()

/** Photos of a step that the screen shows. */
function useFotosDelPaso(guia: string, fallar: (fallas: { fotos?: string }) => void) {
  const actuales = useRef<ImagenGuardada[]>([])
  const [fotos, mostrar] = useState<readonly ImagenGuardada[]>([])
  const dejar = (lista: ImagenGuardada[]) => {
    actuales.current = lista
    mostrar(lista)
  }
  const { preparando, tomar } = useFotos({
    guia,
    cuantas: () => actuales.current.length,
    agregar: (foto) => dejar([...actuales.current, foto]),
    fallar: (causa) =>
      fallar(causa === undefined ? {} : { fotos: explicarFoto(causa) ?? 'No se pudo tomar la foto. Pruebe otra vez.' }),
  })
  const quitar = (id: string) => dejar(actuales.current.filter((otra) => otra.id !== id))
  return { fotos, preparando, tomar, quitar }
}

/** Returns the first fault of the form, if it has one. */
function faltaDelPaso(
  estado: Estado | null,
  { motivo, dia, descripcion }: { motivo: Motivo | null; dia: string | null; descripcion: string },
) {
  const motivos = estado ? pasoA(estado).motivos : []
  if (motivos.length > 0 && !motivo) return { motivo: 'Elija el motivo.' }
  if (motivo === 'reprogramado' && dia !== null && !esUnDia(dia))
    return { dia: `Elija un día, desde mañana hasta el ${diaDicho(DIAS.hasta())}, o marque que no lo dijo.` }
  if (motivo === 'otro' && !descripcion) return { nota: 'Escriba en la nota qué pasó.' }
  if (!estado && !descripcion) return { nota: 'Escriba la nota.' }
  return undefined
}

/**
 * Screen of one change of state, with its reason if it has reasons. A failed attempt may also have photos of the door.
 * @param estado null for a note without a change of state
 */
export function PantallaDePaso({ sesion, guia, estado }: { sesion: Sesion; guia: string; estado: Estado | null }) {
  const [motivo, elegir] = useState<Motivo | null>(null)
  const [sinDia, callarDia] = useState(false)
  const [fallas, fallar] = useFallas<'motivo' | 'dia' | 'nota' | 'fotos' | 'todo'>()
  const [preguntando, preguntar] = useState(false)
  const nota = useRef<HTMLTextAreaElement>(null)
  const dia = useRef<HTMLInputElement>(null)
  const guardando = useRef(false)
  const { fotos, preparando, tomar, quitar } = useFotosDelPaso(guia, fallar)
  const { punto } = usePosicion(false)
  const lleno = () => ({
    motivo,
    dia: motivo === 'reprogramado' && !sinDia ? dia.current!.value : null,
    descripcion: nota.current!.value.replace(/\s+/g, ' ').trim(),
  })
  const confirmar = (evento: SubmitEvent) => {
    evento.preventDefault()
    const falta = faltaDelPaso(estado, lleno())
    if (falta) return fallar(falta)
    if (guardando.current || preparando > 0) return
    if (estado && PELIGROSOS.includes(estado)) preguntar(true)
    else guardar()
  }
  const guardar = async () => {
    guardando.current = true
    try {
      const { repartidor, nombre } = sesion
      const { dia: fecha, descripcion } = lleno()
      const evento = {
        ...(motivo ? { motivo } : {}),
        ...(fecha === null ? {} : { fecha }),
        ...(descripcion ? { descripcion } : {}),
        ...(punto ? { lat: punto.lat, lng: punto.lng } : {}),
      }
      const adjuntos = { fotos: fotos.map(({ id }) => ({ imagen: id })), firma: null, trazos: null }
      await encolar([{ repartidor, nombre, guia, estado, evento, ...adjuntos }], Date.now(), null, fotos)
      ir(estado ? `guia/${guia}/hecho/${estado}` : `guia/${guia}`, true)
    } catch (error) {
      guardando.current = false
      fallar({ todo: sinEspacio(error) ? SIN_ESPACIO : 'No se pudo guardar en el teléfono. Pruebe otra vez.' })
    }
  }
  return (
    <form onSubmit={confirmar} noValidate>
      <Volver a={`guia/${guia}`}>
        <span class="codigo">{inGroups(guia)}</span>
      </Volver>
      <Titulo>{estado ? PASOS[estado] : 'Anotar algo'}</Titulo>
      {estado && <Motivos estado={estado} falla={fallas.motivo} alElegir={elegir} />}
      {motivo === 'reprogramado' && <OtroDia campo={dia} falla={fallas.dia} sinDia={sinDia} alCallar={callarDia} />}
      {estado === 'intento_fallido' && (
        <Fotos
          de="si ayudan"
          falla={fallas.fotos}
          fotos={fotos.map(({ id, blob }) => ({ id, leer: async () => blob }))}
          preparando={preparando}
          tomar={tomar}
          quitar={quitar}
        />
      )}
      <Nota campo={nota} rotulo={estado ? 'Nota (si hace falta)' : 'Nota'} falla={fallas.nota} />
      <div class="barra pegada">
        <AvisoDeFalla de="todo">{fallas.todo}</AvisoDeFalla>
        <button type="submit" class="principal" aria-disabled={preparando > 0 || undefined}>
          {estado ? 'Registrar' : 'Guardar la nota'}
        </button>
      </div>
      {preguntando && estado && (
        <PreguntaPorPaso guia={guia} estado={estado} cerrar={() => preguntar(false)} alAceptar={guardar} />
      )}
    </form>
  )
}

function Motivos(props: { estado: Estado; falla: string | undefined; alElegir: (motivo: Motivo) => void }) {
  const { motivos } = pasoA(props.estado)
  if (motivos.length === 0) return null
  return (
    <div class="grupo" role="radiogroup" aria-labelledby="porque" {...conFalla('motivo', props.falla)}>
      <h2 id="porque">¿Por qué?</h2>
      {motivos.map((uno) => (
        <label key={uno} class="opcion">
          <input type="radio" name="motivo" value={uno} onChange={() => props.alElegir(uno)} /> {MOTIVOS_DICHOS[uno]}
        </label>
      ))}
      <AvisoDeFalla de="motivo">{props.falla}</AvisoDeFalla>
    </div>
  )
}

/** Field for the day that the recipient asks for. */
function OtroDia(props: {
  campo: RefObject<HTMLInputElement | null>
  falla: string | undefined
  sinDia: boolean
  alCallar: (sinDia: boolean) => void
}) {
  const { campo, falla, sinDia, alCallar } = props
  return (
    <>
      <label for="dia">¿Qué día lo quiere?</label>
      <input
        id="dia"
        ref={campo}
        type="date"
        min={DIAS.desde()}
        max={DIAS.hasta()}
        disabled={sinDia}
        {...conFalla('dia', falla)}
      />
      <AvisoDeFalla de="dia">{falla}</AvisoDeFalla>
      <label class="opcion">
        <input type="checkbox" checked={sinDia} onChange={({ currentTarget }) => alCallar(currentTarget.checked)} /> No
        dijo qué día
      </label>
    </>
  )
}

function Nota(props: { campo: RefObject<HTMLTextAreaElement | null>; rotulo: string; falla: string | undefined }) {
  const { campo, rotulo, falla } = props
  return (
    <>
      <label for="nota">{rotulo}</label>
      <textarea
        id="nota"
        ref={campo}
        rows={2}
        maxLength={300}
        aria-invalid={falla ? true : undefined}
        aria-describedby="falla-nota nota-ayuda"
      />
      <AvisoDeFalla de="nota">{falla}</AvisoDeFalla>
      <p id="nota-ayuda" class="suave">
        El comercio la lee.
      </p>
    </>
  )
}

function PreguntaPorPaso(props: { guia: string; estado: Estado; cerrar: () => void; alAceptar: () => void }) {
  const paso = PASOS[props.estado]
  return (
    <Pregunta titulo={`¿${paso}?`} si={paso} no="No, volver" cerrar={props.cerrar} alAceptar={props.alAceptar}>
      <p>Es la guía {inGroups(props.guia)}, y desde aquí no se puede deshacer.</p>
    </Pregunta>
  )
}
