// Converts a place name to keys that do not depend on its spelling. Pure.

/** Maximum number of characters read. Every name is shorter, and more text only costs time. */
const LARGO = 120

const ABREVIATURAS: Readonly<Record<string, string>> = {
  sn: 'san',
  sta: 'santa',
  sto: 'santo',
  stgo: 'santiago',
  cd: 'ciudad',
  cdad: 'ciudad',
  ma: 'maria',
  pto: 'puerto',
  pta: 'punta',
  pte: 'puente',
  nva: 'nueva',
  nvo: 'nuevo',
  fco: 'francisco',
  gpe: 'guadalupe',
  gral: 'general',
  sac: 'sacatepequez',
}

const ARTICULOS = new Set(['el', 'la', 'los', 'las', 'de', 'del', 'y', 'e'])

/** Generic words that people write beside a name to say what kind of place it is. */
const GENERICOS = new Set(
  `ciudad municipio municipalidad muni mun mpio mcpio departamento depto dpto dep depart departement department
  provincia prov estado edo comarca canton distrito city`.split(/\s+/),
)

const palabras = (texto: string): string[] =>
  texto
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .map((palabra) => ABREVIATURAS[palabra] ?? palabra)

const sinArticulos = (lista: readonly string[]) => {
  const resto = lista.filter((palabra) => !ARTICULOS.has(palabra))
  return resto.length > 0 ? resto : lista
}

/** Removes generic words before a name («Municipio de…») and after it («City», «zona 10»). */
function sinGenericos(lista: readonly string[]): readonly string[] {
  let [desde, hasta] = [0, lista.length]
  while (hasta - desde > 1 && GENERICOS.has(lista[desde]!)) desde++
  for (;;) {
    if (hasta - desde > 2 && /^\d/.test(lista[hasta - 1]!) && /^z(?:ona)?$/.test(lista[hasta - 2]!)) hasta -= 2
    else if (hasta - desde > 1 && (GENERICOS.has(lista[hasta - 1]!) || /^z\d+$/.test(lista[hasta - 1]!))) hasta--
    else return lista.slice(desde, hasta)
  }
}

/** Words for the capital itself, and for a part of it, that people write in place of its name. */
const DE_LA_CAPITAL = new Set([
  'capital',
  'capitalino',
  'capitalina',
  'metropolitana',
  'cabecera',
  'centro',
  'casco',
  'urbano',
  'historico',
])

/**
 * Returns what is left of a text without the words for a zone («zona 10», «Z.10») and for the capital («la capital»).
 * Undefined if the text has none of these words.
 */
export function sinZona(texto: string): string | undefined {
  const todas = palabras(texto.slice(0, LARGO))
  const resto = todas.filter((palabra) => !/^(?:zona|z?\d{1,2}|z)$/.test(palabra) && !DE_LA_CAPITAL.has(palabra))
  if (resto.length === todas.length) return undefined
  return resto.filter((palabra) => !ARTICULOS.has(palabra) && !GENERICOS.has(palabra)).join(' ')
}

/** Reports whether a text names a zone by its number («zona 10», «Z.10»). */
export const hasZone = (texto: string): boolean =>
  /(?:^|\W)z(?:ona)?\W{0,3}\d{1,2}(?:\W|$)/i.test(texto.slice(0, 2 * LARGO))

/**
 * Returns the keys of a name, from the most exact to the loosest: all words, without articles, without generic words.
 * Spaces do not count.
 * If a comma, a semicolon, a slash or a parenthesis follows the name, adds the same three keys of the text before it.
 */
export function clavesDe(texto: string): string[] {
  const recortado = texto.length > LARGO ? texto.slice(0, LARGO) : texto
  const corte = recortado.search(/[,;(/]/)
  const claves = clavesDelTodo(recortado)
  return corte > 0 ? [...claves, ...clavesDelTodo(recortado.slice(0, corte))] : claves
}

function clavesDelTodo(texto: string): string[] {
  const todas = palabras(texto)
  // A text without Latin letters or digits names no place. An empty key would match every name in a search, but a space
  // matches none.
  if (todas.length === 0) return [' ', ' ', ' ']
  const nucleo = sinArticulos(todas)
  return [todas.join(''), nucleo.join(''), sinGenericos(nucleo).join('')]
}
