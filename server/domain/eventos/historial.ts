import type { Cursors } from '../../api/lists/cursor.ts'
import { type Page, type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import type { comercio } from '../../generado/contrato/prisma/client.ts'
import type { Evento, PaginaDeEventos } from '../../generado/contrato/tipos/index.ts'
import {
  type AmbitoDeGuias,
  type AmbitoEnFilas,
  COLUMNAS_DE_GUIA,
  desconocida,
  enFilas,
  exigirCodigo,
  type FilaGuia,
  type GuiaLeida,
} from '../guias/guia.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, type FilaEvento, presentarEvento } from './evento.ts'

interface ConEventos<E = EventoLeido> {
  eventos: E[]
}

/** Event as operators read it, with its author. */
type EventoConAutor = EventoLeido & Pick<FilaEvento, 'autor'>

/** Merchant who owns a guide, and courier who carries the parcel. */
interface DeQuien extends Pick<FilaGuia, 'custodio'> {
  dueno: Pick<comercio, 'id' | 'comercio'>
}

/** Guide's code and page of its history: at most `cuantos` events after the sequence `despues`. */
interface Cuales {
  guia: string
  despues: number
  cuantos: number
}

type Parametros = Cuales & AmbitoEnFilas

/** SQL of a page of the history of a guide. `i`, a row of `guia_indice`, names the guide. */
const eventosDe = (columnas: string) => `coalesce((
  select json_agg(e order by e.secuencia) from (
    select ${columnas} from evento
    where comercio_id = i.comercio_id and modo = i.modo and guia_id = i.id and secuencia > :despues
    order by secuencia limit :cuantos) e), '[]') as eventos`

const SUYA = 'i.guia = :guia and i.comercio_id = :comercio_id and i.modo = :modo'

/**
 * SQL of a guide and a page of its history as one JSON value. Describing and parsing thirty columns costs more than all
 * other work on the result.
 */
const guiaConEventos = (
  mas: string,
  cual: string,
  columnas = COLUMNAS_DE_EVENTO,
) => `select row_to_json(x) as guia from (
     select ${COLUMNAS_DE_GUIA}, ${eventosDe(columnas)}${mas}
     from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
     where ${cual}) x`

/**
 * Guide of one merchant, with its history. Guides of any merchant have a statement of their own. PostgreSQL planned a
 * combined statement anew for each request, and the planning cost twice as much as the read.
 */
const SUYA_CON_EVENTOS = statement<Parametros, { guia: GuiaLeida & ConEventos }>(
  'eventos.suyaConEventos',
  guiaConEventos('', SUYA),
)
const DE_QUIEN_SEA_CON_EVENTOS = statement<Cuales, { guia: GuiaLeida & ConEventos<EventoConAutor> & DeQuien }>(
  'eventos.deQuienSeaConEventos',
  guiaConEventos(
    `, g.custodio,
       (select json_build_object('id', id, 'comercio', comercio) from comercio where id = i.comercio_id) as dueno`,
    'i.guia = :guia',
    `${COLUMNAS_DE_EVENTO}, autor`,
  ),
  { alcance: 'parte' },
)

const DE_GUIA = statement<Parametros, ConEventos>(
  'eventos.deGuia',
  `select ${eventosDe(COLUMNAS_DE_EVENTO)} from guia_indice i where ${SUYA}`,
)

/** Dependencies of the functions that read a history. */
interface Partes {
  db: Db
  cursores: Cursors
}

/** Selects the guides of one merchant in one mode (test or live). */
type Suyas = Exclude<AmbitoDeGuias, 'todos'>

/** Reads a merchant's guide and a page of its history, oldest event first. @throws Problema 404 as `buscarGuia` does */
export const leerConEventos = (partes: Partes, suyas: Suyas, codigo: string, paginacion: Pagination = {}) =>
  leerGuia(
    partes,
    suyas,
    codigo,
    paginacion,
    (cuales) => partes.db.consultar(SUYA_CON_EVENTOS, { ...cuales, ...enFilas(suyas) }),
    presentarEvento,
  )

/**
 * Event for operators: the contract's event, who recorded it (op_…, per_…, rep_… or com_…; null: the service), and who
 * had assigned the guide to the courier who took it (op_… or per_…).
 */
export type EventoConAutores = Evento & { autor: string | null; asignado_por: string | null }

/**
 * Reads a guide of any merchant, with its owner, its courier and a page of its history, oldest event first.
 * @throws Problema 404 as `buscarGuia` does
 */
export const leerDeQuienSeaConEventos = (partes: Partes, codigo: string, paginacion: Pagination = {}) =>
  leerGuia(
    partes,
    'todos',
    codigo,
    paginacion,
    async (cuales) => (await whereIs(partes.db, cuales.guia))?.consultar(DE_QUIEN_SEA_CON_EVENTOS, cuales) ?? [],
    (fila: EventoConAutor): EventoConAutores => ({
      ...presentarEvento(fila),
      autor: fila.autor,
      asignado_por: fila.datos?.asignado_por ?? null,
    }),
  )

/** Reads a page of the history of a merchant's guide, oldest event first. @throws Problema 404 as `buscarGuia` does */
export const leerEventos = (
  partes: Partes,
  suyas: Suyas,
  codigo: string,
  paginacion: Pagination = {},
): Promise<PaginaDeEventos> =>
  leerPagina(
    partes,
    suyas,
    codigo,
    paginacion,
    async (cuales) => (await partes.db.consultar(DE_GUIA, { ...cuales, ...enFilas(suyas) }))[0],
    presentarEvento,
  )

async function leerGuia<Fila extends EventoLeido, Leida extends ConEventos<Fila>, E>(
  partes: Partes,
  ambito: AmbitoDeGuias,
  codigo: string,
  paginacion: Pagination,
  leer: (cuales: Cuales) => Promise<{ guia: Leida }[]>,
  presentar: (fila: Fila) => E,
): Promise<{ guia: Leida; eventos: Page<E> }> {
  let guia: Leida | undefined
  const leerEsta = async (cuales: Cuales) => {
    guia = (await leer(cuales))[0]?.guia
    return guia
  }
  const eventos = await leerPagina(partes, ambito, codigo, paginacion, leerEsta, presentar)
  return { guia: guia!, eventos }
}

/** Reads a page of a history. A cursor of the guide's detail is also valid for the history alone, and vice versa. */
function leerPagina<Fila extends EventoLeido, E>(
  { cursores }: Partes,
  ambito: AmbitoDeGuias,
  codigo: string,
  paginacion: Pagination,
  leer: (cuales: Cuales) => Promise<ConEventos<Fila> | undefined>,
  presentar: (fila: Fila) => E,
): Promise<Page<E>> {
  const guia = exigirCodigo(codigo, ambito)
  const dueno = ambito === 'todos' ? 'operador' : `${ambito.comercioId}:${ambito.modo}`
  return paginate(cursores, { operacion: 'eventosDeGuia', dueno, filtros: { guia } }, paginacion, {
    async leer(despues, cuantos) {
      const leidos = await leer({ guia, despues: Number(despues?.[0] ?? 0), cuantos })
      return (leidos ?? desconocida(ambito)).eventos
    },
    posicion: ({ secuencia }) => [secuencia],
    presentar,
  })
}
