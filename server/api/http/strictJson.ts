import { isUtf8 } from 'node:buffer'
import { escapeToken } from '../../platform/jsonPointer.ts'

// `Revision` scans the text once and checks RFC 8259 and the service's own limits. The native `JSON.parse` then builds
// the value, so that accepted JSON means the same here as in every other JSON parser.

/** Fault in a JSON text, and its position. */
export interface JsonFault {
  /** Spanish text with the fault, the remedy and the position. */
  mensaje: string
  /** Line of the fault, from 1. */
  linea: number
  /** Column of the fault, from 1, in UTF-16 units, as editors count. */
  columna: number
  /** JSON Pointer (RFC 6901) to the innermost known place of the fault; '' for the root. */
  campo: string
}

/** Thrown by {@link readJson} for a text that breaks the rules. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly fault: JsonFault

  constructor(falla: JsonFault) {
    super(falla.mensaje)
    this.fault = falla
  }
}

/**
 * Limits above which JSON is refused: nesting of objects and arrays, properties of an object, and length of a key in
 * UTF-16 units.
 */
export const JSON_LIMITS = { profundidad: 32, propiedades: 64, largoDeClave: 128 }

/**
 * Parses JSON in UTF-8 (RFC 8259). Refuses repeated keys, the key `__proto__`, NUL, unpaired surrogates, a BOM and
 * anything above {@link JSON_LIMITS}.
 * @throws JsonError
 */
export function readJson(bytes: Uint8Array): unknown {
  const cuerpo = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(cuerpo)) rechazarBytes(cuerpo)
  const texto = cuerpo.toString('utf8')
  new Revision(texto).documento()
  return JSON.parse(texto)
}

function rechazarBytes(cuerpo: Buffer): never {
  // `toString` writes U+FFFD for each fault, so the first byte that the round trip changes is the faulty byte.
  const reparado = Buffer.from(cuerpo.toString('utf8'))
  let i = 0
  while (i < cuerpo.length && cuerpo[i] === reparado[i]) i++
  const revision = new Revision(cuerpo.toString('utf8', 0, i))
  try {
    revision.documento() // Throws at the end of the cut text; `camino` then holds the path of the fault's field.
  } catch {}
  return revision.fallar(
    'El cuerpo tiene bytes que no son UTF-8: envíelo en UTF-8, no en Latin-1',
    revision.texto.length,
  )
}

