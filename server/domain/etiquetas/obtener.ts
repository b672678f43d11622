import { etagMatches } from '../../api/http/conditional.ts'
import { dispositionOf } from '../../api/http/download.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { labelFile, typeOfLabels, VARY } from './documento.ts'
import { anotarEtiquetas, leerEtiquetas, PPP_SIN_ZPL, sinEtiqueta } from './etiqueta.ts'

export const obtenerEtiqueta: Handler<'obtenerEtiqueta'> = async (
  { path, query = {}, headers = {}, identidad, acepta, soloCabeceras, alAbandonar },
  deps,
) => {
  const { db, reloj, enlacesDeEtiquetas } = deps
  const tipo = typeOfLabels(acepta)
  const { ppp } = query
  if (ppp !== undefined && tipo !== 'zpl') {
    const falla = { campo: 'ppp', codigo: 'valor_no_admitido', mensaje: PPP_SIN_ZPL } as const
    throw problemOfFaults('parametro_invalido', [falla])
  }
  const guardada = await buscarGuia(db, identidad, path.guia)
  const { guia, estado } = guardada
  if (sinEtiqueta(guardada))
    throw new Problema('guia_cancelada', 'La guía está cancelada; nadie la recogería. Cree otra.', { estado })
  if (tipo === 'json') {
    return { status: 200, headers: VARY, body: { ...enlacesDeEtiquetas.crear(guia, 'inline'), guias: [guia] } }
  }
  const filas = await leerEtiquetas(db, identidad, [guia])
  const archivo = labelFile(deps, filas, tipo === 'zpl' ? { ppp: ppp ?? 203 } : { formato: '10x15' })
  const { ETag, nombre } = archivo
  const igual = etagMatches(headers['if-none-match'], ETag)
  const body = igual ? undefined : await archivo.body(alAbandonar(), soloCabeceras)
  if (!soloCabeceras) await anotarEtiquetas(db, filas, reloj())
  if (!body) return { status: 304, headers: { ...VARY, ETag }, body }
  return { status: 200, headers: { ...VARY, ETag, 'Content-Disposition': dispositionOf('attachment', nombre) }, body }
}
