import { MapLinkError, readMapLink } from '../../platform/maps/links.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { isDay } from '../../platform/time/day.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { faultOfDay, faultOfInstant } from '../../platform/time/instantFault.ts'

/** String format of the contract: its check, and the Spanish explanation for a text that fails the check. */
interface TextFormat {
  validate: (text: string) => boolean
  /**
   * Explains a text that fails the check. Undefined if only the contract's general message fits.
   * @param inUrl true if the text came in a query string
   */
  explain: (text: string, inUrl?: boolean) => string | undefined
}

const linkError = (text: string): string | undefined => {
  try {
    readMapLink(text)
    return undefined
  } catch (error) {
    if (error instanceof MapLinkError) return error.message
    throw error
  }
}

/** String formats of the contract, by name. */
export const FORMATS: Readonly<Record<string, TextFormat>> = {
  telefono: {
    validate: (text) => 'e164' in readTelephone(text),
    explain: (text) => {
      const telefono = readTelephone(text)
      return 'error' in telefono ? telefono.error : 'no vale'
    },
  },
  'enlace-de-mapa': {
    validate: (text) => linkError(text) === undefined,
    explain: (text) => linkError(text) ?? 'no vale',
  },
  date: {
    validate: isDay,
    explain: (text) => faultOfDay(text) ?? 'debe ser un día del calendario, AAAA-MM-DD',
  },
  'date-time': {
    validate: (text) => readInstant(text) !== undefined,
    explain: faultOfInstant,
  },
}