const COMILLA = 0x22
const MANTISA = /-?(?:0|[1-9]\d*)(?:\.\d+)?/y
const EXPONENTE = /[eE][+-]?\d+/y
// A `\u` escape is either a whole surrogate pair, or a code unit that is neither NUL nor a surrogate.
const ESCAPE =
  /\\(?:["\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/y

// `charCodeAt` returns NaN past the end, and every comparison with NaN is false. The scan detects truncated bodies this
// way.
class Revision {
  readonly texto: string
  private i = 0
  private conEscapes = false
  private profundidad = 0
  /** Current key or index at each depth; null while the key is not known yet. */
  private readonly camino: (string | number | null)[] = []

  constructor(texto: string) {
    this.texto = texto
  }

  documento(): void {
    if (this.texto.startsWith('\ufeff')) this.fallar('El cuerpo empieza con una marca BOM: envíelo sin ella')
    if (Number.isNaN(this.espacio())) this.fallar('El cuerpo está vacío: envíe un documento JSON')
    this.valor()
    if (!Number.isNaN(this.espacio())) this.fallar(`Sobra ${this.hallado()} tras el documento: envíe uno solo`)
  }

  /**
   * Skips white space.
   * @returns character code of the next character; NaN at the end
   */
  private espacio(): number {
    const { texto } = this
    let { i } = this
    let c = texto.charCodeAt(i)
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = texto.charCodeAt(++i)
    this.i = i
    return c
  }

  private valor(): void {
    const c = this.espacio()
    if (c === COMILLA) this.cadena()
    else if (c === 0x7b) this.objeto()
    else if (c === 0x5b) this.arreglo()
    else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) this.numero()
    else if (this.texto.startsWith('true', this.i) || this.texto.startsWith('null', this.i)) this.i += 4
    else if (this.texto.startsWith('false', this.i)) this.i += 5
    else this.fallar(`Se esperaba un valor JSON y se halló ${this.hallado()}: los textos van entre comillas dobles`)
  }

  private objeto(): void {
    const { camino } = this
    const profundidad = this.entrar()
    const claves: string[] = []
    for (let sigue = !this.cierra('}'); sigue; sigue = this.sigue('}')) {
      camino[profundidad] = null
      const inicio = this.i
      if (claves.length === JSON_LIMITS.propiedades)
        this.fallar(`El objeto tiene más de ${claves.length} propiedades: quite las que sobran`)
      const clave = this.clave()
      camino[profundidad] = clave
      // An object has at most 64 keys, so searching the array costs less than keeping a Set.
      if (claves.includes(clave)) this.fallar(`La clave ${JSON.stringify(clave)} está repetida: deje una sola`, inicio)
      if (clave === '__proto__') this.fallar('La clave "__proto__" no se admite: quítela', inicio)
      claves.push(clave)
      if (this.espacio() !== 0x3a) this.fallar(`Tras la clave se halló ${this.hallado()}: ponga ":" y el valor`)
      this.i++
      this.valor()
    }
    this.profundidad--
  }

  private arreglo(): void {
    const profundidad = this.entrar()
    let indice = 0
    for (let sigue = !this.cierra(']'); sigue; sigue = this.sigue(']')) {
      this.camino[profundidad] = indice++
      this.valor()
    }
    this.profundidad--
  }

  /**
   * Enters an object or array, or fails before entering if the depth limit is reached. The limit also bounds the
   * recursion.
   * @returns the new depth
   */
  private entrar(): number {
    if (this.profundidad === JSON_LIMITS.profundidad)
      this.fallar(`El JSON anida más de ${JSON_LIMITS.profundidad} niveles: aplánelo`)
    this.i++
    this.camino[++this.profundidad] = null
    return this.profundidad
  }

  private cierra(cierre: '}' | ']'): boolean {
    if (this.espacio() !== cierre.charCodeAt(0)) return false
    this.i++
    return true
  }

  /** Moves past the end of a member. Returns false after the closing bracket, and true at the next member. */
  private sigue(cierre: '}' | ']'): boolean {
    if (this.cierra(cierre)) return false
    const coma = this.i
    if (this.texto[coma] !== ',')
      this.fallar(`Se esperaba "," o "${cierre}" y se halló ${this.hallado()}: revise comas, comillas y cierres`)
    this.i++
    if (this.cierra(cierre)) this.fallar(`Sobra la coma antes de "${cierre}": quítela`, coma)
    return true
  }

  private clave(): string {
    const inicio = this.i
    if (this.texto[inicio] !== '"')
      this.fallar(`Se esperaba una clave y se halló ${this.hallado()}: las claves van entre comillas dobles`)
    this.cadena()
    const clave: string = this.conEscapes
      ? JSON.parse(this.texto.slice(inicio, this.i))
      : this.texto.slice(inicio + 1, this.i - 1)
    if (clave.length > JSON_LIMITS.largoDeClave)
      this.fallar(`La clave tiene más de ${JSON_LIMITS.largoDeClave} caracteres: acórtela`, inicio)
    return clave
  }

  private cadena(): void {
    const { texto, i: inicio } = this
    let i = inicio + 1
    let c = texto.charCodeAt(i)
    this.conEscapes = false
    while (c !== COMILLA) {
      if (c >= 0x20 && c !== 0x5c) i++
      else if (c === 0x5c) {
        this.conEscapes = true
        i = this.escape(i)
      } else {
        if (Number.isNaN(c)) this.fallar('El texto no está cerrado: falta su comilla doble final', inicio)
        this.i = i
        this.fallar(`El texto contiene ${this.hallado()}, un carácter de control: quítelo o escápelo (\\n, \\t)`)
      }
      c = texto.charCodeAt(i)
    }
    this.i = i + 1
  }

  /** Checks the escape at `i`. Returns the index after the escape. */
  private escape(i: number): number {
    ESCAPE.lastIndex = i
    if (ESCAPE.test(this.texto)) return ESCAPE.lastIndex
    const malo = this.texto.slice(i, i + 6)
    if (malo === '\\u0000') this.fallar('El carácter NUL (\\u0000) no se admite: quítelo', i)
    if (/^\\u[dD][89a-fA-F][\da-fA-F]{2}$/.test(malo))
      this.fallar(`El escape ${malo} es medio carácter (un sustituto sin pareja): envíe el carácter entero`, i)
    return this.fallar('El escape no existe en JSON: use \\" \\\\ \\/ \\b \\f \\n \\r \\t o \\u y cuatro cifras', i)
  }

  private numero(): void {
    const { texto, i: inicio } = this
    MANTISA.lastIndex = inicio
    let fin = MANTISA.test(texto) ? MANTISA.lastIndex : inicio
    EXPONENTE.lastIndex = fin
    const exponente = (texto.charCodeAt(fin) | 0x20) === 0x65 && EXPONENTE.test(texto)
    if (exponente) fin = EXPONENTE.lastIndex
    if (fin === inicio || '0123456789.eE+-'.includes(texto[fin] ?? ' '))
      this.fallar('El número está mal escrito: quite los ceros a la izquierda o complete sus dígitos', inicio)
    // Without an exponent, only a number with hundreds of digits overflows. Usual numbers skip the conversion.
    if ((exponente || fin - inicio > 300) && !Number.isFinite(Number(texto.slice(inicio, fin))))
      this.fallar('El número es demasiado grande: envíe uno de magnitud menor que 1.8e308', inicio)
    this.i = fin
  }

  /** Describes the current character, by its code point if the character is invisible or not ASCII. */
  private hallado(): string {
    const c = this.texto.codePointAt(this.i)
    if (c === undefined) return 'el final del cuerpo'
    return c > 0x20 && c < 0x7f ? `«${String.fromCodePoint(c)}»` : `U+${c.toString(16).toUpperCase().padStart(4, '0')}`
  }

  fallar(queYRemedio: string, donde = this.i): never {
    const antes = this.texto.slice(0, donde)
    const linea = antes.split('\n').length
    const columna = donde - antes.lastIndexOf('\n')
    let campo = ''
    for (const paso of this.camino.slice(1, this.profundidad + 1))
      if (paso !== null) campo += `/${escapeToken(String(paso))}`
    const lugar = `línea ${linea}, columna ${columna}${campo && `, en ${campo}`}`
    throw new JsonError({ mensaje: `${queYRemedio} (${lugar}).`, linea, columna, campo })
  }
}
