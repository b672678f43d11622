import { hash } from 'node:crypto'
import { CONTRACT_SHA256 } from '../../generated/contract/validators.mjs'
import { readContractText, readDocument, readOperations } from './contract.ts'
import { createSelfCheck } from './selfCheck.ts'
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
  const validacion = createValidation(document, operaciones)
  return { operaciones, validacion, check: createSelfCheck(validacion) }
}

/** Operations of the contract, their validation, and the check that the validation is active. */
export type Contract = ReturnType<typeof compileContract>

let contract: Contract | undefined

/**
 * Returns the contract, read once in a process. An operation is prepared for validation when `check` first checks
 * it.
 */
export function loadContract(): Contract {
  contract ??= compileContract()
  return contract
}

/** Pause between two operations, in milliseconds, for other work of the process. */
const BREATHER_MS = 10

/**
 * Prepares and checks every operation, one after the other, so that no first request has to wait. An operation that
 * fails the check is also refused when it is called.
 * @param onFailure called with the error of each failed operation
 */
export async function warmContract({ operaciones, check }: Contract, onFailure: (error: unknown) => void) {
  for (const operation of operaciones) {
    await check(operation).catch(onFailure)
    await new Promise((resolve) => setTimeout(resolve, BREATHER_MS).unref())
  }
}
