import { etagMatches } from '../../api/http/conditional.ts'
import { CROSS_ORIGIN_HEADERS, dispositionOf, downloadHeaders } from '../../api/http/download.ts'
import { ByteStream } from '../../api/http/stream.ts'
import { statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import { Problema, uniformProblem } from '../../platform/errors.ts'
import type { ByteRange } from '../../platform/files/store.ts'
import type { Handler } from '../operation.ts'
import type { ArchivoRow } from './archivo.ts'

const FIND = statement<Pick<ArchivoRow, 'archivo'>, Pick<ArchivoRow, 'mime' | 'bytes' | 'sha256'>>(
  'archivos.find',
  'part',
  `select a.mime, a.bytes, a.sha256 from archivo_indice i
   join archivo a on a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.guia_id and a.archivo = i.archivo
   where i.archivo = :archivo`,
)

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'application/pdf': 'pdf',
}

export const descargarArchivo: Handler<'descargarArchivo'> = async (
  { path: { archivo }, query = {}, headers = {}, headersOnly },
  { db, store, archivoLinks },
) => {
  const disp = archivoLinks.verify(archivo, query)
  const [row] = (disp && (await (await dbOfKey(db, archivo))?.query(FIND, { archivo }))) ?? []
  // A deleted file gets the same response as an invalid link.
  if (!disp || !row) throw uniformProblem('enlace_invalido')
  const { mime, bytes, sha256 } = row
  const name = `${archivo}.${EXTENSIONS[mime] ?? 'bin'}`
  if (store.link) {
    // The storage itself handles ranges and conditional requests. Its link is valid for one method only.
    const method = headersOnly ? 'HEAD' : 'GET'
    const disposition = dispositionOf(disp, name)
    const Location = await store.link(archivo, { method, mime, disposition })
    return { status: 307, headers: { Location, ...CROSS_ORIGIN_HEADERS }, body: undefined }
  }
  const ETag = `"${Buffer.from(sha256).toString('base64url')}"`
  if (etagMatches(headers['if-none-match'], ETag)) return { status: 304, headers: { ETag }, body: undefined }

  const fileHeaders = {
    ...downloadHeaders(disp, name, ETag),
    'Accept-Ranges': 'bytes',
  }
  const isRangeCurrent = headers['if-range'] === undefined || headers['if-range'] === ETag
  const range = isRangeCurrent ? parseRange(headers.range, bytes) : undefined
  if (range === 'fuera') {
    const contentRange = { 'Content-Range': `bytes */${bytes}` }
    throw new Problema('rango_invalido', `El archivo tiene ${bytes} bytes.`, { headers: contentRange })
  }
  const content = await store.read(archivo, range)
  if (!range) return { status: 200, headers: fileHeaders, body: new ByteStream(mime, bytes, content) }
  const { desde, hasta } = range
  return {
    status: 206,
    headers: { ...fileHeaders, 'Content-Range': `bytes ${desde}-${hasta}/${bytes}` },
    body: new ByteStream(mime, hasta - desde + 1, content),
  }
}

/**
 * Parses a `Range` header with one range (RFC 9110, 14.2).
 * @returns the range; `fuera` if the file has no byte of the range; undefined (the whole file) for several ranges or a
 * malformed header
 */
function parseRange(header: string | undefined, bytes: number): ByteRange | 'fuera' | undefined {
  const [, firstByte, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (firstByte === undefined || last === undefined || firstByte + last === '') return undefined
  if (firstByte === '') {
    const byteCount = Math.min(Number(last), bytes)
    return byteCount === 0 ? 'fuera' : { desde: bytes - byteCount, hasta: bytes - 1 }
  }
  const desde = Number(firstByte)
  const hasta = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (last !== '' && Number(last) < desde) return undefined
  return desde >= bytes ? 'fuera' : { desde, hasta }
}
