import type { Falla } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { explicarCodigo } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { leerEtiquetas, sinEtiqueta, unir } from './etiqueta.ts'

export const crearEtiquetas: Handler<'crearEtiquetas'> = async ({ body, identidad }, { db, enlacesDeEtiquetas }) => {
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
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
  const formato = body.formato === 'carta' ? body.formato : undefined
  return { status: 200, body: { ...enlacesDeEtiquetas.crear(unir(guias), 'inline', formato), guias } }
}

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
