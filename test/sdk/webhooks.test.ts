import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import {
  type AvisoDeDeshabilitado,
  type AvisoDeGuia,
  type AvisoDePrueba,
  type AvisoDesconocido,
  type AvisoDeWebhook,
  type CabecerasRecibidas,
  type EnsayoDeRecuperacion,
  type EntregaDeWebhook,
  type EntregaDeWebhookConIntentos,
  ErrorConflicto,
  ErrorFirma,
  ErrorGuias,
  ErrorNoEncontrado,
  ErrorRespuesta,
  type Evento,
  firmarWebhook,
  type Guia,
  Guias,
  type Listado,
  type Recuperacion,
  type RecuperacionParaCrear,
  type Solicitud,
  verificarWebhook,
  type Webhook,
  type WebhookConSecreto,
} from '@guias/sdk'
import fc from 'fast-check'
import { Webhook as Estandar } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'

const raiz = new URL('../../', import.meta.url)
const SECRETO = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
const OTRO = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDHHkWPzqGmDk='
const ID = 'evt_7K3M9QX2A1B4_1'
const AVISO = {
  id: ID,
  tipo: 'guia.entregado',
  creado_en: '2026-11-20T15:04:05.000Z',
  datos: {
    guia: { guia: '7K3M9QX2A1B4', estado: 'entregado', secuencia: 7 },
    evento: { descripcion: 'Señal de Ñuño ✓ 📦' },
  },
}
const CUERPO = JSON.stringify(AVISO)
const ahora = () => Math.floor(Date.now() / 1000)

/** Everybody's signature, written down once more and by other means. */
const mac = (secreto: string, id: string, timestamp: number | string, cuerpo: string | Uint8Array) =>
  `v1,${createHmac('sha256', Buffer.from(secreto.slice(6), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(cuerpo)
    .digest('base64')}`
const cabeceras = (cambios: Record<string, string | undefined> = {}, timestamp: number | string = ahora()) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': mac(SECRETO, ID, timestamp, CUERPO),
  ...cambios,
})
const falla = (promesa: PromiseLike<unknown>): Promise<ErrorFirma> =>
  Promise.resolve(promesa).then(
    (valor) => {
      throw new Error(`It did not fail: ${inspect(valor)}`)
    },
    (error) => error,
  )
const motivo = async (...args: Parameters<typeof verificarWebhook>) => {
  const error = await falla(verificarWebhook(...args))
  expect(error).toBeInstanceOf(ErrorFirma)
  expect(error).toBeInstanceOf(ErrorGuias)
  expect(error.name).toBe('ErrorFirma')
  return error.motivo
}

