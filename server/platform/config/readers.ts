import { resolve } from 'node:path'
import { contrastWithWhite, darker, MIN_CONTRAST } from '../brand/color.ts'
import { readAddress } from '../mail/address.ts'
import { explainKeys, readKeys } from '../secrets.ts'
import { readTelephone, showTelephone } from '../telephones/telephone.ts'
import { readRestDays } from '../time/restDays.ts'
import { type ConfigTable, type Environment, readTable, type ValueReader } from './table.ts'

const readerOf = <T>(fault: string, read: ValueReader<T>['read']): ValueReader<T> => ({ read, fault })
const matching = (shape: RegExp, fault: string) => readerOf(fault, (text) => (shape.test(text) ? text : undefined))

const integerBetween = (minimum: number, maximum: number, fault: string) =>
  readerOf(fault, (text) =>
    /^\d{1,5}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum ? Number(text) : undefined,
  )

/** Reads a TCP port, from 0 to 65535. */
export const port = integerBetween(0, 65_535, 'debe ser un número de 0 a 65535')
/**
 * Makes a reader of whole numbers from `minimum` to `maximum`. The fault's message names the counted things (`de`, in
 * Spanish).
 */
export const number = (minimum: number, maximum: number, de: string) =>
  integerBetween(minimum, maximum, `debe ser un número de ${de} de ${minimum} a ${maximum}`)

/** Reads a number of processes on one port. PORT must not be 0, because each process would choose a port of its own. */
export const processes = readerOf('debe ser un número de procesos de 1 a 64, y PORT no puede ser 0', (text, { env }) =>
  /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 64 && env.PORT?.trim() !== '0'
    ? Number(text)
    : undefined,
)

/** Reads 1 (true) or 0 (false). */
export const flag = readerOf('debe ser 1 (sí) o 0 (no)', (text) =>
  ['0', '1'].includes(text) ? text === '1' : undefined,
)

/** Makes a reader that accepts any text. */
const anyText = <T>(read: (text: string, environment: Environment) => T): ValueReader<T> => ({ read, fault: () => [] })
/** Reads any text as it is. */
export const text = anyText((text) => text)

/** Makes a reader that accepts only the given words. */
export const oneOf = <const V extends string>(allowedValues: readonly V[]) =>
  readerOf(`debe ser uno de ${allowedValues.join(', ')}`, (text) => allowedValues.find((value) => value === text))

/** Reads a host name or an IP address. */
export const host = matching(/^[\w.:-]+$/, 'debe ser un nombre o una IP')

/** Reads the path of a folder, relative to the working directory. */
export const folder = anyText((text, { cwd }) => resolve(cwd, text))

/** Makes a reader for the path of a folder. If the path is set, it also reads the variables of `table`. */
export const folderWith = <T extends ConfigTable>(table: T) =>
  anyText((text, environment) => ({ folder: resolve(environment.cwd, text), ...readTable(table, environment) }))

const POSTGRES_FAULT = 'debe ser una dirección postgres://usuario:clave@servidor:5432/base'
const isPostgres = (url: string) => ['postgres:', 'postgresql:'].includes(URL.parse(url)?.protocol ?? '')

/** Reads the address of a PostgreSQL database. */
export const postgresUrl = readerOf(POSTGRES_FAULT, (url) => (isPostgres(url) ? url : undefined))

/**
 * Makes a reader for the address of an external PostgreSQL. If the address is set, it also reads the configuration
 * variables of `table`, which have no meaning without it.
 */
export const postgres = <T extends ConfigTable>(table: T) =>
  readerOf(POSTGRES_FAULT, (url, environment) =>
    isPostgres(url) ? { tipo: 'externa' as const, url, ...readTable(table, environment) } : undefined,
  )

/** Makes a reader for the address of a pooler. If the address is set, it also reads the variables of `table`. */
export const pooler = <T extends ConfigTable>(table: T) =>
  readerOf(POSTGRES_FAULT, (url, environment) =>
    isPostgres(url) ? { url, pooler: readTable(table, environment) } : undefined,
  )

const isHttp = (url: URL | null): url is URL => url !== null && ['http:', 'https:'].includes(url.protocol)
const withoutTrailingSlash = (text: string) => text.replace(/\/+$/, '')

/** Reads an http or https address without query and fragment, and removes its final slash. */
export const linkBase = readerOf('debe ser una dirección http(s)://… sin parámetros', (text) => {
  const url = URL.parse(text)
  return isHttp(url) && !url.search && !url.hash ? withoutTrailingSlash(text) : undefined
})

/** Reads an address without parsing it, and removes its final slash. */
export const address = anyText(withoutTrailingSlash)

/** Reads the address of an http or https server without a path, and returns its origin. */
export const server = readerOf('debe ser una dirección http(s)://servidor[:puerto]', (text) => {
  const url = URL.parse(text)
  return isHttp(url) && url.pathname === '/' && !url.search && !url.username ? url.origin : undefined
})

