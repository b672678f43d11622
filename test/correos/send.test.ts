import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../../server/data/db.ts'
import { saveCorreo } from '../../server/domain/correos/correo.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { openMailServer, parseCorreo } from './server.ts'

let metricsPort: number
let server: Awaited<ReturnType<typeof openMailServer>>
const environment = useEnvironment(undefined, async () => {
  server = await openMailServer()
  metricsPort = await findFreePort()
  return {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'avisos@mensajeria.example',
    BRAND_NAME: 'Quetzal <Exprés>',
    METRICS_PORT: String(metricsPort),
  }
})
const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
const newId = createIdGenerator(() => environment.clock())
let count = 0
const createAddress = () => `persona${++count}@ejemplo.com`

const write = (recipient: string, minutes = 60) =>
  inTransaction(environment.db, (query) =>
    saveCorreo(query, { secretos, newId }, { tipo: 'prueba', para: recipient, datos: {}, lifetimeMinutes: minutes }),
  )
const rowOf = async (recipient: string) => {
  const key = secretos.current('correos').clave
  const digest = createHmac('sha256', key).update(recipient).digest()
  const { rows } = await environment.db.pool.query('select * from correo where huella = $1', [digest])
  return rows[0]
}
const wait = async (recipient: string, estado: string) => {
  await waitUntil(async () => (await rowOf(recipient))?.estado === estado)
  return rowOf(recipient)
}
const correosA = (recipient: string) => server.receivedCorreos.filter((one) => one.to === recipient)
/** Values of a metric, by its labels. */
const metric = async (name: string) => {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(name))
}

// First, because the console has a clock of its own.
describe('npm run admin -- correos probar', () => {
  const admin = (recipient: string) => runInProcess(['correos', 'probar', recipient], consoleEnvironment(environment))
  it('writes a mail that the running service sends, and an audit line', async () => {
    const recipient = createAddress()
    expect(await admin(` ${recipient.toUpperCase()} `)).toMatchObject({ codigo: 0, errores: '' })
    await waitUntil(async () => correosA(recipient).length === 1)
    const { rows } = await environment.db.pool.query(
      `select campos, despues from bitacora where accion = 'probarCorreo'`,
    )
    expect(rows).toEqual([{ campos: ['para'], despues: null }])
  })
  it.each([
    'ana',
    'ana@',
    'ana@ejemplo',
    'аna@ejemplo.com',
    'ana@ejemplo.com\nBcc: x@y.com',
    `${'a'.repeat(65)}@b.com`,
  ])('refuses «%s»', async (recipient) => {
    expect(await admin(recipient)).toMatchObject({ codigo: 1, errores: expect.stringContaining('--para: no es una') })
  })
})

