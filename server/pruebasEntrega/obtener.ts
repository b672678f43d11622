import type { Handler } from '../contrato/tipos.ts'
import type { Db } from '../db.ts'
import { Problema } from '../errores.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { buscarBorrada, buscarPrueba, presentarPrueba } from './prueba.ts'

export const obtenerPruebaDeEntrega: Handler<'obtenerPruebaDeEntrega'> = async (
  { path, identidad },
  { db, enlaces },
) => {
  const guia = await buscarGuia(db, identidad, path.guia)
  const prueba = await buscarPrueba(db, guia)
  if (!prueba) {
    throw new Problema('prueba_no_disponible', await porQueNoHay(db, guia), { estado: guia.estado })
  }
  return { status: 200, body: await presentarPrueba({ db, enlaces }, guia, prueba) }
}

async function porQueNoHay(db: Db, guia: FilaGuia): Promise<string> {
  if (guia.estado !== 'entregado') return `La guía está en ${guia.estado}; la prueba existe desde que se entrega.`
  const borrado_en = await buscarBorrada(db, guia)
  if (!borrado_en) return 'La guía se entregó sin prueba.'
  return `La guía se entregó, y su prueba se borró el ${borrado_en.toISOString()} por la retención de datos. Que se entregó, y cuándo, está en el historial.`
}
