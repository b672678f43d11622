import { ErrorDeHoja } from '@guias/sdk/hoja'
import { UsageError } from './command.ts'
import { sanitize } from './terminal.ts'

/** Remedies that only some commands have: a sentence about unknown columns, and the end of one about the encoding. */
export interface SheetRemedies {
  columns: string
  encoding: string
}

/** Rewrites the message of an error about a sheet, with the file's name and the command's own remedies. */
export function explainSheet(error: unknown, file: string, remedies?: SheetRemedies): unknown {
  if (!(error instanceof ErrorDeHoja)) return error
  const mensaje = sanitize(error.message)
  switch (error.motivo) {
    case 'vacia':
      return new UsageError(`${file} está vacío.`)
    case 'columnas':
      return new UsageError(`${mensaje}. ${remedies?.columns ?? ''}`.trim())
    case 'fila':
      return new UsageError(`${file}, ${mensaje}. Corríjala y ejecútelo otra vez.`)
    case 'libro':
      return new UsageError(`${file} ${mensaje}: ábralo en su hoja de cálculo y guárdelo como «CSV UTF-8».`)
    case 'codificacion':
      return new UsageError(`${file} ${mensaje}: guárdelo como «CSV UTF-8»${remedies?.encoding ?? ''}.`)
    default:
      return new UsageError(`${mensaje}.`)
  }
}
