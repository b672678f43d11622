import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  answerChallenge,
  type InboundItem,
  isFirmaValid,
  readInboundItems,
} from '../../server/domain/mensajeria/whatsapp.ts'
import { aviso, estado, mensaje, signAsMeta } from './provider.ts'

const TELEFONO = '+50255551234'

describe('signatures', () => {
  const raw = Buffer.from('{"object":"whatsapp_business_account","ñ":"\\u00f1"}')
  const SECRETO = 'secreto'
  const good = signAsMeta(raw, SECRETO)

  test('a known one', () => {
    // printf '{}' | openssl dgst -sha256 -hmac secreto
    const knownSignature = 'sha256=9b09d74c60be8d716f80e3db365e4e4f49b2b1a55a3d1d5931e96eb98dde17e9'
    expect(isFirmaValid(Buffer.from('{}'), knownSignature, SECRETO)).toBe(true)
  })

  test('good, in either case of its digits', () => {
    expect(isFirmaValid(raw, good, SECRETO)).toBe(true)
    expect(isFirmaValid(raw, `sha256=${good.slice(7).toUpperCase()}`, SECRETO)).toBe(true)
  })

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['without its algorithm', good.slice(7)],
    ['of another algorithm', good.replace('sha256', 'sha1')],
    ['short', good.slice(0, -1)],
    ['long', `${good}0`],
    ['no hexadecimal', `sha256=${'z'.repeat(64)}`],
    ['two of them', `${good}, ${good}`],
    ['with a line break', `${good}\n`],
    ["another secret's", signAsMeta(raw, 'otro')],
    ["another body's", signAsMeta(`${raw} `, SECRETO)],
  ])('%s', (_case, header) => {
    expect(isFirmaValid(raw, header, SECRETO)).toBe(false)
  })

  test('any altered byte of the body or digit of the signature', () => {
    for (let i = 0; i < raw.length; i++) {
      const other = Buffer.from(raw)
      other[i]! ^= 1
      expect(isFirmaValid(other, good, SECRETO)).toBe(false)
    }
    for (let i = 7; i < good.length; i++) {
      const other = good.slice(0, i) + (good[i] === '0' ? '1' : '0') + good.slice(i + 1)
      expect(isFirmaValid(raw, other, SECRETO)).toBe(false)
    }
  })

  test('an empty secret admits nobody', () => {
    expect(isFirmaValid(raw, signAsMeta(raw, ''), '')).toBe(false)
  })
})

describe('the challenge', () => {
  const GOOD_CHALLENGE = { 'hub.mode': 'subscribe', 'hub.verify_token': 'reto', 'hub.challenge': '1158201444' }
  test('is echoed to who knows the token', () => {
    expect(answerChallenge(GOOD_CHALLENGE, 'reto')).toBe('1158201444')
  })
  test.each<[string, Record<string, unknown>]>([
    ['another token', { ...GOOD_CHALLENGE, 'hub.verify_token': 'Reto' }],
    ['no token', { ...GOOD_CHALLENGE, 'hub.verify_token': undefined }],
    ['a repeated token', { ...GOOD_CHALLENGE, 'hub.verify_token': ['reto', 'reto'] }],
    ['another mode', { ...GOOD_CHALLENGE, 'hub.mode': 'unsubscribe' }],
    ['no mode', { ...GOOD_CHALLENGE, 'hub.mode': undefined }],
    ['no challenge', { ...GOOD_CHALLENGE, 'hub.challenge': undefined }],
    ['an empty challenge', { ...GOOD_CHALLENGE, 'hub.challenge': '' }],
    ['a repeated challenge', { ...GOOD_CHALLENGE, 'hub.challenge': ['1', '2'] }],
    ['a challenge with markup', { ...GOOD_CHALLENGE, 'hub.challenge': '<script>' }],
    ['an endless challenge', { ...GOOD_CHALLENGE, 'hub.challenge': '1'.repeat(257) }],
    ['nothing', {}],
  ])('%s', (_case, query) => {
    expect(answerChallenge(query, 'reto')).toBeUndefined()
  })
  test('an empty token admits nobody', () => {
    expect(answerChallenge({ ...GOOD_CHALLENGE, 'hub.verify_token': '' }, '')).toBeUndefined()
  })
})

