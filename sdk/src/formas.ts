/**
 * The least by which an answer is known to be this API's and of this operation; what else is in it may grow with the
 * server. Types come from the contract.
 */
import type {
  Cuenta,
  EnlaceDeEtiquetas,
  EnsayoDeRecuperacion,
  EntregaDeWebhook,
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

/** Does an answer have the shape that the operation promises? A proxy's `{"ok": true}` has not. */
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

/** A manifest's first version, with all that is compared with something: a later version may mean something else. */
export const esManifiesto = (datos: unknown): datos is ManifiestoDePrueba =>
  conTextos(datos, 'guia', 'modo', 'entregado_en', 'registrado_en', 'hecho_en', 'recibido_por_sha256') &&
  (datos as ManifiestoDePrueba).version === 1 &&
  conLista(datos, 'archivos') &&
  (datos as ManifiestoDePrueba).archivos.every(
    (uno) => conTextos(uno, 'archivo', 'tipo', 'mime', 'sha256') && Number.isSafeInteger(uno.bytes),
  )

export const esProblema = (datos: unknown): datos is Problema => conTextos(datos, 'codigo')

export const esWebhook = (datos: unknown): datos is Webhook => conTextos(datos, 'webhook', 'url')

/** A webhook with its secret: without it the answer is of no use, and it is never shown again. */
export const esWebhookConSecreto = (datos: unknown): datos is WebhookConSecreto =>
  conTextos(datos, 'webhook', 'url', 'secreto')

export const esEntregaDeWebhook = <T extends EntregaDeWebhook>(datos: unknown): datos is T =>
  conTextos(datos, 'entrega', 'evento')

export const esRecuperacion = (datos: unknown): datos is Recuperacion =>
  conTextos(datos, 'recuperacion', 'webhook', 'desde')

export const esEnsayo = (datos: unknown): datos is EnsayoDeRecuperacion =>
  esObjeto(datos) && typeof datos.entregas === 'number' && typeof datos.exacto === 'boolean'

/** A guide, or nothing: it is still what it was. */
export const esGuiaOIgual = <T extends Guia>(datos: unknown, status: number): datos is T | undefined =>
  status === 304 || esGuia(datos)

/** The answer without a body is 204 and no other: an empty 200 is what a proxy in the way answers. */
export const esNada = (_datos: unknown, status: number): _datos is undefined => status === 204

/** Whatever the API may answer: JSON, or nothing where its status says so. */
export const esAlgo = <T>(datos: unknown, status: number): datos is T =>
  datos !== undefined || status === 204 || status === 304

/**
 * A webhook's notice. What is signed is believed; this much is looked at because whoever has the secret may also sign
 * other things.
 */
export const esAviso = <T extends { tipo: string }>(datos: unknown): datos is T => conTextos(datos, 'tipo')

/** The operations that answer a page of a list. */
export type OperacionDeLista = {
  [O in Operacion]: Salida<O> extends Pagina<unknown> ? O : never
}[Operacion]

/** The operations that answer one thing. A recovery answers two: itself or, rehearsed, its counts. */
export type OperacionDeUnaRespuesta = Exclude<Operacion, OperacionDeLista | 'recuperarEntregasDeWebhook'>

/** The shape of what each operation answers; a list's is {@link esPagina}. */
export const FORMAS: { readonly [O in OperacionDeUnaRespuesta]: Forma<Salida<O>> } = {
  cambiarWebhook: esWebhook,
  cancelarGuia: esGuia,
  confirmarUbicacion: esGuia,
  crearEtiquetas: esEtiquetas,
  crearGuia: esGuia,
  crearLote: esLote,
  crearWebhook: esWebhookConSecreto,
  eliminarWebhook: esNada,
  obtenerEntregaDeWebhook: esEntregaDeWebhook,
  obtenerCuenta: esCuenta,
  obtenerEtiqueta: esEtiquetas,
  obtenerGuia: esGuia,
  obtenerPruebaDeEntrega: esPrueba,
  obtenerRecuperacion: esRecuperacion,
  obtenerWebhook: esWebhook,
  probarWebhook: esEntregaDeWebhook,
  reenviarEntregaDeWebhook: esEntregaDeWebhook,
  reenviarSolicitud: esGuia,
  rotarSecreto: esWebhookConSecreto,
  simularAvance: esGuia,
  simularUbicacion: esGuia,
}
