/**
 * Spanish texts of Redoc's user interface, by the English text. Redoc calls a function with a key and the English text.
 * In the free edition the function returns the English text; {@link translateRedoc} makes it search this table first.
 */
const TRANSLATIONS: Record<string, string> = {
  'Search ': 'Buscar ',
  Search: 'Buscar',
  'Loading...': 'Cargando…',
  Copy: 'Copiar',
  'Copied!': '¡Copiado!',
  'Copy to clipboard': 'Copiar al portapapeles',
  'Copy for LLM': 'Copiar para un asistente',
  'Copy page as YAML for LLMs': 'Copiar la página en YAML para un asistente',
  'Copy page as Markdown for LLMs': 'Copiar la página en Markdown para un asistente',
  Download: 'Descargar',
  'Download description': 'Descargar el contrato',
  'Expand all': 'Abrir todo',
  'Collapse all': 'Cerrar todo',
  Show: 'Ver',
  Hide: 'Ocultar',
  more: 'más',
  properties: 'campos',
  property: 'campo',
  details: 'detalles',
  variable: 'variable',
  variables: 'variables',
  Variables: 'Variables',
  'Show pattern': 'Ver el patrón',
  'Hide pattern': 'Ocultar el patrón',
  'Show more': 'Ver más',
  'Show less': 'Ver menos',
  'More details': 'Más detalles',
  Request: 'Solicitud',
  Response: 'Respuesta',
  Responses: 'Respuestas',
  'Request Body': 'Cuerpo',
  Body: 'Cuerpo',
  Query: 'Consulta',
  Path: 'Ruta',
  Header: 'Cabeceras',
  Headers: 'Cabeceras',
  Payload: 'Cuerpo',
  Security: 'Seguridad',
  'View security details': 'Ver los detalles',
  'Required scopes': 'Alcances',
  'Response media type': 'Tipo de la respuesta',
  'Request media type': 'Tipo de la solicitud',
  'Response status': 'Estado de la respuesta',
  'No content': 'Sin contenido',
  'No request payload': 'Sin cuerpo',
  'No response sample': 'Sin ejemplo',
  'No response content': 'Sin contenido',
  'Request sample': 'Muestra',
  'Response sample': 'Muestra de la respuesta',
  required: 'obligatorio',
  deprecated: 'obsoleto',
  Deprecated: 'obsoleto',
  // Redoc writes «array» before the number of fields. The number is enough, so the word is left out.
  array: '',
  'Array of': 'Lista de',
  'Array of ': 'Lista de ',
  'Any of': 'Alguno de',
  'One of': 'Uno de',
  'All of': 'Todos',
  Default: 'Si falta',
  'Default mapping': 'Si falta',
  Example: 'Ejemplo',
  Examples: 'Ejemplos',
  Enum: 'Valores',
  Value: 'Valor',
  Recursive: 'Recursivo',
  'Show example': 'Ver el ejemplo',
  'Hide example': 'Ocultar el ejemplo',
  'additional property': 'otro campo',
  'HTTP Authorization Scheme': 'Esquema de autorización',
  'Bearer Format': 'Forma de la llave',
  Operations: 'Operaciones',
  Overview: 'Resumen',
  License: 'Licencia',
  Servers: 'Servidores',
  Server: 'Servidor',
  'Back to docs': 'Volver',
  'No page at this address': 'No hay nada en esta dirección',
  "There's no page at": 'No hay nada en',
  'It may have been moved or deleted.': 'Quizá se movió o se eliminó.',
  'No results found': 'Nada coincide',
  'No items found': 'Nada coincide',
  'Search items': 'Buscar',
  'Hide sidebar': 'Ocultar el menú',
  'Show sidebar': 'Mostrar el menú',
  'Switch to single column': 'Pasar a una columna',
  'Switch to two columns': 'Pasar a dos columnas',
  'Single column': 'Una columna',
  'Two columns': 'Dos columnas',
  'Link to this section': 'Enlace a esta sección',
  'Open in new tab': 'Abrir en otra pestaña',
  'More actions': 'Más',
  Report: 'Avisar',
  'Report a problem': 'Avisar de un problema',
  Webhook: 'Webhook',
  Schemas: 'Objetos',
  'Switch color mode': 'Cambiar entre claro y oscuro',
}

/** Texts that Redoc does not pass to its translation function. */
const LITERALS: Record<string, string> = {
  'One of:': 'Uno de:',
  'Value:': 'Valor:',
  'Enum:': 'Valores:',
  'Enum Value': 'Valor',
  'Array [': 'Lista [',
  'property name': 'cualquier nombre',
  'property name*': 'cualquier nombre*',
  collapse: 'Abrir o cerrar',
  Variant: 'Forma',
  Discriminator: 'Forma',
  'Hide sidebar': 'Ocultar el menú',
  'Show sidebar': 'Mostrar el menú',
  'to navigate': 'moverse',
  'to select': 'elegir',
  'to exit': 'salir',
  'request fields': 'campos de la solicitud',
  'request body': 'cuerpo de la solicitud',
  'Any of:': 'Alguno de:',
  'Open navigation menu': 'Abrir el menú',
  'Close navigation menu': 'Cerrar el menú',
}

