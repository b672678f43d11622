import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { purgeKeys } from '../../server/domain/idempotencia/prune.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, MASTER_KEY, useEnvironment, withKey } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { createIdempotencyCases, createIdempotencyKey, type IdempotencyCase, url } from './operations.ts'

/** The service sends nothing, so nothing changes but by what a test asks. */
const environment = useEnvironment({ resolver: async () => [{ address: '8.8.8.8', family: 4 }] }, () => ({
  WORKERS: '0',
}))
const CASOS = createIdempotencyCases(environment)
const OPERACIONES = Object.entries(CASOS)
let comercio: Comercio
beforeAll(() => environment.freezeClock())
beforeEach(async () => {
  comercio = await environment.createComercio()
})

const rows = async (sql: string, ...values: unknown[]) => (await environment.db.pool.query(sql, values)).rows
const request = (path: string, body: object, { llave }: { llave: string } = comercio, method = 'POST') =>
  environment.request(method, path, { llave, body })
type Peticion = Pick<IdempotencyCase, 'method' | 'path' | 'body'>
const first = ({ method, path, body }: Peticion, key: string, { llave }: { llave: string } = comercio) =>
  environment.request(method ?? 'POST', path, { llave, body, headers: withKey(key) })
const repeated = (headers: Headers) => headers.get('idempotent-replayed')
const codigoOf = ({ status, body }: Awaited<ReturnType<typeof request>>) => [status, body.codigo]
const CONFLICTO = [409, 'idempotencia_en_conflicto']

