// Field for a map link. The browser reads the link as the server will, to show the pin and to report a wrong link at
// once.
import { linkWithin, MapLinkError, readMapLink } from '../../../platform/maps/links.ts'
import type { Point } from '../../../platform/maps/point.ts'
import { culpar } from './formulario.ts'
import type { LugarElegido } from './lugar.ts'

const FALTA = 'Falta el enlace: péguelo aquí.'

/** Field for a map link. */
export interface CampoDeEnlace {
  /** Chooses the location that the link names, or no location. */
  leer(): void
  /** Shows the fault of the link at its field, and returns the fault; empty if the link is valid. */
  queFalta(): string
}

/** Prepares the field for a map link. */
export function prepararEnlace(lugar: LugarElegido): CampoDeEnlace {
  const enlace = document.querySelector<HTMLInputElement>('#enlace')!
  const texto = () => linkWithin(enlace.value.trim())
  const campo: CampoDeEnlace = {
    leer() {
      const leido = interpretar(texto())
      if ('error' in leido) lugar.elegir('')
      else lugar.elegir('enlace', leido.punto)
    },
    queFalta() {
      const leido = interpretar(texto())
      const error = 'error' in leido ? leido.error : ''
      culpar('enlace', error)
      return error
    },
  }
  enlace.addEventListener('input', () => {
    culpar('enlace', '')
    campo.leer()
  })
  // A recipient who leaves the field, or pastes into it, has finished the link.
  enlace.addEventListener('change', () => enlace.value.trim() && campo.queFalta())
  enlace.addEventListener('paste', () => setTimeout(campo.queFalta))
  return campo
}

/**
 * Returns the point that a link names, or the fault of the link. The point is undefined if the link must be followed to
 * find it.
 */
function interpretar(texto: string): { punto: Point | undefined } | { error: string } {
  if (texto === '') return { error: FALTA }
  try {
    const leido = readMapLink(texto)
    return { punto: leido.tipo === 'coordenadas' ? leido.coordenadas : undefined }
  } catch (error) {
    // The server can read links that an old browser cannot.
    return error instanceof MapLinkError ? { error: error.message } : { punto: undefined }
  }
}
