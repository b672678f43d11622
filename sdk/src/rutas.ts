import { ErrorGuias } from './errores.js'

/** Empty, `.` and `..` would change the path and reach another operation; anything else the server answers itself. */
export function revisar(codigo: unknown, que: string, ejemplo: string): string {
  if (typeof codigo === 'string' && !/^(\s*|\.\.?)$/.test(codigo)) return codigo
  const llego = typeof codigo === 'string' ? `«${codigo}»` : codigo === null ? 'null' : typeof codigo
  throw new ErrorGuias(`El ${que} debe ser un texto como ${ejemplo} y llegó ${llego}.`)
}
