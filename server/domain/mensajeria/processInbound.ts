import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { entrante } from '../../generated/contract/prisma/client.ts'
import { translateError } from '../../platform/errors.ts'
import { linkWithin, MapLinkError } from '../../platform/maps/links.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import type { Deps } from '../deps.ts'
import { retryLostRaces, takeStep } from '../eventos/evento.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { admitsUbicacion, linkToFollow, placeStep } from '../ubicacion/ubicacion.ts'
import { markSent } from './markSent.ts'
import type { InboundResult } from './metrics.ts'
import type { MensajeRow } from './row.ts'
import type { SendDeps } from './send.ts'
import { markFailed, recordStatus } from './settle.ts'
import { type InboundItem, readInboundItems } from './whatsapp.ts'

type InboundDeps = SendDeps & Pick<Deps, 'newId'>

const PENDING = statement<{ count: number }, Pick<entrante, 'id'>>(
  'entrantes.pending',
  'central',
  'select id from entrante where hecho_en is null order by recibido_en limit :count',
)

/** Returns the stored webhooks that no job has processed yet, as jobs. */
export const readPendingInbound = ({ db }: { db: Db }, count: number): Promise<JobInsert[]> =>
  db.query(PENDING, { count })

const READ = statement<{ ids: readonly string[] }, Pick<entrante, 'id' | 'cuerpo'>>(
  'entrantes.read',
  'central',
  'select id, cuerpo from entrante where id = any(:ids::uuid[]) and hecho_en is null order by recibido_en',
)

/** Processes stored webhooks, in idempotent steps. */
export async function processInbound(deps: InboundDeps, jobs: readonly { id: string }[]): Promise<void> {
  const rows = await deps.db.query(READ, { ids: jobs.map(({ id }) => id) })
  const faults: unknown[] = []
  for (const row of rows) {
    // A row that fails must not block the others. The row is processed again later.
    await processRow(deps, row).catch((err) => {
      faults.push(err)
      deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error'](
        { err, entrante: row.id },
        'inbound webhook failed',
      )
    })
  }
  deps.notifyJobs()
  if (faults.length > 0) throw new AggregateError(faults, 'some inbound webhooks could not be processed')
}

async function processRow(deps: InboundDeps, { id, cuerpo }: Pick<entrante, 'id' | 'cuerpo'>): Promise<void> {
  const { mensajeria } = deps.settings
  // Only items for the configured number are read. Items for another number belong to another service.
  const number = mensajeria.tipo === 'whatsapp' ? mensajeria.phoneNumberId : ''
  const countItem = (resultado: InboundResult, tipo?: InboundItem['tipo']) => {
    deps.metrics.entrante(resultado)
    // The texts and telephones of recipients must not be in a log. The row of `entrante` has them.
    if (resultado !== 'aplicado') deps.log.info({ entrante: id, tipo, resultado }, 'inbound message not placed')
  }
  const inboundItems = readInboundItems(JSON.parse(cuerpo), number, () => countItem('ilegible'))
  for (const entrante of inboundItems) countItem(await processItem(deps, entrante), entrante.tipo)
  await deps.db.prisma.entrante.update({ where: { id }, data: { hecho_en: deps.clock() } })
}

async function processItem(deps: InboundDeps, entrante: InboundItem): Promise<InboundResult> {
  if (entrante.tipo === 'estado') return processStatus(deps, entrante)
  return retryLostRaces(async (): Promise<InboundResult | undefined> => {
    const openGuias = await findOpenGuias(deps, entrante)
    const [newestGuia] = openGuias
    if (!newestGuia) return 'sin_guia'
    const place = readToldPlace(entrante)
    if (place && openGuias.length === 1) return confirmPlace(deps, newestGuia, place)
    // A text is no location, and the service does not guess which of several guides is meant. Instead the recipient is
    // asked once for the newest guide's location.
    await askOnce(deps, newestGuia)
    return 'aplicado'
  })
}

/** Location in a message. A short link has no coordinates until it is followed. */
interface ToldPlace {
  enlace: string | null
  lat: number | null
  lng: number | null
  referencia: string | null
}

/** Returns the location that a message tells, as a pin or as a map link in its text; undefined if it tells none. */
function readToldPlace(entrante: Exclude<InboundItem, { tipo: 'estado' }>): ToldPlace | undefined {
  if (entrante.tipo === 'ubicacion') {
    const { lat, lng, nombre, direccion } = entrante
    // The cut must not leave half a surrogate pair, which jsonb rejects.
    const description = [nombre, direccion].filter(Boolean).join(', ').slice(0, 200)
    return { enlace: null, lat, lng, referencia: description.replace(/[\ud800-\udbff]$/, '') || null }
  }
  try {
    const enlace = linkWithin(entrante.texto)
    const linkedPlace = readLinkedPlace(enlace)
    const { lat, lng } = linkedPlace.tipo === 'coordenadas' ? linkedPlace.coordinates : { lat: null, lng: null }
    return linkedPlace.tipo === 'sin_coordenadas' ? undefined : { enlace, lat, lng, referencia: null }
  } catch (error) {
    if (error instanceof MapLinkError) return undefined
    throw error
  }
}

