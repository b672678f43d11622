import { isDay } from './day.ts'
import { readInstant } from './instant.ts'

/** Offset that the messages propose to a text without a zone: Guatemala's, which is the same all year. */
const OFFSET = '-06:00'

/** Matches the ways in which people write an instant, with parts left out. Every repetition is bounded. */
const WRITTEN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ](\d{1,2}):(\d{2})(?::(\d{2})([.,]\d{1,9})?)?(?: ?([Zz]|[+ -]\d{2}(?::?\d{2})?))?)?$/

/** Matches seconds or milliseconds since 1970, of the years 2001 to 2286. */
const UNIX_TIME = /^(?:\d{10}|\d{13})$/

/**
 * Says in Spanish which part a text lacks to be an RFC 3339 instant, with the sender's own instant in the right form.
 * Undefined if the text names no instant.
 * @param inUrl true if the text came in a query string, where an unescaped `+` arrives as a space
 */
export function faultOfInstant(text: string, inUrl = false): string | undefined {
  if (UNIX_TIME.test(text)) {
    const instant = new Date(Number(text.padEnd(13, '0'))).toISOString()
    return `es un número desde 1970: escriba ${instant}`
  }
  const [, year, month = '', date = '', hour, minute, second = '00', fraction = '', zone] = WRITTEN.exec(text) ?? []
  if (year === undefined) return undefined
  const day = [year, month.padStart(2, '0'), date.padStart(2, '0')].join('-')
  if (!isDay(day)) return `${day} no es un día del calendario de 1970 en adelante`
  if (hour === undefined)
    return `le faltan la hora y la zona: ${day}T00:00:00${OFFSET} es el principio de ese día en Guatemala, y ${day}T00:00:00Z en UTC`
  const local = `${day}T${hour.padStart(2, '0')}:${minute}:${second}${fraction.replace(',', '.')}`
  if (readInstant(`${local}Z`) === undefined)
    return `${hour}:${minute}:${second} no es una hora, de 00:00:00 a 23:59:59`
  if (zone === undefined)
    return `le falta la zona: escriba ${local}${OFFSET} si es hora de Guatemala, o ${local}Z si es UTC`
  const instant = local + offsetOf(zone)
  if (readInstant(instant) === undefined) return undefined
  if (zone.startsWith(' '))
    return inUrl
      ? `el + de la zona llegó como un espacio: en una dirección se escribe %2B, ${instant.replace('+', '%2B')}`
      : `lleva un espacio donde va el + de la zona: escriba ${instant}`
  return `debe ser una fecha y hora según RFC 3339: escriba ${inUrl ? instant.replace('+', '%2B') : instant}`
}

/** Returns a zone in RFC 3339's form: `Z`, or a sign, two digits, a colon and two digits. */
function offsetOf(zone: string): string {
  if (/z/i.test(zone)) return 'Z'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${zone.startsWith('-') ? '-' : '+'}${digits.slice(0, 2)}:${digits.slice(2)}`
}

/** Says in Spanish why a text that begins with a day is not just that day. Undefined if the text begins with no day. */
export function faultOfDay(text: string): string | undefined {
  const [day, rest] = [text.slice(0, 10), text.slice(10)]
  if (isDay(day) && /^[Tt ]/.test(rest)) return `lleva una hora: escriba solo el día, ${day}`
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text} no es un día del calendario de 1970 en adelante` : undefined
}
