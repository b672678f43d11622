import pg from 'pg'
import { inject } from 'vitest'
import { borrarBase, clonarBase } from './citus.ts'
import { PLANTILLA } from './plantilla.ts'

/** Something done from outside a test's own database. */
export async function admin<T>(hacer: (cliente: pg.Client) => Promise<T>): Promise<T> {
  const cliente = new pg.Client({ connectionString: inject('postgres') })
  await cliente.connect()
  try {
    return await hacer(cliente)
  } finally {
    await cliente.end()
  }
}

/** A database of its own for somebody, cloned from the template. */
export async function crearBase(nombre: string): Promise<void> {
  const nodos = inject('nodos')
  if (nodos) await clonarBase(nodos, nombre, PLANTILLA)
  else await admin((cliente) => cliente.query(`create database ${nombre} template ${PLANTILLA} strategy file_copy`))
}

export async function quitarBase(nombre: string): Promise<void> {
  const nodos = inject('nodos')
  if (nodos) await borrarBase(nodos, nombre)
  else await admin((cliente) => cliente.query(`drop database if exists ${nombre} with (force)`))
}

/** Which engine the tests are run on. */
export const motorDePruebas = () => (inject('nodos') ? ('citus' as const) : ('postgres' as const))