/** Format of our message ids. Other programs may use the same number with ids of their own. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function processStatus(
  deps: InboundDeps,
  { ownId, providerId, estado, en, codigo, motivo }: Extract<InboundItem, { tipo: 'estado' }>,
): Promise<InboundResult> {
  const ownMensaje = ownId && UUID.test(ownId) ? [{ id: ownId }] : []
  const [mensaje] = await queryAllParts(deps.db, async ({ prisma }) => {
    const foundMensaje = await prisma.mensaje.findFirst({
      where: { OR: [...ownMensaje, { proveedor_id: providerId }] },
    })
    return foundMensaje ? [foundMensaje] : []
  })
  if (!mensaje) return 'sin_mensaje'
  if (estado === 'fallido') {
    // The provider may repeat a status.
    if (mensaje.estado !== 'fallido') deps.metrics.mensaje('fallido')
    await markFailed(deps, mensaje, codigo, motivo ?? 'El proveedor no pudo entregarlo.')
    return 'aplicado'
  }
  // The status proves that the message was sent, even if our request got no answer.
  if (['enviando', 'dudoso'].includes(mensaje.estado))
    await markSent(deps, 'whatsapp', ['enviando', 'dudoso'], [{ ...mensaje, proveedor_id: providerId }])
  await recordStatus(deps, mensaje, estado, en, providerId)
  return 'aplicado'
}

/** Finds our message that an answer names, from any number. */
const NAMED_MENSAJE = statement<
  { proveedor_id: string },
  Pick<MensajeRow, 'comercio_id' | 'modo' | 'guia_id' | 'telefono'>
>(
  'mensajes.namedMensaje',
  'part',
  `select comercio_id, modo, guia_id, telefono from mensaje where proveedor_id = :proveedor_id limit 1`,
)

/** Finds the guides with open requests at a telephone, and the creation instant of each guide's newest request. */
const OPEN_GUIAS = statement<{ telefono: string }, GuiaRow & { requested_at: Date }>(
  'mensajes.openGuias',
  'part',
  `select g.*, m.creado_en as requested_at from (
     select distinct on (comercio_id, modo, guia_id) comercio_id, modo, guia_id, creado_en
     from mensaje where telefono = :telefono and abierta and canal = 'whatsapp' and tipo <> 'acuse'
     order by comercio_id, modo, guia_id, creado_en desc) m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   where g.ubicacion_estado <> 'confirmada' and g.telefono = :telefono`,
)

/**
 * Returns the guides with open requests to which a recipient's answer may refer, newest request first. An answer to one
 * of our messages refers only to that message's guide, even if the guide has no open request any more.
 */
async function findOpenGuias({ db }: InboundDeps, { telefono, inReplyTo }: Exclude<InboundItem, { tipo: 'estado' }>) {
  const namedMensaje =
    inReplyTo === null
      ? undefined
      : (await queryAllParts(db, ({ query }) => query(NAMED_MENSAJE, { proveedor_id: inReplyTo })))[0]
  // WhatsApp may leave out the sender's number, or write it in another way than the guide. Only who got a message can
  // answer it, so the message's number counts.
  const answeredTelefono = namedMensaje?.telefono ?? telefono
  if (!answeredTelefono) return []
  const rows = await queryAllParts(db, ({ query }) => query(OPEN_GUIAS, { telefono: answeredTelefono }))
  return rows
    .filter((row) => admitsUbicacion(row) && (!namedMensaje || isItsGuia(row, namedMensaje)))
    .sort((left, right) => right.requested_at.getTime() - left.requested_at.getTime() || (left.id < right.id ? 1 : -1))
}

const isItsGuia = (
  guia: GuiaRow,
  { comercio_id, modo, guia_id }: Pick<MensajeRow, 'comercio_id' | 'modo' | 'guia_id'>,
) => guia.comercio_id === comercio_id && guia.modo === modo && guia.id === guia_id

const NEW_MENSAJE = statement<
  Pick<MensajeRow, 'comercio_id' | 'modo' | 'guia_id' | 'id' | 'guia' | 'tipo' | 'telefono'> & {
    now: Date
    count: number
  }
>(
  'mensajes.newMensaje',
  'merchant',
  `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
   select :comercio_id, :modo, :guia_id, coalesce(max(numero), 0) + 1, :id::uuid, :guia::text, 'whatsapp', :tipo::text,
     :telefono::text, 'pendiente', :now::timestamptz, :now
   from mensaje where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
   having count(*) filter (where tipo = :tipo) < :count::int
   on conflict (comercio_id, modo, guia_id, numero) do nothing`,
)

/** Queues a message of a type, unless the guide already has `count` of that type. */
async function responder({ db, clock, newId }: InboundDeps, guia: GuiaRow, tipo: MensajeRow['tipo'], count: number) {
  const { guia: code, telefono } = guia
  await db.query(NEW_MENSAJE, {
    ...guiaKeyOf(guia),
    id: newId().id,
    guia: code,
    tipo,
    telefono,
    now: clock(),
    count,
  })
}

/** Asks for the location in a chat message, at most once per location request. */
const askOnce = (deps: InboundDeps, guia: GuiaRow) =>
  responder(deps, guia, 'peticion_interactiva', guia.ubicacion_extra?.solicitud?.numero ?? 1)

/** Confirms a guide's location. Returns undefined if another request changed the guide. */
async function confirmPlace(deps: InboundDeps, guia: GuiaRow, place: ToldPlace): Promise<'aplicado' | undefined> {
  const proposal = { ...place, precision_m: null, origen: 'destinatario' as const }
  const step = await takeStep(deps, guia, {
    ...placeStep(guia, proposal, deps.clock()),
    shortLink: linkToFollow(place.enlace, deps.newId),
  })
  if (!step) return undefined
  // The thanks say that the place is known, which a short link does not tell yet.
  if (place.lat !== null) await responder(deps, guia, 'acuse', 1)
  return 'aplicado'
}
