import type { PaginaDeEventos } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { type Ambito, type AmbitoEnFilas, desconocida, enFilas, exigirCodigo, type FilaGuia } from '../guias/guia.ts'
import type { Cursores } from '../listas/cursor.ts'
import { type Paginacion, paginar } from '../listas/pagina.ts'
import { type FilaEvento, presentarEvento } from './evento.ts'

const GUIA_CON_EVENTOS = sentencia<
  { guia: string; despues: number; cuantos: number } & AmbitoEnFilas,
  FilaGuia & { comercio: string; eventos: EventoEnJson[] }
>(
  'eventos.guiaConEventos',
  `select g.*, c.comercio, coalesce((
     select json_agg(e order by e.secuencia) from (
       select * from evento where comercio_id = g.comercio_id and modo = g.modo and guia_id = g.id and secuencia > :despues
       order by secuencia limit :cuantos) e), '[]') as eventos
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))`,
)

/** An event as JSON brings it, with instants as texts. */
type EventoEnJson = Omit<FilaEvento, 'ocurrido_en' | 'registrado_en'> & { ocurrido_en: string; registrado_en: string }

/**
 * A guide and a page of its history, oldest first, in one statement; one cursor serves both the detail and the history.
 * @throws Problema 404 as `buscarGuia` does
 */
export async function leerConEventos(
  { db, cursores }: { db: Db; cursores: Cursores },
  ambito: Ambito,
  codigo: string,
  paginacion: Paginacion = {},
): Promise<{ guia: FilaGuia & { comercio: string }; eventos: PaginaDeEventos }> {
  const guia = exigirCodigo(ambito, codigo)
  const dueno = ambito === 'todos' ? 'operador' : `${ambito.comercioId}:${ambito.modo}`
  let fila: (FilaGuia & { comercio: string; eventos: EventoEnJson[] }) | undefined
  const eventos = await paginar(cursores, { operacion: 'eventosDeGuia', dueno, filtros: { guia } }, paginacion, {
    async leer(despues, cuantas): Promise<FilaEvento[]> {
      const desde = Number(despues?.[0] ?? 0)
      const leidas = await db.consultar(GUIA_CON_EVENTOS, {
        guia,
        ...enFilas(ambito),
        despues: desde,
        cuantos: cuantas,
      })
      fila = leidas[0] ?? desconocida(ambito)
      return fila.eventos.map((e) => ({
        ...e,
        ocurrido_en: new Date(e.ocurrido_en),
        registrado_en: new Date(e.registrado_en),
      }))
    },
    posicion: ({ secuencia }) => [secuencia],
    presentar: presentarEvento,
  })
  return { guia: fila!, eventos }
}
