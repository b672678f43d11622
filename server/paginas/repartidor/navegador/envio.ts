// The one way out: actions leave in order, each guide's on its own, until the server has acknowledged every one of them.
import type { ArchivoSubido, EventoRegistrado, Problema } from '../../../contrato/generado/tipos/index.ts'
import {
  type Accion,
  type Adjunto,
  acciones,
  alCambiar,
  cambiarAccion,
  accion as leerAccion,
  leerAjuste,
  imagen as leerImagen,
  ponerAjuste,
  terminarAccion,
} from './almacen.ts'
import { cerrarSesion, nadieDentro, PAUSA_MAXIMA_MS, pedir, type Respuesta, SinRed, verSesion } from './api.ts'
import { esFinal } from './dominio.ts'

const ESPERA_MS = 5_000
const ESPERA_MAXIMA_MS = 5 * 60_000
/** Longer by up to a fifth, so that phones that failed together don't come back together. */
const AZAR = 1.2

export type Ronda =
  /** Everything that could go went. */
  | 'hecho'
  | 'sin_red'
  /** Somebody has to sign in before anything goes. */
  | 'sin_sesion'
  /** Something is to be tried again later. */
  | 'luego'

/** Signing in, signing out and sending never overlap: nothing goes out under another courier's session. */
export function aSolas<T>(hacer: () => Promise<T>): Promise<T> {
  if (navigator.locks) return navigator.locks.request('repartidor-envio', hacer)
  // Of this tab alone. Of two, `idempotencia` still keeps both from doing a thing twice.
  const hecho = ultima.then(hacer)
  ultima = hecho.catch(() => {})
  return hecho
}
let ultima: Promise<unknown> = Promise.resolve()

let enEspera: Promise<Ronda> | undefined

/** Waits for whoever is sending, and sends what that one may have missed; callers meanwhile share one turn. */
export function enviarCola(): Promise<Ronda> {
  enEspera ??= Promise.resolve()
    .then(() =>
      aSolas(() => {
        enEspera = undefined
        return ronda()
      }),
    )
    .catch((error) => {
      enEspera = undefined
      throw error
    })
  return enEspera
}

async function ronda(): Promise<Ronda> {
  try {
    if (falta((await leerAjuste('pausa')) ?? 0, PAUSA_MAXIMA_MS)) return 'luego'
    if (await leerAjuste('salir')) {
      const dicho = await cerrarSesion()
      if (!nadieDentro(dicho)) return await aplazar(dicho)
      await ponerAjuste('salir', undefined)
    }
    if (!(await acciones()).some(({ situacion }) => situacion === 'pendiente')) return 'hecho'
    const quien = await verSesion()
    if (quien.status === 401) return await perderSesion()
    if (quien.status !== 200) return await aplazar(quien)
    return await enviarLasDe(quien.cuerpo.repartidor)
  } catch (error) {
    if (error instanceof SinRed) return 'sin_red'
    throw error
  } finally {
    anunciar(null)
  }
}

/** Whether it is too early. More than anybody ever waits was set by a clock that has been set back since. */
function falta(hasta: number, maximo: number) {
  const ms = hasta - Date.now()
  return ms > 0 && ms <= maximo
}

/** In the order in which they were done; what waits or was refused holds back its own guide's later ones. */
async function enviarLasDe(repartidor: string): Promise<Ronda> {
  const detenidas = new Set<string>()
  let resultado: Ronda = 'hecho'
  for (const { orden, guia } of await acciones()) {
    const actual = await leerAccion(orden)
    if (!actual || actual.situacion === 'enviada' || actual.repartidor !== repartidor || detenidas.has(guia)) continue
    if (actual.situacion === 'atencion' || falta(actual.noAntesDe, ESPERA_MAXIMA_MS * AZAR)) {
      detenidas.add(guia)
      if (actual.situacion === 'pendiente') resultado = 'luego'
      continue
    }
    anunciar(orden)
    const fin = await enviarUna(actual).catch((error) => apartar(actual, error))
    if (fin === 'sin_sesion') return perderSesion()
    if (fin === 'pausa') return 'luego'
    if (fin !== 'enviada') detenidas.add(guia)
    if (fin === 'luego') resultado = 'luego'
  }
  return resultado
}

/**
 * Small packets may pass where photos don't, and a phone may lose a photo's bytes: if the service answers, it is this action
 * that doesn't get through, and the others need not wait for it.
 * @throws SinRed
 */
async function apartar({ orden, intentos }: Accion, error: unknown): Promise<Fin> {
  if (!(error instanceof SinRed)) throw error
  const { status } = await verSesion()
  if (status === 401) return 'sin_sesion'
  return esperar(orden, intentos)
}

type Fin = 'enviada' | 'atencion' | 'luego' | 'pausa' | 'sin_sesion'

