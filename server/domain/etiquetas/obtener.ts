import { Problema } from '../../platform/errors.ts'
import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { sinEtiqueta } from './etiqueta.ts'

export const obtenerEtiqueta: Handler<'obtenerEtiqueta'> = async ({ path, identidad }, { db, enlacesDeEtiquetas }) => {
  const fila = await buscarGuia(db, identidad, path.guia)
  const { guia, estado } = fila
  if (sinEtiqueta(fila))
    throw new Problema('guia_cancelada', 'La guía está cancelada; nadie la recogería. Cree otra.', { estado })
  return { status: 200, body: { ...enlacesDeEtiquetas.crear(guia, 'inline'), guias: [guia] } }
}
