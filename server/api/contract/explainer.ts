import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ContractParameter, OpenApiDocument } from './contract.ts'
import { explainErrors, type Faults, NO_FAULTS } from './faults.ts'
import { FORMATS } from './formats.ts'
import { createNullRemover, type WithoutNulls } from './nulls.ts'
import { addTelephoneKeyword, type PhoneContext } from './telephones.ts'

/**
 * Length to which lists are cut before their faults are explained, and number of members unknown to the contract that an
 * object keeps. It exceeds the contract's largest `maxItems` and `maxProperties` (100), so what is cut is still too long.
 */
const LENGTH = 101

/** Adds the names of all members that a part of the contract declares. */
function addMembers(part: unknown, names: Set<string>): void {
  if (part === null || typeof part !== 'object') return
  const { properties } = part as { properties?: unknown }
  if (properties !== null && typeof properties === 'object' && !Array.isArray(properties))
    for (const name of Object.keys(properties)) names.add(name)
  for (const child of Object.values(part)) addMembers(child, names)
}

function registerFormats(ajv: Ajv2020): void {
  addFormats.default(ajv)
  for (const [name, { validate }] of Object.entries(FORMATS)) ajv.addFormat(name, validate)
}

/** Explains the faults of a refused request, with Ajv instances that report all faults instead of the first. */
export class Explainer {
  readonly #document: () => OpenApiDocument
  /** Created at the first fault, because loading the contract takes a fortieth of a second. */
  #bodyAjv: Ajv2020 | undefined
  /** Created at the first refused body, like {@link #bodyAjv}. */
  #removeNulls: ReturnType<typeof createNullRemover> | undefined
  /** Names of all members in the contract, created at the first fault. */
  #members: Set<string> | undefined
  readonly #parameterAjv = new Ajv2020({ strict: false, coerceTypes: 'array', validateSchema: false })

  /** @param document returns the contract with which requests are validated */
  constructor(document: () => OpenApiDocument) {
    this.#document = document
    registerFormats(this.#parameterAjv)
  }

  /**
   * Returns the faults of a value, by the schema at that place in the contract; no faults if the value is valid.
   * @param ref JSON pointer to the schema
   * @param maximum maximum number of reported faults
   */
  faults(ref: string, value: unknown, maximum: number, sender: PhoneContext | undefined): Faults {
    const validate = this.#compiled(ref)
    const shortened = this.#shorten(value)
    return validate.call(sender, shortened)
      ? NO_FAULTS
      : explainErrors(validate.errors as ErrorObject[], maximum, shortened)
  }

  /**
   * Returns a value without the nulls that count as absent, by the schema at that place in the contract.
   * @param ref JSON pointer to the schema
   */
  withoutNulls(ref: string, value: unknown): WithoutNulls {
    this.#removeNulls ??= createNullRemover(this.#document())
    return this.#removeNulls(ref, value)
  }

  /** Reports whether the schema of a parameter accepts a value, given as text. */
  admits({ schema }: ContractParameter, value: unknown): boolean {
    return this.#parameterAjv.validate(schema, value)
  }

  /**
   * Returns the value with long lists cut short, but still too long for the contract, and without most members that the
   * contract does not know. A list of 20,000 wrong items, or as many unknown members, would otherwise block the process
   * for a second. The validator would make a fault of each, and look at each pair of items for `uniqueItems`.
   */
  #shorten(value: unknown): unknown {
    if (Array.isArray(value)) return value.slice(0, LENGTH).map((element) => this.#shorten(element))
    if (value === null || typeof value !== 'object') return value
    let unknownCount = 0
    const keptEntries = Object.entries(value).filter(
      ([key]) => this.#knownMembers().has(key) || ++unknownCount <= LENGTH,
    )
    return Object.fromEntries(keptEntries.map(([key, child]) => [key, this.#shorten(child)]))
  }

  #knownMembers(): Set<string> {
    if (this.#members) return this.#members
    this.#members = new Set()
    addMembers(this.#document(), this.#members)
    return this.#members
  }

  #compiled(ref: string): ValidateFunction {
    const id = `contrato#${ref}`
    this.#bodyAjv ??= this.#newAjv()
    return this.#bodyAjv.getSchema(id) ?? this.#bodyAjv.compile({ $ref: id })
  }

  #newAjv(): Ajv2020 {
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
    registerFormats(ajv)
    return ajv.addSchema(this.#document(), 'contrato')
  }
}
