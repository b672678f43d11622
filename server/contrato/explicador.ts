import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Documento, Parametro } from './contrato.ts'
import { explicar, type Fallas, SIN_FALLAS } from './fallas.ts'
import { FORMATOS } from './formatos.ts'
import { admitirTelefonos, type Remitente } from './telefonos.ts'

/** More than any list of a request may hold (the contract's largest `maxItems` is 100). */
const LISTA_LARGA = 101

/**
 * The value with its lists cut short, still too long where they were: to explain a list of 20,000 wrong things by looking
 * at each, and at each pair for `uniqueItems`, would cost a second of everybody's time.
 */
function acortar(valor: unknown): unknown {
  if (Array.isArray(valor)) return valor.slice(0, LISTA_LARGA).map(acortar)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(Object.entries(valor).map(([clave, dentro]) => [clave, acortar(dentro)]))
}

function admitirFormatos(ajv: Ajv2020): void {
  addFormats.default(ajv)
  for (const [nombre, { validate }] of Object.entries(FORMATOS)) ajv.addFormat(nombre, validate)
}

/** Explains what is wrong with a request that was refused, by compilers that look at all of it. */
export class Explicador {
  readonly #documento: () => Documento
  /** Made for the first fault: to take the contract in costs it a fortieth of a second. */
  #deCuerpos: Ajv2020 | undefined
  readonly #deParametros = new Ajv2020({ strict: false, coerceTypes: 'array', validateSchema: false })

  /** @param documento the contract as requests are held to it */
  constructor(documento: () => Documento) {
    this.#documento = documento
    admitirFormatos(this.#deParametros)
  }

  /** The faults of a value, by the schema that stands there in the contract; none, if it is valid. */
  fallas(ref: string, valor: unknown, maximo: number, remitente: Remitente | undefined): Fallas {
    const validar = this.#compilado(ref)
    return validar.call(remitente, acortar(valor)) ? SIN_FALLAS : explicar(validar.errors as ErrorObject[], maximo)
  }

  /** Whether a parameter's value, as text, is one that its schema admits. */
  admite({ schema }: Parametro, valor: unknown): boolean {
    return this.#deParametros.validate(schema, valor)
  }

  #compilado(ref: string): ValidateFunction {
    const id = `contrato#${ref}`
    this.#deCuerpos ??= this.#nuevo()
    return this.#deCuerpos.getSchema(id) ?? this.#deCuerpos.compile({ $ref: id })
  }

  #nuevo(): Ajv2020 {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      verbose: true,
      validateSchema: false,
      addUsedSchema: false,
      // Whose request it is goes along as `this`, down to the keywords.
      passContext: true,
    })
    admitirTelefonos(ajv)
    admitirFormatos(ajv)
    return ajv.addSchema(this.#documento(), 'contrato')
  }
}
