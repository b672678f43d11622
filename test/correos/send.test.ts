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

let puertoDeMetricas: number
let server: Awaited<ReturnType<typeof openMailServer>>
const environment = useEnvironment(undefined, async () => {
  server = await openMailServer()
  puertoDeMetricas = await findFreePort()
  return {
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'avisos@mensajeria.example',
    BRAND_NAME: 'Quetzal <Exprés>',
    METRICS_PORT: String(puertoDeMetricas),
  }
})
const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
const nuevoId = createIdGenerator(() => environment.clock())
let count = 0
const nuevaDireccion = () => `persona${++count}@ejemplo.com`

const write = (para: string, minutes = 60) =>
  inTransaction(environment.db, (query) =>
    saveCorreo(query, { secretos, newId: nuevoId }, { tipo: 'prueba', para, datos: {}, lifetimeMinutes: minutes }),
  )
const filaDe = async (para: string) => {
  const key = secretos.current('correos').clave
  const digest = createHmac('sha256', key).update(para).digest()
  const { rows } = await environment.db.pool.query('select * from correo where huella = $1', [digest])
  return rows[0]
}
const wait = async (para: string, estado: string) => {
  await waitUntil(async () => (await filaDe(para))?.estado === estado)
  return filaDe(para)
}
const correosA = (para: string) => server.receivedCorreos.filter((one) => one.to === para)
/** Values of a metric, by its labels. */
const metrica = async (name: string) => {
  const text = await (await fetch(`http://127.0.0.1:${puertoDeMetricas}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(name))
}

// First, because the console has a clock of its own.
describe('npm run admin -- correos probar', () => {
  const admin = (para: string) => runInProcess(['correos', 'probar', para], consoleEnvironment(environment))
  it('writes a mail that the running service sends, and an audit line', async () => {
    const para = nuevaDireccion()
    expect(await admin(` ${para.toUpperCase()} `)).toMatchObject({ codigo: 0, errores: '' })
    await waitUntil(async () => correosA(para).length === 1)
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
  ])('refuses «%s»', async (para) => {
    expect(await admin(para)).toMatchObject({ codigo: 1, errores: expect.stringContaining('--para: no es una') })
  })
})

describe('a mail', () => {
  it('leaves once, in the brand, and its content is then erased', async () => {
    const para = nuevaDireccion()
    await write(para)
    const { contenido } = await filaDe(para)
    if (contenido) expect(contenido.toString('latin1')).not.toContain(para)
    const row = await wait(para, 'enviado')
    expect(row).toMatchObject({ canal: 'smtp', intentos: 1, contenido: null, codigo: null })
    await environment.waitForQuiet()
    const [received, ...more] = correosA(para)
    expect(more).toEqual([])
    const { texto, html } = parseCorreo(received!)
    expect(texto).toContain('el servicio de Quetzal <Exprés> ya puede')
    expect(html).toContain('Quetzal &lt;Exprés&gt;')
    expect(environment.log.join()).not.toContain(para)
  })

  it('is not written when its transaction fails', async () => {
    const para = nuevaDireccion()
    const fallida = inTransaction(environment.db, async (query) => {
      await saveCorreo(query, { secretos, newId: nuevoId }, { tipo: 'prueba', para, datos: {}, lifetimeMinutes: 60 })
      throw new Error('la causa falló')
    })
    await expect(fallida).rejects.toThrow('la causa falló')
    expect(await filaDe(para)).toBeUndefined()
  })

  it('bounces when the server refuses its recipient for ever, and is not tried again', async () => {
    const para = nuevaDireccion()
    server.recipientRefusalStatus = 550
    await write(para, 3 * 1_440)
    const row = await wait(para, 'rebotado')
    server.recipientRefusalStatus = 0
    expect(row).toMatchObject({ codigo: 'smtp_550', intentos: 1, contenido: null })
    expect(await metrica('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 1'])
    environment.advance(DAY_MS)
    await environment.waitForQuiet()
    expect(correosA(para)).toEqual([])
    expect(await metrica('guias_correos_total{resultado="rebotado"}')).toEqual([expect.stringMatching(/ 1$/)])
    expect(await metrica('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 0'])
    expect(await metrica('guias_correos_atraso_segundos')).toEqual(['guias_correos_atraso_segundos 0'])
  })

  it('is tried again later, as the same mail', async () => {
    const para = nuevaDireccion()
    server.mailRefusalStatus = 451
    await write(para, 1_440)
    await waitUntil(async () => (await filaDe(para))?.codigo === 'smtp_451')
    expect(await filaDe(para)).toMatchObject({ estado: 'pendiente', intentos: 1 })
    environment.advance(MINUTE_MS)
    await waitUntil(async () => (await filaDe(para)).intentos === 2)
    server.mailRefusalStatus = 0
    environment.advance(10 * MINUTE_MS)
    const { id } = await wait(para, 'enviado')
    expect(correosA(para)).toHaveLength(1)
    expect(parseCorreo(correosA(para)[0]!).readHeader('Message-ID')).toBe(`<${id}@mensajeria.example>`)
  })

  it('waits five seconds after its first attempt, and longer after each other', async () => {
    const para = nuevaDireccion()
    server.mailRefusalStatus = 451
    environment.freezeClock()
    await write(para, 1_440)
    const esperas: number[] = []
    for (const intentos of [1, 2, 3]) {
      const row = await waitUntil(async () => {
        const one = await filaDe(para)
        return one?.estado === 'pendiente' && one.intentos === intentos && one
      })
      esperas.push(row.proximo_en.getTime() - environment.clock().getTime())
      environment.advance(esperas.at(-1)!)
    }
    expect(esperas).toEqual([5_000, 30_000, 120_000])
    server.mailRefusalStatus = 0
    environment.advance(HOUR_MS)
    await wait(para, 'enviado')
  })

  it('does not leave when its time is over', async () => {
    const para = nuevaDireccion()
    server.mailRefusalStatus = 451
    await write(para, 10)
    await waitUntil(async () => (await filaDe(para))?.codigo === 'smtp_451')
    server.mailRefusalStatus = 0
    environment.advance(HOUR_MS)
    expect(await wait(para, 'caducado')).toMatchObject({ contenido: null })
    expect(correosA(para)).toEqual([])
  })

  it('is sent by another process when its sender dies', async () => {
    const para = nuevaDireccion()
    server.mailRefusalStatus = 451
    await write(para, 1_440)
    await waitUntil(async () => (await filaDe(para))?.codigo === 'smtp_451')
    server.mailRefusalStatus = 0
    await environment.db.pool.query(
      `update correo set estado = 'enviando', proximo_en = $1::timestamptz + interval '2 minutes' where estado = 'pendiente'`,
      [environment.clock()],
    )
    environment.advance(MINUTE_MS)
    const [atraso = ''] = await metrica('guias_correos_atraso_segundos')
    expect(Number(atraso.split(' ')[1])).toBeGreaterThanOrEqual(60)
    environment.advance(2 * MINUTE_MS)
    expect(await wait(para, 'enviado')).toMatchObject({ intentos: 2 })
  })

  it('is deleted after 30 days', async () => {
    await write(nuevaDireccion())
    await environment.waitForQuiet()
    environment.advance(31 * DAY_MS)
    await environment.reset()
    await waitUntil(async () => (await environment.db.pool.query('select from correo')).rowCount === 0)
  })
})
