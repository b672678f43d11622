// A link to a map: it is read here as the server will read it, so that its pin can be seen, and a wrong one is told at once.
import { ErrorEnlace, leerEnlace } from '../../../mapas/enlaces.ts'
import type { Punto } from '../../../mapas/punto.ts'
import { culpar } from './formulario.ts'
import type { Lugar } from './lugar.ts'

const FALTA = 'Falta el enlace: péguelo aquí.'

/** The field for a link. */
export interface CampoDeEnlace {
  /** Chooses the place that the field's link names, or none. */
  leer(): void
  /** What is wrong with the link, which is then said at its field; nothing if it will do. */
  queFalta(): string
}

export function prepararEnlace(lugar: Lugar): CampoDeEnlace {
  const enlace = document.querySelector<HTMLInputElement>('#enlace')!
  const texto = () => soloEnlace(enlace.value.trim())
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
  // Whoever has left the field, or pasted into it, has finished it.
  enlace.addEventListener('change', () => enlace.value.trim() && campo.queFalta())
  enlace.addEventListener('paste', () => setTimeout(campo.queFalta))
  return campo
}

/** The link in what an app shares, which may have the place's name before it. */
const soloEnlace = (texto: string) => /(?:https:\/\/|geo:)\S+/i.exec(texto)?.[0] ?? texto

/** The link's place, if it names one without being followed, or what is wrong with it. */
function interpretar(texto: string): { punto: Punto | undefined } | { error: string } {
  if (texto === '') return { error: FALTA }
  try {
    const leido = leerEnlace(texto)
    return { punto: leido.tipo === 'coordenadas' ? leido.coordenadas : undefined }
  } catch (error) {
    // What an old browser can't read, the server can.
    return error instanceof ErrorEnlace ? { error: error.message } : { punto: undefined }
  }
}
