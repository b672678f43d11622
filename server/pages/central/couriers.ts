import * as icons from '../../generated/contract/icons.ts'
import type { GuiaDeOperacion, Reparto } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import type { PageContent } from '../frame.ts'
import { button, choiceRow, emptyState } from '../ui/components.ts'
import { type AssignOptions, assignForm, assignTable, outcomeNotice } from './assign.ts'
import { chooser } from './bulk.ts'
import type { MerchantNames } from './calls.ts'
import { guideTable, handoverTo } from './list.ts'
import { following, type Office, officePage } from './shell.ts'

/**
 * Returns the page with the couriers, and what each carries.
 * @param next cursor of the next page; null at the end
 */
export const couriersPage = (office: Office, couriers: readonly Reparto[], next: string | null): PageContent =>
  officePage(office, {
    titulo: 'Reparto',
    place: 'reparto',
    body: html`<h1 tabindex="-1">Reparto</h1>
${
  office.scopes.includes('operar') &&
  html`<p class="acciones">${button({ text: 'Asignar paquetes', icon: icons.CalendarDays, href: `${office.root}central/reparto/asignar` })}</p>
`
}${
  couriers.length === 0
    ? emptyState(icons.Truck, html`<h2>No hay repartidores</h2>`, 'Se agregan en «Equipo», con sus códigos.')
    : couriers.map((courier) =>
        choiceRow({
          icon: icons.Truck,
          text: courier.nombre,
          detail: dayOf(courier),
          href: `${office.root}central/reparto/${courier.repartidor}`,
        }),
      )
}${following(office.root, 'central/reparto', {}, next)}`,
  })

/** Describes a courier's day in words. */
const dayOf = ({ activo, lleva, por_tomar, terminadas }: Reparto): string =>
  [
    !activo && 'Desactivado',
    lleva > 0 && `Lleva ${lleva}`,
    por_tomar > 0 && `le faltan ${por_tomar} asignados`,
    terminadas > 0 && `terminó ${terminadas} hoy`,
  ]
    .filter(Boolean)
    .join(' · ') || 'No lleva nada'

interface CourierOptions extends AssignOptions {
  office: Office
  /** Guides that the courier carries. */
  guias: readonly GuiaDeOperacion[]
  /** Guides that are assigned to the courier, but not carried yet. */
  asignadas: readonly GuiaDeOperacion[]
  names: MerchantNames
  /** Code and name of the courier. */
  repartidor: string
  nombre: string
}

/**
 * Returns the page of a courier: the guides carried, the guides assigned, and the form that assigns them again or
 * removes their assignment.
 */
export function courierPage({
  office,
  repartidor,
  guias,
  asignadas,
  names,
  nombre,
  ...form
}: CourierOptions): PageContent {
  const { root } = office
  return officePage(office, {
    titulo: nombre,
    place: 'reparto',
    body: html`<p class="suave"><a class="aparte" href="${root}central/reparto">Reparto</a></p>
<h1 tabindex="-1">${nombre}</h1>
${outcomeNotice(form, root)}<section aria-labelledby="lleva"><h2 id="lleva">Lo que lleva</h2>${carried(guias, names, office, repartidor)}</section>
<section aria-labelledby="asignado"><h2 id="asignado">Asignado, y no lo lleva todavía</h2>${assigned()}</section>`,
  })

  function assigned(): Html {
    if (asignadas.length === 0)
      return html`<p class="suave">Nada. Lo que se le asigne aparece aquí hasta que lo tome.</p>`
    const common = { label: 'Asignado', guias: asignadas, names, root }
    if (!office.scopes.includes('operar')) return assignTable({ ...common, form: undefined })
    return assignForm({
      ...form,
      table: assignTable({ ...common, form }),
      text: 'Asignar lo marcado',
      more: button({
        text: 'Retirar lo marcado',
        kind: 'peligro',
        attributes: html`type="submit" name="accion" value="retirar" formnovalidate`,
      }),
    })
  }
}

/** Actions on the guides that a courier carries. */
const CARRIED_ACTIONS = ['asignar', 'registrar'] as const

function carried(guias: readonly GuiaDeOperacion[], names: MerchantNames, office: Office, repartidor: string): Html {
  if (guias.length === 0) return html`<p class="suave">No lleva nada. Lo que recolecte o saque a ruta aparece aquí.</p>`
  const waiting = guias.filter((guia) => handoverTo(guia, office) !== undefined).length
  const table = guideTable('Lo que lleva', guias, { office, names, choosing: true, ofOneCourier: true })
  return html`<p>Lleva ${guias.length} ${guias.length === 1 ? 'paquete' : 'paquetes'}.${waiting > 0 && html` ${waiting === 1 ? 'Uno espera' : `${waiting} esperan`} el traspaso a otro repartidor.`}</p>
${
  office.scopes.includes('operar') &&
  html`<p class="suave">Para que otro siga con ellos, márquelos y asígneselos. Cambian de manos cuando los escanea.</p>
`
}${chooser({ office, table, guias, actions: CARRIED_ACTIONS, returnTo: `reparto/${repartidor}` })}`
}
