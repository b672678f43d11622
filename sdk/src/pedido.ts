import { ErrorGuias } from './errores.js'
import { OPERACIONES, type Operaciones } from './generado/operaciones.js'
import { revisar } from './rutas.js'

/** The name of an operation of the contract. */
export type Operacion = keyof Operaciones

/** What an operation takes: the members of its path, its query and its body. */
export type Datos<O extends Operacion> = Omit<Operaciones[O]['datos'], 'url'>

/** What an operation answers when all is well. */
export type Salida<O extends Operacion> = Operaciones[O]['salida']

/** The {@link Datos} of any operation. */
export interface DatosDeAlguna {
  path?: object
  query?: object | undefined
  body?: unknown
}

/** A request: what goes over the wire but for the headers, and whether it may go twice. */
export interface Pedido {
  metodo: string
  /** The address on the service, with its parameters. */
  ruta: string
  cuerpo: string | undefined
  /** Whether the merchant's key goes with the request: what takes none is sent none. */
  conLlave: boolean
  /**
   * Whether the request may be sent twice: whatever the service did with the first, it does nothing more with the
   * second.
   */
  repetible: boolean
}

/** What the contract's table says of an operation. */
function leer(fila: string): [metodo: string, plantilla: string, repetible: string | undefined] {
  const [metodo = '', ruta, repetible] = fila.split(' ')
  return [metodo, `/api/v1${ruta}`, repetible]
}

/** Makes the request of an operation, as the contract's table says. */
export function armar(operacion: Operacion, { path = {}, query, body }: DatosDeAlguna): Pedido {
  const [metodo, plantilla, repetible] = leer(OPERACIONES[operacion])
  const partes = new Map<string, unknown>(Object.entries(path))
  const ruta = plantilla.replace(/\{(\w+)\}/g, (_, nombre) => encodeURIComponent(revisar(nombre, partes.get(nombre))))
  return completar(metodo, ruta, { query, body }, repetible)
}

/**
 * Makes the request of an operation that this version may not know. One that it knows may be sent twice as the contract's
 * table says; of another, what HTTP calls idempotent (RFC 9110, 9.2.2).
 */
export function armarOtra(metodo: string, ruta: string, datos: DatosDeAlguna, repetible?: boolean): Pedido {
  // Anything else could carry the key to another host.
  if (!/^\//.test(ruta)) throw new ErrorGuias(`La ruta debe ser como /api/v1/guias y llegó «${ruta}».`)
  const esta = Object.values(OPERACIONES)
    .map(leer)
    .find(
      ([suyo, plantilla]) =>
        suyo === metodo && new RegExp(`^${plantilla.replace(/\{\w+\}/g, '[^/]+')}(\\?|$)`).test(ruta),
    )
  const pedido = completar(metodo, ruta, datos, esta ? esta[2] : /^P(OS|ATC)/.test(metodo) ? undefined : 'true')
  return { ...pedido, repetible: repetible ?? pedido.repetible }
}

/** @param repetible `true`, the member of the body on which it hangs, or undefined: never */
function completar(
  metodo: string,
  ruta: string,
  { query, body }: DatosDeAlguna,
  repetible: string | undefined,
): Pedido {
  const pares = Object.entries(query ?? {}).flatMap(([nombre, valor]) =>
    [valor].flat().flatMap((uno) => (uno === undefined || uno === null ? [] : [`${nombre}=${codificar(uno)}`])),
  )
  return {
    metodo,
    ruta: pares.length > 0 ? `${ruta}${ruta.includes('?') ? '&' : '?'}${pares.join('&')}` : ruta,
    cuerpo: body === undefined || body === null ? undefined : JSON.stringify(body),
    conLlave: true,
    repetible: repetible === 'true' || (repetible !== undefined && lleva(body, repetible.split('/'))),
  }
}

const codificar = (valor: unknown) => encodeURIComponent(valor instanceof Date ? valor.toISOString() : String(valor))

/** Has the body the member on which repeating hangs? Through a list, each of its entries must have it. */
function lleva(valor: unknown, [miembro, ...resto]: string[]): boolean {
  if (miembro === undefined) return Boolean(valor)
  if (Array.isArray(valor)) return valor.every((uno) => lleva(uno, [miembro, ...resto]))
  return lleva((valor as Record<string, unknown> | null | undefined)?.[miembro], resto)
}
