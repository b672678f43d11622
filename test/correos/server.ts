import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterAll } from 'vitest'

/** A mail as the server took it. */
export interface ReceivedCorreo {
  from: string
  to: string
  raw: string
}

/** Refusal that the server answers with that status. */
export const createRefusal = (status: number) => Object.assign(new Error('no'), { responseCode: status })

/** A real mail server on a free port. What it refuses may change while it runs. */
export async function openMailServer(options: SMTPServerOptions = {}, host = '127.0.0.1') {
  const receivedCorreos: ReceivedCorreo[] = []
  const intentos: string[] = []
  const mailServer = {
    receivedCorreos,
    /** Recipients named to the server, also refused ones. */
    intentos,
    /** Status with which recipients, or mails, are refused; 0 accepts them. */
    recipientRefusalStatus: 0,
    mailRefusalStatus: 0,
    port: 0,
    close: () => new Promise<void>((resolve) => smtp.close(resolve)),
  }
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    logger: false,
    closeTimeout: 100,
    disableReverseLookup: true,
    onRcptTo({ address }, _sesion, listo) {
      intentos.push(address)
      listo(mailServer.recipientRefusalStatus ? createRefusal(mailServer.recipientRefusalStatus) : null)
    },
    onData(stream, { envelope }, listo) {
      text(stream).then((raw) => {
        if (mailServer.mailRefusalStatus) return listo(createRefusal(mailServer.mailRefusalStatus))
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        receivedCorreos.push({ from, to: envelope.rcptTo.map(({ address }) => address).join(), raw })
        listo(null)
      }, listo)
    },
    ...options,
  })
  smtp.on('error', () => {})
  const netServer = smtp.listen(0, host)
  await once(netServer, 'listening')
  mailServer.port = (netServer.address() as AddressInfo).port
  afterAll(() => mailServer.close())
  return mailServer
}

/** The parts of a mail that a person reads: subject, plain text and HTML, decoded. */
export function parseCorreo({ raw }: ReceivedCorreo) {
  const [headerBlock = '', ...mimeParts] = raw.split(/\r\n--[-\w=.]+(?:\r\n|--)/)
  const headers = headerBlock.replace(/\r\n[ \t]+/g, ' ')
  const readHeader = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim() ?? ''
  const readMimePart = (tipo: string) => {
    const matchingPart = mimeParts.find((mimePart) => mimePart.toLowerCase().includes(`content-type: ${tipo}`)) ?? ''
    const headerEnd = matchingPart.indexOf('\r\n\r\n')
    const body = matchingPart.slice(headerEnd + 4)
    if (/transfer-encoding: base64/i.test(matchingPart.slice(0, headerEnd)))
      return Buffer.from(body, 'base64').toString()
    if (!/transfer-encoding: quoted-printable/i.test(matchingPart.slice(0, headerEnd))) return body
    const bytes = body
      .replace(/=\r\n/g, '')
      .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString()
  }
  return { readHeader, texto: readMimePart('text/plain'), html: readMimePart('text/html') }
}
