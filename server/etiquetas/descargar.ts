import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Handler } from '../contrato/tipos.ts'
import { noDisponible, problemaUniforme } from '../errores.ts'
import { coincideEtag, etagDe } from '../http/condicional.ts'
import { cabecerasDeDescarga } from '../http/descarga.ts'
import { Flujo } from '../http/flujo.ts'
import { paraDocumentos } from '../marca/marca.ts'
import { DIBUJO, datosDe, leerEtiquetas, separar, sinEtiqueta } from './etiqueta.ts'

/**
 * How many labels may be read for the cost of drawing one. A link of a hundred that 30 clients opened in a loop, drawn once,
 * took the database's connections from everybody: others' creations waited for 1.2 s.
 */
const POR_DIBUJO = 10

const huellaDe = (bytes: Uint8Array) => hash('sha256', bytes)

/** Whoever made the link had shown that the guides are his; here the link is all there is to show. */
export const descargarEtiquetas: Handler<'descargarEtiquetas'> = async (
  { path, query = {}, headers = {}, red, soloCabeceras, alAbandonar },
  { db, turnosDeEnlaces, enlacesDeEtiquetas, hilos, recientes, limites, ajustes },
) => {
  const disp = enlacesDeEtiquetas.verificar(path.guias, query)
  const codigos = separar(path.guias)
  const senal = alAbandonar()
  const leer = async () => {
    if (senal.aborted) throw noDisponible('La solicitud se abandonó.')
    return leerEtiquetas(db, 'todos', codigos)
  }
  if (disp) limites.gastarEtiquetas(red, Math.ceil(codigos.length / POR_DIBUJO))
  const filas = disp ? await turnosDeEnlaces(red, leer) : []
  if (!disp || filas.length !== codigos.length || filas.some(sinEtiqueta)) throw problemaUniforme('enlace_invalido')
  const datos = filas.map((fila) => datosDe(fila, ajustes))
  // The same data are the same bytes: nothing is drawn for whoever has them already, or only asks about them.
  const marca = paraDocumentos(ajustes.marca)
  const ETag = etagDe(JSON.stringify([DIBUJO, marca.nombre, marca.logo && huellaDe(marca.logo.negro.png), datos]))
  if (coincideEtag(headers['if-none-match'], ETag)) return { status: 304, headers: { ETag }, body: undefined }
  const dibujar = (senal: AbortSignal) => {
    limites.gastarEtiquetas(red, filas.length)
    return hilos.hacer(filas[0]!.comercio_id, 'etiquetas', { marca, etiquetas: datos }, senal)
  }
  const pdf = soloCabeceras ? recientes.hallar(ETag) : await recientes.dar(ETag, dibujar, senal)
  const nombre = filas.length === 1 ? `etiqueta-${path.guias}.pdf` : `etiquetas-${filas.length}.pdf`
  return {
    status: 200,
    headers: cabecerasDeDescarga(disp, nombre, ETag),
    body: new Flujo('application/pdf', pdf?.length, Readable.from(pdf ? [pdf] : [])),
  }
}
