import { createLimit, perMinute } from '../../api/limits/buckets.ts'
import { NetworkLimit } from '../../api/limits/networkLimit.ts'

/** Token of a recipient's link: 22 characters of base64url, which hold 16 bytes (128 bits). It is too long to guess. */
export const LINK_TOKEN = /^[A-Za-z0-9_-]{22}$/

/**
 * Requests per minute to a recipient's links. Link previews alone may open a link 50 times. One network may be a whole
 * mobile network behind one NAT.
 */
const LINK_LIMITS = { red: 600, get: 60, post: 10 }

/**
 * Creates the rate limits of a page that recipients' links open: by network, and by network and link.
 * @param reloj clock in milliseconds; only differences count
 * @returns the function that counts a request, and returns the seconds to wait, 0 if the request is admitted
 */
export function createLinkLimits(reloj?: () => number) {
  const conReloj = reloj ? { reloj } : {}
  const porRed = new NetworkLimit(perMinute(LINK_LIMITS.red), conReloj)
  const porLectura = createLimit(LINK_LIMITS.get, conReloj)
  const porEnvio = createLimit(LINK_LIMITS.post, conReloj)
  return ({ red, resto, leyendo }: { red: string; resto: string; leyendo: boolean }): number => {
    const deEnlace = leyendo ? porLectura : porEnvio
    return porRed.take(red) || (LINK_TOKEN.test(resto) ? deEnlace(`${red} ${resto}`) : 0)
  }
}
