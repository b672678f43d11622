// Reader of codes for browsers without their own reader. It loads only there: with its WebAssembly it is larger than
// all other files of the page together.
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'

/**
 * Creates a function that returns the texts of the codes in a picture, at most 4.
 * @param wasm URL of the WebAssembly module
 */
export function createReader(wasm: string) {
  prepareZXingModule({ overrides: { locateFile: () => wasm } })
  return async (image: ImageData): Promise<string[]> => {
    const barcodes = await readBarcodes(image, {
      formats: ['Code128', 'QRCode'],
      tryHarder: true,
      maxNumberOfSymbols: 4,
    })
    return barcodes.map(({ text }) => text)
  }
}
