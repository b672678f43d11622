import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { etagOf } from '../../api/http/conditional.ts'
import { ByteStream } from '../../api/http/stream.ts'
import { forDocuments } from '../../platform/brand/brand.ts'
import { Problema } from '../../platform/errors.ts'
import type { Resolution } from '../../platform/zpl/zpl.ts'
import type { Deps } from '../deps.ts'
import { DIBUJO, datosDe, type FilaEtiqueta } from './etiqueta.ts'

/** Form of a file of labels: the paper of a PDF, or the resolution of a label printer. */
export type LabelForm = { formato: '10x15' | 'carta' } | { ppp: Resolution }

const JSON_TYPES = ['application/json', 'application/problem+json']
const PDF = 'application/pdf'
const ZPL = 'application/zpl'

/**
 * Returns the media type in which the client wants labels: a link in JSON, or the file itself.
 * @throws Problema 406 if `Accept` admits none of them
 */
export function typeOfLabels(acepta: (tipos: string[]) => string | false): 'json' | 'pdf' | 'zpl' {
  const tipo = acepta([...JSON_TYPES, PDF, ZPL])
  if (tipo === PDF) return 'pdf'
  if (tipo === ZPL) return 'zpl'
  if (tipo) return 'json'
  const mensaje = `Pida en Accept uno de estos formatos: application/json, ${PDF}, ${ZPL}.`
  throw new Problema('formato_no_disponible', mensaje, { cabeceras: VARY })
}

/** Header of answers whose form depends on `Accept`. */
export const VARY = { Vary: 'Accept' }

const digestOf = (bytes: Uint8Array) => hash('sha256', bytes)

/** File of labels that is made when its bytes are needed. The same data gives the same bytes and the same entity tag. */
export interface LabelFile {
  ETag: string
  nombre: string
  /** Returns the bytes as the body of an answer; without content for a client that requests only headers. */
  body(senal: AbortSignal, soloCabeceras: boolean): Promise<ByteStream>
}

/**
 * Prepares a file of labels from the rows of their guides, of which there is at least one.
 * @param cobrar counts the labels for a rate limit before they are drawn
 */
export function labelFile(
  { hilos, recientes, ajustes }: Pick<Deps, 'hilos' | 'recientes' | 'ajustes'>,
  filas: readonly FilaEtiqueta[],
  forma: LabelForm,
  cobrar: (cuantas: number) => void = () => {},
): LabelFile {
  const etiquetas = filas.map((fila) => datosDe(fila, ajustes))
  const marca = forDocuments(ajustes.marca)
  const deMarca = [marca.nombre, marca.logo && digestOf(marca.logo.negro.png)]
  const enZpl = 'ppp' in forma
  const ETag = etagOf(JSON.stringify([DIBUJO, enZpl ? `zpl${forma.ppp}` : forma.formato, ...deMarca, etiquetas]))
  const dueno = filas[0]!.comercio_id
  const dibujar = (senal: AbortSignal) => {
    cobrar(filas.length)
    return enZpl
      ? hilos.run(dueno, 'zpl', { marca, etiquetas, ppp: forma.ppp }, senal)
      : hilos.run(dueno, 'etiquetas', { marca, etiquetas, formato: forma.formato }, senal)
  }
  const base = filas.length === 1 ? `etiqueta-${filas[0]!.guia}` : `etiquetas-${filas.length}`
  return {
    ETag,
    nombre: `${base}.${enZpl ? 'zpl' : 'pdf'}`,
    async body(senal, soloCabeceras) {
      const bytes = soloCabeceras ? recientes.find(ETag) : await recientes.get(ETag, dibujar, senal)
      return new ByteStream(enZpl ? ZPL : PDF, bytes?.length, Readable.from(bytes ? [bytes] : []))
    },
  }
}
