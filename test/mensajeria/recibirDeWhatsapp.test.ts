import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { EN_POSTGRES, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { RECIPIENT_POSITION, useChannel, WHATSAPP_PATH } from './channel.ts'
import { aviso, estado, mensaje, signAsMeta } from './provider.ts'

const canal = useChannel()
const { environment, requested: sentRequest, esperar, read, reply: answer, query, postSigned } = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

const countRowsOf = async (body: string) =>
  (
    await query<{ n: number }>('select count(*)::int n from entrante where huella = $1', [
      createHash('sha256').update(body).digest(),
    ])
  )[0]!.n

describe('the signature', () => {
  const body = '{"object":"whatsapp_business_account","entry":[],"n":"ñ🏠 0123456789012345678901234567890123456789"}'
  const good = () => signAsMeta(body, canal.proveedor.config.appSecret)

  it('is what lets a body in', async () => {
    const { status, body: response } = await postSigned(body)
    expect([status, response]).toEqual([200, { ok: true }])
    expect(
      (await postSigned(body, { 'X-Hub-Signature-256': good().toUpperCase().replace('SHA256', 'sha256') })).status,
    ).toBe(200)
    // The same bytes are one row.
    expect(await countRowsOf(body)).toBe(1)
  })

  it('keeps every other out, before it is read as JSON', async () => {
    const altered = body.replace('entry', 'entrY')
    const sha1 = `sha1=${good().slice(7, 47)}`
    const cases: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>][] = [
      ['altered byte', altered, { 'X-Hub-Signature-256': good() }],
      ['a byte more', `${body} `, { 'X-Hub-Signature-256': good() }],
      ['missing', body, { 'X-Hub-Signature-256': '' }],
      ['other secret', body, { 'X-Hub-Signature-256': signAsMeta(body, 'otro') }],
      ['empty secret', body, { 'X-Hub-Signature-256': signAsMeta(body, '') }],
      ['of the verify token', body, { 'X-Hub-Signature-256': signAsMeta(body, canal.proveedor.config.verifyToken) }],
      ['sha1', body, { 'X-Hub-Signature-256': sha1 }],
      ['cut', body, { 'X-Hub-Signature-256': good().slice(0, -1) }],
      ['too much', body, { 'X-Hub-Signature-256': `${good()}0` }],
      ['no JSON', '{', { 'X-Hub-Signature-256': good() }],
      ['nothing', '', { 'X-Hub-Signature-256': good() }],
    ]
    for (const [kind, raw, headers] of cases) {
      const response = await postSigned(raw, headers)
      expect([kind, response.status, response.body.codigo]).toEqual([kind, 403, 'firma_invalida'])
    }
    const caseWithout = await environment.request('POST', WHATSAPP_PATH, {
      raw: body,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(caseWithout.status).toBe(403)
    const nothing = await environment.request('POST', WHATSAPP_PATH)
    expect([nothing.status, nothing.body.codigo]).toEqual([403, 'firma_invalida'])
    expect(await countRowsOf(altered)).toBe(0)
  })

  it('does not change the other declared answers: 400, 405 and 415', async () => {
    for (const bad of ['', '{', 'nul', '{"a":1}{', '\ufeff{}', '[1,]']) {
      const { status, body: problema } = await postSigned(bad)
      expect([bad, status, problema.codigo]).toEqual([bad, 400, 'json_invalido'])
    }
    expect((await postSigned(body, { 'X-Hub-Signature-256': 'x'.repeat(201) })).status).toBe(400)
    expect(
      (
        await environment.request('POST', `${WHATSAPP_PATH}?x=1`, {
          raw: body,
          headers: { 'Content-Type': 'application/json' },
        })
      ).status,
    ).toBe(400)
    for (const tipo of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])
      expect([tipo, (await postSigned(body, { 'Content-Type': tipo })).status]).toEqual([tipo, 415])
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect((await environment.request(method, WHATSAPP_PATH)).status).toBe(405)
  })

  it('takes 3 MB and not a byte more', async () => {
    const LIMITE = 3 * 1024 * 1024
    const filledText = (bytes: number) => {
      const emptyCase = JSON.stringify(aviso({ relleno: '' }))
      return emptyCase.replace('"relleno":""', `"relleno":"${'x'.repeat(bytes - emptyCase.length)}"`)
    }
    expect(Buffer.byteLength(filledText(LIMITE))).toBe(LIMITE)
    expect((await postSigned(filledText(LIMITE))).status).toBe(200)
    const longOne = await postSigned(filledText(LIMITE + 1))
    expect([longOne.status, longOne.body.codigo]).toEqual([413, 'cuerpo_demasiado_grande'])
    await canal.waitUntilProcessed()
  })

  it('is answered while the jobs can’t get on', EN_POSTGRES, async () => {
    const sentSolicitud = await sentRequest(comercio)
    const entregado = (i: number) =>
      canal.notify({
        statuses: [
          estado('delivered', {
            wamid: sentSolicitud.wamid,
            recipient: sentSolicitud.telefono,
            en: new Date(1.7e12 + i * 1_000),
          }),
        ],
      })
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin')
      await client.query('lock table mensaje in access exclusive mode')
      await entregado(0)
      await waitUntil(
        async () => (await query(`select from pg_locks where not granted and relation = 'mensaje'::regclass`))[0],
      )
      await Promise.all(Array.from({ length: 40 }, (_, i) => entregado(i + 1)))
    } finally {
      await client.query('rollback')
      client.release()
    }
    await canal.waitUntilProcessed()
    await esperar(sentSolicitud, 'entregado')
  })
})

