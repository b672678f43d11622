import { isUtf8 } from 'node:buffer'
import { escapeToken } from '../../platform/jsonPointer.ts'

// `Revision` scans the text once and checks RFC 8259 and the service's own limits. The native `JSON.parse` then builds
// the value, so that accepted JSON means the same here as in every other JSON parser.

/** Fault in a JSON text, and its position. */
export interface JsonFault {
  /** Spanish text with the fault, the remedy and the position. */
  mensaje: string
  /** Line of the fault, from 1. */
  line: number
  /** Column of the fault, from 1, in UTF-16 units, as editors count. */
  column: number
  /** JSON Pointer (RFC 6901) to the innermost known place of the fault; '' for the root. */
  campo: string
}

/** Thrown by {@link readJson} for a text that breaks the rules. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly fault: JsonFault

  constructor(fault: JsonFault) {
    super(fault.mensaje)
    this.fault = fault
  }
}

/**
 * Limits above which JSON is refused: nesting of objects and arrays, properties of an object, and length of a key in
 * UTF-16 units.
 */
export const JSON_LIMITS = { depth: 32, properties: 64, keyLength: 128 }

/**
 * Parses JSON in UTF-8 (RFC 8259). Refuses repeated keys, the key `__proto__`, NUL, unpaired surrogates, a BOM and
 * anything above {@link JSON_LIMITS}.
 * @throws JsonError
 */
export function readJson(bytes: Uint8Array): unknown {
  const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(body)) rejectBytes(body)
  const text = body.toString('utf8')
  new Scanner(text).scanDocument()
  return JSON.parse(text)
}

function rejectBytes(body: Buffer): never {
  // `toString` writes U+FFFD for each fault, so the first byte that the round trip changes is the faulty byte.
  const repaired = Buffer.from(body.toString('utf8'))
  let i = 0
  while (i < body.length && body[i] === repaired[i]) i++
  const revision = new Scanner(body.toString('utf8', 0, i))
  try {
    revision.scanDocument() // Throws at the end of the cut text; `path` then holds the path of the fault's field.
  } catch {}
  return revision.fail('El cuerpo tiene bytes que no son UTF-8: envíelo en UTF-8, no en Latin-1', revision.text.length)
}

