import { type FilaArchivo, presentarArchivo } from '../archivos/archivo.ts'
import type { IntentoFallido } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { type darPaso, type FilaEvento, type Paso, presentarEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { leerArchivos } from './prueba.ts'
import { darPasoUsando } from './uso.ts'

const PROBAR = sentencia(
  'intentos.probar',
  `insert into prueba_intento (comercio_id, modo, guia_id, secuencia, fotos, ocurrido_en)
   values ($1, $2, $3, $4, $5::text[], $6::timestamptz)`,
)

/** A failed attempt and its photos, together; undefined: somebody else moved the guide meanwhile, and nothing was written. */
export const anotarIntento = (
  deps: Pick<Deps, 'db' | 'avisarTrabajo'>,
  guia: FilaGuia,
  paso: Paso,
  fotos: readonly string[],
): ReturnType<typeof darPaso> =>
  darPasoUsando(deps, guia, paso, fotos, (consultar, { secuencia }) =>
    consultar(PROBAR, [guia.comercio_id, guia.modo, guia.id, secuencia, fotos, paso.ocurrido_en]),
  )

/** An attempt's event and its photos. */
export type FilaIntento = FilaEvento & { fotos: FilaArchivo[] }

const INTENTOS = sentencia(
  'intentos.deGuia',
  `select e.*, coalesce(p.fotos, '{}') as fotos from evento e
   left join prueba_intento p using (comercio_id, modo, guia_id, secuencia)
   where e.comercio_id = $1 and e.modo = $2 and e.guia_id = $3 and e.secuencia > $4
     and (e.tipo = 'guia.intento_fallido'
       or e.tipo = 'guia.escaneo_tardio' and e.datos ->> 'estado_reportado' = 'intento_fallido')
   order by e.secuencia limit $5`,
)

/** A guide's failed attempts, oldest first. */
export async function leerIntentos(db: Db, guia: FilaGuia, despues: number, cuantos: number): Promise<FilaIntento[]> {
  const valores = [guia.comercio_id, guia.modo, guia.id, despues, cuantos]
  const filas = await db.consultar<FilaEvento & { fotos: string[] }>(INTENTOS, valores)
  const nombres = filas.flatMap(({ fotos }) => fotos)
  const archivos = nombres.length > 0 ? await leerArchivos(db, guia, nombres) : new Map<string, FilaArchivo>()
  return filas.map((fila) => ({
    ...fila,
    fotos: fila.fotos.map((foto) => archivos.get(foto)).filter((foto) => foto !== undefined),
  }))
}

/** A row → the contract's attempt, with links that are new each time. */
export function presentarIntento(deps: Pick<Deps, 'enlaces'>, fila: FilaIntento): IntentoFallido {
  const { id, secuencia, numero_intento = null, motivo, descripcion, ocurrido_en, lat, lng } = presentarEvento(fila)
  return {
    secuencia,
    evento: id,
    numero_intento,
    aplicado: fila.tipo === 'guia.intento_fallido',
    motivo,
    descripcion,
    ocurrido_en,
    lat,
    lng,
    fotos: fila.fotos.map((foto) => presentarArchivo(deps, foto)),
  }
}
