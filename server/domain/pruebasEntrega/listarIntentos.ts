import type { OperationId } from '../../api/contract/contract.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import type { prueba_intento } from '../../generated/contract/prisma/client.ts'
import type { IntentoFallido } from '../../generated/contract/types/index.ts'
import { type ArchivoRow, presentArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import { type EventoRow, IS_NOT_UNDONE, presentEvento } from '../eventos/evento.ts'
import type { Handler } from '../operation.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { type PruebaKey, readArchivos } from './prueba.ts'

export const listarIntentosDeGuia: Handler<'listarIntentosDeGuia'> = async ({ path, query, identity }, deps) => {
  const guia = await findGuia(deps.db, identity, path.guia)
  const scope = { operacion: 'listarIntentosDeGuia', dueno: `${identity.comercioId}:${identity.modo}` } as const
  return { status: 200, body: await readIntentoPage(deps, scope, guia, query) }
}

/** Returns a page of a guide's failed attempts, for its merchant or for operators, with new links each time. */
export const readIntentoPage = (
  { db, cursors, archivoLinks }: Pick<Deps, 'db' | 'cursors' | 'archivoLinks'>,
  scope: { operacion: OperationId; dueno: string },
  guia: GuiaRow,
  query: Pagination | undefined,
) =>
  paginate(cursors, { ...scope, filters: { guia: guia.guia } }, query ?? {}, {
    read: (after, count) => readIntentos(db, guia, Number(after?.[0] ?? 0), count),
    positionOf: ({ secuencia }) => [secuencia],
    present: (intento) => presentFailedIntento({ archivoLinks }, intento),
  })

/** Event of a failed attempt, with its photos. */
type IntentoRow = EventoRow & { fotos: ArchivoRow[] }

const INTENTOS = statement<PruebaKey & { despues: number; count: number }, EventoRow & Pick<prueba_intento, 'fotos'>>(
  'intentos.intentos',
  'merchant',
  `select e.*, coalesce(p.fotos, '{}') as fotos from evento e
   left join prueba_intento p using (comercio_id, modo, guia_id, secuencia)
   where e.comercio_id = :comercio_id and e.modo = :modo and e.guia_id = :guia_id and e.secuencia > :despues
     and (e.tipo = 'guia.intento_fallido'
       or e.tipo = 'guia.escaneo_tardio' and e.datos ->> 'estado_reportado' = 'intento_fallido')
     and ${IS_NOT_UNDONE}
   order by e.secuencia limit :count`,
)

/** Returns a guide's failed attempts, oldest first. */
async function readIntentos(db: Db, guia: GuiaRow, despues: number, count: number): Promise<IntentoRow[]> {
  const rows = await db.query(INTENTOS, { ...guiaKeyOf(guia), despues, count })
  const names = rows.flatMap(({ fotos }) => fotos)
  const archivos = names.length > 0 ? await readArchivos(db, guia, names) : new Map<string, ArchivoRow>()
  return rows.map((row) => ({
    ...row,
    fotos: row.fotos.map((foto) => archivos.get(foto)).filter((foto) => foto !== undefined),
  }))
}

/** Returns a failed attempt in the contract's form. */
function presentFailedIntento(deps: Pick<Deps, 'archivoLinks'>, row: IntentoRow): IntentoFallido {
  const { id, secuencia, numero_intento, motivo, descripcion, ocurrido_en, repartidor, lat, lng } = presentEvento(row)
  return {
    secuencia,
    evento: id,
    numero_intento,
    aplicado: row.tipo === 'guia.intento_fallido',
    motivo,
    descripcion,
    ocurrido_en,
    repartidor,
    lat,
    lng,
    fotos: row.fotos.map((foto) => presentArchivo(deps, foto)),
  }
}
