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
 * @param clock clock in milliseconds; only differences count
 * @returns the function that counts a request, and returns the seconds to wait, 0 if the request is admitted
 */
export function createLinkLimits(clock?: () => number) {
  const clockOption = clock ? { clock } : {}
  const networkLimit = new NetworkLimit(perMinute(LINK_LIMITS.red), clockOption)
  const readLimit = createLimit(LINK_LIMITS.get, clockOption)
  const sendLimit = createLimit(LINK_LIMITS.post, clockOption)
  return ({ red, rest, reading }: { red: string; rest: string; reading: boolean }): number => {
    const fromLink = reading ? readLimit : sendLimit
    return networkLimit.take(red) || (LINK_TOKEN.test(rest) ? fromLink(`${red} ${rest}`) : 0)
  }
}
