import { exigirComercio } from '../comercios/comercio.ts'
import { MAQUINA_DE_ESTADOS } from '../contrato/generado/vocabulario.ts'
import type { Db } from '../db.ts'
import { problemaDeFallas } from '../errores.ts'
import { leerTelefono } from '../telefonos/telefono.ts'

/** Whose data are meant: those of a telephone, in one merchant's guides or in all. */
export interface DeQuien {
  /** E.164. */
  telefono: string
  /** Null: all merchants. */
  comercio_id: string | null
}

/** Reads whose data somebody means by a telephone and a merchant's code. @throws Problema 422 or 404 */
export async function leerDeQuien(db: Db, telefono: string, comercio?: string): Promise<DeQuien> {
  const leido = leerTelefono(telefono)
  if ('error' in leido)
    throw problemaDeFallas('validacion', [{ campo: '/telefono', codigo: 'formato_invalido', mensaje: leido.error }])
  return {
    telefono: leido.e164,
    comercio_id: comercio === undefined ? null : (await exigirComercio(db, comercio)).id,
  }
}

/** What the telephone is in a provider's body, as a regular expression: its digits, of Mexico in the older form, too. */
export const patronDe = (telefono: string) =>
  `(^|[^0-9])${telefono.slice(1).replace(/^52(\d{10})$/, '521?$1')}([^0-9]|$)`

/** SQL that a guide has ended, as the partial index of the guides that are due has it. */
export const FINALES = `estado = any(array[${MAQUINA_DE_ESTADOS.finales.map((estado) => `'${estado}'::text`).join(', ')}])`

/** SQL that a row of `tabla` is of the guide `v`. */
export const de = (tabla: string) =>
  `${tabla}.comercio_id = v.comercio_id and ${tabla}.modo = v.modo and ${tabla}.guia_id = v.id`

const soloCuando = (extra: string) =>
  `case when ${extra} ? 'confirmado_en' then jsonb_set('{"confirmado_en": null}', '{confirmado_en}', ${extra} -> 'confirmado_en') end`

/**
 * SQL that erases of the guides `v` whose they were: telephone, names, addresses, contents, places, and what people wrote.
 * Codes, references, states, times and authors stay, and the keyed digests by which a repeated creation is known. A provider's
 * own id of a message goes, for WhatsApp's has the telephone in it.
 */
export const BORRAR = `e as (
     update evento e set descripcion = null, lat = null, lng = null, datos = e.datos - 'forzado',
       foto = e.foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
         coalesce(${soloCuando("e.foto -> 'ubicacion_extra'")}, 'null')) from v where ${de('e')}
   ), m as (
     update mensaje m set telefono = null, abierta = false, proveedor_id = null, motivo = null,
       estado = case when m.estado in ('pendiente', 'enviando') then 'descartado' else m.estado end from v where ${de('m')}
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
