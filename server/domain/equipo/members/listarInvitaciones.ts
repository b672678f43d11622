import { paginate } from '../../../api/lists/page.ts'
import type { AlcanceDePersona } from '../../../generated/contract/types/index.ts'
import type { Handler } from '../../operation.ts'
import { comercioOf } from '../persona.ts'

export const listarInvitaciones: Handler<'listarInvitaciones'> = async (
  { query, ...caller },
  { db, cursors, clock, bitacora },
) => {
  const { ambito, ...requestedPage } = query ?? {}
  const list = { operacion: 'listarInvitaciones', dueno: 'operador', filters: { ambito } }
  const page = await paginate(cursors, list, requestedPage, {
    read: (after, take) => {
      const [vence_en, invitacion] = after ? [new Date(String(after[0])), String(after[1])] : []
      return db.prisma.invitacion.findMany({
        where: {
          // The invitation of the first person has no address, and is not for others to see.
          correo: { not: null },
          vence_en: { gt: clock() },
          ...(ambito !== undefined && { ambito }),
          ...(vence_en && { OR: [{ vence_en: { lt: vence_en } }, { vence_en, invitacion: { lt: invitacion! } }] }),
        },
        orderBy: [{ vence_en: 'desc' }, { invitacion: 'desc' }],
        take,
      })
    },
    positionOf: ({ vence_en, invitacion }) => [vence_en.toISOString(), invitacion],
    present: ({ invitacion, correo, nombre, ambito, alcances, creado_en, vence_en }) => ({
      invitacion,
      correo: correo!,
      nombre: nombre!,
      comercio: comercioOf(ambito),
      alcances: alcances as AlcanceDePersona[],
      creado_en: creado_en.toISOString(),
      vence_en: vence_en.toISOString(),
    }),
  })
  await bitacora.recordRead(caller, {
    accion: 'listarInvitaciones',
    campos: ambito === undefined ? [] : ['ambito'],
    despues: { invitaciones: page.datos.length },
  })
  return { status: 200, body: page }
}
