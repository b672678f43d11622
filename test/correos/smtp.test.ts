import { createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createMailClient, type OutgoingMail } from '../../server/platform/mail/smtp.ts'
import { createCertificate, encodeIpName } from '../certificate.ts'
import { createRefusal, openMailServer, parseCorreo } from './server.ts'

const PLAZOS = { connect: 2_000, silence: 2_000, total: 4_000 }
const DESDE = 'avisos@mensajeria.example'
const correo: OutgoingMail = {
  id: '0193aaaa-0000-7000-8000-000000000001',
  to: 'ana@ejemplo.com',
  de: 'Quetzal «Exprés»',
  subject: 'Código de entrada: ñandú',
  texto: 'Su código es 123456.',
  html: '<p>Su código es <b>123456</b>.</p>',
}
const cliente = (url: string, ca?: string, plazos = PLAZOS) =>
  createMailClient({ url, desde: DESDE }, { deadlines: plazos, ...(ca ? { ca } : {}) })

describe('a mail server that takes mails', () => {
  it('gets one mail with both texts, its sender’s name and a lasting identity', async () => {
    const servidor = await openMailServer()
    expect(await cliente(`smtp://127.0.0.1:${servidor.port}`).send(correo)).toEqual({ resultado: 'aceptado' })
    expect(servidor.receivedCorreos).toMatchObject([{ from: DESDE, to: correo.to }])
    const { readHeader: cabecera, texto, html } = parseCorreo(servidor.receivedCorreos[0]!)
    expect(cabecera('Message-ID')).toBe(`<${correo.id}@mensajeria.example>`)
    expect(cabecera('Auto-Submitted')).toBe('auto-generated')
    expect(cabecera('From')).toContain(`<${DESDE}>`)
    expect(texto).toContain(correo.texto)
    expect(html).toContain('<b>123456</b>')
  })

  it('is trusted only with a certificate that the client knows', async () => {
    const { cert, key } = createCertificate([encodeIpName(127, 0, 0, 1)])
    const servidor = await openMailServer({ secure: true, cert, key })
    const url = `smtps://127.0.0.1:${servidor.port}`
    expect(await cliente(url, cert).send(correo)).toEqual({ resultado: 'aceptado' })
    expect(await cliente(url).send(correo)).toMatchObject({ resultado: 'pasajero' })
    expect(servidor.receivedCorreos).toHaveLength(1)
  })

  it('gets nothing in plain text unless it is on this machine', async () => {
    const { cert, key } = createCertificate([encodeIpName(0, 0, 0, 0)])
    const [abierto, cifrado] = [
      await openMailServer({}, '0.0.0.0'),
      await openMailServer({ disabledCommands: ['AUTH'], cert, key }, '0.0.0.0'),
    ]
    expect(await cliente(`smtp://0.0.0.0:${abierto.port}`).send(correo)).toMatchObject({ resultado: 'pasajero' })
    expect(abierto.intentos).toEqual([])
    expect(await cliente(`smtp://0.0.0.0:${cifrado.port}`, cert).send(correo)).toEqual({ resultado: 'aceptado' })
  })

  it('gets user and password, and a refusal of them is not a bounce', async () => {
    const servidor = await openMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: ({ username, password }, _sesion, listo) =>
        username === 'guias@x' && password === 'cl:ave' ? listo(null, { user: username }) : listo(createRefusal(535)),
    })
    const con = (clave: string) => cliente(`smtp://guias%40x:${clave}@127.0.0.1:${servidor.port}`).send(correo)
    expect(await con('cl%3Aave')).toEqual({ resultado: 'aceptado' })
    const negado = await con('otra')
    expect(negado).toMatchObject({ resultado: 'pasajero', cuenta: true, codigo: 'smtp_535' })
    expect(JSON.stringify(negado)).not.toMatch(/otra|guias@x/)
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
  ])('%s is judged by its status', async (_que, negativa, resultado) => {
    const servidor = Object.assign(await openMailServer(), negativa)
    const envio = await cliente(`smtp://127.0.0.1:${servidor.port}`).send(correo)
    expect(envio).toMatchObject(resultado)
    expect(JSON.stringify(envio)).not.toContain('ana@')
  })

  it('the sender is refused for the service’s account, not for the recipient', async () => {
    const servidor = await openMailServer({ onMailFrom: (_de, _sesion, listo) => listo(createRefusal(553)) })
    const envio = await cliente(`smtp://127.0.0.1:${servidor.port}`).send(correo)
    expect(envio).toMatchObject({ resultado: 'pasajero', cuenta: true, codigo: 'smtp_553' })
  })
})

/** A server that does with each connection what the test says. */
async function abrirCrudo(atender: (conexion: Socket) => void): Promise<{ url: string; close: () => void }> {
  const conexiones = new Set<Socket>()
  const servidor = createServer((conexion) => {
    conexiones.add(conexion.on('error', () => {}))
    atender(conexion)
  })
  await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
  const cerrar = () => {
    servidor.close()
    for (const conexion of conexiones) conexion.destroy()
  }
  return { url: `smtp://127.0.0.1:${(servidor.address() as { port: number }).port}`, close: cerrar }
}

/** Speaks SMTP up to the mail, which it then treats as told. */
const hastaElCorreo = (alCorreo: (conexion: Socket) => void) => (conexion: Socket) => {
  conexion.write('220 hola\r\n')
  let enCorreo = false
  conexion.on('data', (trozo) => {
    if (enCorreo) return trozo.includes('\r\n.\r\n') ? alCorreo(conexion) : undefined
    enCorreo = trozo.toString().startsWith('DATA')
    conexion.write(enCorreo ? '354 siga\r\n' : '250 bien\r\n')
  })
}

describe('a mail server that fails', () => {
  const BREVES = { connect: 200, silence: 200, total: 600 }
  const gotear = (conexion: Socket) => {
    const reloj = setInterval(() => conexion.write('220-espere\r\n'), 50)
    conexion.on('close', () => clearInterval(reloj))
  }
  it.each([
    ['never greets', () => {}],
    ['greets for ever', gotear],
    ['cuts the connection at once', (conexion: Socket) => conexion.destroy()],
    ['cuts it in the middle of the mail', hastaElCorreo((conexion) => conexion.destroy())],
    ['takes the mail and never answers', hastaElCorreo(() => {})],
    ['answers without end', hastaElCorreo((conexion) => conexion.write(`250-${'x'.repeat(100_000)}`))],
    ['speaks another language', (conexion: Socket) => conexion.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('and %s is asked again later', async (_que, atender) => {
    const { url, close: cerrar } = await abrirCrudo(atender)
    try {
      const envio = await cliente(url, undefined, BREVES).send(correo)
      expect(envio).toMatchObject({ resultado: 'pasajero', cuenta: false })
    } finally {
      cerrar()
    }
  })

  it('and refuses the connection is told as such, not as too slow', async () => {
    const { url, close: cerrar } = await abrirCrudo(() => {})
    cerrar()
    const motivo = 'No se pudo hablar con el servidor de correo: revise SMTP_URL y la red.'
    expect(await cliente(url).send(correo)).toMatchObject({ resultado: 'pasajero', codigo: 'esocket', motivo })
  })

  it('and does not exist is asked again later', async () => {
    expect(await cliente('smtp://no-hay.invalid:25').send(correo)).toMatchObject({ resultado: 'pasajero' })
  })
})
