import type { Json, Objeto } from '../documentacion/contrato.ts'

/** Marks that only our own machinery reads; every other `x-` of the contract tells its readers something. */
export const INTERNAS: ReadonlySet<string> = new Set([
  'x-cuerpo-crudo',
  'x-cuerpo-en-flujo',
  'x-mensaje',
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

/** The contract of merchants: in their list of problems stands none that only couriers and operators can get. */
export const sinProblemasAjenos = (contrato: Objeto) =>
  copiar(contrato, ({ 'x-problemas': problemas, ...objeto }) => {
    if (problemas === undefined) return objeto
    const suyos = Object.entries(problemas as Record<string, Objeto>).filter(([, { ajeno }]) => ajeno !== true)
    return { ...objeto, enum: suyos.map(([codigo]) => codigo), 'x-problemas': Object.fromEntries(suyos) }
  }) as Objeto

/** The contract as others read it: without the marks that are only ours. */
export const paraPublicar = (contrato: Objeto) =>
  copiar(contrato, (objeto) =>
    Object.fromEntries(Object.entries(objeto).filter(([clave]) => !INTERNAS.has(clave))),
  ) as Objeto

/**
 * The contract as the server judges by it: `x-patron` stands in the place of `pattern`, which says only as much as every
 * tool's regular expressions can.
 */
export const paraElServidor = (contrato: Objeto) =>
  copiar(contrato, ({ 'x-patron': patron, ...objeto }) =>
    patron === undefined ? objeto : { ...objeto, pattern: patron },
  ) as Objeto
