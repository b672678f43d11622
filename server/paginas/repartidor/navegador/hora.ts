// When a photo was taken: what the camera wrote into it, which making it small loses, or else its file's own time.
const EXIF = 0x45786966
const DE_EXIF = 0x8769
const TOMADA = 0x9003
const HUSO = 0x9011
/** What is dated before this comes from a camera whose clock was never set. */
const PRIMERA = Date.UTC(2020, 0, 1)

/** The instant at which a photo was taken, by this phone's clock; null where nothing says it. */
export async function horaDeFoto(foto: Blob): Promise<string | null> {
  const dicha = await leerExif(foto).catch(() => Number.NaN)
  const instante = [dicha, (foto as File).lastModified].find((ms) => ms >= PRIMERA && ms <= Date.now() + 1_000)
  return instante === undefined ? null : new Date(instante).toISOString()
}

/** What a JPEG's `DateTimeOriginal` says, in its own zone or else in the phone's, whose camera took it; NaN without it. */
async function leerExif(foto: Blob): Promise<number> {
  const vista = new DataView(await foto.slice(0, 131_072).arrayBuffer())
  // Segment after segment, until the one that holds EXIF.
  let lugar = 2
  while (vista.getUint16(lugar) !== 0xffe1 || vista.getUint32(lugar + 4) !== EXIF) {
    if (vista.getUint8(lugar) !== 0xff) return Number.NaN
    lugar += 2 + vista.getUint16(lugar + 2)
  }
  const tiff = lugar + 10
  const chico = vista.getUint16(tiff) === 0x4949
  /** Where the value of a tag stands, in the table at that place. */
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
