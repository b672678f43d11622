import { etagMatches } from '../../api/http/conditional.ts'
import { downloadHeaders } from '../../api/http/download.ts'
import { unavailable, uniformProblem } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { labelFile } from './documento.ts'
import { anotarEtiquetas, leerEtiquetas, separar, sinEtiqueta } from './etiqueta.ts'

/**
 * Number of labels whose rows may be read for the rate-limit cost of drawing one label. In a measurement, 30 clients
 * opened one link of 100 labels in a loop, and the labels were drawn once. The reads took all database connections, and
 * the creations of other clients waited for 1.2 s.
 */
const POR_DIBUJO = 5

/**
 * Serves labels to any client that presents a valid signed link. The merchant's access to the guides was checked when
 * the link was created.
 */
export const descargarEtiquetas: Handler<'descargarEtiquetas'> = async (
  { path, query = {}, headers = {}, red, soloCabeceras, alAbandonar },
  deps,
) => {
  const { db, reloj, turnosDeEnlaces, enlacesDeEtiquetas, limites } = deps
  const disp = enlacesDeEtiquetas.verificar(path.guias, query)
  const codigos = separar(path.guias)
  const senal = alAbandonar()
  const leer = async () => {
    if (senal.aborted) throw unavailable('La solicitud se abandonó.')
    return leerEtiquetas(db, 'todos', codigos)
  }
  if (disp) limites.chargeLabels(red, Math.ceil(codigos.length / POR_DIBUJO))
  const filas = disp ? await turnosDeEnlaces(red, leer) : []
  if (!disp || filas.length !== codigos.length || filas.some(sinEtiqueta)) throw uniformProblem('enlace_invalido')
  // The link's signature covers the format, so the format is one that the service supports.
  const formato = query.formato === 'carta' ? 'carta' : '10x15'
  const archivo = labelFile(deps, filas, { formato }, (cuantas) => limites.chargeLabels(red, cuantas))
  const { ETag } = archivo
  const anotar = async () => {
    if (!soloCabeceras) await anotarEtiquetas(db, filas, reloj())
  }
  // Nothing is drawn for a client that already has the same bytes or requests only headers.
  if (etagMatches(headers['if-none-match'], ETag)) {
    await anotar()
    return { status: 304, headers: { ETag }, body: undefined }
  }
  const body = await archivo.body(senal, soloCabeceras)
  await anotar()
  return { status: 200, headers: downloadHeaders(disp, archivo.nombre, ETag), body }
}
