import { etagMatches } from '../../api/http/conditional.ts'
import { downloadHeaders } from '../../api/http/download.ts'
import { unavailable, uniformProblem } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { labelFile } from './document.ts'
import { hasNoEtiqueta, readEtiquetas, recordEtiquetas, splitCodes } from './etiqueta.ts'

/**
 * Number of labels whose rows may be read for the rate-limit cost of drawing one label. In a measurement, 30 clients
 * opened one link of 100 labels in a loop, and the labels were drawn once. The reads took all database connections, and
 * the creations of other clients waited for 1.2 s.
 */
const READS_PER_DRAW = 5

/**
 * Serves labels to any client that presents a valid signed link. The merchant's access to the guides was checked when
 * the link was created.
 */
export const descargarEtiquetas: Handler<'descargarEtiquetas'> = async (
  { path, query = {}, headers = {}, red, headersOnly, abandonSignal },
  deps,
) => {
  const { db, clock, linkTurns, etiquetaLinks, limits } = deps
  const disp = etiquetaLinks.verify(path.guias, query)
  const codes = splitCodes(path.guias)
  const signal = abandonSignal()
  const read = async () => {
    if (signal.aborted) throw unavailable('La solicitud se abandonó.')
    return readEtiquetas(db, 'todos', codes)
  }
  if (disp) limits.chargeLabels(red, Math.ceil(codes.length / READS_PER_DRAW))
  const rows = disp ? await linkTurns(red, read) : []
  if (!disp || rows.length !== codes.length || rows.some(hasNoEtiqueta)) throw uniformProblem('enlace_invalido')
  // The link's signature covers the format, so the format is one that the service supports.
  const formato = query.formato === 'carta' ? 'carta' : '10x15'
  const archivo = labelFile(deps, rows, { formato }, (labelCount) => limits.chargeLabels(red, labelCount))
  const { ETag } = archivo
  const recordLabels = async () => {
    if (!headersOnly) await recordEtiquetas(db, rows, clock())
  }
  // Nothing is drawn for a client that already has the same bytes or requests only headers.
  if (etagMatches(headers['if-none-match'], ETag)) {
    await recordLabels()
    return { status: 304, headers: { ETag }, body: undefined }
  }
  const body = await archivo.body(signal, headersOnly)
  await recordLabels()
  return { status: 200, headers: downloadHeaders(disp, archivo.nombre, ETag), body }
}
