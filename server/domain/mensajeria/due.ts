import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { askThoseThere, inEach } from '../../data/spread.ts'
import type { CanalDeMensaje } from '../../generado/contrato/tipos/index.ts'
import { esSinSalida } from '../guias/guia.ts'
import type { ClaveDeMensaje, DepsDeMensajes, FilaMensaje } from './row.ts'

const PENDIENTES = statement<
  Pick<FilaMensaje, 'canal'> & { ahora: Date; cuantas: number },
  ClaveDeMensaje & { mensaje: FilaMensaje['id'] }
>(
  'mensajes.pendientes',
  `select comercio_id, id as mensaje, md5(id::text || ':' || estado || proximo_en)::uuid as id from mensaje
   where estado in ('pendiente', 'enviando') and proximo_en <= :ahora and canal = :canal order by proximo_en limit :cuantas`,
  { alcance: 'parte' },
)

/**
 * Returns a function that reads a channel's due messages as jobs: pending messages, and messages in state `enviando`
 * whose lease ended because the sender died.
 */
export const mensajesPendientes =
  (canal: CanalDeMensaje) =>
  async ({ db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>, cuantas: number): Promise<JobInsert[]> => {
    const filas = await askThoseThere(db, ({ consultar }) => consultar(PENDIENTES, { ahora: reloj(), cuantas, canal }))
    return filas.map(({ id, mensaje, comercio_id }) => ({ id, data: { mensaje, comercio_id } }))
  }

/**
 * Brings forward messages that were never sent and that were created in the future. Each message keeps the wait between
 * its creation and its due instant. A message that cannot be sent keeps waiting.
 */
const ADELANTAR = statement<{ ahora: Date }>(
  'mensajes.adelantar',
  `update mensaje set proximo_en = :ahora::timestamptz + (proximo_en - creado_en)
   where estado = 'pendiente' and proximo_en > :ahora and creado_en > :ahora and intentos = 0
     and not ${esSinSalida('modo', 'canal')}`,
  { alcance: 'parte' },
)

/** Brings forward messages that were scheduled before the clock was set back. */
export const adelantarMensajes = ({ db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>) =>
  inEach(db, ({ consultar }) => consultar(ADELANTAR, { ahora: reloj() }))
