/** Name of the sender, as receivers see it in their logs. */
const AGENTE = 'Guias-Webhooks/1'

/** Headers of an attempt, in the order in which they are sent. */
export const webhookHeaders = (firma: Readonly<Record<string, string>>) => ({
  'content-type': 'application/json',
  'user-agent': AGENTE,
  ...firma,
})