describe('the signature', () => {
  it('is the contract’s (x-vectores)', async () => {
    const yaml = await readFile(new URL('openapi/componentes/schemas/webhooks.yaml', raiz), 'utf8')
    const vectores = [
      ...yaml.matchAll(/- \{ secreto: (\S+), id: (\S+), timestamp: (\d+), cuerpo: (?:'(.*?)'|""), firma: '(\S+)' \}/g),
    ].map(([, secreto = '', id = '', timestamp, cuerpo = '', firma]) => ({
      secreto,
      id,
      timestamp: Number(timestamp),
      cuerpo,
      firma,
    }))
    expect(vectores).toHaveLength(yaml.match(/- \{ secreto: whsec_/g)?.length ?? 0)
    expect(vectores).toHaveLength(3)
    for (const { firma, cuerpo, ...con } of vectores) {
      const firmadas = await firmarWebhook(cuerpo, con)
      expect(firmadas).toEqual({
        'webhook-id': con.id,
        'webhook-timestamp': `${con.timestamp}`,
        'webhook-signature': firma,
      })
      const pedir = verificarWebhook(cuerpo, firmadas, con.secreto, { ahora: new Date(con.timestamp * 1000) })
      if (cuerpo) expect(await pedir).toEqual(JSON.parse(cuerpo))
      else expect((await falla(pedir)).motivo).toBe('cuerpo') // well signed, and no notice
    }
  })

  it('gives what was sent, as text, Buffer, part of a buffer, ArrayBuffer', async () => {
    const bytes = Buffer.from(CUERPO)
    const holgado = Buffer.concat([Buffer.from('xxx'), bytes, Buffer.from('xxx')])
    const suelto = new Uint8Array(bytes).buffer
    for (const cuerpo of [CUERPO, bytes, holgado.subarray(3, -3), new Uint8Array(suelto), suelto]) {
      expect(await verificarWebhook(cuerpo, cabeceras(), SECRETO)).toEqual(AVISO)
      expect((await firmarWebhook(cuerpo, { id: ID, timestamp: 7, secreto: SECRETO }))['webhook-signature']).toBe(
        mac(SECRETO, ID, 7, CUERPO),
      )
    }
  })

  it('is taken of the bytes at the call: the caller may use its buffer again', async () => {
    const bytes = Buffer.from(CUERPO)
    const pedir = verificarWebhook(bytes, cabeceras(), SECRETO)
    bytes.fill(0)
    expect(await pedir).toEqual(AVISO)
  })

  const llave = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((b) => `whsec_${Buffer.from(b).toString('base64')}`)
  const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/)
  const datos = fc.record({ tipo: fc.string({ unit: 'grapheme' }), datos: fc.jsonValue() })

  it('agrees with standardwebhooks and svix: what they sign is accepted here, what is signed here they accept', async () => {
    await fc.assert(
      fc.asyncProperty(llave, id, datos, fc.integer({ min: -290, max: 290 }), async (secreto, id, datos, hace) => {
        const cuerpo = JSON.stringify(datos)
        const timestamp = ahora() - hace
        const propias = await firmarWebhook(cuerpo, { id, timestamp, secreto })
        for (const Otra of [Estandar, Svix]) {
          const otra = new Otra(secreto)
          expect(otra.sign(id, new Date(timestamp * 1000), cuerpo)).toBe(propias['webhook-signature'])
          expect(otra.verify(cuerpo, propias)).toEqual(JSON.parse(cuerpo))
        }
        expect(await verificarWebhook(cuerpo, propias, secreto)).toEqual(JSON.parse(cuerpo))
      }),
      { numRuns: 150 },
    )
  })

  it('agrees with them about what is not to be accepted', async () => {
    const unos = fc.constantFrom(SECRETO, OTRO)
    const firma = fc.constantFrom('buena', 'de otro', 'v1a', 'sin versión', 'vacía', 'cortada', 'basura')
    await fc.assert(
      fc.asyncProperty(
        unos,
        fc.array(firma, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -400, max: 400 }).filter((hace) => Math.abs(Math.abs(hace) - 300) > 3),
        fc.boolean(),
        async (secreto, firmas, hace, alterado) => {
          const timestamp = ahora() - hace
          const buena = mac(secreto, ID, timestamp, CUERPO)
          const como: Record<string, string> = {
            buena,
            'de otro': mac(`whsec_${Buffer.alloc(32, 7).toString('base64')}`, ID, timestamp, CUERPO),
            v1a: buena.replace('v1,', 'v1a,'),
            'sin versión': buena.slice(3),
            vacía: 'v1,',
            cortada: buena.slice(0, -2),
            basura: 'v1,ñ=,=',
          }
          const todas = cabeceras({ 'webhook-signature': firmas.map((f) => como[f]).join(' ') }, timestamp)
          const cuerpo = alterado ? CUERPO.replace('entregado', 'devuelto!') : CUERPO
          const acepta = async (hacer: () => unknown) => {
            try {
              await hacer()
              return true
            } catch {
              return false
            }
          }
          const nuestro = await acepta(() => verificarWebhook(cuerpo, todas, secreto))
          expect(nuestro).toBe(await acepta(() => new Estandar(secreto).verify(cuerpo, todas)))
          expect(nuestro).toBe(await acepta(() => new Svix(secreto).verify(cuerpo, todas)))
          expect(nuestro).toBe(firmas.includes('buena') && Math.abs(hace) < 300 && !alterado)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('fails with one bit of the body changed, wherever', async () => {
    const buenas = cabeceras()
    const bytes = Buffer.from(CUERPO)
    for (let i = 0; i < bytes.length; i++) {
      const alterado = Buffer.from(bytes)
      alterado[i]! ^= 1 << (i % 8)
      expect(await motivo(alterado, buenas, SECRETO), `byte ${i}`).toBe('firma')
    }
    for (const otro of [bytes.subarray(1), bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from(' ')])]) {
      expect(await motivo(otro, buenas, SECRETO)).toBe('firma')
    }
  })

  it('fails with one character of the signature, the id or the time changed, wherever', async () => {
    const timestamp = ahora() - 10
    const buenas = cabeceras({}, timestamp)
    for (const nombre of ['webhook-signature', 'webhook-id', 'webhook-timestamp'] as const) {
      for (let i = 0; i < buenas[nombre].length; i++) {
        const letra = buenas[nombre][i] as string
        // Also the last character before `=`, of whose bits base64 ignores two.
        const otra = /\d/.test(letra) ? String((Number(letra) + 1) % 10) : letra === 'B' ? 'A' : 'B'
        const alterada = buenas[nombre].slice(0, i) + otra + buenas[nombre].slice(i + 1)
        expect(['firma', 'marca_de_tiempo']).toContain(await motivo(CUERPO, { ...buenas, [nombre]: alterada }, SECRETO))
      }
    }
    const canonica = buenas['webhook-signature']
    for (const otra of [
      `${canonica}=`,
      canonica.slice(0, -1),
      canonica.replace(/\+/g, '-').replace(/\//g, '_').slice(0, -1),
      `${canonica},`,
    ]) {
      expect(await motivo(CUERPO, { ...buenas, 'webhook-signature': otra }, SECRETO)).toBe('firma')
    }
  })

  it('may be one of several, and only of version v1', async () => {
    const timestamp = ahora()
    const con = (firma: string) => cabeceras({ 'webhook-signature': firma }, timestamp)
    const [buena, ajena] = [mac(SECRETO, ID, timestamp, CUERPO), mac(OTRO, ID, timestamp, CUERPO)]
    for (const firma of [
      `${ajena} ${buena}`,
      `${buena} ${ajena}`,
      `v1a,xyz ${buena}`,
      `${buena}  v2,x`,
      `${ajena}, ${buena}`,
      `${buena}, ${ajena}`,
    ]) {
      expect(await verificarWebhook(CUERPO, con(firma), SECRETO), firma).toEqual(AVISO)
    }
    const solos = ['v1a,', 'v2,', 'V1,', 'v1', '', ',', 'v1=', 'v1,v1,'].map((v) => buena.replace('v1,', v))
    for (const firma of [ajena, ...solos, ' ']) expect(await motivo(CUERPO, con(firma), SECRETO), firma).toBe('firma')
  })

  it('takes several secrets, and signs with several, as in a rotation', async () => {
    expect(await verificarWebhook(CUERPO, cabeceras(), [OTRO, SECRETO])).toEqual(AVISO)
    expect(await verificarWebhook(CUERPO, cabeceras(), [` ${SECRETO}\n`])).toEqual(AVISO)
    expect(await motivo(CUERPO, cabeceras(), OTRO)).toBe('firma')
    const dos = await firmarWebhook(CUERPO, { id: ID, secreto: [OTRO, SECRETO] })
    expect(dos['webhook-signature'].split(' ')).toHaveLength(2)
    for (const secreto of [SECRETO, OTRO]) {
      expect(await verificarWebhook(CUERPO, dos, secreto)).toEqual(AVISO)
      expect(new Estandar(secreto).verify(CUERPO, dos)).toEqual(AVISO)
    }
  })
})

describe('the time', () => {
  it('may differ by 300 s either way, or by what is said', async () => {
    const t = 1_795_187_045
    const con = (segundos: number, opciones = {}) =>
      [CUERPO, cabeceras({}, t), SECRETO, { ahora: new Date((t + segundos) * 1000), ...opciones }] as const
    for (const segundos of [-300, -1, 0, 1, 300]) expect(await verificarWebhook(...con(segundos))).toEqual(AVISO)
    for (const segundos of [-301, 301, 86_400]) expect(await motivo(...con(segundos))).toBe('marca_de_tiempo')
    expect(await verificarWebhook(...con(1000, { toleranciaSegundos: 1000 }))).toEqual(AVISO)
    expect(await verificarWebhook(...con(1e9, { toleranciaSegundos: Infinity }))).toEqual(AVISO)
    expect(await verificarWebhook(...con(0, { toleranciaSegundos: 0 }))).toEqual(AVISO)
    expect(await motivo(...con(1, { toleranciaSegundos: 0 }))).toBe('marca_de_tiempo')
    expect((await falla(verificarWebhook(...con(600)))).message).toContain('hace 600 s')
    expect((await falla(verificarWebhook(...con(-600)))).message).toContain('600 s en el futuro')
  })

  it.each([
    '1795187045.5',
    '1.8e9',
    ' 1795187045',
    '-1795187045',
    '+1795187045',
    '0x6B00B0E5',
    '01795187045',
    'hoy',
    '1795187045123456',
    'NaN',
    '1795187045, 1795187045',
  ])('is a whole number of seconds, not %j', async (timestamp) => {
    const opciones = { toleranciaSegundos: Infinity }
    expect(await motivo(CUERPO, cabeceras({}, timestamp), SECRETO, opciones)).toBe('marca_de_tiempo')
  })

  it('never passes because an option is not one', async () => {
    for (const opciones of [
      { toleranciaSegundos: Number.NaN },
      { toleranciaSegundos: -1 },
      { toleranciaSegundos: 'mucho' as never },
      { ahora: new Date('nunca') },
    ]) {
      const error = await falla(verificarWebhook(CUERPO, cabeceras(), SECRETO, opciones))
      expect(error).toBeInstanceOf(ErrorGuias)
      expect(error).not.toBeInstanceOf(ErrorFirma)
    }
  })
})

describe('the headers', () => {
  const buenas = cabeceras()
  const { 'webhook-id': wid, 'webhook-timestamp': wts, 'webhook-signature': wsig } = buenas
  const pares = Object.entries(buenas) as [string, string][]
  it.each<[string, CabecerasRecibidas]>([
    ['Headers', new Headers(buenas)],
    ['a Map', new Map(pares)],
    ['pairs', pares],
    ['another case', { 'Webhook-Id': wid, 'WEBHOOK-TIMESTAMP': wts, 'webhook-Signature': wsig }],
    ['lists, as in Lambda', { 'webhook-id': [wid], 'webhook-timestamp': [wts], 'webhook-signature': ['v1,x', wsig] }],
    ['others that are undefined', { ...buenas, host: undefined, 'set-cookie': ['a', 'b'] }],
    ['no prototype', Object.assign(Object.create(null), buenas)],
    ['pairs of a signature that came twice', [...pares, ['Webhook-Signature', 'v1,x']]],
  ])('come as %s', async (_, como) => {
    expect(await verificarWebhook(CUERPO, como, SECRETO)).toEqual(AVISO)
  })

  it('come as node:http gives them', async () => {
    const llegadas = await new Promise<IncomingMessage>((listo) => {
      const servidor = createServer((req, res) => {
        listo(req)
        res.end(() => servidor.close())
      }).listen(0, '127.0.0.1', () => {
        const { port } = servidor.address() as AddressInfo
        request({
          port,
          host: '127.0.0.1',
          method: 'POST',
          headers: { ...buenas, 'webhook-signature': ['v1,x', wsig] },
        }).end()
      })
    })
    expect(await verificarWebhook(CUERPO, llegadas.headers, SECRETO)).toEqual(AVISO)
  })

  it.each(Object.keys(buenas))('fail without %s', async (nombre) => {
    for (const valor of [undefined, '']) {
      const error = await falla(verificarWebhook(CUERPO, { ...buenas, [nombre]: valor }, SECRETO))
      expect([error.motivo, error.message.includes(nombre)]).toEqual(['cabecera_ausente', true])
    }
  })

  it('fail when there are none, or an id came twice', async () => {
    for (const nada of [{}, [], new Headers(), undefined, null, 'webhook-id', 7, [['a']]]) {
      expect(await motivo(CUERPO, nada as never, SECRETO)).toBe('cabecera_ausente')
    }
    expect(await motivo(CUERPO, [...pares, ['webhook-id', ID]], SECRETO)).toBe('firma')
    expect(await motivo(CUERPO, [...pares, ['webhook-timestamp', wts]], SECRETO)).toBe('marca_de_tiempo')
  })
})

describe('the body and the secret', () => {
  it.each<[string, unknown, string]>([
    ['an object, as express.json() gives it', AVISO, 'ya leído'],
    ['an empty object, as express.raw() gives it for another type', {}, 'ya leído'],
    ['a list', [AVISO], 'ya leído'],
    ['an object made text', String(AVISO), 'ya leído'],
    ['nothing', undefined, 'no llegó'],
    ['null', null, 'no llegó'],
  ])('%s is told from a wrong signature', async (_, cuerpo, dice) => {
    for (const hacer of [
      () => verificarWebhook(cuerpo as never, cabeceras(), SECRETO),
      () => firmarWebhook(cuerpo as never, { id: ID, secreto: SECRETO }),
    ]) {
      const error = await falla(hacer())
      expect([error.name, error.motivo]).toEqual(['ErrorFirma', 'cuerpo'])
      expect(error.message).toContain(dice)
      expect(error.message).toContain('express.raw')
    }
  })

  it('written anew from what was parsed is another body, and the message says so', async () => {
    const error = await falla(verificarWebhook(JSON.stringify(AVISO, null, 2), cabeceras(), SECRETO))
    expect(error.motivo).toBe('firma')
    expect(error.message).toContain('JSON.stringify')
  })

  it.each<[string, Uint8Array | string]>([
    ['no JSON', 'hola'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['without tipo', '{"id":"evt_1"}'],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from('{"tipo":"'), Buffer.of(0xff), Buffer.from('"}')])],
  ])('well signed, but %s', async (_, cuerpo) => {
    const firmadas = await firmarWebhook(cuerpo, { id: ID, secreto: SECRETO })
    expect(await motivo(cuerpo, firmadas, SECRETO)).toBe('cuerpo')
  })

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['empty', ''],
    ['a list of none', []],
    ['a list with a gap', [SECRETO, undefined]],
    ['an API key', 'guia_live_abcdefghijklmnopqrstuvwxyz'],
    ['without its prefix', SECRETO.slice(6)],
    ['with another prefix', `llave_${SECRETO.slice(6)}`],
    ['in quotes', `"${SECRETO}"`],
    ['cut short', SECRETO.slice(0, 30)],
    ['not base64', 'whsec_ñandú ñandú ñandú ñandú ñandú ñandú'],
    ['too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['a number', 7],
  ])('a secret that is %s is told from a wrong signature, and not shown', async (_, secreto) => {
    for (const hacer of [
      () => verificarWebhook(CUERPO, cabeceras(), secreto as never),
      () => firmarWebhook(CUERPO, { id: ID, secreto: secreto as never }),
    ]) {
      const error = await falla(hacer())
      expect([error.name, error.motivo]).toEqual(['ErrorFirma', 'secreto'])
      if (typeof secreto === 'string' && secreto) expect(inspect(error)).not.toContain(secreto.replace(/^"?whsec_/, ''))
    }
  })

  it('signs only what can be sent', async () => {
    for (const mal of [
      { id: '' },
      { id: 'a b' },
      { id: 'ñ' },
      { id: 7 as never },
      { timestamp: 1.5 },
      { timestamp: -1 },
      { timestamp: Number.NaN },
    ]) {
      expect(await falla(firmarWebhook(CUERPO, { id: ID, secreto: SECRETO, ...mal }))).toMatchObject({
        name: 'ErrorGuias',
      })
    }
    expect(Number((await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO }))['webhook-timestamp'])).toBeCloseTo(
      ahora(),
      -1,
    )
  })
})

