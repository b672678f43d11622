import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ContractParameter, OpenApiDocument } from './contract.ts'
import { explainErrors, type Faults, NO_FAULTS } from './faults.ts'
import { FORMATS } from './formats.ts'
import { addTelephoneKeyword, type PhoneContext } from './telephones.ts'

/**
 * Length to which lists are cut before their faults are explained. It exceeds the contract's largest `maxItems` (100),
 * so a cut list is still too long.
 */
const LISTA_LARGA = 101

/**
 * Returns the value with long lists cut short, but still too long for the contract. A list of 20,000 wrong items would
 * otherwise block the process for a second. The validator would look at each item, and at each pair for `uniqueItems`.
 */
function acortar(valor: unknown): unknown {
  if (Array.isArray(valor)) return valor.slice(0, LISTA_LARGA).map(acortar)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(Object.entries(valor).map(([clave, dentro]) => [clave, acortar(dentro)]))
}

function admitirFormatos(ajv: Ajv2020): void {
  addFormats.default(ajv)
  for (const [nombre, { validate }] of Object.entries(FORMATS)) ajv.addFormat(nombre, validate)
}

/** Explains the faults of a refused request, with Ajv instances that report all faults instead of the first. */
export class Explainer {
  readonly #documento: () => OpenApiDocument
  /** Created at the first fault, because loading the contract takes a fortieth of a second. */
  #deCuerpos: Ajv2020 | undefined
  readonly #deParametros = new Ajv2020({ strict: false, coerceTypes: 'array', validateSchema: false })

  /** @param documento returns the contract with which requests are validated */
  constructor(documento: () => OpenApiDocument) {
    this.#documento = documento
    admitirFormatos(this.#deParametros)
  }

  /**
   * Returns the faults of a value, by the schema at that place in the contract; no faults if the value is valid.
   * @param ref JSON pointer to the schema
   * @param maximo maximum number of reported faults
   */
  faults(ref: string, valor: unknown, maximo: number, remitente: PhoneContext | undefined): Faults {
    const validar = this.#compilado(ref)
    const corto = acortar(valor)
    return validar.call(remitente, corto) ? NO_FAULTS : explainErrors(validar.errors as ErrorObject[], maximo, corto)
  }

  /** Reports whether the schema of a parameter accepts a value, given as text. */
  admits({ schema }: ContractParameter, valor: unknown): boolean {
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
      // Ajv passes the caller as `this` down to the keywords.
      passContext: true,
    })
    addTelephoneKeyword(ajv)
    admitirFormatos(ajv)
    return ajv.addSchema(this.#documento(), 'contrato')
  }
}
