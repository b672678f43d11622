import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../platform/secrets.ts'
import { DAY_MS } from '../../platform/time/units.ts'

/** Disposition of the linked content: `inline` shows it, `attachment` saves it. */
export type Disposition = 'inline' | 'attachment'

/**
 * Query parameters of a signed link. The path carries the name of the linked content. `formato` selects the form in
 * which the content is drawn; without it the content has its usual form.
 */
export type LinkParameters = Partial<Record<'v' | 'exp' | 'kid' | 'disp' | 'formato' | 'firma', string>>

/** Creates and verifies signed links, which open content (a file, labels) for a limited time without an API key. */
export interface SignedLinks {
  create(name: string, disp: Disposition, format?: string): { url: string; vence_en: string }
  /** Returns the disposition of a valid link; undefined if the link is invalid for any reason. */
  verify(name: string, linkParameters: LinkParameters): Disposition | undefined
}

/** Maximum remaining lifetime of a valid link, in milliseconds. */
const MAX_LIFETIME_MS = DAY_MS

/**
 * Signs the path and every parameter in this fixed order. No signed parameter contains a line break. The path names the
 * kind of content, so the signature of a file does not open a label.
 */
const sign = (key: Buffer, path: string, exp: string, kid: string, disp: string, format?: string) =>
  createHmac('sha256', key)
    .update(['1', path, exp, kid, disp, ...(format === undefined ? [] : [format])].join('\n'))
    .digest('base64url')

/** Creates the object that signs and verifies links whose paths begin with one folder. */
export function createSignedLinks({
  secretos,
  clock,
  publicUrl,
  minutes,
  folder,
}: {
  secretos: Secrets
  clock: () => Date
  publicUrl: string
  minutes: number
  /** First segment of the path of every link. */
  folder: 'archivos' | 'etiquetas'
}): SignedLinks {
  const pathOf = (name: string) => `/${folder}/${name}`
  return {
    create(name, disp, format) {
      const { kid, clave } = secretos.current('enlaces')
      const exp = Math.floor(clock().getTime() / 1_000) + minutes * 60
      const firma = sign(clave, pathOf(name), String(exp), kid, disp, format)
      const formatParameter = format === undefined ? '' : `&formato=${format}`
      return {
        url: `${publicUrl}${pathOf(name)}?v=1&exp=${exp}&kid=${kid}&disp=${disp}${formatParameter}&firma=${firma}`,
        vence_en: new Date(exp * 1_000).toISOString(),
      }
    },
    verify(name, { v, exp = '', kid = '', disp, formato, firma = '' }) {
      const subkey = secretos.de('enlaces', kid)
      if (v !== '1' || !/^[1-9]\d{9}$/.test(exp) || !subkey || (disp !== 'inline' && disp !== 'attachment'))
        return undefined
      // Signatures are compared as text: the last base64 character has unused bits, and a link altered in these bits
      // must be invalid.
      const [givenSignature, expected] = [firma, sign(subkey.clave, pathOf(name), exp, kid, disp, formato)].map(
        (text) => Buffer.from(text),
      )
      if (givenSignature!.length !== expected!.length || !timingSafeEqual(givenSignature!, expected!)) return undefined
      const remainingMs = Number(exp) * 1_000 - clock().getTime()
      return remainingMs > 0 && remainingMs <= MAX_LIFETIME_MS ? disp : undefined
    },
  }
}
