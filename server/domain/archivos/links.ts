import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../platform/secrets.ts'

/** Disposition of the linked content: `inline` shows it, `attachment` saves it. */
export type Disposition = 'inline' | 'attachment'

/**
 * Query parameters of a signed link. The path carries the name of the linked content. `formato` selects the form in
 * which the content is drawn; without it the content has its usual form.
 */
export type LinkParameters = Partial<Record<'v' | 'exp' | 'kid' | 'disp' | 'formato' | 'firma', string>>

/** Creates and verifies signed links, which open content (a file, labels) for a limited time without an API key. */
export interface SignedLinks {
  crear(nombre: string, disp: Disposition, formato?: string): { url: string; vence_en: string }
  /** Returns the disposition of a valid link; undefined if the link is invalid for any reason. */
  verificar(nombre: string, parametros: LinkParameters): Disposition | undefined
}

/** Maximum remaining lifetime of a valid link, in milliseconds. */
const MAXIMO = 24 * 3_600_000

/**
 * Signs the path and every parameter in this fixed order. No signed parameter contains a line break. The path names the
 * kind of content, so the signature of a file does not open a label.
 */
const firmar = (clave: Buffer, ruta: string, exp: string, kid: string, disp: string, formato?: string) =>
  createHmac('sha256', clave)
    .update(['1', ruta, exp, kid, disp, ...(formato === undefined ? [] : [formato])].join('\n'))
    .digest('base64url')

/** Creates the object that signs and verifies links whose paths begin with one folder. */
export function createSignedLinks({
  secretos,
  reloj,
  urlPublica,
  minutos,
  carpeta,
}: {
  secretos: Secrets
  reloj: () => Date
  urlPublica: string
  minutos: number
  /** First segment of the path of every link. */
  carpeta: 'archivos' | 'etiquetas'
}): SignedLinks {
  const rutaDe = (nombre: string) => `/${carpeta}/${nombre}`
  return {
    crear(nombre, disp, formato) {
      const { kid, clave } = secretos.presente('enlaces')
      const exp = Math.floor(reloj().getTime() / 1_000) + minutos * 60
      const firma = firmar(clave, rutaDe(nombre), String(exp), kid, disp, formato)
      const conFormato = formato === undefined ? '' : `&formato=${formato}`
      return {
        url: `${urlPublica}${rutaDe(nombre)}?v=1&exp=${exp}&kid=${kid}&disp=${disp}${conFormato}&firma=${firma}`,
        vence_en: new Date(exp * 1_000).toISOString(),
      }
    },
    verificar(nombre, { v, exp = '', kid = '', disp, formato, firma = '' }) {
      const subclave = secretos.de('enlaces', kid)
      if (v !== '1' || !/^[1-9]\d{9}$/.test(exp) || !subclave || (disp !== 'inline' && disp !== 'attachment'))
        return undefined
      // Signatures are compared as text: the last base64 character has unused bits, and a link altered in these bits
      // must be invalid.
      const [dada, suya] = [firma, firmar(subclave.clave, rutaDe(nombre), exp, kid, disp, formato)].map((texto) =>
        Buffer.from(texto),
      )
      if (dada!.length !== suya!.length || !timingSafeEqual(dada!, suya!)) return undefined
      const falta = Number(exp) * 1_000 - reloj().getTime()
      return falta > 0 && falta <= MAXIMO ? disp : undefined
    },
  }
}
