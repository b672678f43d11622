import { hash } from 'node:crypto'
import { crearAutocomprobacion } from './autocomprobacion.ts'
import { leerDocumento, leerOperaciones, leerTextoDelContrato } from './contrato.ts'
import { CONTRATO_SHA256 } from './generado/validadores.mjs'
import { crearValidacion } from './validacion.ts'

/**
 * Refuses to serve a contract by validators that were compiled of another one.
 * @param texto the contract as the process reads it
 */
export function exigirCompilado(texto: string): void {
  if (hash('sha256', texto) !== CONTRATO_SHA256)
    throw new Error('the validators were compiled of another contract: run npm run generar')
}

function compilarContrato() {
  const texto = leerTextoDelContrato()
  exigirCompilado(texto)
  const documento = leerDocumento(texto)
  const operaciones = leerOperaciones(documento)
  const validacion = crearValidacion(documento, operaciones)
  return { operaciones, validacion, comprobar: crearAutocomprobacion(validacion) }
}

/** The contract's operations, their validation, and what checks that it is in force. */
export type Contrato = ReturnType<typeof compilarContrato>

let contrato: Contrato | undefined

/** The contract, read once in a process; an operation's schemas are compiled when it is first called. */
export function cargarContrato(): Contrato {
  contrato ??= compilarContrato()
  return contrato
}

/** How long the process is left to others between two operations, in milliseconds. */
const RESPIRO = 10

/**
 * Compiles and checks every operation, so that nobody waits for it at his first call: one after the other, while there may
 * be other work. One that fails is refused when it is called, too.
 */
export async function calentarContrato({ operaciones, comprobar }: Contrato, alFallar: (error: unknown) => void) {
  for (const operacion of operaciones) {
    await comprobar(operacion).catch(alFallar)
    await new Promise((resolve) => setTimeout(resolve, RESPIRO).unref())
  }
}
