/** Permanent failure that a mail server reports about mails that another server had accepted. */
export interface Bounce {
  /** Identities of the mails, as in their `Message-ID`. */
  ids: readonly string[]
  /** Status of RFC 3463, such as `5.1.1`. */
  status: string
}

const FAILED = /^Action:[ \t]*failed\b/im
const STATUS = /^Status:[ \t]*(5\.\d{1,3}\.\d{1,3})\b/im
/** A `Message-ID` may stand in the line after the name of its field. */
const MESSAGE_ID = /^(?:Original-)?Message-ID:[ \t]*(?:\r?\n[ \t]+)?<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/gim
/** Maximum identities that are read of one report. */
const MAX_IDS = 10

/**
 * Reads a delivery report (RFC 3464), with the header of the mail that it returns. Undefined for any other mail, and for
 * a report of a mere delay.
 */
export function readBounce(mail: string): Bounce | undefined {
  const status = STATUS.exec(mail)?.[1]
  if (!FAILED.test(mail) || status === undefined) return undefined
  const ids = [...mail.matchAll(MESSAGE_ID)].slice(0, MAX_IDS).map(([, id]) => id!.toLowerCase())
  return { ids, status }
}
