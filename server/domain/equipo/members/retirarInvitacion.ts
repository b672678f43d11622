import { inTransaction, statement } from '../../../data/db.ts'
import { Problema } from '../../../platform/errors.ts'
import type { Handler } from '../../operation.ts'
import type { InvitacionRow } from '../persona.ts'
import { bitacoraFields } from './cambiarMembresia.ts'

const WITHDRAW = statement<{ invitacion: string; now: Date }, Pick<InvitacionRow, 'ambito'>>(
  'equipo.withdrawInvitacion',
  'central',
  `delete from invitacion where invitacion = :invitacion and correo is not null and vence_en > :now returning ambito`,
)

export const retirarInvitacion: Handler<'retirarInvitacion'> = async ({ path, ...caller }, { db, bitacora, clock }) => {
  const { invitacion } = path
  await inTransaction(db.central, async (query) => {
    const [withdrawn] = await query(WITHDRAW, { invitacion, now: clock() })
    if (!withdrawn)
      throw new Problema('invitacion_desconocida', 'No hay ninguna invitación abierta con ese identificador.')
    const de = await bitacoraFields(db, withdrawn.ambito)
    await bitacora.record(query, caller, { accion: 'retirarInvitacion', sobre: ['invitacion', invitacion], ...de })
  })
  return { status: 204, body: undefined }
}
