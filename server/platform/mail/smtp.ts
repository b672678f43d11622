import { createTransport, type SMTPTransportOptions } from 'nodemailer'
import { isLoopbackHost } from '../config/exposure.ts'

/** Mail server, and the sender's address. */
export interface SmtpConfig {
  /** `smtp://` (with STARTTLS, except on loopback) or `smtps://`, with user and password if the server asks for them. */
  url: string
  /** Address of the sender. */
  desde: string
}

/** Mail that is ready to be sent. */
export interface OutgoingMail {
  /** Identity of the mail. It stays the same in each attempt, so that receivers recognise a repetition. */
  id: string
  to: string
  /** Name of the sender, beside its address. */
  de: string
  subject: string
  texto: string
  html: string
}

/**
 * Result of an attempt. `codigo` and `motivo` contain neither addresses nor secrets; `motivo` is Spanish, for
 * operators. If the server's answer was lost, the result is `pasajero` (temporary), because a second copy with the same
 * identity does no harm.
 */
export type MailResult =
  | { resultado: 'aceptado' }
  /** The server refuses this recipient or this mail for ever (5xx). */
  | { resultado: 'rebotado'; codigo: string; motivo: string }
  /** Not accepted; a later attempt may be. `cuenta`: the cause is the service's own account or configuration. */
  | { resultado: 'pasajero'; cuenta: boolean; codigo: string; motivo: string }

/** Client of a mail server. */
export interface MailClient {
  /** Hands a mail to the server, within {@link MAIL_DEADLINES}. Never rejects. */
  send(mail: OutgoingMail): Promise<MailResult>
}

/** Time limits in milliseconds: for each wait, and for one whole attempt, from DNS to the last answer. */
export interface MailDeadlines {
  connect: number
  silence: number
  total: number
}

/** Default deadlines. A claimed mail is held for two minutes, so an attempt takes less. */
const MAIL_DEADLINES: MailDeadlines = { connect: 10_000, silence: 15_000, total: 45_000 }
/** Maximum bytes that are read of a server's answer. */
const MAX_RESPONSE_BYTES = 16_384

interface MailClientOptions {
  deadlines?: MailDeadlines
  /** Certificate authorities in PEM, trusted instead of the well-known authorities. */
  ca?: string
}

/** Creates the client of a mail server. Each mail has a connection of its own. */
export function createMailClient(
  { url, desde }: SmtpConfig,
  { deadlines = MAIL_DEADLINES, ca }: MailClientOptions = {},
): MailClient {
  const transport = createTransport(connectionTo(new URL(url), deadlines, ca))
  const domain = desde.slice(desde.indexOf('@') + 1)
  return {
    async send({ id, to, de, subject, texto, html }) {
      try {
        await transport.sendMail({
          from: { name: de, address: desde },
          to,
          subject,
          text: texto,
          html,
          messageId: `<${id}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.timeout(deadlines.total),
        })
        return { resultado: 'aceptado' }
      } catch (error) {
        return judge(error)
      }
    },
  }
}

function connectionTo(url: URL, { connect, silence }: MailDeadlines, ca: string | undefined): SMTPTransportOptions {
  const { hostname, port, username, password } = url
  const secure = url.protocol === 'smtps:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLoopbackHost(hostname),
    ...(username ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } } : {}),
    connectionTimeout: connect,
    dnsTimeout: connect,
    greetingTimeout: silence,
    socketTimeout: silence,
    socketCloseTimeout: 0,
    maxResponseSize: MAX_RESPONSE_BYTES,
    tls: { minVersion: 'TLSv1.2', ...(ca ? { ca } : {}) },
  }
}

/** Members of nodemailer's errors that decide the result of an attempt. */
interface SmtpFault {
  code?: string
  command?: string
  responseCode?: number
}

/** SMTP commands whose permanent refusal concerns the recipient or the mail, and not the account. */
const RECIPIENT_COMMANDS = ['RCPT TO', 'DATA']

function judge(error: unknown): MailResult {
  const { code = 'desconocido', command = '', responseCode: status = 0 } = error as SmtpFault
  const codigo = status > 0 ? `smtp_${status}` : code.toLowerCase()
  if (status >= 500 && RECIPIENT_COMMANDS.includes(command))
    return { resultado: 'rebotado', codigo, motivo: 'El servidor de correo rechazó la dirección o el correo.' }
  if (status >= 500 || ['EAUTH', 'ENOAUTH', 'EOAUTH2', 'ETLS'].includes(code)) {
    const motivo = 'El servidor de correo no acepta la cuenta del servicio: revise SMTP_URL y MAIL_FROM.'
    return { resultado: 'pasajero', cuenta: true, codigo, motivo }
  }
  const motivo =
    status > 0
      ? 'El servidor de correo pidió esperar.'
      : 'No se pudo hablar con el servidor de correo: revise SMTP_URL y la red.'
  return { resultado: 'pasajero', cuenta: false, codigo, motivo }
}
