// Signature. It is kept as strokes, not as pixels, so that turning the phone neither loses nor blurs it.

import { useEffect, useRef } from 'preact/hooks'
import SignaturePad, { type PointGroup } from 'signature_pad'
import { comoBlob } from './fotos.ts'
import type { Trazos } from './store/base.ts'

/** Ratio of height to width. It is the same at every size, so strokes only have to be scaled. */
const PROPORCION = 0.5
const ANCHO_FINAL = 1_000
const TINTA = { penColor: '#10182b', minWidth: 1, maxWidth: 3 }

function aEscala({ ancho, grupos }: Trazos, nuevo: number): PointGroup[] {
  const k = nuevo / ancho
  return (grupos as PointGroup[]).map((grupo) => ({
    ...grupo,
    dotSize: grupo.dotSize * k,
    minWidth: grupo.minWidth * k,
    maxWidth: grupo.maxWidth * k,
    points: grupo.points.map((punto) => ({ ...punto, x: punto.x * k, y: punto.y * k })),
  }))
}

/**
 * Field in which the receiver signs, with buttons to undo a stroke and to clear.
 * @param alFirmar called after every change; null if no stroke is left
 */
export function Firma({ trazos, alFirmar }: { trazos: Trazos | null; alFirmar: (trazos: Trazos | null) => void }) {
  const lienzo = useRef<HTMLCanvasElement>(null)
  const bloc = useRef<SignaturePad>(null)
  const actuales = useRef(trazos)
  const avisar = useRef(alFirmar)
  avisar.current = alFirmar

  useEffect(() => {
    const canvas = lienzo.current!
    const pad = new SignaturePad(canvas, { ...TINTA, backgroundColor: '#fff' })
    bloc.current = pad
    const repintar = () => {
      const ancho = canvas.clientWidth
      if (ancho === 0) return
      const densidad = Math.max(1, devicePixelRatio)
      canvas.width = ancho * densidad
      canvas.height = ancho * PROPORCION * densidad
      canvas.getContext('2d')!.scale(densidad, densidad)
      pad.clear()
      if (actuales.current) pad.fromData(aEscala(actuales.current, ancho))
    }
    const guardar = () => {
      actuales.current = { ancho: canvas.clientWidth, grupos: pad.toData() }
      avisar.current(actuales.current)
    }
    pad.addEventListener('endStroke', guardar)
    const vigia = new ResizeObserver(repintar)
    vigia.observe(canvas)
    return () => {
      vigia.disconnect()
      pad.off()
    }
  }, [])

  const quitar = (cuantos: number) => {
    const grupos = bloc.current!.toData().slice(0, cuantos < 0 ? cuantos : 0)
    bloc.current!.fromData(grupos)
    actuales.current = grupos.length > 0 ? { ancho: lienzo.current!.clientWidth, grupos } : null
    alFirmar(actuales.current)
  }
  return (
    <>
      <canvas ref={lienzo} class="firma" role="img" aria-label="Espacio para firmar con el dedo" />
      <div class="par">
        <button type="button" disabled={!trazos} onClick={() => quitar(-1)}>
          Deshacer
        </button>
        <button type="button" disabled={!trazos} onClick={() => quitar(0)}>
          Borrar
        </button>
      </div>
    </>
  )
}

/** Draws a signature as PNG, 1,000 by 500 pixels; undefined if the browser cannot encode it. */
export async function firmaComoPng(trazos: Trazos): Promise<Blob | undefined> {
  const canvas = document.createElement('canvas')
  canvas.width = ANCHO_FINAL
  canvas.height = ANCHO_FINAL * PROPORCION
  const pad = new SignaturePad(canvas, { backgroundColor: '#fff' })
  pad.clear()
  pad.fromData(aEscala(trazos, ANCHO_FINAL))
  pad.off()
  return comoBlob(canvas, 'image/png')
}
