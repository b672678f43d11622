import type { Client } from './generado/client/index.js'

/** What goes over the wire, but for what every request carries. */
export interface Pedido {
  metodo: string
  /** With its parameters. */
  ruta: string
  cuerpo: string | undefined
  /** What takes no key is sent none. */
  conLlave: boolean
}

/** What every call of a generated function carries besides its own path, query and body. */
export interface Comunes {
  client: Client
  throwOnError: true
}

interface OpcionesGeneradas {
  url: string
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  bodySerializer?: (body: unknown) => string
  security?: readonly unknown[]
}

/**
 * The generated functions know routes and parameters; what they call in the end only writes down what they would send.
 * Their own client would hand out an HTML page with status 200 as the model, throw plain objects, lose the text of an
 * error, and take 4 KB to do it.
 */
const client = Object.fromEntries(
  ['get', 'post', 'put', 'patch', 'delete'].map((metodo) => [
    metodo,
    ({ url, path = {}, query = {}, body, bodySerializer = JSON.stringify, security }: OpcionesGeneradas): Pedido => {
      const ruta = url.replace(/\{(\w+)\}/g, (_, nombre) => encodeURIComponent(String(path[nombre])))
      const pares = Object.entries(query).flatMap(([nombre, valor]) =>
        [valor].flat().flatMap((uno) => (uno === undefined || uno === null ? [] : [`${nombre}=${codificar(uno)}`])),
      )
      return {
        metodo: metodo.toUpperCase(),
        ruta: pares.length > 0 ? `${ruta}?${pares.join('&')}` : ruta,
        cuerpo: body === undefined ? undefined : bodySerializer(body),
        conLlave: security !== undefined,
      }
    },
  ]),
) as unknown as Client

const codificar = (valor: unknown) => encodeURIComponent(valor instanceof Date ? valor.toISOString() : String(valor))

/** At once, so that the caller may change its objects for the next guide. */
export const armar = (llamar: (comunes: Comunes) => unknown): Pedido => llamar({ client, throwOnError: true }) as Pedido
