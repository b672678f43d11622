import { type ServiceRow, serviceRows, serviceSummary } from '../../server/domain/serviceRows.ts'
import type { EstadoDelServicio } from '../../server/generated/contract/types/index.ts'

/** Returns the state of the service as text for one screen: a line per measure, and a line per queue with due jobs. */
export const formatEstado = (estado: EstadoDelServicio): string =>
  [`${serviceSummary(estado)} Leído ${estado.leido_en}`, '', ...serviceRows(estado).map(formatRow)].join('\n')

const formatRow = ({ titulo, valor, limite, bien, pagina }: ServiceRow) =>
  `  ${bien ? '✔' : '✘'} ${titulo.padEnd(62)} ${valor.padStart(9)}${limite === undefined ? '' : `, límite ${limite}`}${bien || pagina === null ? '' : `  ${pagina}`}`
