import { dispositionOf } from '../../api/http/download.ts'
import type { Falla } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { explainGuiaCode, searchByReference } from '../records/guiaLookup.ts'
import { labelFile, typeOfLabels, VARY } from './document.ts'
import { DPI_WITHOUT_ZPL, hasNoEtiqueta, joinCodes, readEtiquetas, recordEtiquetas } from './etiqueta.ts'

export const crearEtiquetas: Handler<'crearEtiquetas'> = async ({ body, identity, accepts, abandonSignal }, deps) => {
  const { db, clock, etiquetaLinks } = deps
  const type = typeOfLabels(accepts)
  const codes = body.guias.map(normalizeGuideCode)
  const rows = await readEtiquetas(
    db,
    identity,
    codes.filter((code) => code !== undefined),
  )
  const rowByGuia = new Map(rows.map((row) => [row.guia, row]))
  const firstIndexes = new Map<string, number>()
  const faults: Falla[] = []
  const guias = codes.flatMap((code, i) => {
    const row = code === undefined ? undefined : rowByGuia.get(code)
    const firstIndex = row && firstIndexes.get(row.guia)
    if (row && firstIndex === undefined && !hasNoEtiqueta(row)) {
      firstIndexes.set(row.guia, i)
      return [row.guia]
    }
    faults.push({
      campo: `/guias/${i}`,
      codigo: 'valor_no_admitido',
      mensaje: whyNotPrintable(body.guias[i]!, code, row !== undefined, firstIndex),
    })
    return []
  })
  const { ppp } = body
  if (ppp !== undefined && type !== 'zpl')
    faults.push({ campo: '/ppp', codigo: 'valor_no_admitido', mensaje: DPI_WITHOUT_ZPL })
  if (body.formato === 'carta' && type === 'zpl')
    faults.push({ campo: '/formato', codigo: 'valor_no_admitido', mensaje: LETTER_SHEET_IN_ZPL })
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
  const isLetterSheet = body.formato === 'carta'
  if (type === 'json') {
    const link = etiquetaLinks.create(joinCodes(guias), 'inline', isLetterSheet ? 'carta' : undefined)
    return { status: 200, headers: VARY, body: { ...link, guias } }
  }
  const shape = type === 'zpl' ? { ppp: ppp ?? 203 } : ({ formato: isLetterSheet ? 'carta' : '10x15' } as const)
  const archivo = labelFile(deps, rows, shape)
  const sentBody = await archivo.body(abandonSignal(), false)
  await recordEtiquetas(db, rows, clock())
  const headers = { ...VARY, 'Content-Disposition': dispositionOf('attachment', archivo.nombre) }
  return { status: 200, headers, body: sentBody }
}

const LETTER_SHEET_IN_ZPL = 'las impresoras de etiquetas no usan hojas carta; quítelo, o pida application/pdf'

/**
 * Explains why a guide gets no label. A guide that is requested twice is rejected, because two equal labels would go on
 * two parcels and one would be wrong.
 */
function whyNotPrintable(
  written: string,
  code: string | undefined,
  exists: boolean,
  firstIndex: number | undefined,
): string {
  if (code === undefined) return `${explainGuiaCode(written)} ${searchByReference(written)}`
  if (!exists) return 'no es una guía suya del modo de esta llave; revise el identificador'
  return firstIndex === undefined
    ? 'la guía está cancelada y nadie la recogería; quítela'
    : `repite la guía de la posición ${firstIndex}; quítela`
}
