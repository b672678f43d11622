/** Token of a recipient's link: 22 characters of base64url, which hold 16 bytes (128 bits). It is too long to guess. */
export const LINK_TOKEN = /^[A-Za-z0-9_-]{22}$/

/**
 * Requests per minute to a recipient's links. Link previews alone may open a link 50 times. One network may be a whole
 * mobile network behind one NAT.
 */
export const LINK_LIMITS = { red: 600, get: 60, post: 10 }
