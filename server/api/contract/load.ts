import { hash } from 'node:crypto'
import { CONTRATO_SHA256 } from '../../generado/contrato/validadores.mjs'
import { leerDocumento, leerOperaciones, leerTextoDelContrato } from './contract.ts'
import { crearAutocomprobacion } from './selfCheck.ts'
import { crearValidacion } from './validation.ts'

/**
 * Refuses to serve a contract if the validators were compiled from another contract.
 * @param texto contract as the process reads it
 * @throws Error
 */
export function exigirCompilado(texto: string): void {
  if (hash('sha256', texto) !== CONTRATO_SHA256)
    throw new Error('the validators were compiled from another contract: run npm run generar')
}

function compilarContrato() {
  const texto = leerTextoDelContrato()
  exigirCompilado(texto)
  const documento = leerDocumento(texto)
  const operaciones = leerOperaciones(documento)
  const validacion = crearValidacion(documento, operaciones)
  return { operaciones, validacion, comprobar: crearAutocomprobacion(validacion) }
}

/** Operations of the contract, their validation, and the check that the validation is active. */
export type Contrato = ReturnType<typeof compilarContrato>

let contrato: Contrato | undefined

/**
 * Returns the contract, read once in a process. An operation is prepared for validation when `comprobar` first checks
 * it.
 */
export function cargarContrato(): Contrato {
  contrato ??= compilarContrato()
  return contrato
}

/** Pause between two operations, in milliseconds, for other work of the process. */
const RESPIRO = 10

/**
 * Prepares and checks every operation, one after the other, so that no first request has to wait. An operation that
 * fails the check is also refused when it is called.
 * @param alFallar called with the error of each failed operation
 */
export async function calentarContrato({ operaciones, comprobar }: Contrato, alFallar: (error: unknown) => void) {
  for (const operacion of operaciones) {
    await comprobar(operacion).catch(alFallar)
    await new Promise((resolve) => setTimeout(resolve, RESPIRO).unref())
  }
}
