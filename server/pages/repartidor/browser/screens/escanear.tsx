import { useEffect, useRef, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { abrirLector, type CodeScan, codigoDe } from '../codigos.ts'
import { NOMBRES } from '../dominio.ts'
import { ir, useDatos } from '../hooks.ts'
import { filasDeReparto } from '../lista.ts'
import { acciones as leerAcciones } from '../store/acciones.ts'
import type { Sesion } from '../store/base.ts'
import { guardarSinDatos, guiasDe } from '../store/guias.ts'
import { actualizar } from './guia.tsx'
import { Lote } from './lote.tsx'
import { SIN_ESPACIO } from './paso.tsx'
import { Titulo, Volver } from './piezas.tsx'

const CADA_MS = 150
const AJENO = 'Ese código no es de una guía. Busque el de la etiqueta de envío.'

const SIN_LECTOR = 'El lector no se pudo cargar: la primera vez hace falta cobertura. Escriba la guía en el inicio.'

/**
 * Hook that opens the camera and reads codes until the screen closes.
 * @param leida takes a text that was read, and returns true to stop
 */
function useCamara(lector: Promise<CodeScan>, leida: (texto: string) => boolean, avisar: (aviso: string) => void) {
  const video = useRef<HTMLVideoElement>(null)
  const [sinCamara, faltar] = useState(false)
  const [luz, poderLuz] = useState<((encendida: boolean) => void) | null>(null)
  useEffect(() => {
    let vivo = true
    let camara: MediaStream | undefined
    const mirar = async () => {
      const leer = await lector
      const visor = video.current!
      avisar('Apunte a las barras o al cuadro de la etiqueta.')
      while (vivo) {
        const textos = visor.readyState >= 2 ? await leer(visor).catch(() => []) : []
        if (!vivo || textos.some(leida)) return
        await new Promise((resolve) => setTimeout(resolve, CADA_MS))
      }
    }
    const abrir = async () => {
      try {
        if (!navigator.mediaDevices) throw new DOMException('', 'NotFoundError')
        camara = await navigator.mediaDevices.getUserMedia({
          audio: false,
          video: { facingMode: 'environment', width: { ideal: 1_280 }, height: { ideal: 720 } },
        })
        if (!vivo) return cerrar()
        video.current!.srcObject = camara
        prepararLuz(camara, poderLuz)
        await video.current!.play()
      } catch (error) {
        if (!vivo) return
        faltar(true)
        const negada = error instanceof DOMException && error.name === 'NotAllowedError'
        return avisar(
          negada
            ? 'Sin permiso para usar la cámara. Tome una foto de la etiqueta, o escriba la guía en el inicio.'
            : 'No se pudo abrir la cámara. Tome una foto de la etiqueta, o escriba la guía en el inicio.',
        )
      }
      await mirar().catch(() => vivo && avisar(SIN_LECTOR))
    }
    const cerrar = () => {
      for (const pista of camara?.getTracks() ?? []) pista.stop()
    }
    abrir()
    return () => {
      vivo = false
      cerrar()
    }
  }, [])
  return { video, sinCamara, luz }
}

/** Screen of the camera. It opens one guide, or (`varias`) collects the guides of a day for one step. */
export function Escanear({ sesion }: { sesion: Sesion }) {
  const [aviso, avisar] = useState('Abriendo la cámara…')
  const [varias, alternar] = useState(false)
  const [leidas, sumar] = useState<string[]>([])
  const actual = useRef(varias)
  actual.current = varias
  const lector = useRef<Promise<CodeScan>>(null)
  lector.current ??= abrirLector()

  const leida = (texto: string): boolean => {
    const guia = codigoDe(texto)
    if (!guia) {
      avisar(AJENO)
      return false
    }
    if (!actual.current) {
      navigator.vibrate?.(80)
      guardarSinDatos(sesion.repartidor, guia, false).then(() => ir(`guia/${guia}`, true))
      return true
    }
    sumar((antes) => {
      if (antes.includes(guia)) return antes
      navigator.vibrate?.(80)
      cargar(sesion.repartidor, guia).then(avisar, () => {
        sumar((leidas) => leidas.filter((otra) => otra !== guia))
        avisar(SIN_ESPACIO)
      })
      return [guia, ...antes]
    })
    return false
  }
  const { video, sinCamara, luz } = useCamara(lector.current, leida, avisar)
  return (
    <>
      <Volver a="">Inicio</Volver>
      <Titulo>Escanear</Titulo>
      {!sinCamara && <video ref={video} class="visor" playsInline muted />}
      <p class="dicho" role="status">
        {aviso}
      </p>
      {luz && <Luz encender={luz} />}
      <label class="opcion">
        <input type="checkbox" checked={varias} onChange={({ currentTarget }) => alternar(currentTarget.checked)} />{' '}
        Cargar varias a la lista
      </label>
      <LeerDeFoto lector={lector.current} leida={leida} avisar={avisar} />
      {varias && leidas.length > 0 && <Leidas sesion={sesion} guias={leidas} />}
    </>
  )
}

/** Button that reads the codes of a photo, for phones whose camera the page cannot open. */
function LeerDeFoto(props: {
  lector: Promise<CodeScan>
  leida: (texto: string) => boolean
  avisar: (aviso: string) => void
}) {
  const { lector, leida, avisar } = props
  const leerFoto = async (entrada: HTMLInputElement) => {
    const [foto] = entrada.files ?? []
    entrada.value = ''
    if (!foto) return
    avisar('Leyendo la foto…')
    try {
      const leer = await lector
      const textos = await leer(await createImageBitmap(foto))
      if (textos.length === 0) return avisar('No se ve ningún código en la foto. Acérquese más y pruebe otra vez.')
      textos.some(leida)
    } catch {
      avisar(SIN_LECTOR)
    }
  }
  return (
    <label class="boton">
      <input
        class="oculto"
        type="file"
        accept="image/*"
        capture="environment"
        onChange={({ currentTarget }) => leerFoto(currentTarget)}
      />
      Leer de una foto
    </label>
  )
}

/**
 * Adds a parcel to the list. The code is on the phone before the server is asked for the guide.
 * @returns the message for the courier
 */
async function cargar(repartidor: string, guia: string): Promise<string> {
  await guardarSinDatos(repartidor, guia, false)
  // Without coverage, `refrescar.ts` fetches the guide as soon as coverage returns.
  void actualizar(repartidor, guia)
  return `${inGroups(guia)} en la lista.`
}

/** Guides that were scanned so far, the last first, and the steps for all of them. */
function Leidas({ sesion, guias }: { sesion: Sesion; guias: readonly string[] }) {
  const filas = useDatos(async () => {
    const [guardadas, acciones] = await Promise.all([guiasDe(sesion.repartidor), leerAcciones()])
    const porGuia = new Map(filasDeReparto(guardadas, acciones).map((fila) => [fila.guia, fila]))
    return guias.flatMap((guia) => porGuia.get(guia) ?? [])
  }, guias.join())
  return (
    <>
      <ul class="lista">
        {filas?.map(({ guia, titulo, estado }) => (
          <li key={guia}>
            <a href={`#/guia/${guia}`}>
              <strong>{titulo}</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
              {estado && <small>{NOMBRES[estado]}</small>}
            </a>
          </li>
        ))}
      </ul>
      <Lote sesion={sesion} filas={filas ?? []} dice={guias.length === 1 ? '1 guía' : `${guias.length} guías`} />
    </>
  )
}

type ConLuz = MediaTrackConstraintSet & { torch?: boolean }

function prepararLuz(camara: MediaStream, poder: (encender: () => (encendida: boolean) => void) => void) {
  const [pista] = camara.getVideoTracks()
  const { torch } = (pista?.getCapabilities?.() ?? {}) as { torch?: boolean }
  if (!pista || !torch) return
  poder(() => (encendida) => {
    pista.applyConstraints({ advanced: [{ torch: encendida } as ConLuz] }).catch(() => {})
  })
}

function Luz({ encender }: { encender: (encendida: boolean) => void }) {
  const [encendida, poner] = useState(false)
  return (
    <button
      type="button"
      aria-pressed={encendida}
      onClick={() => {
        poner(!encendida)
        encender(!encendida)
      }}
    >
      {encendida ? 'Apagar la luz' : 'Encender la luz'}
    </button>
  )
}
