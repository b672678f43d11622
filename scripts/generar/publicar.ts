import { DIRECCION } from '../../server/pages/docs/direccion.ts'
import type { Json, Objeto } from '../documentacion/contrato.ts'

/**
 * Extensions (`x-…`) that only the server and the generators read. Every other extension is information for readers of
 * the contract.
 */
export const INTERNAS: ReadonlySet<string> = new Set([
  'x-cuerpo-crudo',
  'x-cuerpo-en-flujo',
  'x-invertible',
  'x-mensaje',
  'x-mensaje-lista',
  'x-mensajes-requeridos',
  'x-mismo-origen',
  'x-patron',
  'x-rechazo',
  'x-sobre',
  'x-telefono',
])

function copiar(valor: Json, cambiar: (objeto: Objeto) => Objeto): Json {
  if (Array.isArray(valor)) return valor.map((uno) => copiar(uno, cambiar))
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(Object.entries(cambiar(valor)).map(([clave, dentro]) => [clave, copiar(dentro, cambiar)]))
}

/** Removes from the merchants' contract the problems that only couriers and operators can receive (`ajeno`). */
export const sinProblemasAjenos = (contrato: Objeto) =>
  copiar(contrato, ({ 'x-problemas': problemas, ...objeto }) => {
    if (problemas === undefined) return objeto
    const suyos = Object.entries(problemas as Record<string, Objeto>).filter(([, { ajeno }]) => ajeno !== true)
    return { ...objeto, enum: suyos.map(([codigo]) => codigo), 'x-problemas': Object.fromEntries(suyos) }
  }) as Objeto

/** Returns the published contract, without the extensions in {@link INTERNAS}. */
export const paraPublicar = (contrato: Objeto) =>
  copiar(contrato, (objeto) =>
    Object.fromEntries(Object.entries(objeto).filter(([clave]) => !INTERNAS.has(clave))),
  ) as Objeto

/** Returns a text whose links to the service hold in every viewer. */
const withAbsoluteLinks = (text: string) => text.replace(/\]\(\//g, `](${DIRECCION}/`)

/**
 * Returns the published contract as the service serves it: without the guide, which `externalDocs` names. Its server
 * and the addresses in its texts begin with the example address, in whose place the service puts its own. A repetition's 200 beside a creation's 201 becomes `2XX`, because mock servers answer the lowest status
 * that they find.
 */
export const paraServir = (contrato: Objeto) =>
  copiar({ ...contrato, servers: [{ url: DIRECCION, description: 'La dirección del servicio' }] }, (objeto) => {
    const { 'x-guia': _, ...rest } = objeto
    if (typeof rest.description === 'string') rest.description = withAbsoluteLinks(rest.description)
    const { 200: repetida, ...respuestas } = (rest.responses ?? {}) as Record<string, Objeto>
    if (!repetida || !respuestas[201]) return rest
    const description = `Con el estado 200: ${repetida.description}`
    return { ...rest, responses: { ...respuestas, '2XX': { ...repetida, description } } }
  }) as Objeto

/**
 * Returns the contract for the server's validation, with `x-patron` in place of `pattern`. The published `pattern`
 * contains only what the regular expressions of all tools support.
 */
export const paraElServidor = (contrato: Objeto) =>
  copiar(contrato, ({ 'x-patron': patron, ...objeto }) =>
    patron === undefined ? objeto : { ...objeto, pattern: patron },
  ) as Objeto
