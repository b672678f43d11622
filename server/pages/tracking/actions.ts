import * as icons from '../../generated/contract/icons.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { dayInWords } from '../../platform/time/day.ts'
import { withFullStop } from '../../platform/words.ts'
import { callBrand } from '../callBrand.ts'
import type { Front } from '../front.ts'
import { advice, choiceRow } from '../ui/components.ts'
import type { ShownShipment } from './shipment.ts'

type Item = Parameters<typeof advice>[0][number]

/** Returns what the recipient can do at this moment. Lists only actions that are possible and still have an effect. */
export function whatToDo(shipment: ShownShipment, front: Front, root: string): Html {
  const { estado, guia } = shipment
  return html`<section aria-labelledby="puede"><h2 id="puede">Qué puede hacer ahora</h2>
${recipientAdvice(shipment)}
${estado === 'entregado' && choiceRow({ icon: icons.ShieldCheck, text: 'Verificar la prueba de entrega', detail: 'Si le dieron el PDF, compruebe que es el original', href: `${root}verificar/${guia}` })}
${callBrand(front.brand)}
</section>`
}

/** Returns the row that leads from a page of the recipient's link to the tracking page. */
export const followRow = ({ guia }: ShownShipment, root: string): Html =>
  choiceRow({
    icon: icons.Truck,
    text: 'Seguir mi paquete',
    detail: 'La página se actualiza sola, y puede mandársela a otra persona',
    href: `${root}r/${guia}`,
  })

/** Returns the list of what the recipient can do at this moment without a link. */
export const recipientAdvice = (shipment: ShownShipment): Html => advice(itemsOf(shipment))

function itemsOf(shipment: ShownShipment): readonly Item[] {
  const { estado, comercio } = shipment
  const storeAdvice = (text: string, detail: string): Item => ({ icon: icons.Store, text, detail })
  const contactText = `Escríbale a ${comercio}`
  switch (estado) {
    case 'entregado':
      return [storeAdvice('¿No lo recibió usted?', `${contactText} cuanto antes.`)]
    case 'devuelto':
    case 'cancelado':
    case 'en_devolucion':
      return [storeAdvice('¿Todavía lo quiere, o ya lo pagó?', `${contactText}: decide qué sigue.`)]
    case 'extraviado':
      return [storeAdvice('¿Tiene alguna duda?', withFullStop(contactText))]
    case 'en_ruta':
      return [
        { icon: icons.Phone, text: 'Esté pendiente de su teléfono', detail: 'El repartidor puede llamarle al llegar.' },
        {
          icon: icons.House,
          text: 'Procure que haya quien reciba',
          detail: 'Si no hay nadie, se lleva otra vez o vuelve.',
        },
      ]
    default:
      return [
        ...decision(shipment),
        // After a failed attempt, the recipient changes the place as part of the decision.
        ...(shipment.isRecipientPlace && shipment.intentos === 0 ? [OTHER_PLACE] : []),
        storeAdvice(
          'Corregir la dirección o el teléfono',
          `${withFullStop(contactText)} Se puede hasta que el repartidor salga.`,
        ),
      ]
  }
}

const OTHER_PLACE: Item = {
  icon: icons.MapPin,
  text: 'Corregir el lugar que nos dio',
  detail: 'Abra otra vez el enlace de aquel mensaje. Se puede hasta que el repartidor salga.',
}

/** Ways to decide after a failed attempt, while no decision was taken. */
function decision({ comercio, decision, wasAsked, zona, now }: ShownShipment): readonly Item[] {
  if (decision?.estado !== 'pendiente') return []
  const { vence_en, opciones } = decision
  const clock = createClock(zona)
  const until =
    vence_en !== null &&
    new Date(vence_en) > now &&
    ` Hasta el ${dayInWords(clock.dia(vence_en))} a las ${clock.hora(vence_en)}.`
  if (wasAsked && until)
    return [
      {
        icon: icons.CalendarDays,
        text: opciones.includes('reintentar') ? 'Pedir otro día, otro lugar o un vecino' : 'Decir si todavía lo quiere',
        detail: `Abra el enlace del mensaje que recibió.${until}`,
      },
    ]
  const requestText = opciones.includes('reintentar') ? 'Pedir que se lo lleven otro día' : 'Decir si todavía lo quiere'
  return [
    { icon: icons.CalendarDays, text: requestText, detail: `${withFullStop(`Escríbale a ${comercio}`)}${until || ''}` },
  ]
}
