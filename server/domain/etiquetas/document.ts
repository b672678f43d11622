import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { etagOf } from '../../api/http/conditional.ts'
import { ByteStream } from '../../api/http/stream.ts'
import { forDocuments } from '../../platform/brand/brand.ts'
import { Problema } from '../../platform/errors.ts'
import type { Resolution } from '../../platform/zpl/zpl.ts'
import type { Deps } from '../deps.ts'
import { DRAW_VERSION, type EtiquetaRow, etiquetaDataOf } from './etiqueta.ts'

/** Form of a file of labels: the paper of a PDF, or the resolution of a label printer. */
export type LabelForm = { formato: '10x15' | 'carta' } | { ppp: Resolution }

const JSON_TYPES = ['application/json', 'application/problem+json']
const PDF = 'application/pdf'
const ZPL = 'application/zpl'

/**
 * Returns the media type in which the client wants labels: a link in JSON, or the file itself.
 * @throws Problema 406 if `Accept` admits none of them
 */
export function typeOfLabels(accepts: (types: string[]) => string | false): 'json' | 'pdf' | 'zpl' {
  const type = accepts([...JSON_TYPES, PDF, ZPL])
  if (type === PDF) return 'pdf'
  if (type === ZPL) return 'zpl'
  if (type) return 'json'
  const mensaje = `Pida en Accept uno de estos formatos: application/json, ${PDF}, ${ZPL}.`
  throw new Problema('formato_no_disponible', mensaje, { headers: VARY })
}

/** Header of answers whose form depends on `Accept`. */
export const VARY = { Vary: 'Accept' }

const digestOf = (bytes: Uint8Array) => hash('sha256', bytes)

/** File of labels that is made when its bytes are needed. The same data gives the same bytes and the same entity tag. */
export interface LabelFile {
  ETag: string
  nombre: string
  /** Returns the bytes as the body of an answer; without content for a client that requests only headers. */
  body(signal: AbortSignal, headersOnly: boolean): Promise<ByteStream>
}

/**
 * Prepares a file of labels from the rows of their guides, of which there is at least one.
 * @param charge counts the labels for a rate limit before they are drawn
 */
export function labelFile(
  { threads, recentDocuments, settings }: Pick<Deps, 'threads' | 'recentDocuments' | 'settings'>,
  rows: readonly EtiquetaRow[],
  shape: LabelForm,
  charge: (labelCount: number) => void = () => {},
): LabelFile {
  const etiquetas = rows.map((row) => etiquetaDataOf(row, settings))
  const brand = forDocuments(settings.brand)
  const brandKey = [brand.nombre, brand.logo && digestOf(brand.logo.black.png)]
  const isZpl = 'ppp' in shape
  const ETag = etagOf(JSON.stringify([DRAW_VERSION, isZpl ? `zpl${shape.ppp}` : shape.formato, ...brandKey, etiquetas]))
  const owner = rows[0]!.comercio_id
  const draw = (signal: AbortSignal) => {
    charge(rows.length)
    return isZpl
      ? threads.run(owner, 'zpl', { brand, etiquetas, ppp: shape.ppp }, signal)
      : threads.run(owner, 'etiquetas', { brand, etiquetas, formato: shape.formato }, signal)
  }
  const base = rows.length === 1 ? `etiqueta-${rows[0]!.guia}` : `etiquetas-${rows.length}`
  return {
    ETag,
    nombre: `${base}.${isZpl ? 'zpl' : 'pdf'}`,
    async body(signal, headersOnly) {
      const bytes = headersOnly ? recentDocuments.find(ETag) : await recentDocuments.get(ETag, draw, signal)
      return new ByteStream(isZpl ? ZPL : PDF, bytes?.length, Readable.from(bytes ? [bytes] : []))
    },
  }
}
