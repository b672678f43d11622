import { useEffect, useRef, useState } from 'preact/hooks'
import { enGrupos } from '../../../../codigos/codigoDeGuia.ts'
import { encolar, acciones as leerAcciones } from '../almacen/acciones.ts'
import type { Sesion } from '../almacen/base.ts'
import { guardarGuias, guardarSinDatos, guiaDe } from '../almacen/guias.ts'
import { leerGuia } from '../api.ts'
import { abrirLector, codigoDe, type Lectura } from '../codigos.ts'
import { NOMBRES } from '../dominio.ts'
import { ir } from '../hooks.ts'
import { previsto } from '../previsto.ts'
import { SIN_ESPACIO } from './paso.tsx'
import { Titulo, Volver } from './piezas.tsx'

const CADA_MS = 150
const AJENO = 'Ese código no es de una guía. Busque el de la etiqueta de envío.'

/** What is done with each of many parcels. */
const CON_CADA_UNA = { cargar: 'Solo cargarlas', recolectado: 'Recogerlas', en_ruta: 'Salir a ruta con ellas' } as const
type ConCadaUna = keyof typeof CON_CADA_UNA

/** The screen of the camera: one parcel is opened, or (`varias`) a day's are loaded or taken without looking at each. */
export function Escanear({ sesion }: { sesion: Sesion }) {
  const video = useRef<HTMLVideoElement>(null)
  const [aviso, avisar] = useState('Abriendo la cámara…')
  const [sinCamara, faltar] = useState(false)
  const [varias, alternar] = useState(false)
  const [leidas, sumar] = useState<string[]>([])
  const [luz, poderLuz] = useState<((encendida: boolean) => void) | null>(null)
  const [que, elegir] = useState<ConCadaUna>('cargar')
  const actual = useRef({ varias, que })
  actual.current = { varias, que }
  const lector = useRef<Promise<Lectura>>(null)
  lector.current ??= abrirLector()

  const leida = (texto: string): boolean => {
    const guia = codigoDe(texto)
    if (!guia) {
      avisar(AJENO)
      return false
    }
    if (!actual.current.varias) {
      navigator.vibrate?.(80)
      guardarSinDatos(sesion.repartidor, guia, false).then(() => ir(`guia/${guia}`, true))
      return true
    }
    sumar((antes) => {
      if (antes.includes(guia)) return antes
      navigator.vibrate?.(80)
      conUna(sesion, guia, actual.current.que).then(avisar, () => {
        sumar((leidas) => leidas.filter((otra) => otra !== guia))
        avisar(SIN_ESPACIO)
      })
      return [guia, ...antes]
    })
    return false
  }

  useEffect(() => {
    let vivo = true
    let camara: MediaStream | undefined
    const mirar = async () => {
      const leer = await lector.current!
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

  const leerFoto = async (entrada: HTMLInputElement) => {
    const [foto] = entrada.files ?? []
    entrada.value = ''
    if (!foto) return
    avisar('Leyendo la foto…')
    try {
      const leer = await lector.current!
      const textos = await leer(await createImageBitmap(foto))
      if (textos.length === 0) return avisar('No se ve ningún código en la foto. Acérquese más y pruebe otra vez.')
      textos.some(leida)
    } catch {
      avisar(SIN_LECTOR)
    }
  }
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
      {varias && (
        <fieldset>
          <legend>Qué hace con ellas</legend>
          {Object.entries(CON_CADA_UNA).map(([uno, dicho]) => (
            <label key={uno} class="opcion">
              <input
                type="radio"
                name="que"
                checked={uno === que}
                onChange={() => {
                  elegir(uno as ConCadaUna)
                  sumar([])
                }}
              />{' '}
              {dicho}
            </label>
          ))}
        </fieldset>
      )}
      {varias && <p class="cuenta">{leidas.length === 1 ? '1 guía' : `${leidas.length} guías`}</p>}
      <label class="boton">
        <input
          class="oculta"
          type="file"
          accept="image/*"
          capture="environment"
          onChange={({ currentTarget }) => leerFoto(currentTarget)}
        />
        Leer de una foto
      </label>
    </>
  )
}
const SIN_LECTOR =
  'El lector de códigos no se pudo cargar: hace falta cobertura la primera vez. Escriba la guía en el inicio.'

/** Loads one of many parcels, or takes it: what was done is on the phone before anything is asked. Returns what to say. */
async function conUna(sesion: Sesion, guia: string, que: ConCadaUna): Promise<string> {
  const { repartidor, nombre } = sesion
  await guardarSinDatos(repartidor, guia, false)
  if (que === 'cargar') {
    traer(repartidor, guia)
    return `${enGrupos(guia)} en la lista.`
  }
  const datos = (await guiaDe(repartidor, guia))?.datos ?? null
  if (!previsto({ guia, datos }, await leerAcciones()).pasos.some(({ estado }) => estado === que))
    return `${enGrupos(guia)} no se puede tomar así. Ábrala para ver por qué.`
  const nada = { evento: {}, fotos: [], firma: null, trazos: null }
  await encolar({ repartidor, nombre, guia, estado: que, ...nada }, Date.now(), null)
  return `${enGrupos(guia)}: ${NOMBRES[que].toLowerCase()}.`
}

/** Without coverage a guide is fetched as soon as there is some: see refrescar.ts. */
async function traer(repartidor: string, guia: string) {
  const respuesta = await leerGuia(guia).catch(() => undefined)
  if (respuesta?.status === 200) await guardarGuias(repartidor, [respuesta.cuerpo], respuesta.servidor)
  if (respuesta?.status === 404) await guardarSinDatos(repartidor, guia, true)
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
