import { MINUTE_MS } from './units.ts'

/** Spanish names of the months. */
export const MONTHS = [
  'enero',
  'febrero',
  'marzo',
  'abril',
  'mayo',
  'junio',
  'julio',
  'agosto',
  'septiembre',
  'octubre',
  'noviembre',
  'diciembre',
]

/** Spanish names of time zones whose common name is not the city in the zone's identifier. */
const ZONE_NAMES: Record<string, string> = {
  'America/El_Salvador': 'hora de El Salvador',
  'America/Tegucigalpa': 'hora de Honduras',
  'America/Managua': 'hora de Nicaragua',
  'America/Mexico_City': 'hora del centro de México',
  'America/Cancun': 'hora del sureste de México',
  'America/Mazatlan': 'hora del Pacífico de México',
  'America/Hermosillo': 'hora de Sonora',
  'America/Ciudad_Juarez': 'hora de Ciudad Juárez',
  'America/Panama': 'hora de Panamá',
  'America/Bogota': 'hora de Colombia',
  UTC: 'hora universal',
}

type Field = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * Returns the `Intl` format of a time zone. It formats only numbers, because the words and spaces of `Intl` change
 * between versions.
 */
function formato(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
    format = new Intl.DateTimeFormat('en-US', { ...options, second: '2-digit', hourCycle: 'h23', timeZone: zone })
    formats.set(zone, format)
  }
  return format
}

const timeZoneExists = (zone: string): boolean => {
  try {
    return Boolean(formato(zone))
  } catch {
    return false
  }
}

/** Formats RFC 3339 instants in one time zone, in Spanish. */
export interface Clock {
  /** Formats an instant in long form: «14 de noviembre de 2026, 15:04». */
  formatLong(text: string): string
  /** Formats an instant in short form: «14 nov 2026, 15:04». */
  formatShort(text: string): string
  /** Formats the day of an instant as in RFC 3339: «2026-11-14». */
  dia(text: string): string
  /** Formats the time of day of an instant: «15:04». */
  hora(text: string): string
  /** Common name of the zone's time: «hora de Guatemala». */
  nombre: string
  /** UTC offset of the zone at an instant, in minutes; positive if the zone is ahead of UTC. */
  minutes(text: string): number
  /** Name of the zone's time with its UTC offset at that instant: «hora de Guatemala (UTC−6)». */
  zona(text: string): string
}

/**
 * Creates the formatter for an IANA time zone, or for UTC if the zone does not exist. It formats an invalid instant as
 * «—».
 */
export function createClock(requestedZone: string): Clock {
  const zone = timeZoneExists(requestedZone) ? requestedZone : 'UTC'
  const nombre = ZONE_NAMES[zone] ?? `hora de ${zone.split('/').pop()!.replaceAll('_', ' ')}`
  const withParts = (text: string, formatParts: (parts: LocalTime) => string): string => {
    const parts = read(text, zone)
    return parts ? formatParts(parts) : '—'
  }
  const hour = ({ p }: LocalTime) => `${dos(p.hour)}:${dos(p.minute)}`
  const month = ({ p }: LocalTime) => MONTHS[p.month - 1]!.slice(0, 3)
  return {
    formatLong: (text) => withParts(text, (l) => `${l.p.day} de ${MONTHS[l.p.month - 1]} de ${l.p.year}, ${hour(l)}`),
    formatShort: (text) => withParts(text, (l) => `${dos(l.p.day)} ${month(l)} ${l.p.year}, ${hour(l)}`),
    dia: (text) => withParts(text, ({ p }) => `${String(p.year).padStart(4, '0')}-${dos(p.month)}-${dos(p.day)}`),
    hora: (text) => withParts(text, hour),
    minutes: (text) => read(text, zone)?.minutes ?? 0,
    nombre,
    zona: (text) => withParts(text, ({ minutes }) => `${nombre} (${offsetText(minutes)})`),
  }
}

interface LocalTime {
  p: Record<Field, number>
  /** UTC offset of the zone at that instant, in minutes; positive if the zone is ahead of UTC. */
  minutes: number
}

function read(text: string, zone: string): LocalTime | undefined {
  const instant = new Date(text)
  if (Number.isNaN(instant.getTime())) return undefined
  const p = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of formato(zone).formatToParts(instant)) if (type in p) p[type as Field] = Number(value)
  const local = Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second)
  return { p, minutes: Math.round((local - instant.getTime()) / MINUTE_MS) }
}

const dos = (number: number) => String(number).padStart(2, '0')

function offsetText(minutes: number): string {
  if (minutes === 0) return 'UTC'
  const [hours, restMinutes] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${restMinutes ? `:${dos(restMinutes)}` : ''}`
}
