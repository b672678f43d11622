import { exigirComercio } from '../comercios/comercio.ts'
import type { Handler } from '../contrato/tipos.ts'
import { problemaDeFallas } from '../errores.ts'
import { leerInstante } from '../tiempo/instante.ts'
import { guardarLlave } from './llave.ts'

export const crearLlave: Handler<'crearLlave'> = async ({ path, body }, { db, reloj }) => {
  const comercio = await exigirComercio(db, path.comercio)
  const ahora = reloj()
  const vence_en = body.vence_en === undefined ? null : leerInstante(body.vence_en)!
  if (vence_en && vence_en <= ahora) {
    throw problemaDeFallas('validacion', [
      {
        campo: '/vence_en',
        codigo: 'fuera_de_rango',
        mensaje: 'debe estar en el futuro; omítalo si la llave no vence',
      },
    ])
  }
  const llave = await guardarLlave(db, ahora, {
    comercioId: comercio.id,
    comercio: comercio.comercio,
    modo: body.modo,
    alcances: body.alcances,
    vence_en,
  })
  return { status: 201, body: llave }
}
