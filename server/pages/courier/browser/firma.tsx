// Signature. It is kept as strokes, not as pixels, so that turning the phone neither loses nor blurs it.

import { useEffect, useRef } from 'preact/hooks'
import SignaturePad, { type PointGroup } from 'signature_pad'
import { canvasToBlob } from './fotos.ts'
import type { Strokes } from './store/base.ts'

/** Ratio of height to width. It is the same at every size, so strokes only have to be scaled. */
const ASPECT_RATIO = 0.5
const FINAL_WIDTH_PX = 1_000
const INK = { penColor: '#10182b', minWidth: 1, maxWidth: 3 }

function scaleStrokes({ ancho, groups }: Strokes, nuevo: number): PointGroup[] {
  const k = nuevo / ancho
  return (groups as PointGroup[]).map((stroke) => ({
    ...stroke,
    dotSize: stroke.dotSize * k,
    minWidth: stroke.minWidth * k,
    maxWidth: stroke.maxWidth * k,
    points: stroke.points.map((point) => ({ ...point, x: point.x * k, y: point.y * k })),
  }))
}

/**
 * Field in which the receiver signs, with buttons to undo a stroke and to clear.
 * @param onSign called after every change; null if no stroke is left
 */
export function Firma({ strokes, onSign }: { strokes: Strokes | null; onSign: (strokes: Strokes | null) => void }) {
  const canvasRef = useRef<HTMLCanvasElement>(null)
  const bloc = useRef<SignaturePad>(null)
  const currentStrokes = useRef(strokes)
  const notifyRef = useRef(onSign)
  notifyRef.current = onSign

  useEffect(() => {
    const canvas = canvasRef.current!
    const pad = new SignaturePad(canvas, { ...INK, backgroundColor: '#fff' })
    bloc.current = pad
    const repaint = () => {
      const width = canvas.clientWidth
      if (width === 0) return
      const density = Math.max(1, devicePixelRatio)
      canvas.width = width * density
      canvas.height = width * ASPECT_RATIO * density
      canvas.getContext('2d')!.scale(density, density)
      pad.clear()
      if (currentStrokes.current) pad.fromData(scaleStrokes(currentStrokes.current, width))
    }
    const saveStrokes = () => {
      currentStrokes.current = { ancho: canvas.clientWidth, groups: pad.toData() }
      notifyRef.current(currentStrokes.current)
    }
    pad.addEventListener('endStroke', saveStrokes)
    const resizeObserver = new ResizeObserver(repaint)
    resizeObserver.observe(canvas)
    return () => {
      resizeObserver.disconnect()
      pad.off()
    }
  }, [])

  const removeStrokes = (count: number) => {
    const keptStrokes = bloc.current!.toData().slice(0, count < 0 ? count : 0)
    bloc.current!.fromData(keptStrokes)
    currentStrokes.current =
      keptStrokes.length > 0 ? { ancho: canvasRef.current!.clientWidth, groups: keptStrokes } : null
    onSign(currentStrokes.current)
  }
  return (
    <>
      <canvas ref={canvasRef} class="firma" role="img" aria-label="Espacio para firmar con el dedo" />
      <div class="par">
        <button type="button" disabled={!strokes} onClick={() => removeStrokes(-1)}>
          Deshacer
        </button>
        <button type="button" disabled={!strokes} onClick={() => removeStrokes(0)}>
          Borrar
        </button>
      </div>
    </>
  )
}

/** Draws a signature as PNG, 1,000 by 500 pixels; undefined if the browser cannot encode it. */
export async function firmaToPng(strokes: Strokes): Promise<Blob | undefined> {
  const canvas = document.createElement('canvas')
  canvas.width = FINAL_WIDTH_PX
  canvas.height = FINAL_WIDTH_PX * ASPECT_RATIO
  const pad = new SignaturePad(canvas, { backgroundColor: '#fff' })
  pad.clear()
  pad.fromData(scaleStrokes(strokes, FINAL_WIDTH_PX))
  pad.off()
  return canvasToBlob(canvas, 'image/png')
}
