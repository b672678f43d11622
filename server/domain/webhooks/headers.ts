/** Name of the sender, as receivers see it in their logs. */
const USER_AGENT = 'Guias-Webhooks/1'

/**
 * Headers of an attempt, in the order in which they are sent.
 * @param traceparent W3C trace context of the attempt; undefined if it is not traced
 */
export const webhookHeaders = (firma: Readonly<Record<string, string>>, traceparent?: string) => ({
  'content-type': 'application/json',
  'user-agent': USER_AGENT,
  ...firma,
  ...(traceparent === undefined ? {} : { traceparent }),
})
