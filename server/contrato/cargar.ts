import { autocomprobar } from './autocomprobacion.ts'
import { leerDocumento, leerOperaciones } from './contrato.ts'
import { crearValidacion } from './validacion.ts'

async function compilarContrato() {
  const documento = leerDocumento()
  const operaciones = leerOperaciones(documento)
  const validacion = crearValidacion(documento, operaciones)
  await autocomprobar(operaciones, validacion)
  return { operaciones, validacion }
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
