import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import type { GuiaDeOperacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { FORMULA, quoteCell } from '../../platform/csv.ts'
import { showTelephone } from '../../platform/telephones/telephone.ts'
import { createClock } from '../../platform/time/clock.ts'
import type { MerchantNames } from './calls.ts'

/** Maximum guides in one exported list, and pages of 100 that are read for them. */
export const MAX_EXPORTED = 1_000
export const EXPORTED_PAGES = 10

const COLUMNS: readonly (readonly [name: string, value: (guia: GuiaDeOperacion, names: MerchantNames) => unknown])[] = [
  ['Código', ({ guia }) => inGroups(guia)],
  ['Estado', ({ estado }) => GUIA_STATE_WORDS[estado]],
  ['Comercio', ({ comercio }, names) => names.get(comercio) ?? comercio],
  ['Referencia', ({ external_ref }) => external_ref],
  ['Recibe', ({ destinatario }) => destinatario],
  ['Teléfono', ({ telefono }) => telefono && showTelephone(telefono)],
  ['Departamento', ({ departamento }) => departamento],
  ['Municipio', ({ municipio }) => municipio],
  ['Dirección', ({ direccion }) => direccion],
  ['Lo lleva', ({ repartidor }) => repartidor?.nombre],
  ['Asignada a', ({ asignada_a }) => asignada_a?.nombre],
  ['Para el día', ({ asignada_a }) => asignada_a?.fecha],
  ['Creada', ({ creado_en, zona_horaria }) => localTime(creado_en, zona_horaria)],
  ['Cambió', ({ actualizado_en, zona_horaria }) => localTime(actualizado_en, zona_horaria)],
]

function localTime(instant: string, zone: string): string {
  const clock = createClock(zone)
  return `${clock.dia(instant)} ${clock.hora(instant)}`
}

/** Writes a value as a cell. An apostrophe keeps a spreadsheet from computing it, telephones included. */
function cell(value: unknown): string {
  const text = String(value ?? '')
  return quoteCell(FORMULA.test(text) ? `'${text}` : text)
}

const row = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

/** Writes guides as CSV. It begins with a byte order mark, without which Excel reads accents wrongly. */
export const toCsv = (guias: readonly GuiaDeOperacion[], names: MerchantNames): string =>
  `\uFEFF${row(COLUMNS.map(([name]) => name))}${guias.map((guia) => row(COLUMNS.map(([, value]) => value(guia, names)))).join('')}`
