import { useEffect, useRef, useState } from 'preact/hooks'
import { inGroups } from '../../../../platform/codes/guideCode.ts'
import { type CodeScan, openReader, parseGuiaCode } from '../codes.ts'
import { goTo, useStoredData } from '../hooks.ts'
import { dispatchRows } from '../list.ts'
import { readActions } from '../store/actions.ts'
import type { Sesion } from '../store/base.ts'
import { readGuiasOf, storeWithoutData } from '../store/guias.ts'
import { ESTADO_NAMES } from '../vocabulary.ts'
import { updateGuia } from './guia.tsx'
import { Lote } from './lote.tsx'
import { BackLink, ScreenTitle } from './pieces.tsx'
import { NO_SPACE } from './step.tsx'

const SCAN_INTERVAL_MS = 150
const FOREIGN_CODE = 'Ese código no es de una guía. Busque el de la etiqueta de envío.'

const NO_READER = 'El lector no se pudo cargar: la primera vez hace falta cobertura. Escriba la guía en el inicio.'

/**
 * Hook that opens the camera and reads codes until the screen closes.
 * @param handleText takes a text that was read, and returns true to stop
 */
function useCamera(
  reader: Promise<CodeScan>,
  handleText: (text: string) => boolean,
  setNotice: (aviso: string) => void,
) {
  const video = useRef<HTMLVideoElement>(null)
  const [hasNoCamera, setHasNoCamera] = useState(false)
  const [luz, setSwitchLight] = useState<((isLit: boolean) => void) | null>(null)
  useEffect(() => {
    let isMounted = true
    let camera: MediaStream | undefined
    const watchVideo = async () => {
      const read = await reader
      const visor = video.current!
      setNotice('Apunte a las barras o al cuadro de la etiqueta.')
      while (isMounted) {
        const texts = visor.readyState >= 2 ? await read(visor).catch(() => []) : []
        if (!isMounted || texts.some(handleText)) return
        await new Promise((resolve) => setTimeout(resolve, SCAN_INTERVAL_MS))
      }
    }
    const openCamera = async () => {
      try {
        if (!navigator.mediaDevices) throw new DOMException('', 'NotFoundError')
        camera = await navigator.mediaDevices.getUserMedia({
          audio: false,
          video: { facingMode: 'environment', width: { ideal: 1_280 }, height: { ideal: 720 } },
        })
        if (!isMounted) return closeCamera()
        video.current!.srcObject = camera
        prepareLight(camera, setSwitchLight)
        await video.current!.play()
      } catch (error) {
        if (!isMounted) return
        setHasNoCamera(true)
        const isDenied = error instanceof DOMException && error.name === 'NotAllowedError'
        return setNotice(
          isDenied
            ? 'Sin permiso para usar la cámara. Tome una foto de la etiqueta, o escriba la guía en el inicio.'
            : 'No se pudo abrir la cámara. Tome una foto de la etiqueta, o escriba la guía en el inicio.',
        )
      }
      await watchVideo().catch(() => isMounted && setNotice(NO_READER))
    }
    const closeCamera = () => {
      for (const track of camera?.getTracks() ?? []) track.stop()
    }
    openCamera()
    return () => {
      isMounted = false
      closeCamera()
    }
  }, [])
  return { video, hasNoCamera, luz }
}

/** Screen of the camera. It opens one guide, or (`isCollecting`) collects the guides of a day for one step. */
export function ScanScreen({ sesion }: { sesion: Sesion }) {
  const [aviso, setNotice] = useState('Abriendo la cámara…')
  const [isCollecting, setIsCollecting] = useState(false)
  const [scannedGuias, setScannedGuias] = useState<string[]>([])
  const current = useRef(isCollecting)
  current.current = isCollecting
  const reader = useRef<Promise<CodeScan>>(null)
  reader.current ??= openReader()

  const handleText = (text: string): boolean => {
    const guia = parseGuiaCode(text)
    if (!guia) {
      setNotice(FOREIGN_CODE)
      return false
    }
    if (!current.current) {
      navigator.vibrate?.(80)
      storeWithoutData(sesion.repartidor, guia, false).then(() => goTo(`guia/${guia}`, true))
      return true
    }
    setScannedGuias((before) => {
      if (before.includes(guia)) return before
      navigator.vibrate?.(80)
      addToList(sesion.repartidor, guia).then(setNotice, () => {
        setScannedGuias((scannedGuias) => scannedGuias.filter((scannedGuia) => scannedGuia !== guia))
        setNotice(NO_SPACE)
      })
      return [guia, ...before]
    })
    return false
  }
  const { video, hasNoCamera, luz } = useCamera(reader.current, handleText, setNotice)
  return (
    <>
      <BackLink a="">Inicio</BackLink>
      <ScreenTitle>Escanear</ScreenTitle>
      {!hasNoCamera && <video ref={video} class="visor" playsInline muted />}
      <p class="dicho" role="status">
        {aviso}
      </p>
      {luz && <Luz switchLight={luz} />}
      <label class="opcion">
        <input
          type="checkbox"
          checked={isCollecting}
          onChange={({ currentTarget }) => setIsCollecting(currentTarget.checked)}
        />{' '}
        Cargar varias a la lista
      </label>
      <ReadFromPhoto reader={reader.current} handleText={handleText} setNotice={setNotice} />
      {isCollecting && scannedGuias.length > 0 && <ScannedGuias sesion={sesion} guias={scannedGuias} />}
    </>
  )
}

