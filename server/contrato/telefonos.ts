import type { Ajv2020, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { leerTelefono } from '../telefonos/telefono.ts'
import { PLANES } from './generado/planes.ts'

/** Whose request a body is, as far as that decides whether it is valid. */
export interface Remitente {
  /** The country of telephones without +. */
  readonly pais?: string | null
}

const PAISES: readonly unknown[] = PLANES.map(({ pais }) => pais)

type Validar = NonNullable<FuncKeywordDefinition['validate']>

/**
 * Reads a telephone with the country that stands beside it, or the sender's.
 * @returns in Spanish, why it can't be read; undefined for one that can, or has a fault of its own besides
 */
function errorDeTelefono(remitente: Remitente | undefined, texto: string, dicho: unknown, maximo: number) {
  // A country that is none has a fault of its own, and so has what is too long to be a number.
  if ((dicho !== undefined && !PAISES.includes(dicho)) || texto.length > maximo) return undefined
  const telefono = leerTelefono(texto, (dicho as string | undefined) ?? remitente?.pais)
  return 'error' in telefono ? telefono.error : undefined
}

/** The verdict of the contract's `x-telefono`, as compiled validators ask for it: `this` is whose request it is. */
export function valeTelefono(
  this: Remitente | undefined,
  texto: string,
  lado: { pais?: unknown } | undefined,
  maximo?: number,
) {
  return errorDeTelefono(this, texto, lado?.pais, maximo ?? Number.POSITIVE_INFINITY) === undefined
}

const validar: Validar = function (this: Remitente | undefined, _exigido, texto: string, esquema, lugar) {
  const error = errorDeTelefono(this, texto, lugar?.parentData.pais, esquema?.maxLength ?? Number.POSITIVE_INFINITY)
  if (error === undefined) return true
  validar.errors = [{ keyword: 'x-telefono', message: error }]
  return false
}

/** Has an Ajv know `x-telefono`, and say what is wrong with a telephone. */
export const admitirTelefonos = (ajv: Ajv2020) =>
  ajv.addKeyword({ keyword: 'x-telefono', type: 'string', validate: validar })