describe('types', () => {
  const leer = (aviso: AvisoDeWebhook): string => {
    switch (aviso.tipo) {
      case 'guia.entregado':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeGuia>()
        expectTypeOf(aviso.datos.guia).toEqualTypeOf<Guia>()
        expectTypeOf(aviso.datos.evento).toEqualTypeOf<Evento>()
        // @ts-expect-error a guide's notice has no webhook
        aviso.datos.webhook
        return aviso.datos.guia.guia
      // A type that this version doesn't know, of a family that it does.
      case 'guia.de_manana':
      case 'ubicacion.de_manana':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeGuia>()
        return aviso.datos.evento.id
      case 'webhook.prueba':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDePrueba>()
        expectTypeOf(aviso.datos.webhook).toEqualTypeOf<Webhook>()
        // @ts-expect-error nor has the trial a guide
        aviso.datos.guia
        return aviso.datos.webhook.webhook
      case 'webhook.deshabilitado':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeDeshabilitado>()
        return aviso.datos.webhook.url
      // @ts-expect-error a misspelt type is found while compiling
      case 'webhok.prueba':
        return ''
      default:
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeGuia | AvisoDesconocido>()
        // @ts-expect-error nobody knows what comes with it
        aviso.datos.guia
        return `otro ${aviso.tipo}`
    }
  }
  const porForma = (aviso: AvisoDeWebhook) => {
    if ('guia' in aviso.datos) {
      expectTypeOf(aviso.datos.guia).toEqualTypeOf<Guia>()
      return aviso.datos.evento.secuencia
    }
    if ('webhook' in aviso.datos) {
      expectTypeOf(aviso.datos.webhook).toEqualTypeOf<Webhook>()
      return aviso.datos.webhook.estado
    }
    expectTypeOf(aviso.datos).toEqualTypeOf<object>()
    return undefined
  }

  it('tipo tells what comes with it, although new ones may come (this compiles)', async () => {
    const llega = async (tipo: string, datos: object) => {
      const cuerpo = JSON.stringify({ id: ID, tipo, creado_en: '', datos })
      return verificarWebhook(cuerpo, await firmarWebhook(cuerpo, { id: ID, secreto: SECRETO }), SECRETO)
    }
    const guia = { guia: { guia: 'G' }, evento: { id: 'E', secuencia: 3 } }
    const webhook = { webhook: { webhook: 'W', url: 'U', estado: 'activo' } }
    expect(leer(await llega('guia.entregado', guia))).toBe('G')
    expect(leer(await llega('guia.de_manana', guia))).toBe('E')
    expect(leer(await llega('webhook.prueba', webhook))).toBe('W')
    expect(leer(await llega('webhook.deshabilitado', webhook))).toBe('U')
    expect(leer(await llega('comercio.nuevo', {}))).toBe('otro comercio.nuevo')
    expect([guia, webhook, {}].map((datos) => porForma({ tipo: 'x', datos } as never))).toEqual([
      3,
      'activo',
      undefined,
    ])
  })

  it('of arguments (this compiles)', () => {
    const api = new Guias({ llave: 'guia_test_x' })
    expectTypeOf(verificarWebhook).returns.toEqualTypeOf<Promise<AvisoDeWebhook>>()
    expectTypeOf(api.webhooks.crear).returns.toEqualTypeOf<Solicitud<WebhookConSecreto>>()
    expectTypeOf(api.webhooks.eliminar).returns.toEqualTypeOf<Solicitud<void>>()
    expectTypeOf(api.webhooks.recuperar).returns.toEqualTypeOf<Solicitud<Recuperacion>>()
    expectTypeOf(api.webhooks.ensayarRecuperacion).returns.toEqualTypeOf<Solicitud<EnsayoDeRecuperacion>>()
    expectTypeOf(api.webhooks.entregas).returns.toExtend<Listado<EntregaDeWebhook>>()
    expectTypeOf(api.webhooks.obtenerEntrega).returns.toEqualTypeOf<Solicitud<EntregaDeWebhookConIntentos>>()
    const conEnsayo = { desde: '2026-11-20T15:00:00Z', ensayo: true }
    // @ts-expect-error a rehearsal is asked for by name, also when the data come in a variable
    const mal: RecuperacionParaCrear = conEnsayo
    // @ts-expect-error the parsed body is not the body
    const cuerpo: Parameters<typeof verificarWebhook>[0] = AVISO
    expectTypeOf<IncomingMessage['headers']>().toExtend<CabecerasRecibidas>()
    expectTypeOf<Headers>().toExtend<CabecerasRecibidas>()
    expect([mal, cuerpo]).toHaveLength(2)
  })
})

