import { sentencia } from '../db.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { type DepsDeMensajes, enviarAlBuzon, fallar, vencerSolicitudes } from '../mensajeria/mensaje.ts'

// What becomes of the message to a test guide's recipient, now instead of later. Each step is the one that a job would
// take; the jobs find it done.

type Clave = Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>
const claveDe = ({ comercio_id, modo, id }: Clave) => [comercio_id, modo, id]

const POR_SALIR = sentencia(
  'simulador.porSalir',
  `select id from mensaje where comercio_id = $1 and modo = $2 and guia_id = $3 and canal = 'buzon' and estado = 'pendiente'
   order by numero`,
)

/** Delivers the guide's waiting messages to the mailbox, so that no job does it after what is decided next. */
export async function sacarMensajes(deps: DepsDeMensajes, guia: Clave): Promise<void> {
  const pendientes = await deps.db.consultar<{ id: string }>(POR_SALIR, claveDe(guia))
  // One by one: a statement takes one message of each guide.
  for (const { id } of pendientes) await enviarAlBuzon(deps, [id])
}

/** Ends the time of a guide's open requests, and of their links, which the recipient may have open. */
const ACORTAR = sentencia(
  'simulador.acortar',
  `with m as (
     update mensaje set vence_en = $4::timestamptz
     where comercio_id = $1 and modo = $2 and guia_id = $3 and abierta returning id
   ), l as (
     update enlace_ubicacion set vence_en = $4 where comercio_id = $1 and modo = $2 and guia_id = $3 and vence_en > $4
   ), g as (
     update guia set ubicacion_extra = jsonb_set(ubicacion_extra, '{solicitud,vence_en}', to_jsonb($4::timestamptz))
     where comercio_id = $1 and modo = $2 and id = $3 and ubicacion_extra ? 'solicitud'
   )
   select id from m`,
)

/** Has the guide's request end as if its recipient hadn't answered in time. */
export async function vencer(deps: DepsDeMensajes, guia: Clave): Promise<void> {
  const abiertas = await deps.db.consultar<{ id: string }>(ACORTAR, [...claveDe(guia), deps.reloj()])
  await vencerSolicitudes(
    deps,
    abiertas.map(({ id }) => id),
  )
}

const ULTIMA = sentencia(
  'simulador.ultima',
  `select id from mensaje where comercio_id = $1 and modo = $2 and guia_id = $3 and tipo = 'solicitud_ubicacion'
   order by numero desc limit 1`,
)

/** Has the guide's last request fail as if it hadn't got to its recipient. */
export async function fallarMensaje(deps: DepsDeMensajes, guia: Clave): Promise<void> {
  const [ultima] = await deps.db.consultar<{ id: string }>(ULTIMA, claveDe(guia))
  if (ultima) await fallar(deps, ultima.id, null, 'Falla fingida en modo de prueba.')
}
