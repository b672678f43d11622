import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Service, startService } from '../../server/startup/service.ts'
import { type Comercio, conClave, MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { listo, requestSeparately, useProcesses } from '../processes.ts'
import { createIdempotencyKey } from './operations.ts'

// The generator gives one code twice when told to.
let repetido: string | undefined
const nuevoCodigo = (primero?: string) => {
  const codigo = repetido ?? newGuideCode(primero)
  repetido = undefined
  return codigo
}
const entorno = useEnvironment({ newCode: nuevoCodigo }, () => ({ WORKERS: '0' }))
const procesos = useProcesses()
let otro: Service
let comercio: Comercio
beforeAll(async () => {
  entorno.freezeClock()
  const variables = { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: entorno.dataDir }
  const config = readConfig({ ...variables, PORT: '0', WORKERS: '0', MESSAGING: 'buzon' }, process.cwd())
  otro = await startService(config, createLog('silent'), undefined, { clock: entorno.clock, farewellMs: 0 })
})
afterAll(() => otro.stop())
beforeEach(async () => {
  comercio = await entorno.nuevoComercio()
})

const { external_ref: _, ...SIN } = buildGuia()
type Cuerpo = Record<string, unknown>
const pedir = (ruta: string, cuerpo: Cuerpo, clave?: string, llave = comercio.llave) =>
  entorno.request('POST', `/api/v1/guias${ruta}`, { llave, cuerpo, cabeceras: conClave(clave) })
const crear = (clave?: string, cambios: Cuerpo = {}) => pedir('', { ...SIN, ...cambios }, clave)
const crearLote = (guias: unknown[], clave?: string, mas: Cuerpo = {}) => pedir('/bulk', { guias, ...mas }, clave)
const cuantas = async (id = comercio.id) =>
  (await entorno.db.pool.query('select count(*)::int as n from guia where comercio_id = $1', [id])).rows[0].n as number
const claves = async () =>
  (
    await entorno.db.pool.query(
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
const resultados = (respuesta: { cuerpo: { resultados: Resultado[] } }) => respuesta.cuerpo.resultados
const repetida = ({ cabeceras }: { cabeceras: Headers }) => cabeceras.get('idempotent-replayed')

describe('a creation with Idempotency-Key', () => {
  it('is one guide for 100 requests at once, to two processes', async () => {
    const clave = createIdempotencyKey()
    const urls = [entorno.url, otro.url]
    const todas = await Promise.all(
      Array.from({ length: 100 }, async (_nada, i) => {
        const respuesta = await fetch(`${urls[i % 2]}/api/v1/guias`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${comercio.llave}`,
            'Content-Type': 'application/json',
            ...conClave(clave),
          },
          body: JSON.stringify(SIN),
        })
        const { guia } = (await respuesta.json()) as { guia: string }
        return [respuesta.status, guia, repetida({ cabeceras: respuesta.headers }), respuesta.headers.get('location')]
      }),
    )
    const [[, guia]] = todas as [[number, string]]
    const iguales = todas.filter(([, , cual]) => cual === 'true')
    expect(iguales).toEqual(Array(99).fill([201, guia, 'true', `/api/v1/guias/${guia}`]))
    expect(await cuantas()).toBe(1)
    const { eventos } = await comercio.api.guias.obtener(guia)
    expect(eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado'])
  })

  it('shares its statement with creations of others, with a key and without', async () => {
    const otroComercio = await entorno.nuevoComercio()
    const [una, dos] = [createIdempotencyKey(), createIdempotencyKey()]
    const [a, b, sin, ajena, conReferencia, distinta] = await Promise.all([
      crear(una),
      crear(dos),
      crear(),
      pedir('', SIN, una, otroComercio.llave),
      pedir('', buildGuia(), una),
      crear(una, { contenido: 'Otra cosa' }),
    ])
    expect([a, b, sin, ajena, conReferencia].map(({ status }) => status)).toEqual(Array(5).fill(201))
    expect([distinta.status, distinta.cuerpo.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect([await cuantas(), await cuantas(otroComercio.id)]).toEqual([4, 1])
    expect((await claves()).map(({ idempotencia }) => idempotencia).sort()).toEqual([una, dos].sort())
  })

  it('is the same guide after the process was killed between the commit and the answer', async () => {
    const clave = createIdempotencyKey()
    // Hides the database's answer to the statement with the key from the service.
    const conexiones: Socket[] = []
    const base = new URL(entorno.databaseUrl)
    const red = createServer((servicio) => {
      const db = connect(Number(base.port), base.hostname)
      conexiones.push(servicio, db)
      let callada = false
      servicio.on('data', (trozo) => {
        callada ||= trozo.includes(clave)
        db.write(trozo)
      })
      db.on('data', (trozo) => {
        if (!callada) servicio.write(trozo)
      })
      for (const una of [servicio, db])
        una.on('error', () => {}).on('close', () => [servicio, db].map((c) => c.destroy()))
    }).listen(0, '127.0.0.1')
    await once(red, 'listening')
    const porLaRed = Object.assign(new URL(base), {
      hostname: '127.0.0.1',
      port: `${(red.address() as AddressInfo).port}`,
    })
    const proceso = procesos.startService({
      DATABASE_URL: porLaRed.href,
      MASTER_KEYS: MASTER_KEY,
      DATA_DIR: procesos.nextFolder(),
      MESSAGING: 'buzon',
    })
    const url = await listo(proceso)
    const perdida = requestSeparately(`${url}/api/v1/guias`, {
      method: 'POST',
      llave: comercio.llave,
      cuerpo: SIN,
      cabeceras: conClave(clave),
    })
    await Promise.all([
      expect(perdida).rejects.toThrow(/hang up|ECONNRESET/),
      hasta(cuantas).then(() => proceso.signalAll('SIGKILL')),
    ])
    const { status, cuerpo, cabeceras } = await crear(clave)
    for (const una of conexiones) una.destroy()
    red.close()
    expect([status, repetida({ cabeceras }), await cuantas()]).toEqual([201, 'true', 1])
    expect(await claves()).toEqual([{ operacion: 'crearGuia', idempotencia: clave, identificador: cuerpo.guia }])
  })

  it('gives way to external_ref: the key is neither looked at nor stored', async () => {
    const clave = createIdempotencyKey()
    const pedido = buildGuia()
    const primera = await pedir('', pedido, clave)
    const otraVez = await pedir('', pedido, createIdempotencyKey())
    expect([primera.status, otraVez.status, repetida(otraVez)]).toEqual([201, 200, 'true'])
    expect(otraVez.cuerpo.guia).toBe(primera.cuerpo.guia)
    expect((await pedir('', { ...pedido, contenido: 'Otra' }, clave)).cuerpo.codigo).toBe('external_ref_en_conflicto')
    expect((await pedir('', buildGuia(), clave)).status).toBe(201)
    expect(await claves()).toEqual([])
    // A malformed key is refused all the same, because it is a mistake of the caller.
    expect((await pedir('', pedido, 'con espacio')).status).toBe(400)
  })

  it('answers with the guide as it is now', async () => {
    const clave = createIdempotencyKey()
    const { guia } = (await crear(clave)).cuerpo
    await comercio.api.guias.cancelar(guia)
    const otra = await crear(clave)
    expect([otra.status, otra.cuerpo.guia, otra.cuerpo.estado]).toEqual([201, guia, 'cancelado'])
  })

  it('is kept for 24 hours, and then free for another guide', async () => {
    const clave = createIdempotencyKey()
    const { guia } = (await crear(clave)).cuerpo
    entorno.advance(24 * HOUR_MS - 1)
    expect((await crear(clave)).cuerpo.guia).toBe(guia)
    entorno.advance(1)
    const otra = await crear(clave, { contenido: 'Otra cosa' })
    expect([otra.status, repetida(otra), otra.cuerpo.guia === guia]).toEqual([201, null, false])
    expect(await claves()).toEqual([{ operacion: 'crearGuia', idempotencia: clave, identificador: otra.cuerpo.guia }])
  })

  it('is not used up by a rejected guide, and repeats one that is rejected now', async () => {
    const enAfrica = { lat: 0.5, lng: 25.5 }
    const clave = createIdempotencyKey()
    const rechazada = await crear(clave, { ...enAfrica, estricto: true })
    expect([rechazada.status, await claves()]).toEqual([422, []])
    const { status, cuerpo } = await crear(clave, enAfrica)
    expect(status).toBe(201)
    await entorno.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    await hasta(async () => (await crear(createIdempotencyKey(), enAfrica)).status === 422)
    expect((await crear(clave, enAfrica)).cuerpo.guia).toBe(cuerpo.guia)
  })

  it('stores the code that the guide got after a collision', async () => {
    const { guia } = (await crear()).cuerpo
    const clave = createIdempotencyKey()
    repetido = guia
    const { cuerpo } = await crear(clave)
    expect(repetido).toBeUndefined()
    expect(cuerpo.guia).not.toBe(guia)
    expect((await crear(clave)).cuerpo.guia).toBe(cuerpo.guia)
  })

  it('is ignored by what only reads', async () => {
    for (const clave of ['con espacio', createIdempotencyKey()]) {
      const leida = await entorno.request('GET', '/api/v1/guias', { llave: comercio.llave, cabeceras: conClave(clave) })
      expect([leida.status, repetida(leida)]).toEqual([200, null])
    }
  })
})

describe('a batch with Idempotency-Key', () => {
  const MALA = { ...SIN, telefono: '1' }

  it('gives the guides of the first time, each in its place, and those with a reference by it', async () => {
    const clave = createIdempotencyKey()
    const pedido = buildGuia()
    const guias = [MALA, SIN, pedido, SIN, 7]
    const primera = await crearLote(guias, clave)
    expect([primera.status, repetida(primera), await cuantas()]).toEqual([200, null, 3])
    expect(primera.cuerpo).toMatchObject({ creadas: 3, repetidas: 0, fallidas: 2 })
    const [, b, , d] = resultados(primera)
    expect(await claves()).toEqual([
      { operacion: 'crearLote', idempotencia: clave, identificador: `,${b!.guia},,${d!.guia},` },
    ])
    const otra = await crearLote(guias, clave)
    expect([otra.status, repetida(otra), await cuantas()]).toEqual([200, 'true', 3])
    expect(otra.cuerpo).toMatchObject({ creadas: 0, repetidas: 3, fallidas: 2 })
    const sinMarca = (uno: Resultado) => ({
      ...uno,
      ...('repetida' in uno ? { repetida: true } : {}),
      error: uno.error?.codigo,
    })
    expect(resultados(otra).map(sinMarca)).toEqual(resultados(primera).map(sinMarca))
  })

  it('is one batch for equal ones at once', async () => {
    const clave = createIdempotencyKey()
    const todas = await Promise.all(Array.from({ length: 12 }, () => crearLote([SIN, MALA, SIN], clave)))
    expect(todas.filter((una) => repetida(una) === 'true')).toHaveLength(11)
    expect(
      new Set(
        todas.map((una) =>
          resultados(una)
            .map(({ guia }) => guia)
            .join(),
        ),
      ).size,
    ).toBe(1)
    expect(await cuantas()).toBe(2)
  })

  it('refuses the key of another batch, and creates none of its guides', async () => {
    const clave = createIdempotencyKey()
    await crearLote([SIN, SIN], clave)
    for (const otras of [[SIN], [SIN, SIN, SIN], [SIN, buildGuia()]]) {
      const { status, cuerpo } = await crearLote(otras, clave)
      expect([status, cuerpo.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
      expect(cuerpo.mensaje).toContain(`La Idempotency-Key ${clave} ya se usó`)
    }
    expect(await cuantas()).toBe(2)
  })

  it('needs no key if each guide has a reference', async () => {
    const clave = createIdempotencyKey()
    expect((await crearLote([buildGuia(), buildGuia()], clave)).status).toBe(200)
    expect((await crearLote([buildGuia()], clave)).status).toBe(200)
    expect([await claves(), await cuantas()]).toEqual([[], 3])
  })

  it('does not create afterwards what was rejected the first time', async () => {
    const enAfrica = { ...SIN, lat: 0.5, lng: 25.5 }
    await entorno.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
    await hasta(async () => (await pedir('', enAfrica)).status === 422)
    const clave = createIdempotencyKey()
    const [una, rechazada] = resultados(await crearLote([SIN, enAfrica], clave))
    expect([una!.ok, rechazada!.ok]).toEqual([true, false])
    await entorno.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: false } })
    await hasta(async () => (await pedir('', enAfrica)).status === 201)
    const antes = await cuantas()
    const [otra, todavia] = resultados(await crearLote([SIN, enAfrica], clave))
    expect([otra!.guia, todavia!.error!.codigo]).toEqual([una!.guia, 'idempotencia_en_conflicto'])
    expect(todavia!.error!.mensaje).toContain('aquella vez esta guía no se creó')
    expect(await cuantas()).toBe(antes)
  })

  it('fails only the guide that the database does not take', async () => {
    await entorno.db.pool.query(
      `alter table guia add constraint prueba_sin_contenido check (contenido is distinct from 'No cabe') not valid`,
    )
    try {
      const clave = createIdempotencyKey()
      const guias = [SIN, { ...SIN, contenido: 'No cabe' }, SIN]
      const primera = resultados(await crearLote(guias, clave))
      expect(primera.map(({ ok }) => ok)).toEqual([true, false, true])
      const otra = await crearLote(guias, clave)
      expect([repetida(otra), resultados(otra).map(({ guia }) => guia)]).toEqual([
        'true',
        primera.map(({ guia }) => guia),
      ])
      expect(await cuantas()).toBe(2)
    } finally {
      await entorno.db.pool.query('alter table guia drop constraint prueba_sin_contenido')
    }
  })
})