describe('webhooks', () => {
  const NUMERO = '106540352242922'
  const EN = new Date('2026-11-20T18:30:05Z')
  const read = (body: unknown) => readInboundItems(JSON.parse(JSON.stringify(body)), NUMERO)
  const readMessage = (raw: object) => read(aviso({ messages: [raw] }))
  const commonPart = { telefono: TELEFONO, inReplyTo: null, en: EN }

  test.each([
    ['sent', 'enviado'],
    ['delivered', 'entregado'],
    ['read', 'leido'],
  ])('a status: %s', (status, leido) => {
    const raw = estado(status, { wamid: 'wamid.1', recipient: '50255551234', ownId: 'men_1', en: EN })
    expect(read(aviso({ statuses: [raw] }))).toEqual([
      {
        tipo: 'estado',
        providerId: 'wamid.1',
        ownId: 'men_1',
        estado: leido,
        en: EN,
        codigo: null,
        motivo: null,
      },
    ])
  })

  test('a failure, with its reason', () => {
    const error = { code: 131026, title: 'Message undeliverable', details: 'Message Undeliverable to +50255551234.' }
    const raw = estado('failed', { wamid: 'wamid.1', recipient: '50255551234', en: EN, error })
    const [leido] = read(aviso({ statuses: [raw] }))
    expect(leido).toMatchObject({ estado: 'fallido', ownId: null, codigo: '131026' })
    expect((leido as { motivo: string }).motivo).toMatch(
      /no usa WhatsApp.*\(Meta: «Message Undeliverable to \*\*\*34\.»\)/,
    )
  })

  test.each<[string, unknown, string | null, RegExp]>([
    ['none', undefined, null, /desconocido/],
    ['empty', [], null, /desconocido/],
    ['no list', { code: 1 }, null, /desconocido/],
    ['a code as text', [{ code: '131047' }], '131047', /24 horas/],
    ['unknown', [{ code: 777, title: 'Rare' }], '777', /777.*«Rare»/],
  ])('a failure with odd errors: %s', (_case, errors, codigo, motivo) => {
    const raw = { ...estado('failed', { wamid: 'w', recipient: '50255551234', en: EN }), errors }
    expect(read(aviso({ statuses: [raw] }))).toMatchObject([{ codigo, motivo: expect.stringMatching(motivo) }])
  })

  test('a location, in answer to ours', () => {
    const place = { latitude: 14.6349, longitude: -90.5069, name: 'Casa', address: 'Zona 1', url: 'https://x' }
    expect(readMessage(mensaje('location', place, { en: EN, wamid: 'wamid.2', inReplyTo: 'wamid.1' }))).toEqual([
      {
        tipo: 'ubicacion',
        providerId: 'wamid.2',
        ...commonPart,
        inReplyTo: 'wamid.1',
        lat: 14.6349,
        lng: -90.5069,
        nombre: 'Casa',
        direccion: 'Zona 1',
      },
    ])
    expect(readMessage(mensaje('location', { latitude: 0, longitude: -90 }, { en: EN }))).toMatchObject([
      { tipo: 'ubicacion', lat: 0, lng: -90, nombre: null, direccion: null, inReplyTo: null },
    ])
  })

  test.each([
    [91, 0],
    [0, 181],
    ['14.6', '-90.5'],
    [null, -90],
    [undefined, undefined],
  ])('no location at all: %s, %s', (latitude, longitude) => {
    expect(readMessage(mensaje('location', { latitude, longitude }))).toEqual([])
  })

  test.each<[string, unknown, string]>([
    ['text', { body: 'Vivo en zona 1' }, 'Vivo en zona 1'],
    ['button', { text: 'Compartir', payload: 'p' }, 'Compartir'],
    ['interactive', { type: 'button_reply', button_reply: { id: '1', title: 'Sí' } }, 'Sí'],
    ['interactive', { type: 'list_reply', list_reply: { id: '1', title: 'Casa', description: 'x' } }, 'Casa'],
    ['interactive', { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } }, 'Sent'],
    ['image', { caption: 'mi casa', mime_type: 'image/jpeg', sha256: 'x', id: '1' }, 'mi casa'],
    ['video', { mime_type: 'video/mp4', id: '1' }, ''],
    ['audio', { mime_type: 'audio/ogg; codecs=opus', id: '1', voice: true }, ''],
    ['document', { filename: 'a.pdf', caption: 'croquis', id: '1' }, 'croquis'],
    ['sticker', { mime_type: 'image/webp', id: '1', animated: false }, ''],
    ['contacts', [{ name: { formatted_name: 'Ana' } }], ''],
    ['order', { catalog_id: '1', text: 'quiero', product_items: [] }, 'quiero'],
    ['system', { body: 'User A changed from 1 to 2', type: 'user_changed_number' }, 'User A changed from 1 to 2'],
    ['unsupported', undefined, ''],
    ['de_otro_siglo', { body: 'hola' }, 'hola'],
    ['__proto__', undefined, ''],
    ['constructor', undefined, ''],
    ['from', '50255551234', ''],
  ])('a message of type %s counts as text', (type, contenido, text) => {
    expect(
      readMessage({ ...mensaje('x', 1, { en: EN, wamid: 'w' }), [type]: contenido, from: '50255551234', type }),
    ).toEqual([{ tipo: 'texto', providerId: 'w', ...commonPart, texto: text }])
  })

  test('a reaction answers what it reacts to', () => {
    expect(readMessage(mensaje('reaction', { message_id: 'wamid.1', emoji: '👍' }))).toMatchObject([
      { tipo: 'texto', texto: '👍', inReplyTo: 'wamid.1' },
    ])
  })

  test('characters that PostgreSQL cannot store are left out, and endless texts are cut', () => {
    const [read] = readInboundItems(
      aviso({ messages: [mensaje('text', { body: `a\0b\ud800${'ñ'.repeat(9000)}` })] }),
      NUMERO,
    )
    expect((read as { texto: string }).texto).toMatch(/^ab\ufffdñ+$/)
    expect((read as { texto: string }).texto.length).toBeLessThanOrEqual(4096)
  })

  test.each([
    ['50255551234', '+50255551234'],
    ['+50255551234', '+50255551234'],
    ['5215512345678', '+525512345678'],
    ['525512345678', '+525512345678'],
    ['52155123456', '+52155123456'],
    ['5491123456789', '+5491123456789'],
  ])('a phone: %s', (de, telefono) => {
    expect(readMessage(mensaje('text', { body: 'x' }, { de }))).toMatchObject([{ telefono }])
  })

  test('everything in its order, and what is not understood is skipped', () => {
    const de = (n: string) => mensaje('text', { body: n }, { wamid: n })
    const sentStatus = (n: string) => estado('sent', { wamid: n, recipient: '50255551234' })
    const [one, dos] = [
      aviso({ messages: [de('1'), null!, de('2')], statuses: [sentStatus('3')] }),
      aviso({ statuses: [sentStatus('4'), { id: 'x' }, sentStatus('5')] }),
    ]
    const foreign = aviso({ messages: [de('no')] }, '999')
    const otherField = aviso({ messages: [de('no')] }, NUMERO, 'message_template_status_update')
    const body = {
      object: 'whatsapp_business_account',
      entry: [...one.entry, null, 7, ...foreign.entry, { changes: 'x' }, ...otherField.entry, ...dos.entry],
    }
    expect(read(body).map(({ providerId: proveedorId }) => proveedorId)).toEqual(['1', '2', '3', '4', '5'])
  })

  test.each<[string, object]>([
    ['no id', { id: undefined }],
    ['an empty id', { id: '' }],
    ['no phone', { from: undefined }],
    ['a phone that is none', { from: 'GT.abc' }],
    ['no time', { timestamp: undefined }],
    ['a time that is none', { timestamp: '2026-11-20' }],
    ['a time past all time', { timestamp: '99999999999999' }],
  ])('a message with %s is skipped', (_case, cambio) => {
    expect(readMessage({ ...mensaje('text', { body: 'x' }), ...cambio })).toEqual([])
  })

  test('an answer to our message needs no sender, and a status no recipient', () => {
    const buildWithoutSender = (tipo: string, contenido: unknown) => ({
      ...mensaje(tipo, contenido, { wamid: 'w', inReplyTo: 'wamid.1' }),
      from: undefined,
    })
    expect(readMessage(buildWithoutSender('location', { latitude: 14.6, longitude: -90.5 }))).toMatchObject([
      { tipo: 'ubicacion', telefono: null, inReplyTo: 'wamid.1', lat: 14.6 },
    ])
    expect(readMessage(buildWithoutSender('text', { body: 'hola' }))).toMatchObject([{ tipo: 'texto', telefono: null }])
    const fallido = {
      ...estado('failed', { wamid: 'w', recipient: '5', error: { code: 131026 } }),
      recipient_id: undefined,
    }
    expect(read(aviso({ statuses: [fallido] }))).toMatchObject([{ providerId: 'w', estado: 'fallido' }])
  })

  test('each item that cannot be read is reported, but not those of other numbers', () => {
    let skippedCount = 0
    const count = (body: unknown) => {
      skippedCount = 0
      readInboundItems(body, NUMERO, () => skippedCount++)
      return skippedCount
    }
    const good = mensaje('text', { body: 'x' })
    const bad = {
      messages: [good, null!, { ...good, id: '' }],
      statuses: [estado('deleted', { wamid: 'w', recipient: '5' })],
    }
    expect([count(aviso(bad)), count(aviso(bad, '999')), count({ object: 'page' })]).toEqual([3, 0, 0])
  })

  test.each(['deleted', 'warning', 'played', 'toString', '__proto__', ''])(
    'a status that means nothing to us: %s',
    (status) => {
      expect(read(aviso({ statuses: [estado(status, { wamid: 'w', recipient: '50255551234' })] }))).toEqual([])
    },
  )

  test.each([
    null,
    undefined,
    0,
    '',
    'x',
    [],
    {},
    { object: 'page', entry: [] },
    { object: 'whatsapp_business_account' },
  ])('garbage: %j', (body) => expect(readInboundItems(body, NUMERO)).toEqual([]))

  // --- Properties ---

  const E164 = /^\+[1-9]\d{5,14}$/
  // One assertion for all: there are hundreds of thousands of values.
  const isSound = (read: InboundItem) =>
    read.providerId !== '' &&
    (read.tipo === 'estado' || (read.telefono === null ? read.inReplyTo !== null : E164.test(read.telefono))) &&
    !Number.isNaN(read.en.getTime()) &&
    Object.values(read).every((value) => typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0')))
  function isHealthy(inboundItems: InboundItem[]) {
    expect(inboundItems.filter((read) => !isSound(read))).toEqual([])
  }

  test('never throws on any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (body) => isHealthy(readInboundItems(body, NUMERO))),
      { numRuns: 1000 },
    )
  })

  test('never throws on a real body with anything in place of any of its parts', () => {
    const body = aviso({
      messages: [
        mensaje('location', { latitude: 14.6, longitude: -90.5, name: 'x', address: 'y' }, { inReplyTo: 'w' }),
        mensaje('text', { body: 'hola' }),
        mensaje('interactive', { button_reply: { title: 'Sí' } }),
      ],
      statuses: [estado('failed', { wamid: 'w', recipient: '50255551234', error: { code: 131026, details: 'x' } })],
    })
    const routes: (string | number)[][] = []
    const walk = (value: unknown, route: (string | number)[]) => {
      routes.push(route)
      if (typeof value === 'object' && value) {
        for (const [key, child] of Object.entries(value)) walk(child, [...route, key])
      }
    }
    walk(body, [])
    fc.assert(
      fc.property(
        fc.constantFrom(...routes),
        fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' })),
        (route, replacement) => {
          const changed = { root: structuredClone(body) as unknown }
          const hasta = ['root', ...route]
          // biome-ignore lint/suspicious/noExplicitAny: it walks whatever there is
          const parent = hasta.slice(0, -1).reduce((value: any, key) => value[key], changed)
          parent[hasta.at(-1)!] = replacement
          isHealthy(readInboundItems(changed.root, NUMERO))
        },
      ),
      { numRuns: 3000 },
    )
  })
})
