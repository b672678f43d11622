// From what the camera sees to a guide's code.
import { normalizarCodigoDeGuia } from '../../../codigos/codigoDeGuia.ts'
import type { crearLector } from './lector.ts'

/** More pixels than a label needs, fewer than would make a phone stutter. */
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

/** So that the library is there when there is no coverage. */
export async function prevenirLector() {
  if (await detectorNativo()) return
  const { active } = await navigator.serviceWorker.ready
  active?.postMessage('guardar-lector')
}

/** A label's bars hold the code, its QR an address that ends in it; a person types it with spaces or a wrong letter. */
export function codigoDe(texto: string): string | undefined {
  const [, alFinal] = /^https?:\/\/[^?#]*\/([^/?#]+)/i.exec(texto.trim()) ?? []
  return normalizarCodigoDeGuia(alFinal ?? texto)
}
