import type { Cursors } from '../../api/lists/cursor.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import type { comercio } from '../../generado/contrato/prisma/client.ts'
import type { PaginaDeEventos } from '../../generado/contrato/tipos/index.ts'
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
import { COLUMNAS_DE_EVENTO, type EventoLeido, presentarEvento } from './evento.ts'

interface ConEventos {
  eventos: EventoLeido[]
}

/** Merchant who owns a guide, and courier who carries the parcel. */
interface DeQuien extends Pick<FilaGuia, 'custodio'> {
  dueno: Pick<comercio, 'id' | 'comercio'>
}

/** Code of a guide, and a page of its history: at most `cuantos` events after the sequence `despues`. */
interface Cuales {
  guia: string
  despues: number
  cuantos: number
}

type Parametros = Cuales & AmbitoEnFilas

/** SQL of a page of the history of a guide. `i`, a row of `guia_indice`, names the guide. */
const EVENTOS = `coalesce((
  select json_agg(e order by e.secuencia) from (
    select ${COLUMNAS_DE_EVENTO} from evento
    where comercio_id = i.comercio_id and modo = i.modo and guia_id = i.id and secuencia > :despues
    order by secuencia limit :cuantos) e), '[]') as eventos`

const SUYA = 'i.guia = :guia and i.comercio_id = :comercio_id and i.modo = :modo'

/**
 * SQL of a guide and a page of its history as one JSON value. Describing and parsing thirty columns costs more than all
 * other work on the result.
 */
const guiaConEventos = (mas: string, cual: string) => `select row_to_json(x) as guia from (
     select ${COLUMNAS_DE_GUIA}, ${EVENTOS}${mas}
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
const DE_QUIEN_SEA_CON_EVENTOS = statement<Cuales, { guia: GuiaLeida & ConEventos & DeQuien }>(
  'eventos.deQuienSeaConEventos',
  guiaConEventos(
    `, g.custodio,
       (select json_build_object('id', id, 'comercio', comercio) from comercio where id = i.comercio_id) as dueno`,
    'i.guia = :guia',
  ),
  { alcance: 'parte' },
)

const DE_GUIA = statement<Parametros, ConEventos>(
  'eventos.deGuia',
  `select ${EVENTOS} from guia_indice i where ${SUYA}`,
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
  leerGuia(partes, suyas, codigo, paginacion, (cuales) =>
    partes.db.consultar(SUYA_CON_EVENTOS, { ...cuales, ...enFilas(suyas) }),
  )

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
  )

/** Reads a page of the history of a merchant's guide, oldest event first. @throws Problema 404 as `buscarGuia` does */
export const leerEventos = (partes: Partes, suyas: Suyas, codigo: string, paginacion: Pagination = {}) =>
  leerPagina(
    partes,
    suyas,
    codigo,
    paginacion,
    async (cuales) => (await partes.db.consultar(DE_GUIA, { ...cuales, ...enFilas(suyas) }))[0],
  )

async function leerGuia<Leida extends ConEventos>(
  partes: Partes,
  ambito: AmbitoDeGuias,
  codigo: string,
  paginacion: Pagination,
  leer: (cuales: Cuales) => Promise<{ guia: Leida }[]>,
): Promise<{ guia: Leida; eventos: PaginaDeEventos }> {
  let guia: Leida | undefined
  const eventos = await leerPagina(partes, ambito, codigo, paginacion, async (cuales) => {
    guia = (await leer(cuales))[0]?.guia
    return guia
  })
  return { guia: guia!, eventos }
}

/** Reads a page of a history. A cursor of the guide's detail is also valid for the history alone, and vice versa. */
function leerPagina(
  { cursores }: Partes,
  ambito: AmbitoDeGuias,
  codigo: string,
  paginacion: Pagination,
  leer: (cuales: Cuales) => Promise<ConEventos | undefined>,
): Promise<PaginaDeEventos> {
  const guia = exigirCodigo(ambito, codigo)
  const dueno = ambito === 'todos' ? 'operador' : `${ambito.comercioId}:${ambito.modo}`
  return paginate(cursores, { operacion: 'eventosDeGuia', dueno, filtros: { guia } }, paginacion, {
    async leer(despues, cuantos) {
      const leidos = await leer({ guia, despues: Number(despues?.[0] ?? 0), cuantos })
      return (leidos ?? desconocida(ambito)).eventos
    },
    posicion: ({ secuencia }) => [secuencia],
    presentar: presentarEvento,
  })
}
