import type { Handler } from '../contrato/tipos.ts'
import { desconocida, exigirCodigo } from '../guias/guia.ts'
import { leerGuias, presentarGuia } from './guia.ts'

export const obtenerGuiaDeReparto: Handler<'obtenerGuiaDeReparto'> = async ({ path, identidad }, { db, ajustes }) => {
  const codigo = exigirCodigo('todos', path.guia)
  const fila = (await leerGuias(db, [codigo])).get(codigo) ?? desconocida('todos')
  return { status: 200, body: presentarGuia(ajustes, fila, identidad.repartidor) }
}
