/**
 * Minimal checks that a response comes from this API and answers the operation. The server may add other members later;
 * the types come from the contract.
 */
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
} from './generado/types.gen.js'
import type { Pagina } from './paginas.js'
import type { Operacion, Salida } from './pedido.js'

/** Checks that a response has the shape that the operation promises. A proxy's `{"ok": true}` does not. */
export type Forma<T> = (datos: unknown, status: number) => datos is T

const esObjeto = (datos: unknown): datos is Record<string, unknown> => typeof datos === 'object' && datos !== null

const conTextos = (datos: unknown, ...claves: string[]) =>
  esObjeto(datos) && claves.every((clave) => typeof datos[clave] === 'string')

const conLista = (datos: unknown, clave: string) => esObjeto(datos) && Array.isArray(datos[clave])

export const esGuia = <T extends Guia>(datos: unknown): datos is T => conTextos(datos, 'guia')

export const esLote = (datos: unknown): datos is LoteCreado => conLista(datos, 'resultados')

export const esPagina = <P extends Pagina<unknown>>(datos: unknown): datos is P => conLista(datos, 'datos')

export const esPrueba = (datos: unknown): datos is PruebaDeEntrega =>
  conTextos(datos, 'guia', 'entregado_en') && conLista(datos, 'fotos')

export const esEtiquetas = (datos: unknown): datos is EnlaceDeEtiquetas => conTextos(datos, 'url', 'vence_en')

export const esCuenta = (datos: unknown): datos is Cuenta => conTextos(datos, 'comercio', 'modo')

export const esClaves = <T extends { keys: readonly unknown[] }>(datos: unknown): datos is T => conLista(datos, 'keys')

/**
 * Checks a manifest of version 1, with every member that verification compares. A later version may mean something
 * else.
 */
export const esManifiesto = (datos: unknown): datos is ManifiestoDePrueba =>
  conTextos(datos, 'guia', 'modo', 'entregado_en', 'registrado_en', 'hecho_en', 'recibido_por_sha256') &&
  (datos as ManifiestoDePrueba).version === 1 &&
  conLista(datos, 'archivos') &&
  (datos as ManifiestoDePrueba).archivos.every(
    (uno) => conTextos(uno, 'archivo', 'tipo', 'mime', 'sha256') && Number.isSafeInteger(uno.bytes),
  )

export const esProblema = (datos: unknown): datos is Problema => conTextos(datos, 'codigo')

export const esWebhook = (datos: unknown): datos is Webhook => conTextos(datos, 'webhook', 'url')

/**
 * Checks a webhook with its secret. Without the secret the answer is useless, because the service never shows the
 * secret again.
 */
export const esWebhookConSecreto = (datos: unknown): datos is WebhookConSecreto =>
  conTextos(datos, 'webhook', 'url', 'secreto')

export const esAvisoDeWebhook = <T extends AvisoDeWebhook>(datos: unknown): datos is T =>
  conTextos(datos, 'aviso', 'evento')

export const esRecuperacion = (datos: unknown): datos is Recuperacion =>
  conTextos(datos, 'recuperacion', 'webhook', 'desde')

export const esEnsayo = (datos: unknown): datos is EnsayoDeRecuperacion =>
  esObjeto(datos) && typeof datos.avisos === 'number' && typeof datos.exacto === 'boolean'

/** Accepts a guide, or status 304 (undefined): the guide has not changed. */
export const esGuiaOIgual = <T extends Guia>(datos: unknown, status: number): datos is T | undefined =>
  status === 304 || esGuia(datos)

/** Accepts the bytes of a file, which the transport reads only from an answer of the requested type. */
export const esArchivo = (datos: unknown): datos is Uint8Array<ArrayBuffer> => datos instanceof Uint8Array

/** Accepts only status 204. An empty 200 is the answer of a proxy. */
export const esNada = (_datos: unknown, status: number): _datos is undefined => status === 204

/** Accepts any answer of the API: JSON, or no body with status 204 or 304. */
export const esAlgo = <T>(datos: unknown, status: number): datos is T =>
  datos !== undefined || status === 204 || status === 304

/**
 * Checks the notice of a webhook. The signed content is trusted; this check exists because the holder of the secret may
 * sign other content too.
 */
export const esAviso = <T extends { tipo: string }>(datos: unknown): datos is T => conTextos(datos, 'tipo')

/** Operations that answer with a page of a list. */
export type OperacionDeLista = {
  [O in Operacion]: Salida<O> extends Pagina<unknown> ? O : never
}[Operacion]
