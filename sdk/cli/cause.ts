const SYSTEM_ERROR_REASONS: Record<string, string> = {
  ENOENT: 'no existe',
  EACCES: 'no tiene permiso',
  EPERM: 'no tiene permiso',
  EROFS: 'ahí no se puede escribir',
  EISDIR: 'es una carpeta',
  ENOTDIR: 'una parte de la ruta no es una carpeta',
  EEXIST: 'ya existe',
  ENOSPC: 'no queda espacio en el disco',
  ENAMETOOLONG: 'el nombre es demasiado largo',
}

/** Returns the reason of a file system error: in Spanish for common codes, else Node's message. */
export function explainSystemError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return (code && SYSTEM_ERROR_REASONS[code]) || message
}
