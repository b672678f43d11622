// Sends actions, one with its images or many in one request, until the server has acknowledged them.
import type {
  ArchivoSubido,
  EventoRegistrado,
  EventosRegistrados,
  Problema,
} from '../../../generated/contract/types/index.ts'
import { type ApiResponse, NoResponseError, requestApi, requestSesion } from './api.ts'
import { changeAction, changeActions, finishActions, readAction, readStoredImage } from './store/actions.ts'
import { type Attachment, type CourierAction, setSetting } from './store/base.ts'
import { takesParcel } from './vocabulary.ts'

/** Base of the wait after a failure, in milliseconds; each further failure doubles the wait. */
export const RETRY_DELAY_MS = 5_000
/** Longest wait, in milliseconds, before the random part is added. */
export const MAX_RETRY_DELAY_MS = 5 * 60_000
/**
 * Maximum factor by which a random part lengthens a wait, so that phones that failed together do not retry together.
 */
const RANDOM_FACTOR = 1.2
/** Longest wait of an action, in milliseconds, with the random part. */
export const RETRY_DELAY_LIMIT_MS = MAX_RETRY_DELAY_MS * RANDOM_FACTOR

/**
 * Result of sending an action. `atencion`: the courier has to decide. `luego`: try again later. `pausa`: the service
 * asked for a pause.
 */
export type Fin = 'enviada' | 'atencion' | 'luego' | 'pausa' | 'sin_sesion'

/** Maximum number of actions in one request to the service. */
export const MAX_ACTIONS_PER_REQUEST = 50
/**
 * Number of failed attempts after which an action is sent alone, because another action may be why the common request
 * fails.
 */
const MAX_BATCHED_INTENTOS = 2

/**
 * Tells whether an action may be sent in one request with others. Actions with images and deliveries are sent alone.
 */
export const canBeBatched = ({ entrega, fotos, intentos }: CourierAction) =>
  !entrega && fotos.length === 0 && intentos < MAX_BATCHED_INTENTOS

/**
 * Sends actions for which {@link canBeBatched} is true, each of another guide, in one request.
 * @returns the result of each action, in their order
 * @throws NoResponseError if the service does not respond
 */
export async function sendBatch(batch: readonly CourierAction[]): Promise<Fin[]> {
  await changeActions(batch, countIntento)
  const eventos = batch.map((action) => ({ guia: action.guia, evento: eventoOf(action) }))
  let response: ApiResponse<EventosRegistrados>
  try {
    response = await requestApi<EventosRegistrados>('POST', 'eventos', { eventos })
  } catch (error) {
    return postponeUnanswered(batch, error)
  }
  const { status, body } = response
  const todas = (outcome: Fin) => batch.map(() => outcome)
  if (status === 401) return todas('sin_sesion')
  if (status === 429 || status === 503) {
    await postponeSending(response)
    return todas('pausa')
  }
  if (status !== 200) return wait(batch)
  const { resultados } = body
  await finishActions(
    resultados.flatMap((entry) => (entry.ok ? [{ order: batch[entry.indice]!.order, ...entry.evento }] : [])),
  )
  const fines: Fin[] = []
  for (const entry of resultados) {
    if (entry.ok) fines.push('enviada')
    else {
      const entryResponse = { ...response, status: entry.error.estado_http, problema: entry.error }
      fines.push(await resolver(batch[entry.indice]!, entryResponse))
    }
  }
  return fines
}

/**
 * Sends one action with its images.
 * @throws NoResponseError if the service does not respond
 */
export const sendAction = (action: CourierAction): Promise<Fin> =>
  sendOne(action).catch(async (error) => (await postponeUnanswered([action], error))[0]!)

/**
 * Delays actions that got no response. Then asks for the session, because a small request may pass where a photo does
 * not. If the service responds, only these actions wait.
 * @throws NoResponseError if the service does not respond; rethrows any other error
 */
async function postponeUnanswered(batch: readonly CourierAction[], error: unknown): Promise<Fin[]> {
  if (!(error instanceof NoResponseError)) throw error
  const { status } = await requestSesion()
  return status === 401 ? batch.map(() => 'sin_sesion') : wait(batch)
}

// The attempt is counted before it starts, because from then on the server may have the action.
const countIntento = ({ intentos }: CourierAction) => ({ intentos: intentos + 1 })

/** Report of a state or a note, as the service accepts it. */
const eventoOf = ({ estado, evento, fotos, ocurrido_en, id: idempotencia }: CourierAction) => ({
  ...(estado === null ? { tipo: 'guia.nota' } : { estado }),
  ...evento,
  ...(fotos.length > 0 ? { fotos: fotos.map(({ archivo }) => archivo) } : {}),
  ocurrido_en,
  idempotencia,
})

