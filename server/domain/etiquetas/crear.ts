import { dispositionOf } from '../../api/http/download.ts'
import type { Falla } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { explicarCodigo } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { labelFile, typeOfLabels, VARY } from './documento.ts'
import { anotarEtiquetas, leerEtiquetas, PPP_SIN_ZPL, sinEtiqueta, unir } from './etiqueta.ts'

export const crearEtiquetas: Handler<'crearEtiquetas'> = async ({ body, identidad, acepta, alAbandonar }, deps) => {
  const { db, reloj, enlacesDeEtiquetas } = deps
  const tipo = typeOfLabels(acepta)
  const codigos = body.guias.map(normalizeGuideCode)
  const filas = await leerEtiquetas(
    db,
    identidad,
    codigos.filter((codigo) => codigo !== undefined),
  )
  const suyas = new Map(filas.map((fila) => [fila.guia, fila]))
  const primeras = new Map<string, number>()
  const fallas: Falla[] = []
  const guias = codigos.flatMap((codigo, i) => {
    const fila = codigo === undefined ? undefined : suyas.get(codigo)
    const primera = fila && primeras.get(fila.guia)
    if (fila && primera === undefined && !sinEtiqueta(fila)) {
      primeras.set(fila.guia, i)
      return [fila.guia]
    }
    fallas.push({
      campo: `/guias/${i}`,
      codigo: 'valor_no_admitido',
      mensaje: porQueNo(body.guias[i]!, codigo, fila !== undefined, primera),
    })
    return []
  })
  const { ppp } = body
  if (ppp !== undefined && tipo !== 'zpl')
    fallas.push({ campo: '/ppp', codigo: 'valor_no_admitido', mensaje: PPP_SIN_ZPL })
  if (body.formato === 'carta' && tipo === 'zpl')
    fallas.push({ campo: '/formato', codigo: 'valor_no_admitido', mensaje: CARTA_EN_ZPL })
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
  const enCarta = body.formato === 'carta'
  if (tipo === 'json') {
    const enlace = enlacesDeEtiquetas.crear(unir(guias), 'inline', enCarta ? 'carta' : undefined)
    return { status: 200, headers: VARY, body: { ...enlace, guias } }
  }
  const forma = tipo === 'zpl' ? { ppp: ppp ?? 203 } : ({ formato: enCarta ? 'carta' : '10x15' } as const)
  const archivo = labelFile(deps, filas, forma)
  const enviada = await archivo.body(alAbandonar(), false)
  await anotarEtiquetas(db, filas, reloj())
  const headers = { ...VARY, 'Content-Disposition': dispositionOf('attachment', archivo.nombre) }
  return { status: 200, headers, body: enviada }
}

const CARTA_EN_ZPL = 'las impresoras de etiquetas no usan hojas carta; quítelo, o pida application/pdf'

/**
 * Explains why a guide gets no label. A guide that is requested twice is rejected, because two equal labels would go on
 * two parcels and one would be wrong.
 */
function porQueNo(escrito: string, codigo: string | undefined, existe: boolean, primera: number | undefined): string {
  if (codigo === undefined) return explicarCodigo(escrito)
  if (!existe) return 'no es una guía suya del modo de esta llave; revise el identificador'
  return primera === undefined
    ? 'la guía está cancelada y nadie la recogería; quítela'
    : `repite la guía de la posición ${primera}; quítela`
}
