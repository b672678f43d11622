import { autocomprobar } from './autocomprobacion.ts'
import { leerDocumento, leerOperaciones } from './contrato.ts'
import { crearValidacion } from './validacion.ts'

/** The contract for whoever serves no requests: its self-check, most of the time that loading takes, is left out. */
export function leerContrato() {
  const documento = leerDocumento()
  const operaciones = leerOperaciones(documento)
  return { operaciones, validacion: crearValidacion(documento, operaciones) }
}

async function compilarContrato() {
  const contrato = leerContrato()
  await autocomprobar(contrato.operaciones, contrato.validacion)
  return contrato
}
export type Contrato = Awaited<ReturnType<typeof compilarContrato>>

let contrato: Promise<Contrato> | undefined

/**
 * The contract, compiled once in a process and found to be in force. It needs no database, so it is made while the
 * database starts.
 */
export function cargarContrato(): Promise<Contrato> {
  contrato ??= compilarContrato()
  return contrato
}
