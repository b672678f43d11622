import * as icons from '../../generado/contrato/iconos.ts'
import { createClock } from '../../platform/time/clock.ts'
import { dayInWords } from '../../platform/time/day.ts'
import { callBrand } from '../callBrand.ts'
import type { Front } from '../front.ts'
import { type Html, html } from '../html.ts'
import { advice, choice } from '../ui/components.ts'
import type { EnvioMostrado } from './envio.ts'

type Item = Parameters<typeof advice>[0][number]

/** Returns what the recipient can do at this moment. Lists only actions that are possible and still have an effect. */
export function whatToDo(envio: EnvioMostrado, fachada: Front, raiz: string): Html {
  const { estado, guia } = envio
  return html`<section aria-labelledby="puede"><h2 id="puede">Qué puede hacer ahora</h2>
${advice(itemsOf(envio))}
${estado === 'entregado' && choice({ icon: icons.ShieldCheck, text: 'Verificar la prueba de entrega', detail: 'Si le dieron el PDF, compruebe que es el original', href: `${raiz}verificar/${guia}` })}
${callBrand(fachada.marca)}
</section>`
}

function itemsOf(envio: EnvioMostrado): readonly Item[] {
  const { estado, comercio } = envio
  const tienda = (text: string, detail: string): Item => ({ icon: icons.Store, text, detail })
  const escribale = `Escríbale a ${comercio}`
  switch (estado) {
    case 'entregado':
      return [tienda('¿No lo recibió usted?', `${escribale} cuanto antes.`)]
    case 'devuelto':
    case 'cancelado':
    case 'en_devolucion':
      return [tienda('¿Todavía lo quiere, o ya lo pagó?', `${escribale}: decide qué sigue.`)]
    case 'extraviado':
      return [tienda('¿Tiene alguna duda?', `${escribale}.`)]
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
        ...decision(envio),
        // After a failed attempt, the recipient changes the place as part of the decision.
        ...(envio.lugarSuyo && envio.intentos === 0 ? [OTHER_PLACE] : []),
        tienda('Corregir la dirección o el teléfono', `${escribale}. Se puede hasta que el repartidor salga.`),
      ]
  }
}

const OTHER_PLACE: Item = {
  icon: icons.MapPin,
  text: 'Corregir el lugar que nos dio',
  detail: 'Abra otra vez el enlace de aquel mensaje. Se puede hasta que el repartidor salga.',
}

/** Ways to decide after a failed attempt, while no decision was taken. */
function decision({ comercio, decision, preguntado, zona, ahora }: EnvioMostrado): readonly Item[] {
  if (decision?.estado !== 'pendiente') return []
  const { vence_en, opciones } = decision
  const reloj = createClock(zona)
  const hasta =
    vence_en !== null &&
    new Date(vence_en) > ahora &&
    ` Hasta el ${dayInWords(reloj.dia(vence_en))} a las ${reloj.hora(vence_en)}.`
  if (preguntado && hasta)
    return [
      {
        icon: icons.CalendarDays,
        text: opciones.includes('reintentar') ? 'Pedir otro día, otro lugar o un vecino' : 'Decir si todavía lo quiere',
        detail: `Abra el enlace del mensaje que recibió.${hasta}`,
      },
    ]
  const pedir = opciones.includes('reintentar') ? 'Pedir que se lo lleven otro día' : 'Decir si todavía lo quiere'
  return [{ icon: icons.CalendarDays, text: pedir, detail: `Escríbale a ${comercio}.${hasta || ''}` }]
}
