import { normalizarCodigoDeGuia } from '../codigos/codigos.ts'
import type { ListarEventosData, TipoDeEvento } from '../contrato/generado/tipos/index.ts'
import { TIPOS_DE_EVENTO } from '../contrato/generado/vocabulario.ts'
import type { Handler } from '../contrato/tipos.ts'
import { LIMITE_POR_OMISION } from '../listas/pagina.ts'
import { leerInstante } from '../tiempo/instante.ts'
import { presentarEvento } from './evento.ts'
import { COMIENZO, leerFlujo, type PosicionDelFlujo, posicionDesde } from './flujo.ts'

type Consulta = NonNullable<ListarEventosData['query']>

/** Serves the feed, which always gives a cursor: its end is only where one has read up to now. */
export const listarEventos: Handler<'listarEventos'> = async ({ query = {}, identidad }, { db, cursores }) => {
  const { comercioId, modo } = identidad
  const { cursor, desde, tipo, guia, limite = LIMITE_POR_OMISION } = query
  // The filters aren't part of it: a position is a place of the feed, whatever of it is asked for.
  const ambito = { operacion: 'listarEventos', dueno: `${comercioId}:${modo}` }
  const despues =
    cursor === undefined
      ? await leerComienzo(desde, (instante) => posicionDesde(db, comercioId, modo, instante))
      : (cursores.descifrar(ambito, cursor) as PosicionDelFlujo)
  const filtros = {
    ...(tipo && { tipos: tiposDe(tipo) }),
    ...(guia !== undefined && { guia: normalizarCodigoDeGuia(guia) ?? '' }),
  }
  const filas = await leerFlujo(db, comercioId, modo, despues, filtros, limite)
  const ultima = filas.at(-1)
  return {
    status: 200,
    body: {
      datos: filas.map(presentarEvento),
      cursor_siguiente: cursores.cifrar(
        ambito,
        ultima ? [ultima.lugar, ultima.guia_id, ultima.secuencia, despues[3]] : despues,
      ),
    },
  }
}

const leerComienzo = (desde: Consulta['desde'], buscar: (instante: Date | undefined) => Promise<PosicionDelFlujo>) =>
  desde === undefined ? COMIENZO : buscar(desde === 'ahora' ? undefined : leerInstante(desde))

/** The types that a filter names, its families spelt out. */
const tiposDe = (nombres: NonNullable<Consulta['tipo']>): TipoDeEvento[] =>
  TIPOS_DE_EVENTO.filter((tipo) => nombres.some((uno) => uno === tipo || uno === `${tipo.split('.')[0]}.*`))
