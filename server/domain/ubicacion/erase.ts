import { statement } from '../../data/db.ts'
import { deleteOwners } from '../../data/owners.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'

const MAX_GUIAS_PER_STATEMENT = 1_000

const onlyWhenSql = (extra: string) =>
  `case when ${extra} ? 'confirmado_en' then jsonb_set('{"confirmado_en": null}', '{confirmado_en}', ${extra} -> 'confirmado_en') end`

/**
 * Erases the locations of guides that reached a final state before `before`, because home addresses must not be kept
 * for ever. Erases coordinates, links, references, and the telephones and provider data of messages. Keeps the
 * confirmation, its author and its instant. Events keep their order and their texts. A guide that another transaction
 * holds is left to the next run.
 */
const ERASE = statement<{ final_states: readonly Estado[]; before: Date }>(
  'ubicacion.erase',
  'part',
  `with v as (
     select comercio_id, modo, id from guia
     where estado = any(:final_states::text[]) and estado_en < :before and (ubicacion_lat is not null or lat is not null
       or maps_url is not null or ubicacion_extra - 'confirmado_en' <> '{}')
     limit ${MAX_GUIAS_PER_STATEMENT} for update skip locked
   ), e as (
     update evento set lat = null, lng = null, foto = foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
       coalesce(${onlyWhenSql("foto -> 'ubicacion_extra'")}, 'null'))
     from v where evento.comercio_id = v.comercio_id and evento.modo = v.modo and evento.guia_id = v.id
   ), m as (
     update mensaje set telefono = null, abierta = false, proveedor_id = null, motivo = null from v
     where mensaje.comercio_id = v.comercio_id and mensaje.modo = v.modo and mensaje.guia_id = v.id
   ), p as (
     update prueba_entrega p set lat = null, lng = null, precision_m = null, distancia_m = null from v
     where p.comercio_id = v.comercio_id and p.modo = v.modo and p.guia_id = v.id
   ), a as (
     update archivo a set lat = null, lng = null from v
     where a.comercio_id = v.comercio_id and a.modo = v.modo and a.guia_id = v.id
   ), l as (
     delete from enlace_ubicacion l using v where l.comercio_id = v.comercio_id and l.modo = v.modo and l.guia_id = v.id
   ), k as (
     delete from enlace_corto k using v where k.comercio_id = v.comercio_id and k.modo = v.modo and k.guia_id = v.id
   )
   update guia set lat = null, lng = null, maps_url = null, ubicacion_lat = null, ubicacion_lng = null,
     ubicacion_extra = ${onlyWhenSql('ubicacion_extra')}
   from v where guia.comercio_id = v.comercio_id and guia.modo = v.modo and guia.id = v.id returning 1`,
)

const ERASE_INCOMING = statement<{ before: Date }>(
  'entrantes.eraseIncoming',
  'central',
  'delete from entrante where hecho_en < :before',
)
const ERASE_LINKS = statement<{ before: Date }, { clave: string }>(
  'enlacesDeUbicacion.eraseLinks',
  'part',
  `with v as (select huella from enlace_ubicacion where vence_en < :before for update skip locked)
   delete from enlace_ubicacion l using v where l.huella = v.huella returning encode(l.huella, 'hex') as clave`,
)

/**
 * Erases the locations of old guides, and deletes inbound provider messages and recipient links after their retention.
 * @returns true if more guides may remain
 */
export async function eraseUbicaciones({
  db,
  clock,
  settings,
}: Pick<Deps, 'db' | 'clock' | 'settings'>): Promise<boolean> {
  const daysAgo = (days: number) => new Date(clock().getTime() - days * DAY_MS)
  const oldParams = { final_states: STATE_MACHINE.finales, before: daysAgo(settings.ubicacionRetention) }
  const erasedCounts = await runInEachPart(db, async ({ query }) => (await query(ERASE, oldParams)).length)
  // Inbound provider messages contain telephones and locations. After 7 days providers do not repeat them any more.
  await db.query(ERASE_INCOMING, { before: daysAgo(7) })
  const erasedLinks = await runInEachPart(db, ({ query }) => query(ERASE_LINKS, { before: daysAgo(30) }))
  await deleteOwners(
    db,
    erasedLinks.flat().map(({ clave }) => clave),
  )
  return erasedCounts.includes(MAX_GUIAS_PER_STATEMENT)
}
