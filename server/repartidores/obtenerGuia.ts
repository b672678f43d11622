import type { Handler } from '../contrato/tipos.ts'
import { buscarGuia } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

export const obtenerGuiaDeReparto: Handler<'obtenerGuiaDeReparto'> = async ({ path }, { db, ajustes }) => ({
  status: 200,
  body: presentarGuia(await buscarGuia(db, 'todos', path.guia), ajustes.zonaHoraria),
})
