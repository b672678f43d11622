import { desconocida, exigirCodigo } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { estaAlAlcance, sinAsignacion } from './custodia.ts'
import { leerGuias, miradaAjena, presentarGuia } from './guia.ts'

export const obtenerGuiaDeReparto: Handler<'obtenerGuiaDeReparto'> = async (
  { path, ...quien },
  { db, ajustes, bitacora },
) => {
  const codigo = exigirCodigo(path.guia)
  const fila = (await leerGuias(db, [codigo])).get(codigo) ?? desconocida('todos')
  const { repartidor } = quien.identidad
  if (!estaAlAlcance(ajustes, fila, repartidor, fila.asignada_a)) throw sinAsignacion()
  if (fila.custodio !== repartidor) await bitacora.consultada(quien, miradaAjena('obtenerGuiaDeReparto', fila))
  return { status: 200, body: presentarGuia(ajustes, fila, repartidor) }
}
