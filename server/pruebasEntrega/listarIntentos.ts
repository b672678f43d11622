import type { Handler } from '../contrato/tipos.ts'
import { buscarGuia } from '../guias/guia.ts'
import { paginar } from '../listas/pagina.ts'
import { leerIntentos, presentarIntento } from './intento.ts'

export const listarIntentosDeGuia: Handler<'listarIntentosDeGuia'> = async (
  { path, query, identidad },
  { db, cursores, enlaces },
) => {
  const guia = await buscarGuia(db, identidad, path.guia)
  const dueno = `${identidad.comercioId}:${identidad.modo}`
  const body = await paginar(
    cursores,
    { operacion: 'listarIntentosDeGuia', dueno, filtros: { guia: guia.guia } },
    query ?? {},
    {
      leer: (despues, cuantos) => leerIntentos(db, guia, Number(despues?.[0] ?? 0), cuantos),
      posicion: ({ secuencia }) => [secuencia],
      presentar: (intento) => presentarIntento({ enlaces }, intento),
    },
  )
  return { status: 200, body }
}
