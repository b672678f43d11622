import pg from 'pg'
import { inject } from 'vitest'

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
