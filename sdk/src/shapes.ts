/**
 * Minimal checks that a response comes from this API and answers the operation. The server may add other members later;
 * the types come from the contract.
 */

import type { Operacion, OperationOutput } from './call.js'
import type {
  AvisoDeWebhook,
  Cuenta,
  EnlaceDeEtiquetas,
  EnsayoDeRecuperacion,
  Guia,
  LoteCreado,
  ManifiestoDePrueba,
  Problema,
  PruebaDeEntrega,
  Recuperacion,
  Webhook,
  WebhookConSecreto,
} from './generated/types.gen.js'
import type { Pagina } from './pages.js'

/** Checks that a response has the shape that the operation promises. A proxy's `{"ok": true}` does not. */
export type Forma<T> = (datos: unknown, status: number) => datos is T

const isObject = (datos: unknown): datos is Record<string, unknown> => typeof datos === 'object' && datos !== null

const hasTexts = (datos: unknown, ...claves: string[]) =>
  isObject(datos) && claves.every((clave) => typeof datos[clave] === 'string')

const hasList = (datos: unknown, clave: string) => isObject(datos) && Array.isArray(datos[clave])

export const isGuia = <T extends Guia>(datos: unknown): datos is T => hasTexts(datos, 'guia')

export const isLote = (datos: unknown): datos is LoteCreado => hasList(datos, 'resultados')

export const isPage = <P extends Pagina<unknown>>(datos: unknown): datos is P => hasList(datos, 'datos')

export const isPrueba = (datos: unknown): datos is PruebaDeEntrega =>
  hasTexts(datos, 'guia', 'entregado_en') && hasList(datos, 'fotos')

export const isEtiquetas = (datos: unknown): datos is EnlaceDeEtiquetas => hasTexts(datos, 'url', 'vence_en')

export const isAccount = (datos: unknown): datos is Cuenta => hasTexts(datos, 'comercio', 'modo')

export const isKeySet = <T extends { keys: readonly unknown[] }>(datos: unknown): datos is T => hasList(datos, 'keys')

/**
 * Checks a manifest of version 1, with every member that verification compares. A later version may mean something
 * else.
 */
export const isManifest = (datos: unknown): datos is ManifiestoDePrueba =>
  hasTexts(datos, 'guia', 'modo', 'entregado_en', 'registrado_en', 'hecho_en', 'recibido_por_sha256') &&
  (datos as ManifiestoDePrueba).version === 1 &&
  hasList(datos, 'archivos') &&
  (datos as ManifiestoDePrueba).archivos.every(
    (archivo) => hasTexts(archivo, 'archivo', 'tipo', 'mime', 'sha256') && Number.isSafeInteger(archivo.bytes),
  )

export const isProblema = (datos: unknown): datos is Problema => hasTexts(datos, 'codigo')

export const isWebhook = (datos: unknown): datos is Webhook => hasTexts(datos, 'webhook', 'url')

/**
 * Checks a webhook with its secret. Without the secret the answer is useless, because the service never shows the
 * secret again.
 */
export const isWebhookWithSecreto = (datos: unknown): datos is WebhookConSecreto =>
  hasTexts(datos, 'webhook', 'url', 'secreto')

export const isAvisoDeWebhook = <T extends AvisoDeWebhook>(datos: unknown): datos is T =>
  hasTexts(datos, 'aviso', 'evento')

export const isRecovery = (datos: unknown): datos is Recuperacion => hasTexts(datos, 'recuperacion', 'webhook', 'desde')

export const isRehearsal = (datos: unknown): datos is EnsayoDeRecuperacion =>
  isObject(datos) && typeof datos.avisos === 'number' && typeof datos.exacto === 'boolean'

/** Accepts a guide, or status 304 (undefined): the guide has not changed. */
export const isGuiaOrUnchanged = <T extends Guia>(datos: unknown, status: number): datos is T | undefined =>
  status === 304 || isGuia(datos)

/** Accepts the bytes of a file, which the transport reads only from an answer of the requested type. */
export const isFileContent = (datos: unknown): datos is Uint8Array<ArrayBuffer> => datos instanceof Uint8Array

/** Accepts only status 204. An empty 200 is the answer of a proxy. */
export const isNothing = (_data: unknown, status: number): _data is undefined => status === 204

/** Accepts any answer of the API: JSON, or no body with status 204 or 304. */
export const isAnything = <T>(datos: unknown, status: number): datos is T =>
  datos !== undefined || status === 204 || status === 304

/**
 * Checks the notice of a webhook. The signed content is trusted; this check exists because the holder of the secret may
 * sign other content too.
 */
export const isAviso = <T extends { tipo: string }>(datos: unknown): datos is T => hasTexts(datos, 'tipo')

/** Operations that answer with a page of a list. */
export type ListOperation = {
  [O in Operacion]: OperationOutput<O> extends Pagina<unknown> ? O : never
}[Operacion]
