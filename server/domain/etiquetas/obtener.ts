import { etagMatches } from '../../api/http/conditional.ts'
import { dispositionOf } from '../../api/http/download.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { labelFile, typeOfLabels, VARY } from './document.ts'
import { DPI_WITHOUT_ZPL, hasNoEtiqueta, readEtiquetas, recordEtiquetas } from './etiqueta.ts'

export const obtenerEtiqueta: Handler<'obtenerEtiqueta'> = async (
  { path, query = {}, headers = {}, identity, accepts, headersOnly, abandonSignal },
  deps,
) => {
  const { db, clock, etiquetaLinks } = deps
  const type = typeOfLabels(accepts)
  const { ppp } = query
  if (ppp !== undefined && type !== 'zpl') {
    const fault = { campo: 'ppp', codigo: 'valor_no_admitido', mensaje: DPI_WITHOUT_ZPL } as const
    throw problemOfFaults('parametro_invalido', [fault])
  }
  const guiaRow = await findGuia(db, identity, path.guia)
  const { guia, estado } = guiaRow
  if (hasNoEtiqueta(guiaRow))
    throw new Problema('guia_cancelada', 'La guía está cancelada; nadie la recogería. Cree otra.', { estado })
  if (type === 'json') {
    return { status: 200, headers: VARY, body: { ...etiquetaLinks.create(guia, 'inline'), guias: [guia] } }
  }
  const rows = await readEtiquetas(db, identity, [guia])
  const archivo = labelFile(deps, rows, type === 'zpl' ? { ppp: ppp ?? 203 } : { formato: '10x15' })
  const { ETag, nombre } = archivo
  const isUnchanged = etagMatches(headers['if-none-match'], ETag)
  const body = isUnchanged ? undefined : await archivo.body(abandonSignal(), headersOnly)
  if (!headersOnly) await recordEtiquetas(db, rows, clock())
  if (!body) return { status: 304, headers: { ...VARY, ETag }, body }
  return { status: 200, headers: { ...VARY, ETag, 'Content-Disposition': dispositionOf('attachment', nombre) }, body }
}
