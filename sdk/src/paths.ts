import { ErrorGuias } from './errors.js'

/**
 * Returns a member of a path after a check. An empty member, `.` or `..` would reach another operation; the server
 * checks the rest.
 *
 * @throws ErrorGuias if the member is empty, `.`, `..` or not a text
 */
export function checkCode(member: string, codigo: unknown): string {
  if (typeof codigo === 'string' && !/^(\s*|\.\.?)$/.test(codigo)) return codigo
  throw new ErrorGuias(`${member} debe ser un texto, el código que dio el servicio.`)
}
