import { hash } from 'node:crypto'
import { CONTRACT_SHA256 } from '../../generated/contract/validators.mjs'
import { readContractText, readDocument, readOperations } from './contract.ts'
import { createValidation } from './validation.ts'

/**
 * Refuses to serve a contract if the validators were compiled from another contract.
 * @param text contract as the process reads it
 * @throws Error
 */
export function requireCompiled(text: string): void {
  if (hash('sha256', text) !== CONTRACT_SHA256)
    throw new Error('the validators were compiled from another contract: run npm run generate')
}

function compileContract() {
  const text = readContractText()
  requireCompiled(text)
  const document = readDocument(text)
  const operaciones = readOperations(document)
  return { operaciones, validacion: createValidation(document, operaciones) }
}

/** Operations of the contract, and their validation. */
export type Contract = ReturnType<typeof compileContract>

let contract: Contract | undefined

/** Returns the contract, read once in a process. */
export function loadContract(): Contract {
  contract ??= compileContract()
  return contract
}
