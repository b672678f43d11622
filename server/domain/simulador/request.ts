import { statement } from '../../data/db.ts'
import { expireRequests, type MensajeDeps, type MensajeRow, markFailed, sendToMailbox } from '../mensajeria/mensaje.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'

// Simulates at once what would happen later to the message for a test guide's recipient. Each function does the work of
// a job, so that the job has nothing left to do.

/**
 * Delivers the guide's pending messages to the mailbox, so that no job delivers them after the simulator's next action.
 */
export async function flushMensajes(deps: MensajeDeps, guia: GuiaRow): Promise<void> {
  const pending = await deps.db.prisma.mensaje.findMany({
    where: { ...guiaKeyOf(guia), canal: 'buzon', estado: 'pendiente' },
    orderBy: { numero: 'asc' },
    select: { id: true, comercio_id: true },
  })
  // Messages are marked one by one, because the statement accepts only one message per guide.
  for (const pendingMensaje of pending) await sendToMailbox(deps, [pendingMensaje])
}

/** Sets the expiry of a guide's open location requests, and of their links, to `:now`. */
const SHORTEN = statement<ReturnType<typeof guiaKeyOf> & { now: Date }, Pick<MensajeRow, 'id' | 'comercio_id'>>(
  'simulador.shorten',
  'merchant',
  `with m as (
     update mensaje set vence_en = :now::timestamptz
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and abierta returning id, comercio_id
   ), l as (
     update enlace_ubicacion l set vence_en = :now from mensaje o
     where l.comercio_id = :comercio_id and l.modo = :modo and l.guia_id = :guia_id and l.vence_en > :now
       and o.comercio_id = l.comercio_id and o.modo = l.modo and o.guia_id = l.guia_id and o.numero = l.numero
       and o.tipo = 'solicitud_ubicacion'
   ), g as (
     update guia set ubicacion_extra = jsonb_set(ubicacion_extra, '{solicitud,vence_en}', to_jsonb(:now::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and ubicacion_extra ? 'solicitud'
   )
   select id, comercio_id from m`,
)

/** Expires the guide's request, as if the recipient had not answered in time. */
export async function expireRequest(deps: MensajeDeps, guia: GuiaRow): Promise<void> {
  const openRequests = await deps.db.query(SHORTEN, { ...guiaKeyOf(guia), now: deps.clock() })
  await expireRequests(deps, openRequests)
}

/** Fails the guide's newest request, as if its message had not reached the recipient. */
export async function failMensaje(deps: MensajeDeps, guia: GuiaRow): Promise<void> {
  const last = await deps.db.prisma.mensaje.findFirst({
    where: { ...guiaKeyOf(guia), tipo: 'solicitud_ubicacion' },
    orderBy: { numero: 'desc' },
    select: { id: true, comercio_id: true },
  })
  if (last) await markFailed(deps, last, null, 'Falla fingida en modo de prueba.')
}