describe('an operation that takes Idempotency-Key', () => {
  it('is every one that the contract says', () => {
    const declaredItems = readOperations(readDocument())
      .filter(({ path }) => path.startsWith('/api/v1/'))
      .filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))
    expect(Object.keys(CASOS).sort()).toEqual(declaredItems.map(({ id }) => id).sort())
  })

  it.each(OPERACIONES)('%s: does it once, and a repetition has the same answer', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const key = createIdempotencyKey()
    const before = await testCase.countEffects()
    const one = await first(testCase, key)
    expect([one.status < 300, repeated(one.headers)]).toEqual([true, null])
    expect(await testCase.countEffects()).toBe(before + 1)
    await testCase.changeBetween?.()
    const lines = await rows('select count(*) from bitacora')
    for (let time = 0; time < 2; time++) {
      const other = await first(testCase, key)
      expect([other.status, repeated(other.headers)]).toEqual([one.status, 'true'])
      expect(testCase.commonPart(other.body)).toEqual(testCase.commonPart(one.body))
      expect(other.headers.get('location')).toBe(one.headers.get('location'))
    }
    expect(await testCase.countEffects()).toBe(before + 1)
    expect(await rows('select count(*) from bitacora')).toEqual(lines)
  })

  it.each(OPERACIONES)('%s: is the same request with the guide’s code in lower case', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const path = testCase.path.replace(/(?<=\/guias\/)\w+/, (guia) => guia.toLowerCase())
    if (path === testCase.path) return
    const key = createIdempotencyKey()
    await first(testCase, key)
    const other = await first({ ...testCase, path }, key)
    expect([other.body.codigo, repeated(other.headers)]).toEqual([undefined, 'true'])
  })

  it.each(OPERACIONES)('%s: refuses the key of another request, and does nothing', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const key = createIdempotencyKey()
    await first(testCase, key)
    const before = await testCase.countEffects()
    const other = await first(testCase.other, key)
    expect(codigoOf(other)).toEqual(CONFLICTO)
    expect(other.body.mensaje).toContain(key)
    expect(await testCase.countEffects()).toBe(before)
    expect((await first(testCase.other, createIdempotencyKey())).status).toBeLessThan(500)
  })

  it.each(OPERACIONES)('%s: does it once for equal requests at once', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const key = createIdempotencyKey()
    const before = await testCase.countEffects()
    const all = await Promise.all(Array.from({ length: 4 }, () => first(testCase, key)))
    expect(all.map(({ status }) => status)).toEqual(Array(4).fill(all[0]!.status))
    expect(all[0]!.status).toBeLessThan(300)
    expect(all.filter(({ headers }) => repeated(headers) === 'true')).toHaveLength(3)
    expect(new Set(all.map(({ body }) => JSON.stringify(testCase.commonPart(body)))).size).toBe(1)
    expect(await testCase.countEffects()).toBe(before + 1)
  })

  describe.each([
    ['after its effect was written', (_table: string) => 'create trigger morir before insert on clave_idempotencia'],
    [
      'at its commit',
      (table: string) =>
        `create constraint trigger morir after insert or update on ${table} deferrable initially deferred`,
    ],
  ])('with a transaction that dies %s', (_, buildTrigger) => {
    it.each(OPERACIONES)('%s: leaves neither effect nor key, and can be repeated', async (_, prepare) => {
      const testCase = await prepare(comercio)
      const key = createIdempotencyKey()
      const before = await testCase.countEffects()
      await rows(
        `create function morir() returns trigger language plpgsql security definer as
           $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
         ${buildTrigger(testCase.table)} for each row execute function morir()`,
      )
      try {
        expect((await first(testCase, key)).status).toBe(503)
      } finally {
        await rows('drop function morir cascade')
      }
      expect(await testCase.countEffects()).toBe(before)
      expect(await rows('select from clave_idempotencia where idempotencia = $1', key)).toEqual([])
      const one = await first(testCase, key)
      expect([one.status < 300, repeated(one.headers)]).toEqual([true, null])
      expect(await testCase.countEffects()).toBe(before + 1)
    })
  })

  it.each(OPERACIONES)('%s: has the same answer after a change of the master key', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const key = createIdempotencyKey()
    const one = await first(testCase, key)
    await environment.reset({ MASTER_KEYS: `${randomBytes(32).toString('base64')},${MASTER_KEY}` })
    try {
      const other = await first(testCase, key)
      expect([other.status, repeated(other.headers)]).toEqual([one.status, 'true'])
      expect(testCase.commonPart(other.body)).toEqual(testCase.commonPart(one.body))
    } finally {
      await environment.reset({ MASTER_KEYS: MASTER_KEY })
    }
  })

  it.each(OPERACIONES)('%s: does it each time without a key, and keeps nothing', async (id, prepare) => {
    const testCase = await prepare(comercio)
    const savedCookies = await rows('select count(*) from clave_idempotencia')
    for (let time = 0; time < 2; time++) {
      const body = id === 'crearWebhook' ? { url: url() } : testCase.body
      const one = await request(testCase.path, body, comercio, testCase.method)
      expect([one.status < 300 || (time > 0 && one.status === testCase.returningName), repeated(one.headers)]).toEqual([
        true,
        null,
      ])
      await testCase.changeBetween?.()
    }
    expect(await rows('select count(*) from clave_idempotencia')).toEqual(savedCookies)
  })

  it.each(OPERACIONES)('%s: refuses what is no key, and says what a key is', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const before = await testCase.countEffects()
    for (const bad of ['', 'con espacio', 'ñ', 'x'.repeat(256), `"${'x'.repeat(256)}"`, '"', '""', '"a', '"a"b"']) {
      const { status, body } = await first(testCase, bad)
      const [fault] = body.errores
      expect([bad, status, body.codigo, fault.campo]).toEqual([bad, 400, 'parametro_invalido', 'Idempotency-Key'])
      expect(fault.mensaje).toMatch(bad === '' ? /vacío.*omítalo/ : /de 1 a 255 caracteres ASCII visibles.*UUID/)
    }
    expect(await testCase.countEffects()).toBe(before)
  })

  it.each(OPERACIONES)('%s: reads the quotes of a structured field as the same key', async (_, prepare) => {
    const testCase = await prepare(comercio)
    const key = `${createIdempotencyKey()}\\"${'x'.repeat(217)}`
    expect(key).toHaveLength(255)
    const one = await first(testCase, key)
    const other = await first(testCase, `"${key.replace(/["\\]/g, '\\$&')}"`)
    expect([other.status, repeated(other.headers)]).toEqual([one.status, 'true'])
    expect(await rows('select from clave_idempotencia where idempotencia = $1', key)).toHaveLength(1)
  })
})