describe('api.webhooks', () => {
  interface Recibida {
    metodo: string | undefined
    ruta: string | undefined
    tipo: string | undefined
    cuerpo: unknown
  }
  let recibidas: Recibida[] = []
  let respuesta: [status: number, cuerpo?: unknown, tipo?: string] = [200]
  const servidor = createServer(async (req, res) => {
    let cuerpo = ''
    for await (const trozo of req.setEncoding('utf8')) cuerpo += trozo
    recibidas.push({
      metodo: req.method,
      ruta: req.url,
      tipo: req.headers['content-type'],
      cuerpo: cuerpo ? JSON.parse(cuerpo) : undefined,
    })
    const [status, que, tipo = 'application/json'] = respuesta
    res.writeHead(status, { 'X-Request-Id': 'sol-1', ...(que === undefined ? {} : { 'Content-Type': tipo }) })
    res.end(typeof que === 'string' || que === undefined ? que : JSON.stringify(que))
  })
  let api: Guias
  beforeAll(async () => {
    await once(servidor.listen(0, '127.0.0.1'), 'listening')
    api = new Guias({
      llave: 'guia_test_abc',
      baseUrl: `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`,
      reintentos: 0,
    })
  })
  beforeEach(() => {
    recibidas = []
  })
  afterAll(() => {
    servidor.closeAllConnections()
    servidor.close()
  })

  const WEBHOOK = { webhook: 'wh_1', url: 'https://tienda.ejemplo.com/', estado: 'activo' }
  const CON_SECRETO = { ...WEBHOOK, secreto: SECRETO }
  const ENTREGA = { entrega: 'ent_1', evento: ID, estado: 'pendiente' }
  const RECUPERACION = { recuperacion: 'rec_1', webhook: 'wh_1', estado: 'en_curso', desde: '2026-11-20T15:00:00Z' }
  const ENSAYO = { eventos: 1204, entregas: 37, exacto: true }
  const PAGINA = { datos: [ENTREGA], cursor_siguiente: null }
  const desde = '2026-11-20T15:00:00Z'

  const OPERACIONES: [string, () => PromiseLike<unknown>, number, unknown, string, string, unknown?][] = [
    [
      'crear',
      () => api.webhooks.crear({ url: WEBHOOK.url, tipos: ['guia.*'] }),
      201,
      CON_SECRETO,
      'POST',
      '',
      { url: WEBHOOK.url, tipos: ['guia.*'] },
    ],
    ['listar', () => api.webhooks.listar({ limite: 2, cursor: 'a+b' }), 200, PAGINA, 'GET', '?limite=2&cursor=a%2Bb'],
    ['obtener', () => api.webhooks.obtener('wh_1'), 200, WEBHOOK, 'GET', '/wh_1'],
    [
      'cambiar',
      () => api.webhooks.cambiar('wh_1', { estado: 'pausado' }),
      200,
      WEBHOOK,
      'PATCH',
      '/wh_1',
      { estado: 'pausado' },
    ],
    ['eliminar', () => api.webhooks.eliminar('wh_1'), 204, undefined, 'DELETE', '/wh_1'],
    ['rotarSecreto', () => api.webhooks.rotarSecreto('wh_1'), 200, CON_SECRETO, 'POST', '/wh_1/rotar-secreto'],
    [
      'rotarSecreto, at once',
      () => api.webhooks.rotarSecreto('wh_1', { solapamiento_horas: 0 }),
      200,
      CON_SECRETO,
      'POST',
      '/wh_1/rotar-secreto',
      { solapamiento_horas: 0 },
    ],
    ['probar', () => api.webhooks.probar('wh_1'), 202, ENTREGA, 'POST', '/wh_1/probar'],
    [
      'recuperar',
      () => api.webhooks.recuperar('wh_1', { desde, hasta: desde, todas: true }),
      202,
      RECUPERACION,
      'POST',
      '/wh_1/recuperar',
      { desde, hasta: desde, todas: true },
    ],
    [
      'ensayarRecuperacion',
      () => api.webhooks.ensayarRecuperacion('wh_1', { desde }),
      200,
      ENSAYO,
      'POST',
      '/wh_1/recuperar',
      { desde, ensayo: true },
    ],
    [
      'obtenerRecuperacion',
      () => api.webhooks.obtenerRecuperacion('wh_1', 'rec_1'),
      200,
      RECUPERACION,
      'GET',
      '/wh_1/recuperaciones/rec_1',
    ],
    [
      'entregas',
      () =>
        api.webhooks.entregas('wh_1', {
          estado: 'fallida',
          tipo: 'guia.nota',
          guia: '7K3M',
          creado_desde: desde,
          limite: 5,
        }),
      200,
      PAGINA,
      'GET',
      `/wh_1/entregas?estado=fallida&tipo=guia.nota&guia=7K3M&creado_desde=${encodeURIComponent(desde)}&limite=5`,
    ],
    ['obtenerEntrega', () => api.webhooks.obtenerEntrega('wh_1', 'ent_1'), 200, ENTREGA, 'GET', '/wh_1/entregas/ent_1'],
    ['reenviar', () => api.webhooks.reenviar('wh_1', 'ent_1'), 202, ENTREGA, 'POST', '/wh_1/entregas/ent_1/reenviar'],
  ]

  it.each(OPERACIONES)('%s', async (_, pedir, status, datos, metodo, ruta, cuerpo) => {
    respuesta = [status, datos]
    expect(await pedir()).toEqual(datos)
    expect(recibidas).toEqual([
      { metodo, ruta: `/api/v1/webhooks${ruta}`, tipo: cuerpo ? 'application/json' : undefined, cuerpo },
    ])
  })

  it.each(OPERACIONES)('%s is not content with another answer', async (_, pedir) => {
    for (const otra of [
      [200, '<html>Bienvenido', 'text/html'],
      [200, { ok: true }],
      [200, ''],
      [200],
    ] as (typeof respuesta)[]) {
      respuesta = otra
      expect(await falla(pedir())).toBeInstanceOf(ErrorRespuesta)
    }
    respuesta = [404, { codigo: 'webhook_desconocido' }]
    expect(await falla(pedir())).toBeInstanceOf(ErrorNoEncontrado)
    respuesta = [409, { codigo: 'webhook_repetido' }]
    expect(await falla(pedir())).toBeInstanceOf(ErrorConflicto)
  })

  it('gives the whole answer of a deletion, and takes 204 for nothing else', async () => {
    respuesta = [204]
    const solicitud = api.webhooks.eliminar('wh_1')
    expect(await solicitud.conRespuesta()).toMatchObject({ datos: undefined, status: 204, idSolicitud: 'sol-1' })
    expect(await falla(api.webhooks.obtener('wh_1'))).toBeInstanceOf(ErrorRespuesta)
  })

  it('insists on the secret where there must be one', async () => {
    respuesta = [201, WEBHOOK]
    expect(await falla(api.webhooks.crear({ url: WEBHOOK.url }))).toBeInstanceOf(ErrorRespuesta)
    expect(await falla(api.webhooks.rotarSecreto('wh_1'))).toBeInstanceOf(ErrorRespuesta)
  })

  it('walks all deliveries', async () => {
    respuesta = [200, { datos: [ENTREGA, ENTREGA], cursor_siguiente: 'c' }]
    const vistas: string[] = []
    for await (const { entrega } of api.webhooks.entregas('wh 1/..', { estado: 'pendiente' })) {
      vistas.push(entrega)
      respuesta = [200, PAGINA]
    }
    expect(vistas).toHaveLength(3)
    expect(recibidas.map(({ ruta }) => ruta)).toEqual([
      '/api/v1/webhooks/wh%201%2F../entregas?estado=pendiente',
      '/api/v1/webhooks/wh%201%2F../entregas?estado=pendiente&cursor=c',
    ])
  })

  it.each(['', ' ', '.', '..', undefined, null, 7])('sends nothing for the id %j', async (mal) => {
    const id = mal as string
    const { webhooks } = api
    const pedidas: [PromiseLike<unknown>, string][] = [
      ...[
        webhooks.obtener(id),
        webhooks.cambiar(id, {}),
        webhooks.eliminar(id),
        webhooks.rotarSecreto(id),
        webhooks.probar(id),
        webhooks.recuperar(id, { desde }),
        webhooks.ensayarRecuperacion(id, { desde }),
        webhooks.obtenerRecuperacion(id, 'rec_1'),
        webhooks.entregas(id),
        webhooks.obtenerEntrega(id, 'ent_1'),
        webhooks.reenviar(id, 'ent_1'),
      ].map((pedida): [PromiseLike<unknown>, string] => [pedida, 'identificador del webhook']),
      [webhooks.obtenerRecuperacion('wh_1', id), 'identificador de la recuperación'],
      [webhooks.obtenerEntrega('wh_1', id), 'identificador de la entrega'],
      [webhooks.reenviar('wh_1', id), 'identificador de la entrega'],
    ]
    for (const [pedida, dice] of pedidas) {
      expect(await falla(pedida)).toMatchObject({ name: 'ErrorGuias', message: expect.stringContaining(dice) })
    }
    expect(recibidas).toEqual([])
  })

  it('never sends for real what was meant as a rehearsal', async () => {
    const error = await falla(api.webhooks.recuperar('wh_1', { desde, ensayo: true } as never))
    expect(error).toMatchObject({ name: 'ErrorGuias', message: expect.stringContaining('ensayarRecuperacion') })
    expect(recibidas).toEqual([])
  })
})

