import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { presentPrueba } from './obtener.ts'
import { readPruebas } from './prueba.ts'

/** Maximum proofs listed. */
const MAX_LISTED = 20

export const listarPruebasRectificadas: Handler<'listarPruebasRectificadas'> = async ({ path, ...caller }, deps) => {
  const guia = await findGuia(deps.db, 'todos', path.guia)
  const pruebas = (await readPruebas(deps.db, guia)).flatMap((prueba) => {
    const { rectificada_en } = prueba
    return rectificada_en ? [{ prueba, rectificada_en: rectificada_en.toISOString() }] : []
  })
  const datos = await Promise.all(
    pruebas.slice(0, MAX_LISTED).map(async ({ prueba, rectificada_en }) => ({
      ...(await presentPrueba(deps, guia, prueba)),
      rectificada_en,
    })),
  )
  await deps.bitacora.recordRead(caller, {
    accion: 'listarPruebasRectificadas',
    sobre: ['guia', guia.guia],
    de: { comercio_id: guia.comercio_id, modo: guia.modo },
  })
  return { status: 200, body: { datos } }
}
