import { exigirComercio } from '../comercios/comercio.ts'
import type { Handler } from '../contrato/tipos.ts'
import { buscarPagina } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

export const buscarGuias: Handler<'buscarGuias'> = async ({ query }, { db, cursores }) => {
  const { comercio, ...filtros } = query ?? {}
  const de = comercio === undefined ? {} : { comercioId: (await exigirComercio(db, comercio)).id }
  const pagina = await buscarPagina(
    { db, cursores },
    { operacion: 'buscarGuias', dueno: 'operador' },
    { ...filtros, ...de },
    presentarGuia,
  )
  return { status: 200, body: pagina }
}
