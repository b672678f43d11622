// From what the camera sees to a guide's code.
import { normalizarCodigoDeGuia } from '../../../codigos/codigoDeGuia.ts'
import type { crearLector } from './lector.ts'

/** The longest side of a picture that is read: more than a label needs, less than would make a phone stutter. */
const LADO = 1_280
const FORMATOS = ['code_128', 'qr_code']

interface DetectorNativo {
  detect(fuente: CanvasImageSource): Promise<{ rawValue: string }[]>
}
interface Detectores {
  new (opciones: { formats: string[] }): DetectorNativo
  getSupportedFormats(): Promise<string[]>
}
export type Lectura = (fuente: HTMLVideoElement | ImageBitmap) => Promise<string[]>

/** The browser's own reader, if it reads both of a label's codes: Linux, iOS and some phones have none. */
async function detectorNativo(): Promise<DetectorNativo | undefined> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: Detectores }
  const formatos = await BarcodeDetector?.getSupportedFormats().catch((): string[] => [])
  return BarcodeDetector && FORMATOS.every((formato) => formatos?.includes(formato) ?? false)
    ? new BarcodeDetector({ formats: FORMATOS })
    : undefined
}

export async function abrirLector(): Promise<Lectura> {
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

/** Fetches the library that reads codes, so that it is there when there is no coverage. */
export async function prevenirLector() {
  if (await detectorNativo()) return
  const { active } = await navigator.serviceWorker.ready
  active?.postMessage('guardar-lector')
}

/** The guide's code in what was read or typed: bars hold it alone, a QR an address that ends in it. */
export function codigoDe(texto: string): string | undefined {
  const [, alFinal] = /^https?:\/\/[^?#]*\/([^/?#]+)/i.exec(texto.trim()) ?? []
  return normalizarCodigoDeGuia(alFinal ?? texto)
}
