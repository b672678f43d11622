import { GUIA_FIELDS, RECOGIDA_FIELDS } from './generated/fields.js'
import type { GuiaParaCrear, Metadatos, Recogida } from './generated/types.gen.js'

/** Columnas que una hoja de guías puede llevar. */
export const COLUMNAS: readonly string[] = [...GUIA_FIELDS, ...RECOGIDA_FIELDS]

/** Names that shops give to columns, besides the contract's own. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  external_ref: [
    'pedido',
    'numero_de_pedido',
    'num_pedido',
    'no_pedido',
    'n_pedido',
    'id_pedido',
    'orden',
    'numero_de_orden',
    'no_orden',
    'n_orden',
    'id_orden',
    'order',
    'order_id',
    'order_number',
  ],
  telefono: [
    'celular',
    'movil',
    'whatsapp',
    'tel',
    'telefono_del_cliente',
    'telefono_cliente',
    'numero_de_telefono',
    'no_telefono',
    'n_telefono',
    'phone',
  ],
  destinatario: ['nombre', 'cliente', 'nombre_del_cliente', 'nombre_completo', 'nombre_del_destinatario', 'name'],
  departamento: ['depto'],
  municipio: ['ciudad', 'city'],
  direccion: ['direccion_de_entrega', 'direccion_completa', 'domicilio', 'address'],
  indicaciones: ['notas', 'nota', 'observaciones', 'comentarios', 'instrucciones', 'indicaciones_de_entrega'],
  contenido: ['producto', 'productos', 'articulos', 'descripcion'],
  lat: ['latitud', 'latitude'],
  lng: ['longitud', 'longitude', 'lon', 'long'],
  maps_url: ['mapa', 'enlace', 'link', 'google_maps', 'enlace_de_mapa', 'ubicacion', 'coordenadas'],
}
const CAMPO_DE = new Map(
  Object.entries(OTHER_NAMES).flatMap(([campo, otherNames]) => otherNames.map((otro) => [otro, campo])),
)

/** Maximum length of a title. A longer title is a text of the table. */
const MAX_TITLE = 200

/** Title of a column without accents, signs, notes in parentheses and letter case; words are joined by `_`. */
export const nameOf = (title: string) =>
  title
    .slice(0, MAX_TITLE)
    .normalize('NFD')
    .replace(/\([^()]*\)|[\p{M}\p{Cf}ºª°#*:¿?]/gu, '')
    .trim()
    .toLowerCase()
    .replace(/[\s.-]+/g, '_')
    .replace(/^_|_$/g, '')

/**
 * Da el campo que nombra el título de una columna: `telefono` por «Teléfono» o «Celular», `recogida_lat` por
 * «recogida.lat», `external_ref` por «External Ref», «Pedido» o «N.º de pedido».
 */
export function normalizarColumna(titulo: string): string {
  const nombre = nameOf(titulo)
  return CAMPO_DE.get(nombre) ?? CAMPO_DE.get(nombre.replace(/^(n|no|num)_de_/, '$1_')) ?? nombre
}

/**
 * Da la guía de los textos de sus campos, sin los vacíos. Las coordenadas se leen como números, también con coma
 * decimal, y también donde iba el enlace de mapa. Lo que no se puede leer queda como está, y el servicio dice por qué no
 * vale.
 */
export function guiaDeCampos(valor: (campo: string) => string | undefined): GuiaParaCrear {
  const guia: Record<string, unknown> = {}
  const recogida = leerRecogida(valor)
  for (const campo of GUIA_FIELDS) setField(guia, campo, campo, valor)
  if (recogida) guia.recogida = recogida
  return guia as GuiaParaCrear
}

/** Da el punto de recogida de los campos `recogida_…`; `undefined` si todos están vacíos. */
export function leerRecogida(valor: (campo: string) => string | undefined): Recogida | undefined {
  const recogida: Record<string, unknown> = {}
  for (const campo of RECOGIDA_FIELDS) setField(recogida, campo.slice('recogida_'.length), campo, valor)
  return Object.keys(recogida).length > 0 ? (recogida as Recogida) : undefined
}

/** Lee metadatos como `canal=web; tienda=12`; `undefined` si a una parte le falta el `=` o una clave se repite. */
export function leerMetadatos(texto: string): Metadatos | undefined {
  const pairs = texto.split(';').filter((parte) => parte.trim())
  const metadatos = Object.fromEntries(
    pairs.map((parte) => {
      const equalsIndex = parte.indexOf('=')
      return [parte.slice(0, Math.max(0, equalsIndex)).trim(), parte.slice(equalsIndex + 1).trim()]
    }),
  )
  return pairs.every((parte) => parte.includes('=')) && Object.keys(metadatos).length === pairs.length
    ? metadatos
    : undefined
}

/** Escribe metadatos como los lee {@link leerMetadatos}. */
export const escribirMetadatos = (metadatos: Metadatos) =>
  Object.entries(metadatos)
    .map(([clave, texto]) => `${clave}=${texto}`)
    .join('; ')

/** Coordinates that a map copied, in the place of a link. Their decimal sign may be a comma. */
const POINT = /^\(?([+−–-]?\d+[.,]\d+)[\s,;]+([+−–-]?\d+[.,]\d+)\)?$/

function setField(
  en: Record<string, unknown>,
  nombre: string,
  campo: string,
  valor: (campo: string) => string | undefined,
) {
  const texto = valor(campo)?.trim()
  if (!texto) return
  const [, lat, lng] = POINT.exec(texto) ?? []
  if (campo === 'metadatos') en[nombre] = leerMetadatos(texto) ?? texto
  else if (nombre === 'maps_url' && lat && lng && !('lat' in en || 'lng' in en))
    Object.assign(en, { lat: parseDegrees(lat), lng: parseDegrees(lng) })
  else en[nombre] = /^(lat|lng)$/.test(nombre) ? parseDegrees(texto) : texto
}

/** Reads a number, also with a decimal comma or a typographic minus; returns another text as it is. */
function parseDegrees(texto: string): number | string {
  const numero = texto.replace(/^[−–]/, '-')
  return /^[+-]?\d+([.,]\d+)?$/.test(numero) ? Number(numero.replace(',', '.')) : texto
}
