import type { EstadoDelServicio } from '../generated/contract/types/index.ts'

/** Maximum seconds for which a job may be overdue while the service is at rest. */
export const QUEUE_WAIT_SECONDS = 300

/** Row of the service's state, in Spanish, for a page or a terminal. */
export interface ServiceRow {
  titulo: string
  valor: string
  /** Maximum value while the service is at rest; undefined if any value may be right. */
  limite?: string
  bien: boolean
  /** Path of the page with the steps to take beyond the limit; null if the value has no limit. */
  pagina: string | null
}

/** Returns the path of the page with the steps for what is measured. */
export const pageOf = (name: string) => `docs/operacion/alertas/${name}.md`

/** Returns the state of the service as rows. Rows beyond their limit come first. */
export function serviceRows({ listo, medidas, colas }: EstadoDelServicio): ServiceRow[] {
  const rows: ServiceRow[] = [
    {
      titulo: 'Base de datos y trabajos',
      valor: listo ? 'listos' : 'no listos',
      bien: listo,
      pagina: pageOf('no-lista'),
    },
    ...medidas.map(({ titulo, unidad, valor, limite, bien, pagina }) => {
      const amount = unidad === 'segundos' ? spanOf : String
      return { titulo, valor: amount(valor), ...(limite !== null && { limite: amount(limite) }), bien, pagina }
    }),
    ...colas.map(({ cola, trabajos, espera_segundos, bien }) => ({
      titulo: `Cola «${cola}»`,
      valor: `${trabajos}, hace ${spanOf(espera_segundos)}`,
      limite: spanOf(QUEUE_WAIT_SECONDS),
      bien,
      pagina: pageOf('cola-atrasada'),
    })),
  ]
  return rows.toSorted((a, b) => Number(a.bien) - Number(b.bien))
}

/** Returns one sentence that sums up the rows. */
export const serviceSummary = ({ bien }: Pick<EstadoDelServicio, 'bien'>): string =>
  bien ? 'Todo está bien.' : 'Algo pasa de lo normal: siga los pasos de la página que se nombra.'

/** Formats seconds for people: `40 s`, `5 min`, `3 h`. */
function spanOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