describe('a key', () => {
  it('is of one merchant, one mode and one operation', async () => {
    const key = createIdempotencyKey()
    const other = await environment.createComercio()
    for (const caller of [comercio, other]) {
      for (const [, prepare] of OPERACIONES) {
        const { status, headers } = await first(await prepare(caller), key, caller)
        expect([status < 300, repeated(headers)]).toEqual([true, null])
      }
    }
    const publicUrlRequest = { path: '/api/v1/webhooks', body: { url: 'https://tienda.ejemplo.com/avisos' } }
    const keyForEachModo = createIdempotencyKey()
    const codigos = []
    for (const modo of ['test', 'live'] as const) {
      const llave = await environment.createLlave(comercio, { modo })
      const one = await first(publicUrlRequest, keyForEachModo, { ...comercio, llave })
      expect([one.status, repeated(one.headers), one.body.modo]).toEqual([201, null, modo])
      codigos.push(one.body.webhook)
      const otherLlave = await environment.createLlave(comercio, { modo })
      expect((await first(publicUrlRequest, keyForEachModo, { ...comercio, llave: otherLlave })).body).toEqual(one.body)
    }
    expect(new Set(codigos).size).toBe(2)
  })

  it('is kept for 24 hours, and then free', async () => {
    const testCase = await CASOS.rotarSecreto(comercio)
    const key = createIdempotencyKey()
    const one = await first(testCase, key)
    environment.advance(24 * HOUR_MS - 1)
    expect((await first(testCase, key)).body.secreto).toBe(one.body.secreto)
    environment.advance(1)
    const other = await first(testCase, key)
    expect([other.status, repeated(other.headers)]).toEqual([200, null])
    expect(other.body.secreto).not.toBe(one.body.secreto)
    // The key now belongs to the new request.
    expect((await first(testCase, key)).body.secreto).toBe(other.body.secreto)
    expect(await rows('select from clave_idempotencia where idempotencia = $1', key)).toHaveLength(1)
  })

  it('goes with the hourly cleanup after 24 hours, in batches', async () => {
    const key = createIdempotencyKey()
    const testCase = await CASOS.probarWebhook(comercio)
    environment.advance(25 * HOUR_MS)
    await purgeKeys(environment)
    await first(testCase, key)
    await rows(
      `insert into clave_idempotencia select comercio_id, modo, operacion, 'vieja-' || n, huella, identificador,
         creado_en - interval '24 hours' from clave_idempotencia, generate_series(1, 2001) n where idempotencia = $1`,
      key,
    )
    expect(await purgeKeys(environment)).toBe(true)
    expect(await purgeKeys(environment)).toBe(false)
    expect(await rows('select idempotencia from clave_idempotencia')).toEqual([{ idempotencia: key }])
  })

  it('is not used up by a request that fails', async () => {
    const tomada = { url: url() }
    const { body: firstBody } = await request('/api/v1/webhooks', tomada)
    const testCase = { path: '/api/v1/webhooks', body: tomada }
    const key = createIdempotencyKey()
    expect(codigoOf(await first(testCase, key))).toEqual([409, 'webhook_repetido'])
    expect(codigoOf(await first({ ...testCase, body: { url: 'nada' } }, key))).toEqual([422, 'url_no_permitida'])
    await environment.request('DELETE', `/api/v1/webhooks/${firstBody.webhook}`, { llave: comercio.llave })
    const one = await first(testCase, key)
    expect([one.status, repeated(one.headers)]).toEqual([201, null])
  })

  it('stores nothing of the request but its digest', async () => {
    const testCase = await CASOS.crearWebhook(comercio)
    const key = createIdempotencyKey()
    const { webhook } = (await first(testCase, key)).body
    expect(await rows('select * from clave_idempotencia where idempotencia = $1', key)).toEqual([
      {
        comercio_id: comercio.id,
        modo: 'test',
        operacion: 'crearWebhook',
        idempotencia: key,
        huella: expect.stringMatching(/^[0-9a-f]{8}:[\w-]{16}$/),
        identificador: webhook,
        creado_en: environment.clock(),
      },
    ])
  })

  it('does not depend on the order of the members', async () => {
    const key = createIdempotencyKey()
    const path = '/api/v1/webhooks'
    const body = { url: url(), descripcion: 'Tienda' }
    const one = await first({ path, body }, key)
    const other = await first({ path, body: { descripcion: body.descripcion, url: body.url } }, key)
    expect([other.status, other.body]).toEqual([201, one.body])
  })

  it('is not kept after a dry run', async () => {
    const { path, body } = await CASOS.recuperarAvisosDeWebhook(comercio)
    const key = createIdempotencyKey()
    expect((await first({ path, body: { ...body, ensayo: true } }, key)).status).toBe(200)
    expect((await first({ path, body }, key)).status).toBe(202)
  })
})

