import type { Handler } from '../contrato/tipos.ts'
import { Problema } from '../errores.ts'
import { buscarGuia } from '../guias/guia.ts'
import { sinEtiqueta } from './etiqueta.ts'

export const obtenerEtiqueta: Handler<'obtenerEtiqueta'> = async ({ path, identidad }, { db, enlacesDeEtiquetas }) => {
  const fila = await buscarGuia(db, identidad, path.guia)
  const { guia, estado } = fila
  if (sinEtiqueta(fila))
    throw new Problema('guia_cancelada', 'La guía está cancelada; nadie la recogería. Cree otra.', { estado })
  return { status: 200, body: { ...enlacesDeEtiquetas.crear(guia, 'inline'), guias: [guia] } }
}
