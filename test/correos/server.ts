import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterAll } from 'vitest'

/** A mail as the server took it. */
export interface ReceivedCorreo {
  de: string
  para: string
  raw: string
}

/** Refusal that the server answers with that status. */
export const createRefusal = (status: number) => Object.assign(new Error('no'), { responseCode: status })

/** A real mail server on a free port. What it refuses may change while it runs. */
export async function openMailServer(opciones: SMTPServerOptions = {}, host = '127.0.0.1') {
  const recibidos: ReceivedCorreo[] = []
  const intentos: string[] = []
  const mailServer = {
    recibidos,
    /** Recipients named to the server, also refused ones. */
    intentos,
    /** Status with which recipients, or mails, are refused; 0 accepts them. */
    alDestinatario: 0,
    alCorreo: 0,
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
      listo(mailServer.alDestinatario ? createRefusal(mailServer.alDestinatario) : null)
    },
    onData(flujo, { envelope }, listo) {
      text(flujo).then((crudo) => {
        if (mailServer.alCorreo) return listo(createRefusal(mailServer.alCorreo))
        const de = envelope.mailFrom ? envelope.mailFrom.address : ''
        recibidos.push({ de, para: envelope.rcptTo.map(({ address }) => address).join(), raw: crudo })
        listo(null)
      }, listo)
    },
    ...opciones,
  })
  smtp.on('error', () => {})
  const oye = smtp.listen(0, host)
  await once(oye, 'listening')
  mailServer.port = (oye.address() as AddressInfo).port
  afterAll(() => mailServer.close())
  return mailServer
}

/** The parts of a mail that a person reads: subject, plain text and HTML, decoded. */
export function parseCorreo({ raw: crudo }: ReceivedCorreo) {
  const [cabeza = '', ...partes] = crudo.split(/\r\n--[-\w=.]+(?:\r\n|--)/)
  const cabeceras = cabeza.replace(/\r\n[ \t]+/g, ' ')
  const cabecera = (nombre: string) => new RegExp(`^${nombre}: (.*)$`, 'im').exec(cabeceras)?.[1]?.trim() ?? ''
  const parte = (tipo: string) => {
    const entera = partes.find((mimePart) => mimePart.toLowerCase().includes(`content-type: ${tipo}`)) ?? ''
    const corte = entera.indexOf('\r\n\r\n')
    const cuerpo = entera.slice(corte + 4)
    if (/transfer-encoding: base64/i.test(entera.slice(0, corte))) return Buffer.from(cuerpo, 'base64').toString()
    if (!/transfer-encoding: quoted-printable/i.test(entera.slice(0, corte))) return cuerpo
    const bytes = cuerpo
      .replace(/=\r\n/g, '')
      .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString()
  }
  return { cabecera, texto: parte('text/plain'), html: parte('text/html') }
}
