import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Service, startService } from '../../server/startup/service.ts'
import { type Comercio, MASTER_KEY, useEnvironment, withKey } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { listo, requestSeparately, useProcesses } from '../processes.ts'
import { createIdempotencyKey } from './operations.ts'

// The generator gives one code twice when told to.
let repetido: string | undefined
const newCodigo = (first?: string) => {
  const codigo = repetido ?? newGuideCode(first)
  repetido = undefined
  return codigo
}
const environment = useEnvironment({ newCode: newCodigo }, () => ({ WORKERS: '0' }))
const processes = useProcesses()
let other: Service
let comercio: Comercio
beforeAll(async () => {
  environment.freezeClock()
  const variables = { DATABASE_URL: environment.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: environment.dataDir }
  const config = readConfig({ ...variables, PORT: '0', WORKERS: '0', MESSAGING: 'buzon' }, process.cwd())
  other = await startService(config, createLog('silent'), undefined, { clock: environment.clock, farewellMs: 0 })
})
afterAll(() => other.stop())
beforeEach(async () => {
  comercio = await environment.createComercio()
})

const { external_ref: _, ...GUIA_WITHOUT_REFERENCIA } = buildGuia()
type Cuerpo = Record<string, unknown>
const request = (path: string, body: Cuerpo, key?: string, llave = comercio.llave) =>
  environment.request('POST', `/api/v1/guias${path}`, { llave, body, headers: withKey(key) })
const create = (key?: string, cambios: Cuerpo = {}) => request('', { ...GUIA_WITHOUT_REFERENCIA, ...cambios }, key)
const crearLote = (guias: unknown[], key?: string, more: Cuerpo = {}) => request('/bulk', { guias, ...more }, key)
const count = async (id = comercio.id) =>
  (await environment.db.pool.query('select count(*)::int as n from guia where comercio_id = $1', [id])).rows[0]
    .n as number
const keys = async () =>
  (
    await environment.db.pool.query(
      'select operacion, idempotencia, identificador from clave_idempotencia where comercio_id = $1 order by creado_en',
      [comercio.id],
    )
  ).rows
interface Resultado {
  ok: boolean
  guia?: string
  repetida?: boolean
  error?: { codigo: string; mensaje: string }
}
const results = (response: { body: { resultados: Resultado[] } }) => response.body.resultados
const repeated = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed')

const CANCELLED = {
  codigo: 'ya_cancelada',
  campo: null,
  mensaje: 'la guía que creó esta Idempotency-Key está cancelada: para otro envío use otra clave',
  sugerencia: null,
}

