// Sends one action with its images, until the server has acknowledged it.
import type { ArchivoSubido, EventoRegistrado, Problema } from '../../../generado/contrato/tipos/index.ts'
import { type ApiResponse, pedir, SinRed, verSesion } from './api.ts'
import { esEstadoFinal, tomaElPaquete } from './dominio.ts'
import { cambiarAccion, accion as leerAccion, imagen as leerImagen, terminarAccion } from './store/acciones.ts'
import { type Accion, type Adjunto, ponerAjuste } from './store/base.ts'

/** Base of the wait after a failure, in milliseconds; each further failure doubles the wait. */
export const ESPERA_MS = 5_000
/** Longest wait, in milliseconds, before the random part is added. */
export const ESPERA_MAXIMA_MS = 5 * 60_000
/**
 * Factor by which a random part lengthens a wait at most, so that phones that failed together do not return together.
 */
const AZAR = 1.2
/** Longest wait of an action, in milliseconds, with the random part. */
export const ESPERA_TOPE_MS = ESPERA_MAXIMA_MS * AZAR

/**
 * Result of sending an action. `atencion`: the courier has to decide. `luego`: try again later. `pausa`: the service
 * asked for a pause.
 */
export type Fin = 'enviada' | 'atencion' | 'luego' | 'pausa' | 'sin_sesion'

/**
 * Sends one action with its images.
 * @throws SinRed if the service does not respond
 */
export const enviarAccion = (accion: Accion): Promise<Fin> => enviarUna(accion).catch((error) => apartar(accion, error))

/**
 * Delays an action that got no response. Small requests may pass where photos do not, and a phone may lose the bytes of
 * a photo. If the service responds, the other actions need not wait for this action.
 * @throws SinRed if the service does not respond; rethrows any other error
 */
async function apartar({ orden, intentos }: Accion, error: unknown): Promise<Fin> {
  if (!(error instanceof SinRed)) throw error
  const { status } = await verSesion()
  if (status === 401) return 'sin_sesion'
  return esperar(orden, intentos)
}

async function enviarUna(pendiente: Accion): Promise<Fin> {
  // The attempt is counted before it starts, because from then on the server may have the action.
  await cambiarAccion(pendiente.orden, ({ intentos }) => ({ intentos: intentos + 1 }))
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
    : await pedir<EventoRegistrado>('POST', `guias/${guia}/eventos`, {
        ...(lista.estado === null ? { tipo: 'guia.nota' } : { estado: lista.estado }),
        ...lista.evento,
        ...(lista.fotos.length > 0 ? { fotos: lista.fotos.map(({ archivo }) => archivo) } : {}),
        ocurrido_en,
        idempotencia,
      })
  if (respuesta.status === 200 || respuesta.status === 201) {
    const { aplicado, estado, secuencia } = respuesta.cuerpo
    await terminarAccion(lista.orden, aplicado, { estado, secuencia, final: esEstadoFinal(estado) })
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
      const ajena = respuesta.problema.codigo === 'sin_custodia'
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
async function resolver({ orden, intentos }: Accion, respuesta: ApiResponse<unknown>, imagen?: string): Promise<Fin> {
  const { status, problema } = respuesta
  if (status === 401) return 'sin_sesion'
  if (status === 429 || status === 503) {
    await aplazarEnvio(respuesta)
    return 'pausa'
  }
  if (status < 500 && status !== 408 && problema.codigo !== 'carrera_perdida') return atender(orden, problema, imagen)
  return esperar(orden, intentos, problema.codigo === 'carrera_perdida')
}

/**
 * Sets the time of an action's next attempt.
 * @param pasa true if the cause may be over by now, such as a concurrent change or a broken connection; the first
 *   attempts then have no wait of their own
 */
async function esperar(orden: number, intentos: number, pasa = true): Promise<Fin> {
  const ms = Math.min(ESPERA_MAXIMA_MS, ESPERA_MS * 2 ** Math.min(intentos, 10)) * (1 + Math.random() * (AZAR - 1))
  await cambiarAccion(orden, () => ({ noAntesDe: pasa && intentos < 3 ? 0 : Date.now() + ms }))
  return 'luego'
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
