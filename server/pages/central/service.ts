import type { CallOperation } from '../../api/contract/calls.ts'
import { type ServiceRow, serviceRows, serviceSummary } from '../../domain/serviceRows.ts'
import * as icons from '../../generated/contract/icons.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { icon, notice, table } from '../ui/components.ts'
import { type Office, officePage } from './shell.ts'

/** Returns the page with the state of the service: pending work, and values beyond their limits. */
export async function showService(call: CallOperation, { req, root }: PageRequest, office: Office): Promise<Sheet> {
  const estado = (await call(req, 'obtenerServicio')).body
  return {
    status: 200,
    ...officePage(office, {
      titulo: 'Servicio',
      place: 'equipo',
      body: html`<p class="suave"><a href="${root}central/equipo">Equipo</a></p>
<h1 tabindex="-1">Servicio</h1>
${notice(html`<p>${serviceSummary(estado)}</p>`, estado.bien ? 'bien' : 'aviso')}
${table('Medidas del servicio', ['Medida', 'Estado'], serviceRows(estado).map(cellsOf))}
<p class="suave">Leído el ${office.clock.formatShort(estado.leido_en)}. Vuelva a abrir la página para leerlo otra vez.</p>`,
    }),
  }
}

const cellsOf = ({ titulo, valor, limite, bien, pagina }: ServiceRow): readonly Html[] => [
  html`${titulo}`,
  html`${icon(bien ? icons.CircleCheck : icons.TriangleAlert)} ${valor}${limite !== undefined && `, límite ${limite}`} · ${bien ? 'bien' : 'pasa de lo normal'}${!bien && pagina !== null && html`<br><span class="host">${pagina}</span>`}`,
]
