import type { Handler } from '../contrato/tipos.ts'
import { LIMITE_POR_OMISION } from '../listas/pagina.ts'
import { presentarEvento } from './evento.ts'
import { COMIENZO, leerFlujo, type PosicionDelFlujo } from './flujo.ts'

/** Serves the feed, which always gives a cursor: its end is only where one has read up to now. */
export const listarEventos: Handler<'listarEventos'> = async ({ query, identidad }, { db, cursores }) => {
  const { comercioId, modo } = identidad
  const ambito = { operacion: 'listarEventos', dueno: `${comercioId}:${modo}` }
  const despues =
    query?.cursor === undefined ? COMIENZO : (cursores.descifrar(ambito, query.cursor) as PosicionDelFlujo)
  const filas = await leerFlujo(db, comercioId, modo, despues, query?.limite ?? LIMITE_POR_OMISION)
  const ultima = filas.at(-1)
  return {
    status: 200,
    body: {
      datos: filas.map(presentarEvento),
      cursor_siguiente: cursores.cifrar(ambito, ultima ? [ultima.xid, ultima.guia_id, ultima.secuencia] : despues),
    },
  }
}
