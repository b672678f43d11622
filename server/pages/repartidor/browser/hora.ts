// Time at which a photo was taken: from the camera's EXIF data, which making the photo smaller removes, or else from
// its file.
const EXIF = 0x45786966
const DE_EXIF = 0x8769
const TOMADA = 0x9003
const HUSO = 0x9011
/** Earliest valid time. Photos dated earlier come from a camera whose clock was never set. */
const PRIMERA = Date.UTC(2020, 0, 1)

/** Returns the time at which a photo was taken, in ISO 8601 by the phone's clock; null if unknown. */
export async function horaDeFoto(foto: Blob): Promise<string | null> {
  const dicha = await leerExif(foto).catch(() => Number.NaN)
  const instante = [dicha, (foto as File).lastModified].find((ms) => ms >= PRIMERA && ms <= Date.now() + 1_000)
  return instante === undefined ? null : new Date(instante).toISOString()
}

/**
 * Returns the `DateTimeOriginal` of a JPEG in milliseconds since the epoch; NaN if it has none. Without a zone in the
 * photo, the phone's zone applies, because the phone's camera took the photo.
 */
async function leerExif(foto: Blob): Promise<number> {
  const vista = new DataView(await foto.slice(0, 131_072).arrayBuffer())
  // Reads segment after segment, because the EXIF segment need not be the first.
  let lugar = 2
  while (vista.getUint16(lugar) !== 0xffe1 || vista.getUint32(lugar + 4) !== EXIF) {
    if (vista.getUint8(lugar) !== 0xff) return Number.NaN
    lugar += 2 + vista.getUint16(lugar + 2)
  }
  const tiff = lugar + 10
  const chico = vista.getUint16(tiff) === 0x4949
  /** Returns the position of a tag's value in the table at `tabla`; undefined if the table does not have the tag. */
  const valor = (tabla: number, etiqueta: number) => {
    for (let i = 0, n = vista.getUint16(tabla, chico); i < n; i++) {
      const entrada = tabla + 2 + i * 12
      if (vista.getUint16(entrada, chico) === etiqueta) return tiff + vista.getUint32(entrada + 8, chico)
    }
    return undefined
  }
  const texto = (donde: number, largo: number) =>
    String.fromCharCode(...new Uint8Array(vista.buffer.slice(donde, donde + largo)))
  const exif = valor(tiff + vista.getUint32(tiff + 4, chico), DE_EXIF)
  const tomada = exif && valor(exif, TOMADA)
  if (!tomada) return Number.NaN
  const [dia, hora] = texto(tomada, 19).split(' ')
  const huso = valor(exif, HUSO)
  return Date.parse(`${dia!.replaceAll(':', '-')}T${hora}${huso ? texto(huso, 6) : ''}`)
}
