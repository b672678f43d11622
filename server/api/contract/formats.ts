import { MapLinkError, readMapLink } from '../../platform/maps/links.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { isDay } from '../../platform/time/day.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { faultOfDay, faultOfInstant } from '../../platform/time/instantFault.ts'

/** String format of the contract: its check, and the Spanish explanation for a text that fails the check. */
interface TextFormat {
  validate: (texto: string) => boolean
  /**
   * Explains a text that fails the check. Undefined if only the contract's general message fits.
   * @param inUrl true if the text came in a query string
   */
  explain: (texto: string, inUrl?: boolean) => string | undefined
}

const errorDeEnlace = (texto: string): string | undefined => {
  try {
    readMapLink(texto)
    return undefined
  } catch (error) {
    if (error instanceof MapLinkError) return error.message
    throw error
  }
}

/** String formats of the contract, by name. */
export const FORMATS: Readonly<Record<string, TextFormat>> = {
  telefono: {
    validate: (texto) => 'e164' in readTelephone(texto),
    explain: (texto) => {
      const telefono = readTelephone(texto)
      return 'error' in telefono ? telefono.error : 'no vale'
    },
  },
  'enlace-de-mapa': {
    validate: (texto) => errorDeEnlace(texto) === undefined,
    explain: (texto) => errorDeEnlace(texto) ?? 'no vale',
  },
  date: {
    validate: isDay,
    explain: (texto) => faultOfDay(texto) ?? 'debe ser un día del calendario, AAAA-MM-DD',
  },
  'date-time': {
    validate: (texto) => readInstant(texto) !== undefined,
    explain: faultOfInstant,
  },
}