describe('a mail', () => {
  it('leaves once, in the brand, and its content is then erased', async () => {
    const recipient = createAddress()
    await write(recipient)
    const { contenido } = await rowOf(recipient)
    if (contenido) expect(contenido.toString('latin1')).not.toContain(recipient)
    const row = await wait(recipient, 'enviado')
    expect(row).toMatchObject({ canal: 'smtp', intentos: 1, contenido: null, codigo: null })
    await environment.waitForQuiet()
    const [received, ...more] = correosA(recipient)
    expect(more).toEqual([])
    const { texto: text, html } = parseCorreo(received!)
    expect(text).toContain('el servicio de Quetzal <Exprés> ya puede')
    expect(html).toContain('Quetzal &lt;Exprés&gt;')
    expect(environment.log.join()).not.toContain(recipient)
  })

  it('is not written when its transaction fails', async () => {
    const recipient = createAddress()
    const fallida = inTransaction(environment.db, async (query) => {
      await saveCorreo(query, { secretos, newId }, { tipo: 'prueba', para: recipient, datos: {}, lifetimeMinutes: 60 })
      throw new Error('la causa falló')
    })
    await expect(fallida).rejects.toThrow('la causa falló')
    expect(await rowOf(recipient)).toBeUndefined()
  })

  it('bounces when the server refuses its recipient for ever, and is not tried again', async () => {
    const recipient = createAddress()
    server.recipientRefusalStatus = 550
    await write(recipient, 3 * 1_440)
    const row = await wait(recipient, 'rebotado')
    server.recipientRefusalStatus = 0
    expect(row).toMatchObject({ codigo: 'smtp_550', intentos: 1, contenido: null })
    expect(await metric('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 1'])
    environment.advance(DAY_MS)
    await environment.waitForQuiet()
    expect(correosA(recipient)).toEqual([])
    expect(await metric('guias_correos_total{resultado="rebotado"}')).toEqual([expect.stringMatching(/ 1$/)])
    expect(await metric('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 0'])
    expect(await metric('guias_correos_atraso_segundos')).toEqual(['guias_correos_atraso_segundos 0'])
  })

  it('is tried again later, as the same mail', async () => {
    const recipient = createAddress()
    server.mailRefusalStatus = 451
    await write(recipient, 1_440)
    await waitUntil(async () => (await rowOf(recipient))?.codigo === 'smtp_451')
    expect(await rowOf(recipient)).toMatchObject({ estado: 'pendiente', intentos: 1 })
    environment.advance(MINUTE_MS)
    await waitUntil(async () => (await rowOf(recipient)).intentos === 2)
    server.mailRefusalStatus = 0
    environment.advance(10 * MINUTE_MS)
    const { id } = await wait(recipient, 'enviado')
    expect(correosA(recipient)).toHaveLength(1)
    expect(parseCorreo(correosA(recipient)[0]!).readHeader('Message-ID')).toBe(`<${id}@mensajeria.example>`)
  })

  it('waits five seconds after its first attempt, and longer after each other', async () => {
    const recipient = createAddress()
    server.mailRefusalStatus = 451
    environment.freezeClock()
    await write(recipient, 1_440)
    const esperas: number[] = []
    for (const intentos of [1, 2, 3]) {
      const row = await waitUntil(async () => {
        const one = await rowOf(recipient)
        return one?.estado === 'pendiente' && one.intentos === intentos && one
      })
      esperas.push(row.proximo_en.getTime() - environment.clock().getTime())
      environment.advance(esperas.at(-1)!)
    }
    expect(esperas).toEqual([5_000, 30_000, 120_000])
    server.mailRefusalStatus = 0
    environment.advance(HOUR_MS)
    await wait(recipient, 'enviado')
  })

  it('does not leave when its time is over', async () => {
    const recipient = createAddress()
    server.mailRefusalStatus = 451
    await write(recipient, 10)
    await waitUntil(async () => (await rowOf(recipient))?.codigo === 'smtp_451')
    server.mailRefusalStatus = 0
    environment.advance(HOUR_MS)
    expect(await wait(recipient, 'caducado')).toMatchObject({ contenido: null })
    expect(correosA(recipient)).toEqual([])
  })

  it('is sent by another process when its sender dies', async () => {
    const recipient = createAddress()
    server.mailRefusalStatus = 451
    await write(recipient, 1_440)
    await waitUntil(async () => (await rowOf(recipient))?.codigo === 'smtp_451')
    server.mailRefusalStatus = 0
    await environment.db.pool.query(
      `update correo set estado = 'enviando', proximo_en = $1::timestamptz + interval '2 minutes' where estado = 'pendiente'`,
      [environment.clock()],
    )
    environment.advance(MINUTE_MS)
    const [delay = ''] = await metric('guias_correos_atraso_segundos')
    expect(Number(delay.split(' ')[1])).toBeGreaterThanOrEqual(60)
    environment.advance(2 * MINUTE_MS)
    expect(await wait(recipient, 'enviado')).toMatchObject({ intentos: 2 })
  })

  it('is deleted after 30 days', async () => {
    await write(createAddress())
    await environment.waitForQuiet()
    environment.advance(31 * DAY_MS)
    await environment.reset()
    await waitUntil(async () => (await environment.db.pool.query('select from correo')).rowCount === 0)
  })
})
