// Reads the codes of guides from camera pictures and typed text.
import { normalizeGuideCode } from '../../../platform/codes/guideCode.ts'
import type { createReader } from './scanner.ts'

/** Maximum longer side of a picture for the reader, in pixels. Labels stay readable, and the phone stays responsive. */
const MAX_SIDE_PX = 1_280
const FORMATS = ['code_128', 'qr_code']

interface NativeDetector {
  detect(source: CanvasImageSource): Promise<{ rawValue: string }[]>
}
interface DetectorConstructor {
  new (options: { formats: string[] }): NativeDetector
  getSupportedFormats(): Promise<string[]>
}
/** Reads the texts of all codes in a picture. */
export type CodeScan = (source: HTMLVideoElement | ImageBitmap) => Promise<string[]>

/**
 * Returns the browser's own reader, if it reads both codes of a label. Linux, iOS and some phones have no such reader.
 */
async function nativeDetector(): Promise<NativeDetector | undefined> {
  const { BarcodeDetector } = globalThis as { BarcodeDetector?: DetectorConstructor }
  const formats = await BarcodeDetector?.getSupportedFormats().catch((): string[] => [])
  return BarcodeDetector && FORMATS.every((format) => formats?.includes(format) ?? false)
    ? new BarcodeDetector({ formats: FORMATS })
    : undefined
}

/** Opens the browser's own reader. If it has none, loads and opens the library. */
export async function openReader(): Promise<CodeScan> {
  const native = await nativeDetector()
  if (native) return async (source) => (await native.detect(source)).map(({ rawValue }) => rawValue)
  const { lector: readerPath, wasm } = document.getElementById('app')!.dataset
  const readerModule = (await import(new URL(readerPath!, location.href).href)) as { createReader: typeof createReader }
  const read = readerModule.createReader(new URL(wasm!, location.href).href)
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d', { willReadFrequently: true })!
  return async (source) => {
    const [width, height] =
      'videoWidth' in source ? [source.videoWidth, source.videoHeight] : [source.width, source.height]
    const scale = Math.min(1, MAX_SIDE_PX / Math.max(width, height))
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    if (canvas.width === 0 || canvas.height === 0) return []
    context.drawImage(source, 0, 0, canvas.width, canvas.height)
    return read(context.getImageData(0, 0, canvas.width, canvas.height))
  }
}

/**
 * Asks the service worker to keep the library that reads codes, so that it works without coverage. Does nothing if the
 * browser has its own reader.
 */
export async function prefetchReader() {
  if (await nativeDetector()) return
  const { active } = await navigator.serviceWorker.ready
  active?.postMessage('guardar-lector')
}

/**
 * Returns the guide's code in a text that was scanned or typed; undefined if there is none. A barcode contains only the
 * code; a QR code contains an address that ends in the code.
 */
export function parseGuiaCode(text: string): string | undefined {
  const [, lastSegment] = /^https?:\/\/[^?#]*\/([^/?#]+)/i.exec(text.trim()) ?? []
  return normalizeGuideCode(lastSegment ?? text)
}
