import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../../server/data/db.ts'
import { saveCorreo } from '../../server/domain/correos/correo.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { openMailServer, parseCorreo } from './server.ts'

let puertoDeMetricas: number
let servidor: Awaited<ReturnType<typeof openMailServer>>
const entorno = useEnvironment(undefined, async () => {
  servidor = await openMailServer()
  puertoDeMetricas = await findFreePort()
  return {
    SMTP_URL: `smtp://127.0.0.1:${servidor.port}`,
    MAIL_FROM: 'avisos@mensajeria.example',
    BRAND_NAME: 'Quetzal <Exprés>',
    METRICS_PORT: String(puertoDeMetricas),
  }
})
const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
const nuevoId = createIdGenerator(() => entorno.clock())
let cuantos = 0
const nuevaDireccion = () => `persona${++cuantos}@ejemplo.com`

const escribir = (para: string, minutos = 60) =>
  inTransaction(entorno.db, (consultar) =>
    saveCorreo(consultar, { secretos, newId: nuevoId }, { tipo: 'prueba', para, datos: {}, lifetimeMinutes: minutos }),
  )
const filaDe = async (para: string) => {
  const clave = secretos.current('correos').clave
  const huella = createHmac('sha256', clave).update(para).digest()
  const { rows } = await entorno.db.pool.query('select * from correo where huella = $1', [huella])
  return rows[0]
}
const esperar = async (para: string, estado: string) => {
  await hasta(async () => (await filaDe(para))?.estado === estado)
  return filaDe(para)
}
const correosA = (para: string) => servidor.receivedCorreos.filter((uno) => uno.to === para)
/** Values of a metric, by its labels. */
const metrica = async (nombre: string) => {
  const texto = await (await fetch(`http://127.0.0.1:${puertoDeMetricas}/metrics`)).text()
  return texto.split('\n').filter((linea) => linea.startsWith(nombre))
}

