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

/**
 * Screen of one change of state, with its reason if it has reasons. A failed attempt may also have photos of the door.
 * @param estado null for a note without a change of state
 */
export function PantallaDePaso({ sesion, guia, estado }: { sesion: Sesion; guia: string; estado: Estado | null }) {
  const motivos = estado ? pasoA(estado).motivos : []
  const [motivo, elegir] = useState<Motivo | null>(null)
  const [sinDia, callarDia] = useState(false)
  const [fallas, fallar] = useFallas<'motivo' | 'dia' | 'nota' | 'fotos' | 'todo'>()
  const [preguntando, preguntar] = useState(false)
  const nota = useRef<HTMLTextAreaElement>(null)
  const dia = useRef<HTMLInputElement>(null)
  const guardando = useRef(false)
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
  const { punto } = usePosicion(false)
  const descripcion = () => nota.current!.value.replace(/\s+/g, ' ').trim()
  const confirmar = (evento: SubmitEvent) => {
    evento.preventDefault()
    if (motivos.length > 0 && !motivo) return fallar({ motivo: 'Elija el motivo.' })
    if (motivo === 'reprogramado' && !sinDia && !esUnDia(dia.current!.value))
      return fallar({ dia: `Elija un día, desde mañana hasta el ${diaDicho(DIAS.hasta())}, o marque que no lo dijo.` })
    if (motivo === 'otro' && !descripcion()) return fallar({ nota: 'Escriba en la nota qué pasó.' })
    if (!estado && !descripcion()) return fallar({ nota: 'Escriba la nota.' })
    if (guardando.current || preparando > 0) return
    if (estado && PELIGROSOS.includes(estado)) preguntar(true)
    else guardar()
  }
  const guardar = async () => {
    guardando.current = true
    try {
      const { repartidor, nombre } = sesion
      const ubicado = punto ? { lat: punto.lat, lng: punto.lng } : {}
      const descrito = descripcion()
      const evento = {
        ...(motivo ? { motivo } : {}),
        ...(motivo === 'reprogramado' && !sinDia ? { fecha: dia.current!.value } : {}),
        ...(descrito ? { descripcion: descrito } : {}),
        ...ubicado,
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
      {motivos.length > 0 && (
        <div class="grupo" role="radiogroup" aria-labelledby="porque" {...conFalla('motivo', fallas.motivo)}>
          <h2 id="porque">¿Por qué?</h2>
          {motivos.map((uno) => (
            <label key={uno} class="opcion">
              <input type="radio" name="motivo" value={uno} onChange={() => elegir(uno)} /> {MOTIVOS_DICHOS[uno]}
            </label>
          ))}
          <AvisoDeFalla de="motivo">{fallas.motivo}</AvisoDeFalla>
        </div>
      )}
      {motivo === 'reprogramado' && (
        <>
          <label for="dia">¿Qué día lo quiere?</label>
          <input
            id="dia"
            ref={dia}
            type="date"
            min={DIAS.desde()}
            max={DIAS.hasta()}
            disabled={sinDia}
            {...conFalla('dia', fallas.dia)}
          />
          <AvisoDeFalla de="dia">{fallas.dia}</AvisoDeFalla>
          <label class="opcion">
            <input
              type="checkbox"
              checked={sinDia}
              onChange={({ currentTarget }) => callarDia(currentTarget.checked)}
            />{' '}
            No dijo qué día
          </label>
        </>
      )}
      {estado === 'intento_fallido' && (
        <Fotos
          de="si ayudan"
          falla={fallas.fotos}
          fotos={fotos.map(({ id, blob }) => ({ id, leer: async () => blob }))}
          preparando={preparando}
          tomar={tomar}
          quitar={(id) => dejar(actuales.current.filter((otra) => otra.id !== id))}
        />
      )}
      <label for="nota">{estado ? 'Nota (si hace falta)' : 'Nota'}</label>
      <textarea
        id="nota"
        ref={nota}
        rows={2}
        maxLength={300}
        aria-invalid={fallas.nota ? true : undefined}
        aria-describedby="falla-nota nota-ayuda"
      />
      <AvisoDeFalla de="nota">{fallas.nota}</AvisoDeFalla>
      <p id="nota-ayuda" class="suave">
        El comercio la lee.
      </p>
      <div class="barra pegada">
        <AvisoDeFalla de="todo">{fallas.todo}</AvisoDeFalla>
        <button type="submit" class="principal" aria-disabled={preparando > 0 || undefined}>
          {estado ? 'Registrar' : 'Guardar la nota'}
        </button>
      </div>
      {preguntando && estado && (
        <Pregunta
          titulo={`¿${PASOS[estado]}?`}
          si={PASOS[estado]}
          no="No, volver"
          cerrar={() => preguntar(false)}
          alAceptar={guardar}
        >
          <p>Es la guía {inGroups(guia)}, y desde aquí no se puede deshacer.</p>
        </Pregunta>
      )}
    </form>
  )
}