/** Translation function in the program of Redoc's free edition. */
export const TRANSLATE_FUNCTION =
  /translate:\(e,t\)=>\(typeof t==["`]string["`]\?t:t\?\.defaultValue\)\|\|e\|\|(?:""|``)/

/**
 * Code in Redoc that collects the words for a value's type, such as «string or null, (uri)», before it adds the limits.
 */
const TYPE_WORDS = /(\w+)&&(\w+)\.push\(`\(\$\{\1\}\)`\),(\w+)&&\2\.push\(\3\)(?=,\2\.push\(\.\.\.\w+\))/
/** Code in Redoc that returns the words for a value's limits, such as «[ 1 .. 40 ] characters». */
const LIMIT_WORDS = /(\w+\.uniqueItems&&(\w+)\.push\((["`])unique\3\),)\2\}/
/** Code in Redoc that names one of several variants, such as «string (date-time)». */
const PATTERN = /(\w+)&&\((\w+)\+=` \(\$\{\1\}\)`\),(?=\{label:)/
/** Label of Redoc's switch between light and dark mode, which Redoc names after the current mode. */
const MODE_SWITCH_LABEL = /("data-testid":(["`])color-mode-switcher\2[\s\S]{0,300}?"aria-label":)\w+,/

const TYPE_TRANSLATIONS: readonly (readonly [RegExp, string])[] = [
  [/\bArray of any\b/, 'lista'],
  [/\bArray of /, 'lista de '],
  [/\bstring(s?)\b/, 'texto$1'],
  [/\bintegers\b/, 'enteros'],
  [/\binteger\b/, 'entero'],
  [/\bnumbers\b/, 'números'],
  [/\bnumber\b/, 'número'],
  [/\bboolean(s?)\b/, 'booleano$1'],
  [/\bobject(s?)\b/, 'objeto$1'],
  [/\bany\b/, 'cualquiera'],
  [/ or null\b/, ' o nulo'],
  [/ or /, ' o '],
  [/ \(date-time\)/, ', fecha y hora'],
  [/\(date-time\)/, 'fecha y hora'],
  [/\(uri\)/, 'dirección'],
  [/^\((?:[a-z]+-)+[a-z]+\)$/, ''],
  [/\bcharacters\b/, 'caracteres'],
  [/\bitems\b/, 'elementos'],
  [/\bproperties\b/, 'campos'],
  [/\bproperty\b/, 'campo'],
  [/\bnon-empty\b/, 'al menos 1'],
  [/\bunique\b/, 'sin repetidos'],
  [/\bdecimal places <= (\d+)/, 'hasta $1 decimales'],
  [/\bmultiple of\b/, 'múltiplo de'],
  [/\[ (\S+) \.\. (\S+) \]/, 'de $1 a $2'],
  [/^<= /, 'hasta '],
  [/^>= /, 'desde '],
  [/^= /, ''],
]

const typeTranslatorCode = `(t=>[${TYPE_TRANSLATIONS.map(([pattern, por]) => `[${new RegExp(pattern, 'g')},${JSON.stringify(por)}]`)}].reduce((x,[q,p])=>x.replace(q,p),t))`

/** Texts that Redoc writes without its translation function, as children or for screen readers. */
const WRITTEN_TEXTS = /(children|"aria-label"|title|tip):(["`])([A-Z][^"`$]*)\2/g

const PIECES = { TRANSLATE_FUNCTION, TYPE_WORDS, LIMIT_WORDS, FORMA: PATTERN, MODE_SWITCH_LABEL }

/**
 * Translates Redoc's program into Spanish.
 * @throws if one of the places to change no longer exists in the program
 */
export function translateRedoc(code: string): string {
  for (const [name, piece] of Object.entries(PIECES)) {
    if (!piece.test(code)) throw new Error(`Redoc no longer has ${name}: see scripts/documentation/spanish.ts`)
  }
  const lookupCode = `translate:(e,t)=>{let i=(typeof t=="string"?t:t?.defaultValue)||e||"";return(${JSON.stringify(TRANSLATIONS)})[i]??i}`
  const translatedCode = code.replace(WRITTEN_TEXTS, (matched, where: string, quote: string, english: string) => {
    const spanish = TRANSLATIONS[english]
    return spanish ? `${where}:${quote}${spanish}${quote}` : matched
  })
  return Object.entries(LITERALS)
    .reduce(
      (text, [english, spanish]) =>
        text.replaceAll(new RegExp(`(["\`])${RegExp.escape(english)}\\1`, 'g'), `$1${spanish}$1`),
      translatedCode,
    )
    .replaceAll('`link to ${', '`Enlace a ${')
    .replace(MODE_SWITCH_LABEL, '$1"Cambiar entre claro y oscuro",')
    .replace(LIMIT_WORDS, (_, before: string, list: string) => `${before}${list}.map(${typeTranslatorCode})}`)
    .replace(PATTERN, (matched, _format: string, name: string) => `${matched}${name}=${typeTranslatorCode}(${name}),`)
    .replace(
      TYPE_WORDS,
      (matched, _format: string, list: string) =>
        `${matched},${list}.splice(0,9,...${list}.map(${typeTranslatorCode}).filter(Boolean))`,
    )
    .replace(TRANSLATE_FUNCTION, () => lookupCode)
}
