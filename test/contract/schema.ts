import { readDocument } from '../../server/api/contract/contract.ts'

interface ObjectSchema {
  properties: Readonly<Record<string, { type?: string | readonly string[] }>>
  required?: readonly string[]
}

/** Returns a schema of the contract that has members. */
export const readSchema = (name: string): ObjectSchema =>
  readDocument().components.schemas[name] as unknown as ObjectSchema
