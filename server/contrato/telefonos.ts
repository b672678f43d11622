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

/** The contract's `x-telefono`: a telephone that can be read with the country that stands beside it, or the sender's. */
const validar: Validar = function (this: Remitente | undefined, _exigido, texto: string, esquema, lugar) {
  const dicho: unknown = lugar?.parentData.pais
  // A country that is none has a fault of its own, and so has what is too long to be a number.
  if ((dicho !== undefined && !PAISES.includes(dicho)) || texto.length > esquema?.maxLength) return true
  const telefono = leerTelefono(texto, (dicho as string | undefined) ?? this?.pais)
  if (!('error' in telefono)) return true
  validar.errors = [{ keyword: 'x-telefono', message: telefono.error }]
  return false
}

export const admitirTelefonos = (ajv: Ajv2020) =>
  ajv.addKeyword({ keyword: 'x-telefono', type: 'string', validate: validar })
