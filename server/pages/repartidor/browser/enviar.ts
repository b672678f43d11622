// Sends actions, one with its images or many in one request, until the server has acknowledged them.
import type {
  ArchivoSubido,
  EventoRegistrado,
  EventosRegistrados,
  Problema,
} from '../../../generado/contrato/tipos/index.ts'
import { type ApiResponse, pedir, SinRed, verSesion } from './api.ts'
import { tomaElPaquete } from './dominio.ts'
import {
  cambiarAccion,
  cambiarAcciones,
  accion as leerAccion,
  imagen as leerImagen,
  terminarAcciones,
} from './store/acciones.ts'
import { type Accion, type Adjunto, ponerAjuste } from './store/base.ts'

/** Base of the wait after a failure, in milliseconds; each further failure doubles the wait. */
export const ESPERA_MS = 5_000
/** Longest wait, in milliseconds, before the random part is added. */
export const ESPERA_MAXIMA_MS = 5 * 60_000
/**
 * Maximum factor by which a random part lengthens a wait, so that phones that failed together do not retry together.
 */
const AZAR = 1.2
/** Longest wait of an action, in milliseconds, with the random part. */
export const ESPERA_TOPE_MS = ESPERA_MAXIMA_MS * AZAR

/**
 * Result of sending an action. `atencion`: the courier has to decide. `luego`: try again later. `pausa`: the service
 * asked for a pause.
 */
export type Fin = 'enviada' | 'atencion' | 'luego' | 'pausa' | 'sin_sesion'

/** Maximum number of actions in one request to the service. */
export const MAX_ACCIONES_POR_ENVIO = 50
/**
 * Number of failed attempts after which an action is sent alone, because another action may be why the common request
 * fails.
 */
const INTENTOS_JUNTAS = 2

/**
 * Tells whether an action may be sent in one request with others. Actions with images and deliveries are sent alone.
 */
export const vaConOtras = ({ entrega, fotos, intentos }: Accion) =>
  !entrega && fotos.length === 0 && intentos < INTENTOS_JUNTAS

/**
 * Sends actions for which {@link vaConOtras} is true, each of another guide, in one request.
 * @returns the result of each action, in their order
 * @throws SinRed if the service does not respond
 */
export async function enviarJuntas(unas: readonly Accion[]): Promise<Fin[]> {
  await cambiarAcciones(unas, contarIntento)
  const eventos = unas.map((una) => ({ guia: una.guia, evento: eventoDe(una) }))
  let respuesta: ApiResponse<EventosRegistrados>
  try {
    respuesta = await pedir<EventosRegistrados>('POST', 'eventos', { eventos })
  } catch (error) {
    return apartar(unas, error)
  }
  const { status, cuerpo } = respuesta
  const todas = (fin: Fin) => unas.map(() => fin)
  if (status === 401) return todas('sin_sesion')
  if (status === 429 || status === 503) {
    await aplazarEnvio(respuesta)
    return todas('pausa')
  }
  if (status !== 200) return esperar(unas)
  const { resultados } = cuerpo
  await terminarAcciones(
    resultados.flatMap((uno) => (uno.ok ? [{ orden: unas[uno.indice]!.orden, ...uno.evento }] : [])),
  )
  const fines: Fin[] = []
  for (const uno of resultados) {
    if (uno.ok) fines.push('enviada')
    else {
      const suya = { ...respuesta, status: uno.error.estado_http, problema: uno.error }
      fines.push(await resolver(unas[uno.indice]!, suya))
    }
  }
  return fines
}

/**
 * Sends one action with its images.
 * @throws SinRed if the service does not respond
 */
export const enviarAccion = (accion: Accion): Promise<Fin> =>
  enviarUna(accion).catch(async (error) => (await apartar([accion], error))[0]!)

/**
 * Delays actions that got no response. Small requests may pass where photos do not, and a phone may lose the bytes of a
 * photo. If the service responds, the other actions need not wait for these.
 * @throws SinRed if the service does not respond; rethrows any other error
 */
async function apartar(unas: readonly Accion[], error: unknown): Promise<Fin[]> {
  if (!(error instanceof SinRed)) throw error
  const { status } = await verSesion()
  return status === 401 ? unas.map(() => 'sin_sesion') : esperar(unas)
}

// The attempt is counted before it starts, because from then on the server may have the action.
const contarIntento = ({ intentos }: Accion) => ({ intentos: intentos + 1 })

/** Report of a state or a note, as the service accepts it. */
const eventoDe = ({ estado, evento, fotos, ocurrido_en, id: idempotencia }: Accion) => ({
  ...(estado === null ? { tipo: 'guia.nota' } : { estado }),
  ...evento,
  ...(fotos.length > 0 ? { fotos: fotos.map(({ archivo }) => archivo) } : {}),
  ocurrido_en,
  idempotencia,
})

