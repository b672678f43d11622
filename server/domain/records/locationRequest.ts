import type { CanalDeMensaje, Modo } from '../../generated/contract/types/index.ts'

/**
 * Reports whether a location request cannot be sent. The mailbox is for test guides, so a live request waits there
 * until the service has messaging (`mensajeria/resume.ts`).
 */
export const isUnsendable = (modo: Modo, canal: CanalDeMensaje) => modo === 'live' && canal === 'buzon'

/** SQL condition of {@link isUnsendable}. */
export const isUnsendableSql = (modo: string, canal: string) => `(${modo} = 'live' and ${canal} = 'buzon')`

/**
 * SQL of the instant at which a new request is due. A request that cannot be sent is due in the year 9999. Its row lies
 * at the end of the index that the feeder reads, so no round selects it.
 */
export const dueAtCreationSql = (modo: string, canal: string, now: string) =>
  `case when ${isUnsendableSql(modo, canal)} then '9999-12-31T00:00:00Z'::timestamptz else ${now} end`

/**
 * SQL condition: the link of the message `m` may open the guide `g`. The guide has the message's telephone, and no
 * correction replaced the telephone after the message: a link stays dead if a later correction brings the telephone back.
 */
export const IS_LIVE_LINK = `m.telefono = g.telefono and not exists (select from telefono_anterior t
       join evento e on e.comercio_id = t.comercio_id and e.modo = t.modo and e.guia_id = t.guia_id
         and e.secuencia = t.secuencia
       where t.comercio_id = m.comercio_id and t.modo = m.modo and t.guia_id = m.guia_id and t.telefono = m.telefono
         and e.registrado_en >= m.creado_en)`
