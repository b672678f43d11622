import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { decisionDeadline, mensajeTextOf } from '../../server/domain/mensajeria/texts.ts'

const MANUAL = readFileSync(new URL('../../docs/operacion/whatsapp.md', import.meta.url), 'utf8')
const vence_en = new Date('2026-11-28T15:04:00Z')
const zona = 'America/Guatemala'

it.each([
  ['solicitud_ubicacion', ['Quetzal', 'La Ceiba', 'Mixco']],
  ['solicitud_decision', ['Quetzal', 'La Ceiba', decisionDeadline(vence_en, zona)]],
] as const)('the text of %s is that of the template in the manual', (tipo, variables) => {
  const text = mensajeTextOf({ tipo, brand: 'Quetzal', comercio: 'La Ceiba', municipio: 'Mixco', vence_en, zona })
  const template = variables.reduce((one, value, i) => one.replace(value, `{{${i + 1}}}`), text)
  expect(MANUAL).toContain(`«${template}»`)
})
