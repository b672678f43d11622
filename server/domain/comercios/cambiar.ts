import { changedColumns } from '../../data/columns.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { comercio } from '../../generated/contract/prisma/client.ts'
import type { Handler } from '../operation.ts'
import {
  AUDITED,
  columnsOf,
  type IntentosColumns,
  type PolicyColumns,
  presentComercio,
  requireComercio,
} from './comercio.ts'

/** Reads the merchant's row and locks it against other changes until the transaction ends. */
const LOCK = statement<Pick<comercio, 'id'>, comercio>(
  'comercios.lock',
  'central',
  'select * from comercio where id = :id for no key update',
)

const UPDATE = statement<
  Pick<comercio, 'id' | 'nombre' | 'pais' | 'estricto' | 'ritmo_solicitudes' | 'ritmo_guias'> &
    PolicyColumns &
    IntentosColumns,
  comercio
>(
  'comercios.update',
  'central',
  `update comercio set nombre = :nombre, pais = :pais, estricto = :estricto, ritmo_solicitudes = :ritmo_solicitudes,
     ritmo_guias = :ritmo_guias, evidencia_fotos = :evidencia_fotos, evidencia_firma = :evidencia_firma,
     evidencia_documento = :evidencia_documento, politica_de_intentos_maximos = :politica_de_intentos_maximos,
     politica_de_intentos_dias_entre = :politica_de_intentos_dias_entre, politica_de_intentos_dias_para_decidir = :politica_de_intentos_dias_para_decidir,
     politica_de_intentos_al_vencer = :politica_de_intentos_al_vencer, politica_de_intentos_destinatario_decide = :politica_de_intentos_destinatario_decide
   where id = :id returning *`,
)

export const cambiarComercio: Handler<'cambiarComercio'> = async ({ path, body, ...caller }, { db, bitacora }) => {
  const { id, comercio } = await requireComercio(db, path.comercio)
  const row = await inTransaction(db, async (query) => {
    const [before] = await query(LOCK, { id })
    const [after] = await query(UPDATE, { ...before!, ...columnsOf(body) })
    await bitacora.record(query, caller, {
      accion: 'cambiarComercio',
      sobre: ['comercio', comercio],
      de: { comercio_id: id, modo: null },
      ...changedColumns(before!, after!, AUDITED),
    })
    return after!
  })
  return { status: 200, body: presentComercio(row) }
}
