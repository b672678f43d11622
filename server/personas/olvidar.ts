import type { guia } from '../contrato/generado/prisma/client.ts'
import { MAQUINA_DE_ESTADOS } from '../contrato/generado/vocabulario.ts'
import { sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'

/** Guides per statement. */
const LOTE = 500
const DIA = 86_400_000

/** As the partial index of the guides that are due has it. */
const FINALES = `estado = any(array[${MAQUINA_DE_ESTADOS.finales.map((estado) => `'${estado}'::text`).join(', ')}])`

const soloCuando = (extra: string) =>
  `case when ${extra} ? 'confirmado_en' then jsonb_build_object('confirmado_en', ${extra} -> 'confirmado_en') end`

const de = (t: string) => `${t}.comercio_id = v.comercio_id and ${t}.modo = v.modo and ${t}.guia_id = v.id`

/**
 * SQL that erases of the guides `v` whose they were: telephone, names, addresses, contents, places, and what people wrote.
 * Codes, references, states, times and authors stay, and the keyed digests by which a repeated creation is known.
 */
const BORRAR = `e as (
     update evento e set descripcion = null, lat = null, lng = null, datos = e.datos - 'forzado',
       foto = e.foto || jsonb_build_object('ubicacion_lat', null, 'ubicacion_lng', null,
         'ubicacion_extra', ${soloCuando("e.foto -> 'ubicacion_extra'")}) from v where ${de('e')}
   ), m as (
     update mensaje m set telefono = null, abierta = false from v where ${de('m')}
   ), l as (
     delete from enlace_ubicacion l using v where ${de('l')}
   ), k as (
     delete from enlace_corto k using v where ${de('k')}
   )
   update guia g set telefono = null, destinatario = null, direccion = null, indicaciones = null, contenido = null,
     lat = null, lng = null, maps_url = null, ubicacion_lat = null, ubicacion_lng = null,
     ubicacion_extra = ${soloCuando('g.ubicacion_extra')},
     datos_borrados_en = :ahora::timestamptz
   from v where g.comercio_id = v.comercio_id and g.modo = v.modo and g.id = v.id returning g.guia`

/** Of guides that ended so long ago; their proofs have a time of their own (`server/pruebasEntrega/borrar.ts`). */
const OLVIDAR_VIEJAS = sentencia<{ antes_de: Date; ahora: Date }, Pick<guia, 'guia'>>(
  'personas.olvidarViejas',
  `with v as (
     select comercio_id, modo, id from guia where datos_borrados_en is null and ${FINALES} and estado_en < :antes_de
     order by estado_en limit ${LOTE} for update skip locked
   ), ${BORRAR}`,
)

/** Erases of the guides whose time is over whose they were, a batch at a time; does nothing when none is due. */
export async function olvidarPersonas({
  db,
  reloj,
  log,
  ajustes,
}: Pick<Deps, 'db' | 'reloj' | 'log' | 'ajustes'>): Promise<void> {
  const ahora = reloj()
  const antes_de = new Date(ahora.getTime() - ajustes.retencionDePersonas * DIA)
  for (let cuantas = LOTE; cuantas === LOTE; ) {
    cuantas = (await db.consultar(OLVIDAR_VIEJAS, { antes_de, ahora })).length
    if (cuantas > 0) log.info({ guias: cuantas }, 'personal data erased')
  }
}
