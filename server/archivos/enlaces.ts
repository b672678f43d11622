import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secretos } from '../secretos.ts'

/** Whether what a link opens is shown (`inline`) or saved (`attachment`). */
export type Disposicion = 'inline' | 'attachment'

/** The query of a signed link: all that it carries besides the name of what it opens. */
export type ParametrosDeEnlace = Partial<Record<'v' | 'exp' | 'kid' | 'disp' | 'firma', string>>

/** Makes and verifies the signed links that open something (a file, labels) without a key, for a while. */
export interface Enlaces {
  crear(nombre: string, disp: Disposicion): { url: string; vence_en: string }
  /** How a good link wants what it opens; undefined: the link isn't good, for whatever reason. */
  verificar(nombre: string, parametros: ParametrosDeEnlace): Disposicion | undefined
}

/** In milliseconds. */
const MAXIMO = 24 * 3_600_000

/**
 * Over the path and every parameter, in this order and no other; no parameter can hold a line's end. The path says what
 * kind of thing it is: a file's signature opens no label.
 */
const firmar = (clave: Buffer, ruta: string, exp: string, kid: string, disp: string) =>
  createHmac('sha256', clave).update(`1\n${ruta}\n${exp}\n${kid}\n${disp}`).digest('base64url')

/** Creates what makes and verifies the signed links below one folder of paths. */
export function crearEnlaces({
  secretos,
  reloj,
  urlPublica,
  minutos,
  carpeta,
}: {
  secretos: Secretos
  reloj: () => Date
  urlPublica: string
  minutos: number
  /** First segment of the path of what they open. */
  carpeta: 'archivos' | 'etiquetas'
}): Enlaces {
  const rutaDe = (nombre: string) => `/${carpeta}/${nombre}`
  return {
    crear(nombre, disp) {
      const { kid, clave } = secretos.presente('enlaces')
      const exp = Math.floor(reloj().getTime() / 1_000) + minutos * 60
      const firma = firmar(clave, rutaDe(nombre), String(exp), kid, disp)
      return {
        url: `${urlPublica}${rutaDe(nombre)}?v=1&exp=${exp}&kid=${kid}&disp=${disp}&firma=${firma}`,
        vence_en: new Date(exp * 1_000).toISOString(),
      }
    },
    verificar(nombre, { v, exp = '', kid = '', disp, firma = '' }) {
      const subclave = secretos.de('enlaces', kid)
      if (v !== '1' || !/^[1-9]\d{9}$/.test(exp) || !subclave || (disp !== 'inline' && disp !== 'attachment'))
        return undefined
      // As text: in base64 the last character has bits that say nothing, and an altered link must not be good.
      const [dada, suya] = [firma, firmar(subclave.clave, rutaDe(nombre), exp, kid, disp)].map((texto) =>
        Buffer.from(texto),
      )
      if (dada!.length !== suya!.length || !timingSafeEqual(dada!, suya!)) return undefined
      const falta = Number(exp) * 1_000 - reloj().getTime()
      return falta > 0 && falta <= MAXIMO ? disp : undefined
    },
  }
}
