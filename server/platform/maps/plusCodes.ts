import { decode } from 'pluscodes'
import { type MapLink, readMapLink } from './links.ts'

/** Characters of a Plus Code. */
const DIGIT = '[2-9CFGHJMPQRVWX]'
/**
 * Matches the place of a link, if it is a full Plus Code: eight characters, a plus sign, and two to seven more. One of the
 * first eight is a letter, so that two numbers are no code. Unescaped, the sign may be a space to the next program.
 */
const PLUS_CODE = new RegExp(
  `(?:^https://plus\\.codes/|/(?:place|search)/|[?&](?:q|query|daddr|destination)=)(?=\\d{0,7}[A-Z])(${DIGIT}{8})(?:\\+|%2B|%20)(${DIGIT}{2,7})(?![0-9A-Z])`,
  'i',
)
/** Beginning of the coordinates of a pin in a Google link, which are more exact than a code. */
const PIN = '!3d'

/**
 * Reads the place that a map link names, like {@link readMapLink}, also from a full Plus Code, whose cell is at most 14 m
 * wide. A short code (`HFV7+2R`) names a place only together with a town, and a padded code (`766F0000+`) names an area.
 * Neither is a place for a delivery.
 * @throws MapLinkError if the link is not admitted
 */
export function readLinkedPlace(text: string, hosts?: readonly string[]): MapLink {
  const linkedPlace = readMapLink(text, hosts)
  if (linkedPlace.tipo === 'corto' || text.includes(PIN)) return linkedPlace
  const [, area, cell] = PLUS_CODE.exec(text) ?? []
  const place = area === undefined ? null : decode(`${area}+${cell}`.toUpperCase())
  if (!place || Math.abs(place.latitude) > 90 || Math.abs(place.longitude) > 180) return linkedPlace
  return { tipo: 'coordenadas', coordinates: { lat: place.latitude, lng: place.longitude } }
}
