import { ErrorGuias } from './errores.js'
import type { Operaciones } from './generado/operaciones.js'

type Miembro<D> = D extends { path: infer P } ? keyof P : never

/** What each member of a path is called, and an example. */
const MIEMBROS: Record<Miembro<Operaciones[keyof Operaciones]['datos']>, [que: string, ejemplo: string]> = {
  guia: ['código de la guía', '7K3M9QX2A1B4'],
  webhook: ['identificador del webhook', 'wh_4T8WQ2ZK7NHB'],
  entrega: ['identificador de la entrega', 'ent_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1'],
  recuperacion: ['identificador de la recuperación', 'rec_9W2KQ8WZ1MTA'],
}

/**
 * Refuses a member of a path that is empty, `.` or `..`: it would reach another operation. The rest the server answers
 * itself.
 */
export function revisar(miembro: string, codigo: unknown): string {
  if (typeof codigo === 'string' && !/^(\s*|\.\.?)$/.test(codigo)) return codigo
  const [que, ejemplo] = MIEMBROS[miembro as keyof typeof MIEMBROS]
  const llego = typeof codigo === 'string' ? `«${codigo}»` : codigo === null ? 'null' : typeof codigo
  throw new ErrorGuias(`El ${que} debe ser un texto como ${ejemplo} y llegó ${llego}.`)
}