async function enviarUna(pendiente: Accion): Promise<Fin> {
  // Counted before it leaves: from now on the server may have it.
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
    await terminarAccion(lista.orden, aplicado, { estado, secuencia, final: esFinal(estado) })
    return 'enviada'
  }
  if (respuesta.status === 422 && !lista.resubida && culpaDeAdjuntos(respuesta.problema)) {
    // The server keeps what nothing uses for a week: the phone still has the pictures.
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

/** Each picture once: the server's name for it is kept as soon as it is known. */
async function subirAdjuntos({ orden, guia, fotos, firma }: Accion): Promise<Fin | undefined> {
  const adjuntos: [Adjunto, 'foto' | 'firma'][] = fotos.map((foto) => [foto, 'foto'])
  if (firma) adjuntos.push([firma, 'firma'])
  for (const [{ imagen, archivo }, tipo] of adjuntos) {
    if (archivo) continue
    const guardada = await leerImagen(imagen)
    if (!guardada) return atender(orden, { titulo: 'Falta una foto', mensaje: SIN_FOTO }, imagen)
    const respuesta = await pedir<ArchivoSubido>('POST', `guias/${guia}/archivos?tipo=${tipo}`, guardada.blob)
    if (respuesta.status !== 201) {
      const actual = await leerAccion(orden)
      return actual && resolver(actual, respuesta, imagen)
    }
    const con = (uno: Adjunto) => (uno.imagen === imagen ? { imagen, archivo: respuesta.cuerpo.archivo } : uno)
    await cambiarAccion(orden, (actual) => ({ fotos: actual.fotos.map(con), firma: actual.firma && con(actual.firma) }))
  }
  return undefined
}
const SIN_FOTO =
  'El teléfono ya no tiene una de las fotos. Tómela otra vez: corrija la entrega, o descarte el intento y regístrelo de nuevo.'

/** What a refusal means: later, never like this, or nobody is signed in. */
async function resolver({ orden, intentos }: Accion, respuesta: Respuesta<unknown>, imagen?: string): Promise<Fin> {
  const { status, problema } = respuesta
  if (status === 401) return 'sin_sesion'
  if (status === 429 || status === 503) {
    await aplazar(respuesta)
    return 'pausa'
  }
  if (status < 500 && status !== 408 && problema.codigo !== 'carrera_perdida') return atender(orden, problema, imagen)
  return esperar(orden, intentos, problema.codigo === 'carrera_perdida')
}

/** @param pasa what may be over by now: another change came first, or a connection broke */
async function esperar(orden: number, intentos: number, pasa = true): Promise<Fin> {
  const ms = Math.min(ESPERA_MAXIMA_MS, ESPERA_MS * 2 ** Math.min(intentos, 10)) * (1 + Math.random() * (AZAR - 1))
  await cambiarAccion(orden, () => ({ noAntesDe: pasa && intentos < 3 ? 0 : Date.now() + ms }))
  return 'luego'
}

async function atender(orden: number, problema: Partial<Problema>, imagen?: string): Promise<Fin> {
  await cambiarAccion(orden, () => ({
    situacion: 'atencion',
    falla: {
      titulo: problema.titulo ?? 'El servicio no lo aceptó',
      detalle: problema.mensaje ?? '',
      errores: (problema.errores ?? []).slice(0, 5).map(({ mensaje }) => mensaje),
      ...(imagen === undefined ? {} : { imagen }),
    },
  }))
  return 'atencion'
}

async function aplazar({ esperar }: Respuesta<unknown>): Promise<Ronda> {
  await ponerAjuste('pausa', Date.now() + (esperar ?? ESPERA_MS * 2))
  return 'luego'
}

async function perderSesion(): Promise<Ronda> {
  const sesion = await leerAjuste('sesion')
  if (sesion?.vigente) await ponerAjuste('sesion', { ...sesion, vigente: false })
  return 'sin_sesion'
}

// --- What is being sent, for whoever shows it ---

const canal = new BroadcastChannel('repartidor-enviando')
const oyentes = new Set<(orden: number | null) => void>()
canal.addEventListener('message', ({ data }) => {
  for (const oyente of oyentes) oyente(data)
})
function anunciar(orden: number | null) {
  for (const oyente of oyentes) oyente(orden)
  canal.postMessage(orden)
}
export function alEnviar(oyente: (orden: number | null) => void) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}

// --- When to try ---

let reloj: ReturnType<typeof setTimeout> | undefined
let fallos = 0

async function turno() {
  clearTimeout(reloj)
  const fin = await enviarCola().catch(() => 'luego' as const)
  fallos = fin === 'hecho' ? 0 : fallos + 1
  clearTimeout(reloj)
  if (fin === 'sin_red' || fin === 'luego') {
    reloj = setTimeout(turno, Math.min(ESPERA_MAXIMA_MS, (ESPERA_MS / 2) * 2 ** Math.min(fallos, 8)))
  }
}

export function enviarAhora() {
  fallos = 0
  turno()
}

/** Sends whenever there may be something and a way to send it: called once per page. */
export function vigilarCola() {
  addEventListener('online', enviarAhora)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && enviarAhora())
  // A new action in this tab or another; what else is written while sending is the sender's own.
  let pendientes = 0
  alCambiar(async () => {
    const cuantas = (await acciones()).filter(({ situacion }) => situacion === 'pendiente').length
    const masQueAntes = cuantas > pendientes
    pendientes = cuantas
    if (!masQueAntes) return
    enviarAhora()
    pedirSincronizacion()
  })
  enviarAhora()
}

/** The browser wakes the service worker when there is coverage, even if the page is closed by then. */
async function pedirSincronizacion() {
  const registro = await navigator.serviceWorker?.ready.catch(() => undefined)
  const { sync } = (registro ?? {}) as { sync?: { register(etiqueta: string): Promise<void> } }
  await sync?.register('cola').catch(() => {})
}