const QUOTE = 0x22
const MANTISSA = /-?(?:0|[1-9]\d*)(?:\.\d+)?/y
const EXPONENT = /[eE][+-]?\d+/y
// A `\u` escape is either a whole surrogate pair, or a code unit that is neither NUL nor a surrogate.
const ESCAPE =
  /\\(?:["\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/y

// `charCodeAt` returns NaN past the end, and every comparison with NaN is false. The scan detects truncated bodies this
// way.
class Scanner {
  readonly text: string
  private i = 0
  private hasEscapes = false
  private depth = 0
  /** Current key or index at each depth; null while the key is not known yet. */
  private readonly path: (string | number | null)[] = []

  constructor(text: string) {
    this.text = text
  }

  scanDocument(): void {
    if (this.text.startsWith('\ufeff')) this.fail('El cuerpo empieza con una marca BOM: envíelo sin ella')
    if (Number.isNaN(this.skipSpace())) this.fail('El cuerpo está vacío: envíe un documento JSON')
    this.valor()
    if (!Number.isNaN(this.skipSpace())) this.fail(`Sobra ${this.describeFound()} tras el documento: envíe uno solo`)
  }

  /**
   * Skips white space.
   * @returns character code of the next character; NaN at the end
   */
  private skipSpace(): number {
    const { text } = this
    let { i } = this
    let c = text.charCodeAt(i)
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = text.charCodeAt(++i)
    this.i = i
    return c
  }

  private valor(): void {
    const c = this.skipSpace()
    if (c === QUOTE) this.readString()
    else if (c === 0x7b) this.readObject()
    else if (c === 0x5b) this.readArray()
    else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) this.numero()
    else if (this.text.startsWith('true', this.i) || this.text.startsWith('null', this.i)) this.i += 4
    else if (this.text.startsWith('false', this.i)) this.i += 5
    else this.fail(`Se esperaba un valor JSON y se halló ${this.describeFound()}: los textos van entre comillas dobles`)
  }

  private readObject(): void {
    const { path } = this
    const depth = this.enter()
    const keys: string[] = []
    for (let continues = !this.closes('}'); continues; continues = this.continues('}')) {
      path[depth] = null
      const start = this.i
      if (keys.length === JSON_LIMITS.properties)
        this.fail(`El objeto tiene más de ${keys.length} propiedades: quite las que sobran`)
      const key = this.clave()
      path[depth] = key
      // An object has at most 64 keys, so searching the array costs less than keeping a Set.
      if (keys.includes(key)) this.fail(`La clave ${JSON.stringify(key)} está repetida: deje una sola`, start)
      if (key === '__proto__') this.fail('La clave "__proto__" no se admite: quítela', start)
      keys.push(key)
      if (this.skipSpace() !== 0x3a) this.fail(`Tras la clave se halló ${this.describeFound()}: ponga ":" y el valor`)
      this.i++
      this.valor()
    }
    this.depth--
  }

  private readArray(): void {
    const depth = this.enter()
    let index = 0
    for (let continues = !this.closes(']'); continues; continues = this.continues(']')) {
      this.path[depth] = index++
      this.valor()
    }
    this.depth--
  }

  /**
   * Enters an object or array, or fails before entering if the depth limit is reached. The limit also bounds the
   * recursion.
   * @returns the new depth
   */
  private enter(): number {
    if (this.depth === JSON_LIMITS.depth) this.fail(`El JSON anida más de ${JSON_LIMITS.depth} niveles: aplánelo`)
    this.i++
    this.path[++this.depth] = null
    return this.depth
  }

  private closes(closer: '}' | ']'): boolean {
    if (this.skipSpace() !== closer.charCodeAt(0)) return false
    this.i++
    return true
  }

  /** Moves past the end of a member. Returns false after the closing bracket, and true at the next member. */
  private continues(closer: '}' | ']'): boolean {
    if (this.closes(closer)) return false
    const coma = this.i
    if (this.text[coma] !== ',')
      this.fail(`Se esperaba "," o "${closer}" y se halló ${this.describeFound()}: revise comas, comillas y cierres`)
    this.i++
    if (this.closes(closer)) this.fail(`Sobra la coma antes de "${closer}": quítela`, coma)
    return true
  }

  private clave(): string {
    const start = this.i
    if (this.text[start] !== '"')
      this.fail(`Se esperaba una clave y se halló ${this.describeFound()}: las claves van entre comillas dobles`)
    this.readString()
    const key: string = this.hasEscapes
      ? JSON.parse(this.text.slice(start, this.i))
      : this.text.slice(start + 1, this.i - 1)
    if (key.length > JSON_LIMITS.keyLength)
      this.fail(`La clave tiene más de ${JSON_LIMITS.keyLength} caracteres: acórtela`, start)
    return key
  }

  private readString(): void {
    const { text, i: start } = this
    let i = start + 1
    let c = text.charCodeAt(i)
    this.hasEscapes = false
    while (c !== QUOTE) {
      if (c >= 0x20 && c !== 0x5c) i++
      else if (c === 0x5c) {
        this.hasEscapes = true
        i = this.escape(i)
      } else {
        if (Number.isNaN(c)) this.fail('El texto no está cerrado: falta su comilla doble final', start)
        this.i = i
        this.fail(`El texto contiene ${this.describeFound()}, un carácter de control: quítelo o escápelo (\\n, \\t)`)
      }
      c = text.charCodeAt(i)
    }
    this.i = i + 1
  }

  /** Checks the escape at `i`. Returns the index after the escape. */
  private escape(i: number): number {
    ESCAPE.lastIndex = i
    if (ESCAPE.test(this.text)) return ESCAPE.lastIndex
    const badEscape = this.text.slice(i, i + 6)
    if (badEscape === '\\u0000') this.fail('El carácter NUL (\\u0000) no se admite: quítelo', i)
    if (/^\\u[dD][89a-fA-F][\da-fA-F]{2}$/.test(badEscape))
      this.fail(`El escape ${badEscape} es medio carácter (un sustituto sin pareja): envíe el carácter entero`, i)
    return this.fail('El escape no existe en JSON: use \\" \\\\ \\/ \\b \\f \\n \\r \\t o \\u y cuatro cifras', i)
  }

  private numero(): void {
    const { text, i: start } = this
    MANTISSA.lastIndex = start
    let end = MANTISSA.test(text) ? MANTISSA.lastIndex : start
    EXPONENT.lastIndex = end
    const exponent = (text.charCodeAt(end) | 0x20) === 0x65 && EXPONENT.test(text)
    if (exponent) end = EXPONENT.lastIndex
    if (end === start || '0123456789.eE+-'.includes(text[end] ?? ' '))
      this.fail('El número está mal escrito: quite los ceros a la izquierda o complete sus dígitos', start)
    // Without an exponent, only a number with hundreds of digits overflows. Usual numbers skip the conversion.
    if ((exponent || end - start > 300) && !Number.isFinite(Number(text.slice(start, end))))
      this.fail('El número es demasiado grande: envíe uno de magnitud menor que 1.8e308', start)
    this.i = end
  }

  /** Describes the current character, by its code point if the character is invisible or not ASCII. */
  private describeFound(): string {
    const c = this.text.codePointAt(this.i)
    if (c === undefined) return 'el final del cuerpo'
    return c > 0x20 && c < 0x7f ? `«${String.fromCodePoint(c)}»` : `U+${c.toString(16).toUpperCase().padStart(4, '0')}`
  }

  fail(faultAndRemedy: string, where = this.i): never {
    const before = this.text.slice(0, where)
    const line = before.split('\n').length
    const column = where - before.lastIndexOf('\n')
    let campo = ''
    for (const step of this.path.slice(1, this.depth + 1)) if (step !== null) campo += `/${escapeToken(String(step))}`
    const place = `línea ${line}, columna ${column}${campo && `, en ${campo}`}`
    throw new JsonError({ mensaje: `${faultAndRemedy} (${place}).`, line, column, campo })
  }
}
