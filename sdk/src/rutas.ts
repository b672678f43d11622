import { ErrorGuias } from './errores.js'

/**
 * Refuses a member of a path that is empty, `.` or `..`: it would reach another operation. The rest the server answers
 * itself.
 */
export function revisar(miembro: string, codigo: unknown): string {
  if (typeof codigo === 'string' && !/^(\s*|\.\.?)$/.test(codigo)) return codigo
  const llego = typeof codigo === 'string' ? `«${codigo}»` : codigo === null ? 'null' : typeof codigo
  throw new ErrorGuias(`${miembro} debe ser un texto, el código que dio el servicio, y llegó ${llego}.`)
}