/** Button that reads the codes of a photo, for phones whose camera the page cannot open. */
function ReadFromPhoto(props: {
  reader: Promise<CodeScan>
  handleText: (text: string) => boolean
  setNotice: (aviso: string) => void
}) {
  const { reader, handleText, setNotice } = props
  const readFoto = async (input: HTMLInputElement) => {
    const [foto] = input.files ?? []
    input.value = ''
    if (!foto) return
    setNotice('Leyendo la foto…')
    try {
      const read = await reader
      const texts = await read(await createImageBitmap(foto))
      if (texts.length === 0) return setNotice('No se ve ningún código en la foto. Acérquese más y pruebe otra vez.')
      texts.some(handleText)
    } catch {
      setNotice(NO_READER)
    }
  }
  return (
    <label class="boton">
      <input
        class="oculto"
        type="file"
        accept="image/*"
        capture="environment"
        onChange={({ currentTarget }) => readFoto(currentTarget)}
      />
      Leer de una foto
    </label>
  )
}

/**
 * Adds a parcel to the list. The code is on the phone before the server is asked for the guide.
 * @returns the message for the courier
 */
async function addToList(repartidor: string, guia: string): Promise<string> {
  await storeWithoutData(repartidor, guia, false)
  // Without coverage, `refresh.ts` fetches the guide as soon as coverage returns.
  void updateGuia(repartidor, guia)
  return `${inGroups(guia)} en la lista.`
}

/** Guides that were scanned so far, the last first, and the steps for all of them. */
function ScannedGuias({ sesion, guias }: { sesion: Sesion; guias: readonly string[] }) {
  const rows = useStoredData(async () => {
    const [storedGuias, actions] = await Promise.all([readGuiasOf(sesion.repartidor), readActions()])
    const rowsByGuia = new Map(dispatchRows(storedGuias, actions).map((row) => [row.guia, row]))
    return guias.flatMap((guia) => rowsByGuia.get(guia) ?? [])
  }, guias.join())
  return (
    <>
      <ul class="lista">
        {rows?.map(({ guia, titulo, estado }) => (
          <li key={guia}>
            <a href={`#/guia/${guia}`}>
              <strong>{titulo}</strong> <span class="codigo">{inGroups(guia)}</span>{' '}
              {estado && <small>{ESTADO_NAMES[estado]}</small>}
            </a>
          </li>
        ))}
      </ul>
      <Lote sesion={sesion} rows={rows ?? []} dice={guias.length === 1 ? '1 guía' : `${guias.length} guías`} />
    </>
  )
}

type WithTorch = MediaTrackConstraintSet & { torch?: boolean }

function prepareLight(camera: MediaStream, setSwitch: (switchLight: () => (isLit: boolean) => void) => void) {
  const [track] = camera.getVideoTracks()
  const { torch } = (track?.getCapabilities?.() ?? {}) as { torch?: boolean }
  if (!track || !torch) return
  setSwitch(() => (isLit) => {
    track.applyConstraints({ advanced: [{ torch: isLit } as WithTorch] }).catch(() => {})
  })
}

function Luz({ switchLight }: { switchLight: (isLit: boolean) => void }) {
  const [isLit, setIsLit] = useState(false)
  return (
    <button
      type="button"
      aria-pressed={isLit}
      onClick={() => {
        setIsLit(!isLit)
        switchLight(!isLit)
      }}
    >
      {isLit ? 'Apagar la luz' : 'Encender la luz'}
    </button>
  )
}
