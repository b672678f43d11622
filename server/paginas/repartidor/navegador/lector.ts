// Reads codes where the browser can't. Loaded only there: with its WebAssembly it weighs more than all the rest.
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'

export function crearLector(wasm: string) {
  prepareZXingModule({ overrides: { locateFile: () => wasm } })
  return async (imagen: ImageData): Promise<string[]> => {
    const leidos = await readBarcodes(imagen, {
      formats: ['Code128', 'QRCode'],
      tryHarder: true,
      maxNumberOfSymbols: 4,
    })
    return leidos.map(({ text }) => text)
  }
}