describe('garbage', () => {
  it('in any shape gets 200 and nothing else', async () => {
    const inside = (value: unknown) => aviso(value as never)
    const one = mensaje('text', { body: 'x' })
    const formas: unknown[] = [
      null,
      1,
      'x',
      true,
      [],
      {},
      [[]],
      { object: 1 },
      { object: 'page', entry: [] },
      ...[null, 1, 'x', {}, [null], [1], [{ changes: null }], [{ changes: 'x' }], [{ changes: [null, 1, {}] }]].map(
        (entry) => ({ object: 'whatsapp_business_account', entry }),
      ),
      ...[null, 1, 'x', {}, [null, 1, 'x', [], {}]].flatMap((x) => [inside({ messages: x }), inside({ statuses: x })]),
      ...[null, 1, {}, [], '', 'x'].flatMap((x) =>
        ['id', 'from', 'timestamp', 'type', 'context', 'text', 'location', 'errors'].map((field) =>
          inside({
            messages: [{ ...one, [field]: x }],
            statuses: [{ ...estado('failed', { wamid: 'w', recipient: '50255551234' }), [field]: x }],
          }),
        ),
      ),
      inside({
        messages: [
          { ...one, type: '__proto__' },
          { ...one, type: 'toString' },
          { ...one, timestamp: '9'.repeat(40) },
        ],
      }),
      inside({ messages: [{ ...one, type: 'location', location: { latitude: '14', longitude: -90 } }] }),
      inside({ messages: [{ ...one, type: 'location', location: { latitude: 1e300, longitude: 200 } }] }),
      inside({
        statuses: [{ ...estado('failed', { wamid: 'w', recipient: '50255551234' }), errors: [{ code: { a: 1 } }, 3] }],
      }),
    ]
    for (const forma of formas) {
      const { status } = await postSigned(JSON.stringify(forma))
      expect([JSON.stringify(forma).slice(0, 300), status]).toEqual([expect.anything(), 200])
    }
    expect((await postSigned('['.repeat(200_000) + ']'.repeat(200_000))).status).toBe(200)
    expect((await postSigned('{"__proto__":{"a":1},"a":1,"a":2,"n":1e999}')).status).toBe(200)
    await canal.waitUntilProcessed()
  })

  it('in texts (NUL, lone surrogates, halves of characters) does no harm to what is good in them', async () => {
    const cases = [
      { name: 'a\u0000b\ud800c', address: '\udc00\u0000' },
      { name: `${'x'.repeat(199)}🏠`, address: 'y' },
      { name: `${'🏠'.repeat(150)}`, address: `\u202e${'z'.repeat(900)}` },
    ]
    for (const names of cases) {
      const sentSolicitud = await sentRequest(comercio)
      await answer('text', { body: `\u0000\ud83d${names.name}` }, sentSolicitud)
      await answer('location', { ...RECIPIENT_POSITION, ...names }, sentSolicitud)
      const { ubicacion } = await read(comercio, sentSolicitud)
      expect([ubicacion.estado, ubicacion.referencia!.length <= 200, ubicacion.referencia!.isWellFormed()]).toEqual([
        'confirmada',
        true,
        true,
      ])
    }
    // NUL bytes as such, and bytes that are no UTF-8.
    const sentSolicitud = await sentRequest(comercio)
    const raw = JSON.stringify(aviso({ messages: [mensaje('text', { body: 'aXbY' }, { de: sentSolicitud.telefono })] }))
    const bytes = new Uint8Array(Buffer.from(raw))
    bytes[raw.indexOf('aXbY') + 1] = 0
    bytes[raw.indexOf('aXbY') + 3] = 0xff
    expect((await postSigned(bytes)).status).toBe(200)
    await esperar(sentSolicitud, 'enviado', 2)
  })

  it('that can’t be worked on keeps nothing else waiting', FULL_RUN_ONLY, async () => {
    const [bad, good] = [await sentRequest(comercio), await sentRequest(comercio)]
    await query(`create function estorbar() returns trigger language plpgsql as
      $$ begin if new.guia = '${bad.guia}' and new.numero > 1 then raise 'estorbo'; end if; return new; end $$`)
    await query('create trigger estorbo before insert on mensaje for each row execute function estorbar()')
    try {
      await canal.notify({ messages: [mensaje('text', { body: 'x' }, { de: bad.telefono })] })
      await canal.notify({ messages: [mensaje('location', RECIPIENT_POSITION, { de: good.telefono })] })
      await waitUntil(async () => (await read(comercio, good)).ubicacion.estado === 'confirmada')
    } finally {
      await query('drop trigger estorbo on mensaje')
      await query('drop function estorbar')
    }
    await canal.waitUntilProcessed()
    await esperar(bad, 'enviado', 2)
    expect(canal.takeExpectedErrors(/inbound webhook failed/).length).toBeGreaterThan(0)
  })
})