describe('the package', () => {
  it('verifies with nothing but what the web has, in another realm', async () => {
    const codigo = await readFile(new URL('sdk/dist/index.cjs', raiz), 'utf8')
    const { crypto, TextEncoder, TextDecoder, atob, btoa, Headers, URL: Url, Request, Response } = globalThis
    const module = { exports: {} as typeof import('@guias/sdk') }
    const web = { crypto, TextEncoder, TextDecoder, atob, btoa, Headers, URL: Url, Request, Response, module }
    runInContext(`((exports) => {${codigo}\n})(module.exports)`, createContext(web))
    const firmadas = await module.exports.firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })
    for (const cuerpo of [CUERPO, Buffer.from(CUERPO), new Uint8Array(Buffer.from(CUERPO)).buffer]) {
      expect(JSON.stringify(await module.exports.verificarWebhook(cuerpo, new Headers(firmadas), [SECRETO]))).toBe(
        CUERPO,
      )
    }
  })

  it('says so where there is no WebCrypto', async () => {
    const antes = Object.getOwnPropertyDescriptor(globalThis, 'crypto') as PropertyDescriptor
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true })
    try {
      expect((await falla(verificarWebhook(CUERPO, cabeceras(), SECRETO))).message).toContain('WebCrypto')
    } finally {
      Object.defineProperty(globalThis, 'crypto', antes)
    }
  })
})

