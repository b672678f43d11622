// Reads the codes of guides from camera pictures and typed text.
import { normalizeGuideCode } from '../../../platform/codes/guideCode.ts'
import type { crearLector } from './lector.ts'

/** Maximum longer side of a picture for the reader, in pixels. Labels stay readable, and the phone stays responsive. */
const LADO = 1_280
const FORMATOS = ['code_128', 'qr_code']

interface DetectorNativo {
  detect(fuente: CanvasImageSource): Promise<{ rawValue: string }[]>
}
interface Detectores {
  new (opciones: { formats: string[] }): DetectorNativo
  getSupportedFormats(): Promise<string[]>
}
/** Reads the texts of all codes in a picture. */
export type CodeScan = (fuente: HTMLVideoElement | ImageBitmap) => Promise<string[]>

/**
 * Returns the browser's own reader, if it reads both codes of a label. Linux, iOS and some phones have no such reader.
 */
async function detectorNativo(): Promise<DetectorNativo | undefined> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: Detectores }
  const formatos = await BarcodeDetector?.getSupportedFormats().catch((): string[] => [])
  return BarcodeDetector && FORMATOS.every((formato) => formatos?.includes(formato) ?? false)
    ? new BarcodeDetector({ formats: FORMATOS })
    : undefined
}

/** Opens the browser's own reader. If it has none, loads and opens the library. */
export async function abrirLector(): Promise<CodeScan> {
  const nativo = await detectorNativo()
  if (nativo) return async (fuente) => (await nativo.detect(fuente)).map(({ rawValue }) => rawValue)
  const { lector, wasm } = document.getElementById('app')!.dataset
  const modulo = (await import(new URL(lector!, location.href).href)) as { crearLector: typeof crearLector }
  const leer = modulo.crearLector(new URL(wasm!, location.href).href)
  const lienzo = document.createElement('canvas')
  const trazo = lienzo.getContext('2d', { willReadFrequently: true })!
  return async (fuente) => {
    const [ancho, alto] =
      'videoWidth' in fuente ? [fuente.videoWidth, fuente.videoHeight] : [fuente.width, fuente.height]
    const escala = Math.min(1, LADO / Math.max(ancho, alto))
    lienzo.width = Math.round(ancho * escala)
    lienzo.height = Math.round(alto * escala)
    if (lienzo.width === 0 || lienzo.height === 0) return []
    trazo.drawImage(fuente, 0, 0, lienzo.width, lienzo.height)
    return leer(trazo.getImageData(0, 0, lienzo.width, lienzo.height))
  }
}

/**
 * Asks the service worker to keep the library that reads codes, so that it works without coverage. Does nothing if the
 * browser has its own reader.
 */
export async function prevenirLector() {
  if (await detectorNativo()) return
  const { active } = await navigator.serviceWorker.ready
  active?.postMessage('guardar-lector')
}

/**
 * Returns the guide's code in a text that was scanned or typed; undefined if there is none. A barcode contains only the
 * code; a QR code contains an address that ends in the code.
 */
export function codigoDe(texto: string): string | undefined {
  const [, alFinal] = /^https?:\/\/[^?#]*\/([^/?#]+)/i.exec(texto.trim()) ?? []
  return normalizeGuideCode(alFinal ?? texto)
}