async function enviarUna(pendiente: Accion): Promise<Fin> {
  await cambiarAcciones([pendiente], contarIntento)
  const mal = await subirAdjuntos(pendiente)
  if (mal) return mal
  const lista = await leerAccion(pendiente.orden)
  if (!lista) return 'enviada'
  const { guia, id: idempotencia, ocurrido_en } = lista
  const respuesta = lista.entrega
    ? await pedir<EventoRegistrado>('POST', `guias/${guia}/entrega`, {
        ...lista.entrega,
        fotos: lista.fotos.map(({ archivo }) => archivo),
        ...(lista.firma ? { firma: lista.firma.archivo } : {}),
        ocurrido_en,
        idempotencia,
      })
    : await pedir<EventoRegistrado>('POST', `guias/${guia}/eventos`, eventoDe(lista))
  if (respuesta.status === 200 || respuesta.status === 201) {
    await terminarAcciones([{ orden: lista.orden, ...respuesta.cuerpo }])
    return 'enviada'
  }
  if (respuesta.status === 422 && !lista.resubida && culpaDeAdjuntos(respuesta.problema)) {
    // The server keeps unused files for a week only, but the phone still has the images.
    await cambiarAccion(lista.orden, ({ fotos, firma }) => ({
      resubida: true,
      fotos: fotos.map(({ imagen }) => ({ imagen })),
      firma: firma && { imagen: firma.imagen },
    }))
    const otraVez = await leerAccion(lista.orden)
    return otraVez ? enviarUna(otraVez) : 'enviada'
  }
  return resolver(lista, respuesta)
}

const culpaDeAdjuntos = ({ errores }: Partial<Problema>) =>
  errores?.some(({ campo }) => /^\/(fotos|firma)\b/.test(campo)) ?? false

/**
 * Uploads the images of an action, each once. The image's name on the server is stored as soon as it is known.
 * @returns the result of an action that cannot be sent now; undefined if it can
 */
async function subirAdjuntos({ orden, guia, fotos, firma }: Accion): Promise<Fin | undefined> {
  const adjuntos: [Adjunto, 'foto' | 'firma'][] = fotos.map((foto) => [foto, 'foto'])
  if (firma) adjuntos.push([firma, 'firma'])
  for (const [{ imagen, archivo }, tipo] of adjuntos) {
    if (archivo) continue
    const guardada = await leerImagen(imagen)
    if (!guardada) return atender(orden, { titulo: 'Falta una foto', mensaje: SIN_FOTO }, imagen)
    const { blob, capturado_en } = guardada
    const hora = capturado_en ? `&capturado_en=${capturado_en}` : ''
    const respuesta = await pedir<ArchivoSubido>('POST', `guias/${guia}/archivos?tipo=${tipo}${hora}`, blob)
    if (respuesta.status !== 201) {
      const actual = await leerAccion(orden)
      const { codigo } = respuesta.problema
      const ajena = codigo === 'sin_custodia' || codigo === 'sin_asignacion'
      return actual && resolver(actual, respuesta, ajena ? undefined : imagen)
    }
    const con = (uno: Adjunto) => (uno.imagen === imagen ? { imagen, archivo: respuesta.cuerpo.archivo } : uno)
    await cambiarAccion(orden, (actual) => ({ fotos: actual.fotos.map(con), firma: actual.firma && con(actual.firma) }))
  }
  return undefined
}
const SIN_FOTO =
  'El teléfono ya no tiene una foto. Tómela otra vez: corrija la entrega, o descarte el intento y regístrelo de nuevo.'

/** Turns a refusal into a result: try again later, pause, ask the courier, or sign in first. */
async function resolver(accion: Accion, respuesta: ApiResponse<unknown>, imagen?: string): Promise<Fin> {
  const { status, problema } = respuesta
  if (status === 401) return 'sin_sesion'
  if (status === 429 || status === 503) {
    await aplazarEnvio(respuesta)
    return 'pausa'
  }
  if (status < 500 && status !== 408 && problema.codigo !== 'carrera_perdida')
    return atender(accion.orden, problema, imagen)
  return (await esperar([accion], problema.codigo === 'carrera_perdida'))[0]!
}

/**
 * Sets the time of the next attempt of actions.
 * @param pasa true if the cause may be over by now, such as a concurrent change or a broken connection; the first
 *   attempts then have no wait of their own
 */
async function esperar(unas: readonly Accion[], pasa = true): Promise<Fin[]> {
  await cambiarAcciones(unas, ({ intentos }) => {
    const ms = Math.min(ESPERA_MAXIMA_MS, ESPERA_MS * 2 ** Math.min(intentos, 10)) * (1 + Math.random() * (AZAR - 1))
    return { noAntesDe: pasa && intentos <= 3 ? 0 : Date.now() + ms }
  })
  return unas.map(() => 'luego')
}

async function atender(orden: number, problema: Partial<Problema>, imagen?: string): Promise<Fin> {
  const toma = problema.transiciones?.find(tomaElPaquete)
  await cambiarAccion(orden, ({ estado }) => ({
    situacion: 'atencion',
    falla: {
      titulo: problema.titulo ?? 'El servicio no lo aceptó',
      detalle: problema.mensaje ?? '',
      errores: (problema.errores ?? []).slice(0, 5).map(({ mensaje }) => mensaje),
      ...(imagen === undefined ? {} : { imagen }),
      ...(toma === undefined || estado === null || tomaElPaquete(estado) ? {} : { toma }),
    },
  }))
  return 'atencion'
}

/** Stores the pause that the service asked for; without a time in the response, twice `ESPERA_MS`. */
export async function aplazarEnvio({ esperar }: ApiResponse<unknown>): Promise<void> {
  await ponerAjuste('pausa', Date.now() + (esperar ?? ESPERA_MS * 2))
}