describe('a creation with Idempotency-Key', () => {
  it('is one guide for 100 requests at once, to two processes', async () => {
    const key = createIdempotencyKey()
    const urls = [environment.url, other.url]
    const all = await Promise.all(
      Array.from({ length: 100 }, async (_unused, i) => {
        const response = await fetch(`${urls[i % 2]}/api/v1/guias`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${comercio.llave}`,
            'Content-Type': 'application/json',
            ...withKey(key),
          },
          body: JSON.stringify(GUIA_WITHOUT_REFERENCIA),
        })
        const { guia } = (await response.json()) as { guia: string }
        return [response.status, guia, repeated({ headers: response.headers }), response.headers.get('location')]
      }),
    )
    const [[, guia]] = all as [[number, string]]
    const equalOnes = all.filter(([, , target]) => target === 'true')
    expect(equalOnes).toEqual(Array(99).fill([201, guia, 'true', `/api/v1/guias/${guia}`]))
    expect(await count()).toBe(1)
    const { eventos } = await comercio.api.guias.obtener(guia)
    expect(eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado'])
  })

  it('shares its statement with creations of others, with a key and without', async () => {
    const otherComercio = await environment.createComercio()
    const [one, dos] = [createIdempotencyKey(), createIdempotencyKey()]
    const [a, b, caseWithout, foreign, withReference, differentOne] = await Promise.all([
      create(one),
      create(dos),
      create(),
      request('', GUIA_WITHOUT_REFERENCIA, one, otherComercio.llave),
      request('', buildGuia(), one),
      create(one, { contenido: 'Otra cosa' }),
    ])
    expect([a, b, caseWithout, foreign, withReference].map(({ status }) => status)).toEqual(Array(5).fill(201))
    expect([differentOne.status, differentOne.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect([await count(), await count(otherComercio.id)]).toEqual([4, 1])
    expect((await keys()).map(({ idempotencia }) => idempotencia).sort()).toEqual([one, dos].sort())
  })

  it('is the same guide after the process was killed between the commit and the answer', async () => {
    const key = createIdempotencyKey()
    // Hides the database's answer to the statement with the key from the service.
    const connections: Socket[] = []
    const base = new URL(environment.databaseUrl)
    const red = createServer((service) => {
      const db = connect(Number(base.port), base.hostname)
      connections.push(service, db)
      let silent = false
      service.on('data', (chunk) => {
        silent ||= chunk.includes(key)
        db.write(chunk)
      })
      db.on('data', (chunk) => {
        if (!silent) service.write(chunk)
      })
      for (const one of [service, db])
        one.on('error', () => {}).on('close', () => [service, db].map((c) => c.destroy()))
    }).listen(0, '127.0.0.1')
    await once(red, 'listening')
    const networkUrl = Object.assign(new URL(base), {
      hostname: '127.0.0.1',
      port: `${(red.address() as AddressInfo).port}`,
    })
    const child = processes.startService({
      DATABASE_URL: networkUrl.href,
      MASTER_KEYS: MASTER_KEY,
      DATA_DIR: processes.nextFolder(),
      MESSAGING: 'buzon',
    })
    const url = await listo(child)
    const lost = requestSeparately(`${url}/api/v1/guias`, {
      method: 'POST',
      llave: comercio.llave,
      body: GUIA_WITHOUT_REFERENCIA,
      headers: withKey(key),
    })
    await Promise.all([
      expect(lost).rejects.toThrow(/hang up|ECONNRESET/),
      waitUntil(count).then(() => child.signalAll('SIGKILL')),
    ])
    const { status, body, headers } = await create(key)
    for (const one of connections) one.destroy()
    red.close()
    expect([status, repeated({ headers }), await count()]).toEqual([201, 'true', 1])
    expect(await keys()).toEqual([{ operacion: 'crearGuia', idempotencia: key, identificador: body.guia }])
  })

  it('gives way to external_ref: the key is neither looked at nor stored', async () => {
    const key = createIdempotencyKey()
    const requestData = buildGuia()
    const first = await request('', requestData, key)
    const repetition = await request('', requestData, createIdempotencyKey())
    expect([first.status, repetition.status, repeated(repetition)]).toEqual([201, 200, 'true'])
    expect(repetition.body.guia).toBe(first.body.guia)
    expect((await request('', { ...requestData, contenido: 'Otra' }, key)).body.codigo).toBe(
      'external_ref_en_conflicto',
    )
    expect((await request('', buildGuia(), key)).status).toBe(201)
    expect(await keys()).toEqual([])
    // A malformed key is refused all the same, because it is a mistake of the caller.
    expect((await request('', requestData, 'con espacio')).status).toBe(400)
  })

  it('answers with the guide as it is now, and with a warning if nothing will be delivered', async () => {
    const key = createIdempotencyKey()
    const { guia } = (await create(key)).body
    await comercio.api.guias.cancelar(guia)
    const other = await create(key)
    expect([other.status, other.body.guia, other.body.estado]).toEqual([201, guia, 'cancelado'])
    expect(other.body.advertencias).toEqual([CANCELLED])
    const [first] = results(await crearLote([GUIA_WITHOUT_REFERENCIA], key))
    await comercio.api.guias.cancelar(first!.guia!)
    expect(results(await crearLote([GUIA_WITHOUT_REFERENCIA], key))).toMatchObject([
      { ok: true, advertencias: [CANCELLED] },
    ])
  })

  it('is kept for 24 hours, and then free for another guide', async () => {
    const key = createIdempotencyKey()
    const { guia } = (await create(key)).body
    environment.advance(24 * HOUR_MS - 1)
    expect((await create(key)).body.guia).toBe(guia)
    environment.advance(1)
    const other = await create(key, { contenido: 'Otra cosa' })
    expect([other.status, repeated(other), other.body.guia === guia]).toEqual([201, null, false])
    expect(await keys()).toEqual([{ operacion: 'crearGuia', idempotencia: key, identificador: other.body.guia }])
  })

  it('is not used up by a rejected guide, and repeats one that is rejected now', async () => {
    const inAfrica = { lat: 0.5, lng: 25.5 }
    const key = createIdempotencyKey()
    const rechazada = await create(key, { ...inAfrica, estricto: true })
    expect([rechazada.status, await keys()]).toEqual([422, []])
    const { status, body } = await create(key, inAfrica)
    expect(status).toBe(201)
    await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    await waitUntil(async () => (await create(createIdempotencyKey(), inAfrica)).status === 422)
    expect((await create(key, inAfrica)).body.guia).toBe(body.guia)
  })

  it('stores the code that the guide got after a collision', async () => {
    const { guia } = (await create()).body
    const key = createIdempotencyKey()
    repetido = guia
    const { body } = await create(key)
    expect(repetido).toBeUndefined()
    expect(body.guia).not.toBe(guia)
    expect((await create(key)).body.guia).toBe(body.guia)
  })

  it('is ignored by what only reads', async () => {
    for (const key of ['con espacio', createIdempotencyKey()]) {
      const read = await environment.request('GET', '/api/v1/guias', {
        llave: comercio.llave,
        headers: withKey(key),
      })
      expect([read.status, repeated(read)]).toEqual([200, null])
    }
  })
})

describe('a batch with Idempotency-Key', () => {
  const BAD_GUIA = { ...GUIA_WITHOUT_REFERENCIA, telefono: '1' }

  it('gives the guides of the first time, each in its place, and those with a reference by it', async () => {
    const key = createIdempotencyKey()
    const requestData = buildGuia()
    const guias = [BAD_GUIA, GUIA_WITHOUT_REFERENCIA, requestData, GUIA_WITHOUT_REFERENCIA, 7]
    const first = await crearLote(guias, key)
    expect([first.status, repeated(first), await count()]).toEqual([200, null, 3])
    expect(first.body).toMatchObject({ creadas: 3, repetidas: 0, fallidas: 2 })
    const [, b, , d] = results(first)
    expect(await keys()).toEqual([
      { operacion: 'crearLote', idempotencia: key, identificador: `,${b!.guia},,${d!.guia},` },
    ])
    const other = await crearLote(guias, key)
    expect([other.status, repeated(other), await count()]).toEqual([200, 'true', 3])
    expect(other.body).toMatchObject({ creadas: 0, repetidas: 3, fallidas: 2 })
    const omitMark = (one: Resultado) => ({
      ...one,
      ...('repetida' in one ? { repetida: true } : {}),
      error: one.error?.codigo,
    })
    expect(results(other).map(omitMark)).toEqual(results(first).map(omitMark))
  })

  it('is one batch for equal ones at once', async () => {
    const key = createIdempotencyKey()
    const all = await Promise.all(
      Array.from({ length: 12 }, () => crearLote([GUIA_WITHOUT_REFERENCIA, BAD_GUIA, GUIA_WITHOUT_REFERENCIA], key)),
    )
    expect(all.filter((one) => repeated(one) === 'true')).toHaveLength(11)
    expect(
      new Set(
        all.map((one) =>
          results(one)
            .map(({ guia }) => guia)
            .join(),
        ),
      ).size,
    ).toBe(1)
    expect(await count()).toBe(2)
  })

  it('refuses the key of another batch, and creates none of its guides', async () => {
    const key = createIdempotencyKey()
    await crearLote([GUIA_WITHOUT_REFERENCIA, GUIA_WITHOUT_REFERENCIA], key)
    for (const others of [
      [GUIA_WITHOUT_REFERENCIA],
      [GUIA_WITHOUT_REFERENCIA, GUIA_WITHOUT_REFERENCIA, GUIA_WITHOUT_REFERENCIA],
      [GUIA_WITHOUT_REFERENCIA, buildGuia()],
    ]) {
      const { status, body } = await crearLote(others, key)
      expect([status, body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
      expect(body.mensaje).toContain(`La Idempotency-Key ${key} ya se usó`)
    }
    expect(await count()).toBe(2)
  })

  it('needs no key if each guide has a reference', async () => {
    const key = createIdempotencyKey()
    expect((await crearLote([buildGuia(), buildGuia()], key)).status).toBe(200)
    expect((await crearLote([buildGuia()], key)).status).toBe(200)
    expect([await keys(), await count()]).toEqual([[], 3])
  })

  it('does not create afterwards what was rejected the first time', async () => {
    const inAfrica = { ...GUIA_WITHOUT_REFERENCIA, lat: 0.5, lng: 25.5 }
    await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    await waitUntil(async () => (await request('', inAfrica)).status === 422)
    const key = createIdempotencyKey()
    const [one, rechazada] = results(await crearLote([GUIA_WITHOUT_REFERENCIA, inAfrica], key))
    expect([one!.ok, rechazada!.ok]).toEqual([true, false])
    await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: false } })
    await waitUntil(async () => (await request('', inAfrica)).status === 201)
    const before = await count()
    const [other, stillFailing] = results(await crearLote([GUIA_WITHOUT_REFERENCIA, inAfrica], key))
    expect([other!.guia, stillFailing!.error!.codigo]).toEqual([one!.guia, 'idempotencia_en_conflicto'])
    expect(stillFailing!.error!.mensaje).toContain('aquella vez esta guía no se creó')
    expect(await count()).toBe(before)
  })

  it('fails only the guide that the database does not take', async () => {
    await environment.db.pool.query(
      `alter table guia add constraint prueba_sin_contenido check (contenido is distinct from 'No cabe') not valid`,
    )
    try {
      const key = createIdempotencyKey()
      const guias = [
        GUIA_WITHOUT_REFERENCIA,
        { ...GUIA_WITHOUT_REFERENCIA, contenido: 'No cabe' },
        GUIA_WITHOUT_REFERENCIA,
      ]
      const first = results(await crearLote(guias, key))
      expect(first.map(({ ok }) => ok)).toEqual([true, false, true])
      const other = await crearLote(guias, key)
      expect([repeated(other), results(other).map(({ guia }) => guia)]).toEqual(['true', first.map(({ guia }) => guia)])
      expect(await count()).toBe(2)
    } finally {
      await environment.db.pool.query('alter table guia drop constraint prueba_sin_contenido')
    }
  })
})
