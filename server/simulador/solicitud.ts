import { sentencia } from '../db.ts'
import { deGuia } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import {
  type DepsDeMensajes,
  enviarAlBuzon,
  type FilaMensaje,
  fallar,
  vencerSolicitudes,
} from '../mensajeria/mensaje.ts'

// What becomes of the message to a test guide's recipient, now instead of later. Each step is the one that a job would
// take; the jobs find it done.

/** Delivers the guide's waiting messages to the mailbox, so that no job does it after what the simulator does next. */
export async function sacarMensajes(deps: DepsDeMensajes, guia: FilaGuia): Promise<void> {
  const pendientes = await deps.db.prisma.mensaje.findMany({
    where: { ...deGuia(guia), canal: 'buzon', estado: 'pendiente' },
    orderBy: { numero: 'asc' },
    select: { id: true, comercio_id: true },
  })
  // One by one: a statement takes one message of each guide.
  for (const uno of pendientes) await enviarAlBuzon(deps, [uno])
}

/** Ends the time of a guide's open requests, and of their links, which the recipient may have open. */
const ACORTAR = sentencia<ReturnType<typeof deGuia> & { ahora: Date }, Pick<FilaMensaje, 'id' | 'comercio_id'>>(
  'simulador.acortar',
  `with m as (
     update mensaje set vence_en = :ahora::timestamptz
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and abierta returning id, comercio_id
   ), l as (
     update enlace_ubicacion set vence_en = :ahora where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and vence_en > :ahora
   ), g as (
     update guia set ubicacion_extra = jsonb_set(ubicacion_extra, '{solicitud,vence_en}', to_jsonb(:ahora::timestamptz))
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and ubicacion_extra ? 'solicitud'
   )
   select id, comercio_id from m`,
)

/** Has the guide's request end as if its recipient hadn't answered in time. */
export async function vencer(deps: DepsDeMensajes, guia: FilaGuia): Promise<void> {
  const abiertas = await deps.db.consultar(ACORTAR, { ...deGuia(guia), ahora: deps.reloj() })
  await vencerSolicitudes(deps, abiertas)
}

/** Has the guide's last request fail as if it hadn't got to its recipient. */
export async function fallarMensaje(deps: DepsDeMensajes, guia: FilaGuia): Promise<void> {
  const ultima = await deps.db.prisma.mensaje.findFirst({
    where: { ...deGuia(guia), tipo: 'solicitud_ubicacion' },
    orderBy: { numero: 'desc' },
    select: { id: true, comercio_id: true },
  })
  if (ultima) await fallar(deps, ultima, null, 'Falla fingida en modo de prueba.')
}