async function sendOne(pending: CourierAction): Promise<Fin> {
  await changeActions([pending], countIntento)
  const mal = await uploadAttachments(pending)
  if (mal) return mal
  const readyAction = await readAction(pending.order)
  if (!readyAction) return 'enviada'
  const { guia, id: idempotencia, ocurrido_en } = readyAction
  const response = readyAction.entrega
    ? await requestApi<EventoRegistrado>('POST', `guias/${guia}/entrega`, {
        ...readyAction.entrega,
        fotos: readyAction.fotos.map(({ archivo }) => archivo),
        ...(readyAction.firma ? { firma: readyAction.firma.archivo } : {}),
        ocurrido_en,
        idempotencia,
      })
    : await requestApi<EventoRegistrado>('POST', `guias/${guia}/eventos`, eventoOf(readyAction))
  if (response.status === 200 || response.status === 201) {
    await finishActions([{ order: readyAction.order, ...response.body }])
    return 'enviada'
  }
  if (response.status === 422 && !readyAction.isReuploaded && blamesAttachments(response.problema)) {
    // The server keeps unused files for a week only, but the phone still has the images.
    await changeAction(readyAction.order, ({ fotos, firma }) => ({
      isReuploaded: true,
      fotos: fotos.map(({ imagen }) => ({ imagen })),
      firma: firma && { imagen: firma.imagen },
    }))
    const reread = await readAction(readyAction.order)
    return reread ? sendOne(reread) : 'enviada'
  }
  return resolver(readyAction, response)
}

const blamesAttachments = ({ errores }: Partial<Problema>) =>
  errores?.some(({ campo }) => /^\/(fotos|firma)\b/.test(campo)) ?? false

/**
 * Uploads the images of an action, each once. The image's name on the server is stored as soon as it is known.
 * @returns the result of an action that cannot be sent now; undefined if it can
 */
async function uploadAttachments({ order, guia, fotos, firma }: CourierAction): Promise<Fin | undefined> {
  const attachments: [Attachment, 'foto' | 'firma'][] = fotos.map((foto) => [foto, 'foto'])
  if (firma) attachments.push([firma, 'firma'])
  for (const [{ imagen, archivo }, type] of attachments) {
    if (archivo) continue
    const storedImage = await readStoredImage(imagen)
    if (!storedImage) return askCourier(order, { titulo: 'Falta una foto', mensaje: MISSING_FOTO }, imagen)
    const { blob, capturado_en } = storedImage
    const hour = capturado_en ? `&capturado_en=${capturado_en}` : ''
    const response = await requestApi<ArchivoSubido>('POST', `guias/${guia}/archivos?tipo=${type}${hour}`, blob)
    if (response.status !== 201) {
      const current = await readAction(order)
      const { codigo } = response.problema
      const foreign = codigo === 'sin_custodia' || codigo === 'sin_asignacion'
      return current && resolver(current, response, foreign ? undefined : imagen)
    }
    const withArchivo = (entry: Attachment) =>
      entry.imagen === imagen ? { imagen, archivo: response.body.archivo } : entry
    await changeAction(order, (current) => ({
      fotos: current.fotos.map(withArchivo),
      firma: current.firma && withArchivo(current.firma),
    }))
  }
  return undefined
}
const MISSING_FOTO =
  'El teléfono ya no tiene una foto. Tómela otra vez: corrija la entrega, o descarte el intento y regístrelo de nuevo.'

/** Turns a refusal into a result: try again later, pause, ask the courier, or sign in first. */
async function resolver(action: CourierAction, response: ApiResponse<unknown>, image?: string): Promise<Fin> {
  const { status, problema } = response
  if (status === 401) return 'sin_sesion'
  if (status === 429 || status === 503) {
    await postponeSending(response)
    return 'pausa'
  }
  if (status < 500 && status !== 408 && problema.codigo !== 'carrera_perdida')
    return askCourier(action.order, problema, image)
  return (await wait([action], problema.codigo === 'carrera_perdida'))[0]!
}

/**
 * Sets the time of the next attempt of actions.
 * @param isTransient true if the cause may be over by now, such as a concurrent change or a broken connection; the first
 *   attempts then have no wait of their own
 */
async function wait(batch: readonly CourierAction[], isTransient = true): Promise<Fin[]> {
  await changeActions(batch, ({ intentos }) => {
    const ms =
      Math.min(MAX_RETRY_DELAY_MS, RETRY_DELAY_MS * 2 ** Math.min(intentos, 10)) *
      (1 + Math.random() * (RANDOM_FACTOR - 1))
    return { notBefore: isTransient && intentos <= 3 ? 0 : Date.now() + ms }
  })
  return batch.map(() => 'luego')
}

async function askCourier(order: number, problema: Partial<Problema>, imagen?: string): Promise<Fin> {
  const takenEstado = problema.transiciones?.find(takesParcel)
  await changeAction(order, ({ estado }) => ({
    status: 'atencion',
    fault: {
      titulo: problema.titulo ?? 'El servicio no lo aceptó',
      detalle: problema.mensaje ?? '',
      errores: (problema.errores ?? []).slice(0, 5).map(({ mensaje }) => mensaje),
      ...(imagen === undefined ? {} : { imagen }),
      ...(takenEstado === undefined || estado === null || takesParcel(estado) ? {} : { takenEstado }),
    },
  }))
  return 'atencion'
}

/** Stores the pause that the service asked for; without a time in the response, twice `RETRY_DELAY_MS`. */
export async function postponeSending({ waitSeconds }: ApiResponse<unknown>): Promise<void> {
  await setSetting('pausedUntil', Date.now() + (waitSeconds ?? RETRY_DELAY_MS * 2))
}