describe('the answer to a repetition', () => {
  it('has the secret that the request created, even after a rotation', async () => {
    const testCase = await CASOS.crearWebhook(comercio)
    const key = createIdempotencyKey()
    const { webhook, secreto } = (await first(testCase, key)).body
    const rotar = { path: `/api/v1/webhooks/${webhook}/rotar-secreto`, body: { solapamiento_horas: 0 } }
    const rotation = createIdempotencyKey()
    const newSecreto = (await first(rotar, rotation)).body.secreto
    await first(rotar, createIdempotencyKey())
    const other = await first(testCase, key)
    expect(other.body.secreto).toBe(secreto)
    // The list of valid versions tells that the secret has expired.
    expect(other.body.secretos.map(({ version }: { version: number }) => version)).toEqual([3])
    expect((await first(rotar, rotation)).body.secreto).toBe(newSecreto)
  })

  it.each(OPERACIONES.filter(([id]) => /Webhook|Secreto/.test(id)))(
    '%s: says that the endpoint no longer exists',
    async (_, prepare) => {
      const testCase = await prepare(comercio)
      const key = createIdempotencyKey()
      const { webhook } = (await first(testCase, key)).body
      await environment.request('DELETE', `/api/v1/webhooks/${webhook}`, { llave: comercio.llave })
      const other = await first(testCase, key)
      expect(codigoOf(other)).toEqual(CONFLICTO)
      expect(other.body.mensaje).toContain('ya no existe')
    },
  )

  it.each(['entregado', 'intento_fallido'] as const)(
    'from the simulator shows that %s is registered once',
    async (estado) => {
      const { guia } = await comercio.api.guias.crear(buildGuia())
      for (const one of ['recolectado', 'en_ruta'] as const) await comercio.api.simulador.avanzar(guia, { estado: one })
      const motivo = estado === 'intento_fallido' ? { motivo: 'destinatario_ausente' } : {}
      const testCase = { path: `/api/v1/simulador/guias/${guia}/avanzar`, body: { estado, ...motivo } }
      const key = createIdempotencyKey()
      const all = await Promise.all([first(testCase, key), first(testCase, key)])
      expect(all.map(({ status }) => status)).toEqual([200, 200])
      expect(all.map(({ headers }) => repeated(headers)).sort()).toEqual([null, 'true'].sort())
      // A failed attempt opens a decision, with an event of its own.
      expect((await comercio.api.guias.obtener(guia)).secuencia).toBe(estado === 'entregado' ? 4 : 5)
      // Later changes show, too.
      if (estado === 'intento_fallido') await comercio.api.simulador.avanzar(guia, { estado: 'en_bodega' })
      const now = await comercio.api.guias.obtener(guia)
      expect((await first(testCase, key)).body).toMatchObject({ estado: now.estado, secuencia: now.secuencia })
    },
  )
})
