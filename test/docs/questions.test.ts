/** Questions of shops and developers in their own words, and the title of what the documentation's search finds first. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createSearch, type SearchPart } from '../../server/pages/docs/browser/search.ts'
import { ROOT } from '../../server/platform/root.ts'

const file = new URL('server/generated/contract/documentation/indice.json', ROOT)
const search = createSearch(JSON.parse(readFileSync(file, 'utf8')) as SearchPart[])

it.each([
  ['quickstart', 'Inicio rápido'],
  ['empezar', 'Inicio rápido'],
  ['primera guía', 'Inicio rápido'],
  ['ngrok', 'Inicio rápido'],
  ['instalar', 'SDK'],
  ['openapi', 'SDK'],
  ['swagger', 'SDK'],
  ['java', 'SDK'],
  ['.net', 'SDK'],
  ['postman', 'SDK'],
  ['bruno', 'SDK'],
  ['mock', 'SDK'],
  ['unauthorized', 'Autenticación'],
  ['token', 'Autenticación'],
  ['timeout', 'Idempotencia'],
  ['pedido duplicado', 'Idempotencia'],
  ['100 guías', 'Lotes'],
  ['pedidos masivos', 'Lotes'],
  ['anular guía', 'Estados'],
  ['cancelar pedido', 'Estados'],
  ['estados de la guía', 'Estados'],
  ['whatsapp', 'Ubicación'],
  ['municipio no existe', 'Ubicación'],
  ['zona 10', 'Ubicación'],
  ['cambiar dirección', 'Correcciones'],
  ['telefono equivocado', 'Correcciones'],
  ['intento fallido', 'Decisiones'],
  ['devolución', 'Decisiones'],
  ['nadie en casa', 'Decisiones'],
  ['laravel', 'Recibir webhooks'],
  ['django', 'Recibir webhooks'],
  ['webjook', 'Recibir webhooks'],
  ['comprobante', 'Prueba de entrega'],
  ['firma del cliente', 'Prueba de entrega'],
  ['zebra', 'Etiquetas'],
  ['demasiadas solicitudes', 'Límites'],
  ['buscar por teléfono', 'Filtros y metadatos'],
  ['metadatos', 'Filtros y metadatos'],
  ['ambiente de pruebas', 'Modo de prueba'],
  ['claude', 'Asistentes MCP'],
  ['precio', 'Tarifas y cotización'],
  ['shopify', 'WordPress, WooCommerce y Shopify'],
  ['programar recolección', 'Recolección programada'],
])('«%s» finds %s', (question, title) => {
  expect(search(question)[0]?.titulo).toBe(title)
})
