import type { OperationId } from '../../api/contract/contract.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import type { prueba_intento } from '../../generado/contrato/prisma/client.ts'
import type { IntentoFallido } from '../../generado/contrato/tipos/index.ts'
import { type FilaArchivo, presentarArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import { deGuia, type FilaEvento, IS_NOT_UNDONE, presentarEvento } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { type LlaveDePrueba, leerArchivos } from './prueba.ts'

export const listarIntentosDeGuia: Handler<'listarIntentosDeGuia'> = async ({ path, query, identidad }, deps) => {
  const guia = await buscarGuia(deps.db, identidad, path.guia)
  const ambito = { operacion: 'listarIntentosDeGuia', dueno: `${identidad.comercioId}:${identidad.modo}` } as const
  return { status: 200, body: await paginaDeIntentos(deps, ambito, guia, query) }
}

/** Returns a page of a guide's failed attempts, for its merchant or for operators, with new links each time. */
export const paginaDeIntentos = (
  { db, cursores, enlacesDeArchivos }: Pick<Deps, 'db' | 'cursores' | 'enlacesDeArchivos'>,
  ambito: { operacion: OperationId; dueno: string },
  guia: FilaGuia,
  query: Pagination | undefined,
) =>
  paginate(cursores, { ...ambito, filtros: { guia: guia.guia } }, query ?? {}, {
    leer: (despues, cuantos) => leerIntentos(db, guia, Number(despues?.[0] ?? 0), cuantos),
    posicion: ({ secuencia }) => [secuencia],
    presentar: (intento) => presentarIntento({ enlacesDeArchivos }, intento),
  })

/** Event of a failed attempt, with its photos. */
type FilaIntento = FilaEvento & { fotos: FilaArchivo[] }

const INTENTOS = statement<
  LlaveDePrueba & { despues: number; cuantos: number },
  FilaEvento & Pick<prueba_intento, 'fotos'>
>(
  'intentos.deGuia',
  `select e.*, coalesce(p.fotos, '{}') as fotos from evento e
   left join prueba_intento p using (comercio_id, modo, guia_id, secuencia)
   where e.comercio_id = :comercio_id and e.modo = :modo and e.guia_id = :guia_id and e.secuencia > :despues
     and (e.tipo = 'guia.intento_fallido'
       or e.tipo = 'guia.escaneo_tardio' and e.datos ->> 'estado_reportado' = 'intento_fallido')
     and ${IS_NOT_UNDONE}
   order by e.secuencia limit :cuantos`,
)

/** Returns a guide's failed attempts, oldest first. */
async function leerIntentos(db: Db, guia: FilaGuia, despues: number, cuantos: number): Promise<FilaIntento[]> {
  const filas = await db.consultar(INTENTOS, { ...deGuia(guia), despues, cuantos })
  const nombres = filas.flatMap(({ fotos }) => fotos)
  const archivos = nombres.length > 0 ? await leerArchivos(db, guia, nombres) : new Map<string, FilaArchivo>()
  return filas.map((fila) => ({
    ...fila,
    fotos: fila.fotos.map((foto) => archivos.get(foto)).filter((foto) => foto !== undefined),
  }))
}

/** Returns a failed attempt in the contract's form. */
function presentarIntento(deps: Pick<Deps, 'enlacesDeArchivos'>, fila: FilaIntento): IntentoFallido {
  const { id, secuencia, numero_intento, motivo, descripcion, ocurrido_en, repartidor, lat, lng } =
    presentarEvento(fila)
  return {
    secuencia,
    evento: id,
    numero_intento,
    aplicado: fila.tipo === 'guia.intento_fallido',
    motivo,
    descripcion,
    ocurrido_en,
    repartidor,
    lat,
    lng,
    fotos: fila.fotos.map((foto) => presentarArchivo(deps, foto)),
  }
}
