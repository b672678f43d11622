import { Phone } from '../generated/contract/icons.ts'
import type { Brand } from '../platform/brand/brand.ts'
import type { Html } from '../platform/html.ts'
import { choiceRow } from './ui/components.ts'

/** Returns the row with a link that calls the courier company; null if the company has no telephone. */
export const callBrand = ({ telefono, nombre }: Pick<Brand, 'telefono' | 'nombre'>): Html | null =>
  telefono &&
  choiceRow({ icon: Phone, text: `Llamar a ${nombre}`, detail: telefono.visible, href: `tel:${telefono.e164}` })
