// What is left of a place's name when the ways of writing it are taken away. Pure.

/** Longer than any name; what comes after can only cost time. */
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

/** What people put before a name to say what it is the name of. */
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

/** Without «Municipio de…» before it, or «City» or «zona 10» after it. */
function sinGenericos(lista: readonly string[]): readonly string[] {
  let [desde, hasta] = [0, lista.length]
  while (hasta - desde > 1 && GENERICOS.has(lista[desde]!)) desde++
  for (;;) {
    if (hasta - desde > 2 && /^\d/.test(lista[hasta - 1]!) && /^z(?:ona)?$/.test(lista[hasta - 2]!)) hasta -= 2
    else if (hasta - desde > 1 && (GENERICOS.has(lista[hasta - 1]!) || /^z\d+$/.test(lista[hasta - 1]!))) hasta--
    else return lista.slice(desde, hasta)
  }
}

/**
 * Keys from the most exact to the loosest: all words, without articles, without generic words; and, if something follows a
 * comma or a parenthesis, the same of what stands before it. Always at least three; spaces don't count.
 */
export function clavesDe(texto: string): string[] {
  const recortado = texto.length > LARGO ? texto.slice(0, LARGO) : texto
  const corte = recortado.search(/[,;(/]/)
  const claves = clavesDelTodo(recortado)
  return corte > 0 ? [...claves, ...clavesDelTodo(recortado.slice(0, corte))] : claves
}

function clavesDelTodo(texto: string): string[] {
  const todas = palabras(texto)
  // Nothing in our alphabet is nobody's name: the empty key must match nothing.
  if (todas.length === 0) return [' ', ' ', ' ']
  const nucleo = sinArticulos(todas)
  return [todas.join(''), nucleo.join(''), sinGenericos(nucleo).join('')]
}
