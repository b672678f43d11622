import { corregirGuiaDe } from '../correcciones/correccion.ts'
import { buscarGuia } from '../guias/guia.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const corregirGuiaPorOperador: Handler<'corregirGuiaPorOperador'> = async (entrada, deps) => {
  const { path, body, identidad } = entrada
  const { razon, secuencia, estricto = false, idempotencia: _, ...campos } = body
  const { operador } = identidad
  const quien = {
    ambito: 'todos',
    autor: operador,
    origen: 'operador',
    pais: null,
    estricto,
    descripcion: razon,
  } as const
  // The key belongs to the guide's merchant, like those of the merchant's own requests.
  const { comercio_id: comercioId, modo } = await buscarGuia(deps.db, 'todos', path.guia)
  const suya = { ...entrada, identidad: { comercioId, modo } }
  const { hecho, headers } = await unaVez(deps, 'corregirGuiaPorOperador', suya, {
    hacer: (recordar) => corregirGuiaDe(deps, quien, path.guia, { campos, secuencia }, recordar),
    releer: (guia) => buscarGuia(deps.db, 'todos', guia),
  })
  const [guia] = await presentarGuias(deps.db, [hecho])
  return { status: 200, headers, body: guia! }
}
