import { createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createMailClient, type OutgoingMail } from '../../server/platform/mail/smtp.ts'
import { createCertificate, encodeIpName } from '../certificate.ts'
import { createRefusal, openMailServer, parseCorreo } from './server.ts'

const DEADLINES = { connect: 2_000, silence: 2_000, total: 4_000 }
const DESDE = 'avisos@mensajeria.example'
const correo: OutgoingMail = {
  id: '0193aaaa-0000-7000-8000-000000000001',
  to: 'ana@ejemplo.com',
  de: 'Quetzal «Exprés»',
  subject: 'Código de entrada: ñandú',
  texto: 'Su código es 123456.',
  html: '<p>Su código es <b>123456</b>.</p>',
}
const client = (url: string, ca?: string, deadlines = DEADLINES) =>
  createMailClient({ url, desde: DESDE }, { deadlines, ...(ca ? { ca } : {}) })

describe('a mail server that takes mails', () => {
  it('gets one mail with both texts, its sender’s name and a lasting identity', async () => {
    const server = await openMailServer()
    expect(await client(`smtp://127.0.0.1:${server.port}`).send(correo)).toEqual({ resultado: 'aceptado' })
    expect(server.receivedCorreos).toMatchObject([{ from: DESDE, to: correo.to }])
    const { readHeader: header, texto: text, html } = parseCorreo(server.receivedCorreos[0]!)
    expect(header('Message-ID')).toBe(`<${correo.id}@mensajeria.example>`)
    expect(header('Auto-Submitted')).toBe('auto-generated')
    expect(header('From')).toContain(`<${DESDE}>`)
    expect(text).toContain(correo.texto)
    expect(html).toContain('<b>123456</b>')
  })

  it('is trusted only with a certificate that the client knows', async () => {
    const { cert, key } = createCertificate([encodeIpName(127, 0, 0, 1)])
    const server = await openMailServer({ secure: true, cert, key })
    const url = `smtps://127.0.0.1:${server.port}`
    expect(await client(url, cert).send(correo)).toEqual({ resultado: 'aceptado' })
    expect(await client(url).send(correo)).toMatchObject({ resultado: 'pasajero' })
    expect(server.receivedCorreos).toHaveLength(1)
  })

  it('gets nothing in plain text unless it is on this machine', async () => {
    const { cert, key } = createCertificate([encodeIpName(0, 0, 0, 0)])
    const [plainServer, cifrado] = [
      await openMailServer({}, '0.0.0.0'),
      await openMailServer({ disabledCommands: ['AUTH'], cert, key }, '0.0.0.0'),
    ]
    expect(await client(`smtp://0.0.0.0:${plainServer.port}`).send(correo)).toMatchObject({ resultado: 'pasajero' })
    expect(plainServer.intentos).toEqual([])
    expect(await client(`smtp://0.0.0.0:${cifrado.port}`, cert).send(correo)).toEqual({ resultado: 'aceptado' })
  })

  it('gets user and password, and a refusal of them is not a bounce', async () => {
    const server = await openMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: ({ username, password }, _sesion, listo) =>
        username === 'guias@x' && password === 'cl:ave' ? listo(null, { user: username }) : listo(createRefusal(535)),
    })
    const sendWith = (key: string) => client(`smtp://guias%40x:${key}@127.0.0.1:${server.port}`).send(correo)
    expect(await sendWith('cl%3Aave')).toEqual({ resultado: 'aceptado' })
    const denial = await sendWith('otra')
    expect(denial).toMatchObject({ resultado: 'pasajero', cuenta: true, codigo: 'smtp_535' })
    expect(JSON.stringify(denial)).not.toMatch(/otra|guias@x/)
  })
})

describe('a mail server that refuses', () => {
  it.each([
    ['a recipient for ever', { recipientRefusalStatus: 550 }, { resultado: 'rebotado', codigo: 'smtp_550' }],
    ['a mail for ever', { mailRefusalStatus: 554 }, { resultado: 'rebotado', codigo: 'smtp_554' }],
    [
      'a recipient for now',
      { recipientRefusalStatus: 450 },
      { resultado: 'pasajero', cuenta: false, codigo: 'smtp_450' },
    ],
    ['a mail for now', { mailRefusalStatus: 451 }, { resultado: 'pasajero', cuenta: false, codigo: 'smtp_451' }],
  ])('%s is judged by its status', async (_description, refusalOptions, result) => {
    const server = Object.assign(await openMailServer(), refusalOptions)
    const submission = await client(`smtp://127.0.0.1:${server.port}`).send(correo)
    expect(submission).toMatchObject(result)
    expect(JSON.stringify(submission)).not.toContain('ana@')
  })

  it('the sender is refused for the service’s account, not for the recipient', async () => {
    const server = await openMailServer({ onMailFrom: (_de, _sesion, listo) => listo(createRefusal(553)) })
    const submission = await client(`smtp://127.0.0.1:${server.port}`).send(correo)
    expect(submission).toMatchObject({ resultado: 'pasajero', cuenta: true, codigo: 'smtp_553' })
  })
})

/** A server that does with each connection what the test says. */
async function abrirCrudo(handle: (connection: Socket) => void): Promise<{ url: string; close: () => void }> {
  const connections = new Set<Socket>()
  const server = createServer((connection) => {
    connections.add(connection.on('error', () => {}))
    handle(connection)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    for (const connection of connections) connection.destroy()
  }
  return { url: `smtp://127.0.0.1:${(server.address() as { port: number }).port}`, close }
}

/** Speaks SMTP up to the mail, which it then treats as told. */
const untilCorreo = (onCorreo: (connection: Socket) => void) => (connection: Socket) => {
  connection.write('220 hola\r\n')
  let inMail = false
  connection.on('data', (chunk) => {
    if (inMail) return chunk.includes('\r\n.\r\n') ? onCorreo(connection) : undefined
    inMail = chunk.toString().startsWith('DATA')
    connection.write(inMail ? '354 siga\r\n' : '250 bien\r\n')
  })
}

describe('a mail server that fails', () => {
  const BREVES = { connect: 200, silence: 200, total: 600 }
  const drip = (connection: Socket) => {
    const clock = setInterval(() => connection.write('220-espere\r\n'), 50)
    connection.on('close', () => clearInterval(clock))
  }
  it.each([
    ['never greets', () => {}],
    ['greets for ever', drip],
    ['cuts the connection at once', (connection: Socket) => connection.destroy()],
    ['cuts it in the middle of the mail', untilCorreo((connection) => connection.destroy())],
    ['takes the mail and never answers', untilCorreo(() => {})],
    ['answers without end', untilCorreo((connection) => connection.write(`250-${'x'.repeat(100_000)}`))],
    ['speaks another language', (connection: Socket) => connection.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('and %s is asked again later', async (_description, handle) => {
    const { url, close } = await abrirCrudo(handle)
    try {
      const submission = await client(url, undefined, BREVES).send(correo)
      expect(submission).toMatchObject({ resultado: 'pasajero', cuenta: false })
    } finally {
      close()
    }
  })

  it('and refuses the connection is told as such, not as too slow', async () => {
    const { url, close } = await abrirCrudo(() => {})
    close()
    const motivo = 'No se pudo hablar con el servidor de correo: revise SMTP_URL y la red.'
    expect(await client(url).send(correo)).toMatchObject({ resultado: 'pasajero', codigo: 'esocket', motivo })
  })

  it('and does not exist is asked again later', async () => {
    expect(await client('smtp://no-hay.invalid:25').send(correo)).toMatchObject({ resultado: 'pasajero' })
  })
})
