// Field for a map link. The browser reads the link as the server will, to show the pin and to report a wrong link at
// once.
import { linkWithin, MapLinkError, readMapLink } from '../../../platform/maps/links.ts'
import type { Point } from '../../../platform/maps/point.ts'
import { showFieldFault } from './form.ts'
import type { ChosenPlace } from './place.ts'

const MISSING_LINK = 'Falta el enlace: péguelo aquí.'

/** Field for a map link. */
export interface LinkField {
  /** Chooses the location that the link names, or no location. */
  read(): void
  /** Shows the fault of the link at its field, and returns the fault; empty if the link is valid. */
  showMissing(): string
}

/** Prepares the field for a map link. */
export function prepareLink(place: ChosenPlace): LinkField {
  const link = document.querySelector<HTMLInputElement>('#enlace')!
  const text = () => linkWithin(link.value.trim())
  const field: LinkField = {
    read() {
      const interpretation = interpretLink(text())
      if ('error' in interpretation) place.choose('')
      else place.choose('enlace', interpretation.point)
    },
    showMissing() {
      const interpretation = interpretLink(text())
      const error = 'error' in interpretation ? interpretation.error : ''
      showFieldFault('enlace', error)
      return error
    },
  }
  link.addEventListener('input', () => {
    showFieldFault('enlace', '')
    field.read()
  })
  // A recipient who leaves the field, or pastes into it, has finished the link.
  link.addEventListener('change', () => link.value.trim() && field.showMissing())
  link.addEventListener('paste', () => setTimeout(field.showMissing))
  return field
}

/**
 * Returns the point that a link names, or the fault of the link. The point is undefined if the link must be followed to
 * find it.
 */
function interpretLink(text: string): { point: Point | undefined } | { error: string } {
  if (text === '') return { error: MISSING_LINK }
  try {
    const parsed = readMapLink(text)
    return { point: parsed.tipo === 'coordenadas' ? parsed.coordinates : undefined }
  } catch (error) {
    // The server can read links that an old browser cannot.
    return error instanceof MapLinkError ? { error: error.message } : { point: undefined }
  }
}