// First, because the console has a clock of its own.
describe('npm run admin -- correos probar', () => {
  const admin = (para: string) => runInProcess(['correos', 'probar', para], consoleEnvironment(entorno))
  it('writes a mail that the running service sends, and an audit line', async () => {
    const para = nuevaDireccion()
    expect(await admin(` ${para.toUpperCase()} `)).toMatchObject({ codigo: 0, errores: '' })
    await hasta(async () => correosA(para).length === 1)
    const { rows } = await entorno.db.pool.query(`select campos, despues from bitacora where accion = 'probarCorreo'`)
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
    await escribir(para)
    const { contenido } = await filaDe(para)
    if (contenido) expect(contenido.toString('latin1')).not.toContain(para)
    const fila = await esperar(para, 'enviado')
    expect(fila).toMatchObject({ canal: 'smtp', intentos: 1, contenido: null, codigo: null })
    await entorno.waitForQuiet()
    const [recibido, ...mas] = correosA(para)
    expect(mas).toEqual([])
    const { texto, html } = parseCorreo(recibido!)
    expect(texto).toContain('el servicio de Quetzal <Exprés> ya puede')
    expect(html).toContain('Quetzal &lt;Exprés&gt;')
    expect(entorno.log.join()).not.toContain(para)
  })

  it('is not written when its transaction fails', async () => {
    const para = nuevaDireccion()
    const fallida = inTransaction(entorno.db, async (consultar) => {
      await saveCorreo(
        consultar,
        { secretos, newId: nuevoId },
        { tipo: 'prueba', para, datos: {}, lifetimeMinutes: 60 },
      )
      throw new Error('la causa falló')
    })
    await expect(fallida).rejects.toThrow('la causa falló')
    expect(await filaDe(para)).toBeUndefined()
  })

  it('bounces when the server refuses its recipient for ever, and is not tried again', async () => {
    const para = nuevaDireccion()
    servidor.recipientRefusalStatus = 550
    await escribir(para, 3 * 1_440)
    const fila = await esperar(para, 'rebotado')
    servidor.recipientRefusalStatus = 0
    expect(fila).toMatchObject({ codigo: 'smtp_550', intentos: 1, contenido: null })
    expect(await metrica('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 1'])
    entorno.advance(DAY_MS)
    await entorno.waitForQuiet()
    expect(correosA(para)).toEqual([])
    expect(await metrica('guias_correos_total{resultado="rebotado"}')).toEqual([expect.stringMatching(/ 1$/)])
    expect(await metrica('guias_correos_rebotados')).toEqual(['guias_correos_rebotados 0'])
    expect(await metrica('guias_correos_atraso_segundos')).toEqual(['guias_correos_atraso_segundos 0'])
  })

  it('is tried again later, as the same mail', async () => {
    const para = nuevaDireccion()
    servidor.mailRefusalStatus = 451
    await escribir(para, 1_440)
    await hasta(async () => (await filaDe(para))?.codigo === 'smtp_451')
    expect(await filaDe(para)).toMatchObject({ estado: 'pendiente', intentos: 1 })
    entorno.advance(MINUTE_MS)
    await hasta(async () => (await filaDe(para)).intentos === 2)
    servidor.mailRefusalStatus = 0
    entorno.advance(10 * MINUTE_MS)
    const { id } = await esperar(para, 'enviado')
    expect(correosA(para)).toHaveLength(1)
    expect(parseCorreo(correosA(para)[0]!).readHeader('Message-ID')).toBe(`<${id}@mensajeria.example>`)
  })

  it('waits five seconds after its first attempt, and longer after each other', async () => {
    const para = nuevaDireccion()
    servidor.mailRefusalStatus = 451
    entorno.freezeClock()
    await escribir(para, 1_440)
    const esperas: number[] = []
    for (const intentos of [1, 2, 3]) {
      const fila = await hasta(async () => {
        const una = await filaDe(para)
        return una?.estado === 'pendiente' && una.intentos === intentos && una
      })
      esperas.push(fila.proximo_en.getTime() - entorno.clock().getTime())
      entorno.advance(esperas.at(-1)!)
    }
    expect(esperas).toEqual([5_000, 30_000, 120_000])
    servidor.mailRefusalStatus = 0
    entorno.advance(HOUR_MS)
    await esperar(para, 'enviado')
  })

  it('does not leave when its time is over', async () => {
    const para = nuevaDireccion()
    servidor.mailRefusalStatus = 451
    await escribir(para, 10)
    await hasta(async () => (await filaDe(para))?.codigo === 'smtp_451')
    servidor.mailRefusalStatus = 0
    entorno.advance(HOUR_MS)
    expect(await esperar(para, 'caducado')).toMatchObject({ contenido: null })
    expect(correosA(para)).toEqual([])
  })

  it('is sent by another process when its sender dies', async () => {
    const para = nuevaDireccion()
    servidor.mailRefusalStatus = 451
    await escribir(para, 1_440)
    await hasta(async () => (await filaDe(para))?.codigo === 'smtp_451')
    servidor.mailRefusalStatus = 0
    await entorno.db.pool.query(
      `update correo set estado = 'enviando', proximo_en = $1::timestamptz + interval '2 minutes' where estado = 'pendiente'`,
      [entorno.clock()],
    )
    entorno.advance(MINUTE_MS)
    const [atraso = ''] = await metrica('guias_correos_atraso_segundos')
    expect(Number(atraso.split(' ')[1])).toBeGreaterThanOrEqual(60)
    entorno.advance(2 * MINUTE_MS)
    expect(await esperar(para, 'enviado')).toMatchObject({ intentos: 2 })
  })

  it('is deleted after 30 days', async () => {
    await escribir(nuevaDireccion())
    await entorno.waitForQuiet()
    entorno.advance(31 * DAY_MS)
    await entorno.reset()
    await hasta(async () => (await entorno.db.pool.query('select from correo')).rowCount === 0)
  })
})
