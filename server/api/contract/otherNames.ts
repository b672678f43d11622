import { isSimilar } from '../../platform/similar.ts'

/** Names that clients of other APIs write, by the contract's name of the same thing. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  limite: ['limit', 'per_page', 'page_size', 'size', 'count', 'take', 'top', 'first', 'max_results', 'por_pagina'],
  cursor: ['after', 'next', 'page_token', 'next_token', 'starting_after', 'next_cursor', 'cursor_siguiente'],
  estado: ['status', 'state'],
  external_ref: [
    'order_id',
    'order_number',
    'reference',
    'referencia',
    'ref',
    'pedido',
    'numero_de_pedido',
    'id_pedido',
    'numero_pedido',
    'orden_id',
    'id_externo',
    'external_id',
  ],
  creado_desde: ['desde', 'since', 'from', 'start_date', 'created_after', 'fecha_desde', 'fecha_inicio'],
  creado_hasta: ['hasta', 'until', 'to', 'end_date', 'created_before', 'fecha_hasta', 'fecha_fin'],
  actualizado_desde: ['updated_since', 'updated_after', 'modified_since'],
  desde: ['since', 'from', 'start_date', 'fecha_desde', 'creado_desde'],
  telefono: ['phone', 'phone_number', 'tel', 'celular', 'movil', 'mobile', 'whatsapp'],
  destinatario: ['name', 'nombre', 'cliente', 'recipient', 'customer'],
  departamento: ['state', 'province', 'provincia', 'region', 'depto'],
  municipio: ['city', 'ciudad', 'town'],
  direccion: ['address', 'domicilio', 'street'],
  indicaciones: ['notes', 'notas', 'comments', 'instructions', 'observaciones'],
  contenido: ['description', 'descripcion', 'content', 'producto'],
  lat: ['latitude', 'latitud'],
  lng: ['longitude', 'longitud', 'lon', 'long'],
  maps_url: ['map', 'mapa', 'maps', 'google_maps', 'enlace'],
  recogida: ['pickup', 'origin', 'origen', 'sender', 'remitente'],
  metadatos: ['metadata'],
}

/** Names of other APIs for which an operation has none, and the contract's own way. It fits where `needs` is known. */
const OTHER_WAYS: readonly (readonly [names: readonly string[], needs: string, way: string])[] = [
  [
    ['page', 'pagina', 'page_number', 'offset', 'skip', 'start'],
    'cursor',
    'no hay páginas numeradas: la siguiente se pide con cursor, el cursor_siguiente de la respuesta',
  ],
  [
    ['sort', 'sort_by', 'order', 'order_by', 'orden', 'ordenar', 'direction'],
    'limite',
    'el orden de la lista es siempre el mismo y no se elige: quítelo',
  ],
  [['q', 'query', 'search', 'buscar', 'busqueda', 'filter', 'filtro'], 'limite', 'no hay búsqueda de palabras'],
  [['fields', 'include', 'expand', 'select', 'campos'], 'limite', 'la respuesta viene siempre entera: quítelo'],
  [['guias', 'pedidos', 'orders', 'shipments'], 'municipio', 'varias guías se crean en un lote, no en esta operación'],
]

/** Converts a name to lower case with underscores: `pageSize` and `Page-Size` become `page_size`. */
const plain = (name: string) =>
  name
    .slice(0, 60)
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase()

/** Finds the known name that an unknown one probably means: a similar one, or the contract's word for the same thing. */
export function findMeant(name: string, known: readonly string[]): string | undefined {
  const written = plain(name)
  return known.find((one) => isSimilar(name, one)) ?? known.find((one) => OTHER_NAMES[one]?.includes(written) ?? false)
}

/** Says in Spanish which way the contract has in place of an unknown name; undefined if none fits. */
export function otherWayThan(name: string, known: readonly string[]): string | undefined {
  const written = plain(name)
  return OTHER_WAYS.find(([names, needs]) => names.includes(written) && known.includes(needs))?.[2]
}
