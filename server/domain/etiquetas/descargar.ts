import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { etagMatches, etagOf } from '../../api/http/conditional.ts'
import { downloadHeaders } from '../../api/http/download.ts'
import { ByteStream } from '../../api/http/stream.ts'
import { forDocuments } from '../../platform/brand/brand.ts'
import { unavailable, uniformProblem } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { anotarEtiquetas, DIBUJO, datosDe, leerEtiquetas, separar, sinEtiqueta } from './etiqueta.ts'

/**
 * Number of labels whose rows may be read for the rate-limit cost of drawing one label. In a measurement, 30 clients
 * opened one link of 100 labels in a loop, and the labels were drawn once. The reads took all database connections, and
 * the creations of other clients waited for 1.2 s.
 */
const POR_DIBUJO = 5

const huellaDe = (bytes: Uint8Array) => hash('sha256', bytes)

/**
 * Serves labels to any client that presents a valid signed link. The merchant's access to the guides was checked when
 * the link was created.
 */
export const descargarEtiquetas: Handler<'descargarEtiquetas'> = async (
  { path, query = {}, headers = {}, red, soloCabeceras, alAbandonar },
  { db, reloj, turnosDeEnlaces, enlacesDeEtiquetas, hilos, recientes, limites, ajustes },
) => {
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
  const datos = filas.map((fila) => datosDe(fila, ajustes))
  // The same data gives the same bytes, so nothing is drawn for a client that already has them or requests only
  // headers.
  const marca = forDocuments(ajustes.marca)
  // The link's signature covers the format, so the format is one that the service supports.
  const formato = query.formato === 'carta' ? 'carta' : '10x15'
  const deMarca = [marca.nombre, marca.logo && huellaDe(marca.logo.negro.png)]
  const ETag = etagOf(JSON.stringify([DIBUJO, formato, ...deMarca, datos]))
  const anotar = async () => {
    if (!soloCabeceras) await anotarEtiquetas(db, filas, reloj())
  }
  if (etagMatches(headers['if-none-match'], ETag)) {
    await anotar()
    return { status: 304, headers: { ETag }, body: undefined }
  }
  const dibujar = (senal: AbortSignal) => {
    limites.chargeLabels(red, filas.length)
    return hilos.run(filas[0]!.comercio_id, 'etiquetas', { marca, etiquetas: datos, formato }, senal)
  }
  const pdf = soloCabeceras ? recientes.find(ETag) : await recientes.get(ETag, dibujar, senal)
  await anotar()
  const nombre = filas.length === 1 ? `etiqueta-${path.guias}.pdf` : `etiquetas-${filas.length}.pdf`
  return {
    status: 200,
    headers: downloadHeaders(disp, nombre, ETag),
    body: new ByteStream('application/pdf', pdf?.length, Readable.from(pdf ? [pdf] : [])),
  }
}