/**
 * Makes a reader for the address of map tiles. If the address is set, it also reads the variables of `table`. The text
 * `none` gives null: no map.
 */
export const mapTiles = <T extends ConfigTable>(table: T) =>
  readerOf('debe ser una dirección https con {z}, {x} y {y}, o none', (text, environment) => {
    if (text === 'none') return null
    const isHttps = URL.parse(text.replaceAll(/\{[a-z]+\}/g, '1'))?.protocol === 'https:'
    const areValid = isHttps && /\{z\}.*\{x\}.*\{y\}/.test(text)
    return areValid ? { url: text, selfHosted: true, ...readTable(table, environment) } : undefined
  })

/** Reads master keys: 32 bytes in base64 each, separated by commas. */
export const masterKeyTexts: ValueReader<readonly Buffer[]> = { read: readKeys, fault: explainKeys }

/** Reads a name of 1 to 80 visible characters in one line, and normalises it to NFC. */
export const displayName = readerOf('debe tener de 1 a 80 caracteres visibles, en una sola línea', (text) =>
  /^(?=.*[\p{L}\p{N}])[^\p{Cc}\u202A-\u202E\u2066-\u2069]{1,80}$/u.test(text) ? text.normalize('NFC') : undefined,
)

/** Reads an http or https address, or the path of a file relative to the working directory. */
export const fileOrAddress = anyText((text, { cwd }) => (/^https?:/.test(text) ? text : resolve(cwd, text)))

const toHex = (text: string) => (/^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined)
/** Formats a contrast with two decimals. Truncates instead of rounding, because 4.499 is below 4.5. */
const formatContrast = (contrastRatio: number) => (Math.floor(contrastRatio * 100) / 100).toFixed(2)

/** Reads a colour that is legible on white, and on which white is legible. */
export const readableColor: ValueReader<string> = {
  read: (text) => {
    const color = toHex(text)
    return color && contrastWithWhite(color) >= MIN_CONTRAST ? color : undefined
  },
  fault: (text) => {
    const color = toHex(text)
    if (!color) return ['debe ser un color como #0b6b3a']
    return [
      `el contraste de ${color} con el blanco es ${formatContrast(contrastWithWhite(color))} y hace falta ${MIN_CONTRAST}; el más parecido que sirve es ${darker(color)}`,
    ]
  },
}

/** Reads an address from which mails are sent. */
export const mailAddress = readerOf('debe ser una dirección de correo como avisos@ejemplo.com', readAddress)

/** Makes a reader for the address of a mail server. If the address is set, it also reads the variables of `table`. */
export const smtp = <T extends ConfigTable>(table: T) =>
  readerOf('debe ser una dirección smtp(s)://usuario:clave@servidor:puerto', (text, environment) => {
    const url = URL.parse(text)
    const vale = url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && !url.search && !url.hash
    return vale && ['', '/'].includes(url.pathname) ? { url: text, ...readTable(table, environment) } : undefined
  })

/** Reads a telephone number as people write it, with its country code. */
export const telephone: ValueReader<{ e164: string; visible: string }> = {
  read: (text) => {
    const reading = readTelephone(text)
    return 'e164' in reading ? { e164: reading.e164, visible: showTelephone(reading.e164) } : undefined
  },
  fault: (text) => {
    const reading = readTelephone(text)
    return 'error' in reading ? [reading.error] : []
  },
}

/** Reads an address for reports about security, in a form that RFC 9116 allows. */
export const contact = readerOf('debe ser una dirección mailto:, tel: o https:', (text) =>
  /^(mailto:[^\s@]+@[^\s@]+|tel:\+\d+|https:\/\/\S+)$/.test(text) && URL.canParse(text) ? text : undefined,
)

/** Reads an IANA time zone. */
export const timeZone = readerOf('debe ser una zona horaria de IANA, por ejemplo America/Guatemala', (text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) && text
  } catch {
    return undefined
  }
})

/** Reads days on which nothing is delivered. */
export const restDays = readerOf(
  'debe ser none, o días separados por comas: domingo, guatemala (sus feriados), 12-24 (cada año), 2026-12-24; deje al menos un día de la semana',
  readRestDays,
)

/** Reads the name of a bucket. */
export const bucket = matching(
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  'debe ser el nombre de un bucket: de 3 a 63 minúsculas, cifras, puntos y guiones',
)
/** Reads the name of a region of an S3 server. */
export const region = matching(/^[a-z0-9-]{2,40}$/, 'debe ser una región, por ejemplo us-east-1')

/** Reads the beginning of every name in a bucket. The result has a final slash. */
export const prefix = readerOf('debe ser como guias o datos/guias: letras, cifras, _ y -, separados por /', (text) =>
  /^[\w-]{1,100}(\/[\w-]{1,100}){0,9}\/?$/.test(text) ? `${text.replace(/\/$/, '')}/` : undefined,
)
