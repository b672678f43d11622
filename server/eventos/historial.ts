import type { comercio } from '../contrato/generado/prisma/client.ts'
import type { PaginaDeEventos } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import {
  type Ambito,
  type AmbitoEnFilas,
  COLUMNAS_DE_GUIA,
  desconocida,
  enFilas,
  exigirCodigo,
  type FilaGuia,
  type GuiaLeida,
} from '../guias/guia.ts'
import type { Cursores } from '../listas/cursor.ts'
import { type Paginacion, paginar } from '../listas/pagina.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, presentarEvento } from './evento.ts'

interface ConEventos {
  eventos: EventoLeido[]
}

/** Whose a guide is and who carries it, where everybody's may be read. */
interface DeQuien extends Pick<FilaGuia, 'custodio'> {
  dueno: Pick<comercio, 'id' | 'comercio'> | null
}

/** The parameters of both statements: whose guide, and which of its events. */
type Parametros = { guia: string; despues: number; cuantos: number } & AmbitoEnFilas

/** SQL of a page of the history of the guide that `i`, a row of `guia_indice`, names. */
const EVENTOS = `coalesce((
  select json_agg(e order by e.secuencia) from (
    select ${COLUMNAS_DE_EVENTO} from evento
    where comercio_id = i.comercio_id and modo = i.modo and guia_id = i.id and secuencia > :despues
    order by secuencia limit :cuantos) e), '[]') as eventos`

const SUYA = 'i.guia = :guia and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))'

/** One JSON, because describing and reading thirty columns costs more than all else that is done with them. */
const GUIA_CON_EVENTOS = sentencia<Parametros, { guia: GuiaLeida & ConEventos & DeQuien }>(
  'eventos.guiaConEventos',
  `select row_to_json(x) as guia from (
     select ${COLUMNAS_DE_GUIA}, ${EVENTOS},
       case when :comercio_id::uuid is null then (select json_build_object('id', id, 'comercio', comercio) from comercio
         where id = i.comercio_id) end as dueno,
       case when :comercio_id::uuid is null then g.custodio end as custodio
     from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
     where ${SUYA}) x`,
)

const DE_GUIA = sentencia<Parametros, ConEventos>(
  'eventos.deGuia',
  `select ${EVENTOS} from guia_indice i where ${SUYA}`,
)

/** What reading a history needs of the service. */
interface Partes {
  db: Db
  cursores: Cursores
}

/**
 * A guide and a page of its history, oldest first, in one statement. Whose it is and who carries it is told to those who
 * may read everybody's.
 * @throws Problema 404 as `buscarGuia` does
 */
export async function leerConEventos(
  partes: Partes,
  ambito: Ambito,
  codigo: string,
  paginacion: Paginacion = {},
): Promise<{ guia: GuiaLeida & DeQuien; eventos: PaginaDeEventos }> {
  let guia: (GuiaLeida & ConEventos & DeQuien) | undefined
  const eventos = await leerPagina(partes, ambito, codigo, paginacion, async (parametros) => {
    guia = (await partes.db.consultar(GUIA_CON_EVENTOS, parametros))[0]?.guia
    return guia
  })
  return { guia: guia!, eventos }
}

/** A page of a guide's history, oldest first. @throws Problema 404 as `buscarGuia` does */
export const leerEventos = (partes: Partes, ambito: Ambito, codigo: string, paginacion: Paginacion = {}) =>
  leerPagina(
    partes,
    ambito,
    codigo,
    paginacion,
    async (parametros) => (await partes.db.consultar(DE_GUIA, parametros))[0],
  )

/** A page of a history; one cursor serves both the detail and the history alone. */
function leerPagina(
  { cursores }: Partes,
  ambito: Ambito,
  codigo: string,
  paginacion: Paginacion,
  leer: (parametros: Parametros) => Promise<ConEventos | undefined>,
): Promise<PaginaDeEventos> {
  const guia = exigirCodigo(ambito, codigo)
  const dueno = ambito === 'todos' ? 'operador' : `${ambito.comercioId}:${ambito.modo}`
  return paginar(cursores, { operacion: 'eventosDeGuia', dueno, filtros: { guia } }, paginacion, {
    async leer(despues, cuantos) {
      const leidos = await leer({ guia, ...enFilas(ambito), despues: Number(despues?.[0] ?? 0), cuantos })
      return (leidos ?? desconocida(ambito)).eventos
    },
    posicion: ({ secuencia }) => [secuencia],
    presentar: presentarEvento,
  })
}
