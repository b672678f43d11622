import { isDeepStrictEqual } from 'node:util'
import { JSON_LIMITS, JsonError, readJson } from '../../../server/api/http/strictJson.ts'
import { catchExpected, type FuzzTarget, requireHolds } from '../blanco.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What JSON.parse makes of it, by itself; undefined if it refuses. */
function leerSuelto(entrada: Uint8Array): { texto: string; valor: unknown } | undefined {
  try {
    const texto = UTF8.decode(entrada)
    return { texto, valor: JSON.parse(texto) }
  } catch {
    return undefined
  }
}

const miembros = (valor: unknown): [string, unknown][] =>
  typeof valor === 'object' && valor !== null ? Object.entries(valor) : []
const contar = (valor: unknown): number =>
  miembros(valor).reduce((suma, [, uno]) => suma + contar(uno), Array.isArray(valor) ? 0 : miembros(valor).length)
const hondo = (valor: unknown): number =>
  typeof valor === 'object' && valor !== null
    ? 1 + miembros(valor).reduce((mayor, [, uno]) => Math.max(mayor, hondo(uno)), 0)
    : 0

const textoBueno = (texto: string) => texto.isWellFormed() && !texto.includes('\0')

/** The rules that a value keeps or breaks, whatever its text was like. */
function bueno(valor: unknown): boolean {
  if (typeof valor === 'string') return textoBueno(valor)
  if (typeof valor === 'number') return Number.isFinite(valor)
  const suyos = miembros(valor)
  if (Array.isArray(valor)) return suyos.every(([, uno]) => bueno(uno))
  return (
    suyos.length <= JSON_LIMITS.properties &&
    suyos.every(
      ([clave, uno]) =>
        clave !== '__proto__' && clave.length <= JSON_LIMITS.largoDeClave && textoBueno(clave) && bueno(uno),
    )
  )
}

/** Every colon outside texts stands behind a key: with a key twice there are more of them than members. */
const dosPuntos = (texto: string) => texto.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1

/** What is accepted is what keeps all rules, told by other means; and means what JSON.parse says it means. */
export const blanco: FuzzTarget = {
  semillas: [
    '{"telefono":"+50255551234","lat":14.6349,"lng":-90.5069,"recogida":{"nombre":"Bodega"}}',
    '[1,-0,0.5,1e3,-1.5E-7,true,false,null,"",[],{}]',
    '{"a":{"a":[{"a":"\\u00e9\\n\\ud83d\\ude00\\\\\\""}]}}',
    `{"${'ñ'.repeat(127)}":"😀","b":1e308}`,
    '['.repeat(31) + ']'.repeat(31),
    JSON.stringify(Object.fromEntries(Array.from({ length: 63 }, (_, i) => [`c${i}`, i]))),
  ],
  words: [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '\\udc00',
    '\\u0061',
    '"a":1,',
    '{"a":',
    '[[',
    '"__proto__":',
    '"\\u005f_proto__":1',
    '1e400',
    '-1e999',
    'true',
    'null',
    '\ufeff',
    '\u2028',
    '0'.repeat(320),
  ],
  probar(entrada) {
    const suelto = leerSuelto(entrada)
    const nuestro = catchExpected(() => ({ valor: readJson(entrada) }), JsonError)
    if (nuestro instanceof JsonError) {
      const { linea, column: columna, campo, mensaje } = nuestro.fault
      requireHolds(
        linea >= 1 && columna >= 1 && (campo === '' || campo.startsWith('/')) && mensaje !== '',
        'it says where',
      )
    }
    const admisible =
      suelto !== undefined &&
      !suelto.texto.startsWith('\ufeff') &&
      hondo(suelto.valor) <= JSON_LIMITS.depth &&
      bueno(suelto.valor) &&
      dosPuntos(suelto.texto) === contar(suelto.valor)
    requireHolds(admisible !== nuestro instanceof JsonError, 'the rules are kept if, and only if, it is accepted')
    if (!(nuestro instanceof JsonError))
      requireHolds(isDeepStrictEqual(nuestro.valor, suelto?.valor), 'it is the same value')
  },
}
