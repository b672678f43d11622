// Time at which a photo was taken: from the camera's EXIF data, which making the photo smaller removes, or else from
// its file.
const EXIF = 0x45786966
const EXIF_TABLE_TAG = 0x8769
const TAKEN_TAG = 0x9003
const ZONE_TAG = 0x9011
/** Earliest valid time. Photos dated earlier come from a camera whose clock was never set. */
const EARLIEST_MS = Date.UTC(2020, 0, 1)

/** Returns the time at which a photo was taken, in ISO 8601 by the phone's clock; null if unknown. */
export async function fotoTime(foto: Blob): Promise<string | null> {
  const exifTime = await readExif(foto).catch(() => Number.NaN)
  const instant = [exifTime, (foto as File).lastModified].find((ms) => ms >= EARLIEST_MS && ms <= Date.now() + 1_000)
  return instant === undefined ? null : new Date(instant).toISOString()
}

/**
 * Returns the `DateTimeOriginal` of a JPEG in milliseconds since the epoch; NaN if it has none. Without a zone in the
 * photo, the phone's zone applies, because the phone's camera took the photo.
 */
async function readExif(foto: Blob): Promise<number> {
  const view = new DataView(await foto.slice(0, 131_072).arrayBuffer())
  // Reads segment after segment, because the EXIF segment need not be the first.
  let place = 2
  while (view.getUint16(place) !== 0xffe1 || view.getUint32(place + 4) !== EXIF) {
    if (view.getUint8(place) !== 0xff) return Number.NaN
    place += 2 + view.getUint16(place + 2)
  }
  const tiff = place + 10
  const isLittleEndian = view.getUint16(tiff) === 0x4949
  /** Returns the position of a tag's value in the table at `tableAt`; undefined if the table does not have the tag. */
  const value = (tableAt: number, etiqueta: number) => {
    for (let i = 0, n = view.getUint16(tableAt, isLittleEndian); i < n; i++) {
      const entryAt = tableAt + 2 + i * 12
      if (view.getUint16(entryAt, isLittleEndian) === etiqueta)
        return tiff + view.getUint32(entryAt + 8, isLittleEndian)
    }
    return undefined
  }
  const text = (where: number, length: number) =>
    String.fromCharCode(...new Uint8Array(view.buffer.slice(where, where + length)))
  const exifTable = value(tiff + view.getUint32(tiff + 4, isLittleEndian), EXIF_TABLE_TAG)
  const tomada = exifTable && value(exifTable, TAKEN_TAG)
  if (!tomada) return Number.NaN
  const [day, hour] = text(tomada, 19).split(' ')
  const zoneAt = value(exifTable, ZONE_TAG)
  return Date.parse(`${day!.replaceAll(':', '-')}T${hour}${zoneAt ? text(zoneAt, 6) : ''}`)
}
