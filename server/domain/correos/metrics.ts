import type { MailResult } from '../../platform/mail/smtp.ts'

/** Counters of the mail sender. */
export interface MailMetrics {
  /** Counts an attempt to hand a mail to the mail server. */
  correo(result: MailResult['resultado']): void
}