describe('the example receiver', () => {
  const hijos: ChildProcess[] = []
  afterAll(() => {
    for (const hijo of hijos) hijo.kill()
  })

  function arrancar(env: Record<string, string>) {
    const hijo = spawn(process.execPath, [fileURLToPath(new URL('sdk/ejemplos/receptor.mjs', raiz))], {
      env: { PATH: process.env.PATH, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    hijos.push(hijo)
    let salida = ''
    for (const flujo of [hijo.stdout, hijo.stderr]) {
      flujo.setEncoding('utf8').on('data', (trozo: string) => {
        salida += trozo
      })
    }
    /** What it says, once it has said that. */
    const diga = (que: string) => expect.poll(() => salida, { timeout: 10_000 }).toContain(que)
    return { hijo, diga, salida: () => salida }
  }

  it('takes a good one, refuses a tampered one, works once for a repeated one', async () => {
    const { hijo, diga, salida } = arrancar({ GUIAS_SECRETO: `${OTRO},${SECRETO}` })
    await diga('escucho en')
    const url = /http:\S+/.exec(salida())?.[0] as string
    const enviar = async (cuerpo: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
      const res = await fetch(url, {
        method: 'POST',
        body: cuerpo,
        headers: { 'content-type': 'application/json', ...headers },
      })
      return [res.status, await res.text()]
    }
    const firmadas = await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })

    expect(await enviar(CUERPO, firmadas)).toEqual([204, ''])
    await diga(`atendido ${ID} guia.entregado: guía 7K3M9QX2A1B4, entregado (7)`)

    expect(await enviar(CUERPO.replace('"secuencia":7', '"secuencia":8'), firmadas)).toEqual([400, ''])
    await diga('rechazado (firma)')

    expect(
      await enviar(CUERPO, await firmarWebhook(CUERPO, { id: ID, timestamp: ahora() + 1, secreto: SECRETO })),
    ).toEqual([204, ''])
    await diga(`repetido ${ID}`)

    const prueba = JSON.stringify({ id: 'evt_P_0', tipo: 'webhook.prueba', creado_en: '', datos: { webhook: {} } })
    expect(await enviar(prueba, await firmarWebhook(prueba, { id: 'evt_P_0', secreto: OTRO }))).toEqual([204, ''])
    await diga('atendido evt_P_0 webhook.prueba')

    expect((await fetch(url)).status).toBe(405)
    expect((await enviar(CUERPO, {}))[0]).toBe(400)
    const grande = randomBytes(1024 * 1024 + 1)
    expect(await enviar(new Uint8Array(grande), firmadas).catch(() => [413])).toContain(413)

    // Cut in the middle of the body: the next is served all the same.
    const cortada = connect(Number(new URL(url).port), '127.0.0.1')
    cortada.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    await once(cortada, 'connect')
    cortada.destroy()
    await diga('la conexión se cortó')
    expect(await enviar(CUERPO, firmadas)).toEqual([204, ''])

    expect(salida().match(/^atendido/gm)).toHaveLength(2)
    expect(salida()).not.toContain('whsec_')
    expect(hijo.exitCode).toBeNull()
  })

  it('does not start with a secret that is none', async () => {
    const { hijo, diga } = arrancar({ GUIAS_SECRETO: 'whsec_corto' })
    const [codigo] = await once(hijo, 'exit')
    expect(codigo).toBe(1)
    await diga('GUIAS_SECRETO: El secreto no es de un webhook')
  })
})
