import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { purgeKeys } from '../../server/domain/idempotencia/prune.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, conClave, MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { createIdempotencyCases, createIdempotencyKey, type IdempotencyCase, url } from './operations.ts'

/** The service sends nothing, so nothing changes but by what a test asks. */
const entorno = useEnvironment({ resolver: async () => [{ address: '8.8.8.8', family: 4 }] }, () => ({ WORKERS: '0' }))
const CASOS = createIdempotencyCases(entorno)
const OPERACIONES = Object.entries(CASOS)
let comercio: Comercio
beforeAll(() => entorno.freezeClock())
beforeEach(async () => {
  comercio = await entorno.nuevoComercio()
})

const filas = async (sql: string, ...valores: unknown[]) => (await entorno.db.pool.query(sql, valores)).rows
const pedir = (ruta: string, cuerpo: object, { llave }: { llave: string } = comercio, metodo = 'POST') =>
  entorno.request(metodo, ruta, { llave, cuerpo })
type Peticion = Pick<IdempotencyCase, 'method' | 'path' | 'cuerpo'>
const primera = (
  { method: metodo, path: ruta, cuerpo }: Peticion,
  clave: string,
  { llave }: { llave: string } = comercio,
) => entorno.request(metodo ?? 'POST', ruta, { llave, cuerpo, cabeceras: conClave(clave) })
const repetida = (cabeceras: Headers) => cabeceras.get('idempotent-replayed')
const codigoDe = ({ status, cuerpo }: Awaited<ReturnType<typeof pedir>>) => [status, cuerpo.codigo]
const CONFLICTO = [409, 'idempotencia_en_conflicto']

describe('an operation that takes Idempotency-Key', () => {
  it('is every one that the contract says', () => {
    const declaradas = readOperations(readDocument())
      .filter(({ path: ruta }) => ruta.startsWith('/api/v1/'))
      .filter(({ parameters: parametros }) => parametros.some(({ name }) => name === 'Idempotency-Key'))
    expect(Object.keys(CASOS).sort()).toEqual(declaradas.map(({ id }) => id).sort())
  })

  it.each(OPERACIONES)('%s: does it once, and a repetition has the same answer', async (_, preparar) => {
    const caso = await preparar(comercio)
    const clave = createIdempotencyKey()
    const antes = await caso.countEffects()
    const una = await primera(caso, clave)
    expect([una.status < 300, repetida(una.cabeceras)]).toEqual([true, null])
    expect(await caso.countEffects()).toBe(antes + 1)
    await caso.changeBetween?.()
    const lineas = await filas('select count(*) from bitacora')
    for (let vez = 0; vez < 2; vez++) {
      const otra = await primera(caso, clave)
      expect([otra.status, repetida(otra.cabeceras)]).toEqual([una.status, 'true'])
      expect(caso.commonPart(otra.cuerpo)).toEqual(caso.commonPart(una.cuerpo))
      expect(otra.cabeceras.get('location')).toBe(una.cabeceras.get('location'))
    }
    expect(await caso.countEffects()).toBe(antes + 1)
    expect(await filas('select count(*) from bitacora')).toEqual(lineas)
  })

  it.each(OPERACIONES)('%s: is the same request with the guide’s code in lower case', async (_, preparar) => {
    const caso = await preparar(comercio)
    const ruta = caso.path.replace(/(?<=\/guias\/)\w+/, (guia) => guia.toLowerCase())
    if (ruta === caso.path) return
    const clave = createIdempotencyKey()
    await primera(caso, clave)
    const otra = await primera({ ...caso, path: ruta }, clave)
    expect([otra.cuerpo.codigo, repetida(otra.cabeceras)]).toEqual([undefined, 'true'])
  })

  it.each(OPERACIONES)('%s: refuses the key of another request, and does nothing', async (_, preparar) => {
    const caso = await preparar(comercio)
    const clave = createIdempotencyKey()
    await primera(caso, clave)
    const antes = await caso.countEffects()
    const otra = await primera(caso.other, clave)
    expect(codigoDe(otra)).toEqual(CONFLICTO)
    expect(otra.cuerpo.mensaje).toContain(clave)
    expect(await caso.countEffects()).toBe(antes)
    expect((await primera(caso.other, createIdempotencyKey())).status).toBeLessThan(500)
  })

  it.each(OPERACIONES)('%s: does it once for equal requests at once', async (_, preparar) => {
    const caso = await preparar(comercio)
    const clave = createIdempotencyKey()
    const antes = await caso.countEffects()
    const todas = await Promise.all(Array.from({ length: 4 }, () => primera(caso, clave)))
    expect(todas.map(({ status }) => status)).toEqual(Array(4).fill(todas[0]!.status))
    expect(todas[0]!.status).toBeLessThan(300)
    expect(todas.filter(({ cabeceras }) => repetida(cabeceras) === 'true')).toHaveLength(3)
    expect(new Set(todas.map(({ cuerpo }) => JSON.stringify(caso.commonPart(cuerpo)))).size).toBe(1)
    expect(await caso.countEffects()).toBe(antes + 1)
  })

  describe.each([
    ['after its effect was written', (_tabla: string) => 'create trigger morir before insert on clave_idempotencia'],
    [
      'at its commit',
      (tabla: string) =>
        `create constraint trigger morir after insert or update on ${tabla} deferrable initially deferred`,
    ],
  ])('with a transaction that dies %s', (_, disparador) => {
    it.each(OPERACIONES)('%s: leaves neither effect nor key, and can be repeated', async (_, preparar) => {
      const caso = await preparar(comercio)
      const clave = createIdempotencyKey()
      const antes = await caso.countEffects()
      await filas(
        `create function morir() returns trigger language plpgsql security definer as
           $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
         ${disparador(caso.table)} for each row execute function morir()`,
      )
      try {
        expect((await primera(caso, clave)).status).toBe(503)
      } finally {
        await filas('drop function morir cascade')
      }
      expect(await caso.countEffects()).toBe(antes)
      expect(await filas('select from clave_idempotencia where idempotencia = $1', clave)).toEqual([])
      const una = await primera(caso, clave)
      expect([una.status < 300, repetida(una.cabeceras)]).toEqual([true, null])
      expect(await caso.countEffects()).toBe(antes + 1)
    })
  })

  it.each(OPERACIONES)('%s: has the same answer after a change of the master key', async (_, preparar) => {
    const caso = await preparar(comercio)
    const clave = createIdempotencyKey()
    const una = await primera(caso, clave)
    await entorno.reset({ MASTER_KEYS: `${randomBytes(32).toString('base64')},${MASTER_KEY}` })
    try {
      const otra = await primera(caso, clave)
      expect([otra.status, repetida(otra.cabeceras)]).toEqual([una.status, 'true'])
      expect(caso.commonPart(otra.cuerpo)).toEqual(caso.commonPart(una.cuerpo))
    } finally {
      await entorno.reset({ MASTER_KEYS: MASTER_KEY })
    }
  })

  it.each(OPERACIONES)('%s: does it each time without a key, and keeps nothing', async (id, preparar) => {
    const caso = await preparar(comercio)
    const guardadas = await filas('select count(*) from clave_idempotencia')
    for (let vez = 0; vez < 2; vez++) {
      const cuerpo = id === 'crearWebhook' ? { url: url() } : caso.cuerpo
      const una = await pedir(caso.path, cuerpo, comercio, caso.method)
      expect([una.status < 300 || (vez > 0 && una.status === caso.returningName), repetida(una.cabeceras)]).toEqual([
        true,
        null,
      ])
      await caso.changeBetween?.()
    }
    expect(await filas('select count(*) from clave_idempotencia')).toEqual(guardadas)
  })

  it.each(OPERACIONES)('%s: refuses what is no key, and says what a key is', async (_, preparar) => {
    const caso = await preparar(comercio)
    const antes = await caso.countEffects()
    for (const mala of ['', 'con espacio', 'ñ', 'x'.repeat(256), `"${'x'.repeat(256)}"`, '"', '""', '"a', '"a"b"']) {
      const { status, cuerpo } = await primera(caso, mala)
      const [falla] = cuerpo.errores
      expect([mala, status, cuerpo.codigo, falla.campo]).toEqual([mala, 400, 'parametro_invalido', 'Idempotency-Key'])
      expect(falla.mensaje).toMatch(mala === '' ? /vacío.*omítalo/ : /de 1 a 255 caracteres ASCII visibles.*UUID/)
    }
    expect(await caso.countEffects()).toBe(antes)
  })

  it.each(OPERACIONES)('%s: reads the quotes of a structured field as the same key', async (_, preparar) => {
    const caso = await preparar(comercio)
    const clave = `${createIdempotencyKey()}\\"${'x'.repeat(217)}`
    expect(clave).toHaveLength(255)
    const una = await primera(caso, clave)
    const otra = await primera(caso, `"${clave.replace(/["\\]/g, '\\$&')}"`)
    expect([otra.status, repetida(otra.cabeceras)]).toEqual([una.status, 'true'])
    expect(await filas('select from clave_idempotencia where idempotencia = $1', clave)).toHaveLength(1)
  })
})

describe('a key', () => {
  it('is of one merchant, one mode and one operation', async () => {
    const clave = createIdempotencyKey()
    const otro = await entorno.nuevoComercio()
    for (const de of [comercio, otro]) {
      for (const [, preparar] of OPERACIONES) {
        const { status, cabeceras } = await primera(await preparar(de), clave, de)
        expect([status < 300, repetida(cabeceras)]).toEqual([true, null])
      }
    }
    const publica = { path: '/api/v1/webhooks', cuerpo: { url: 'https://tienda.ejemplo.com/avisos' } }
    const enCadaModo = createIdempotencyKey()
    const codigos = []
    for (const modo of ['test', 'live'] as const) {
      const llave = await entorno.createLlave(comercio, { modo })
      const una = await primera(publica, enCadaModo, { ...comercio, llave })
      expect([una.status, repetida(una.cabeceras), una.cuerpo.modo]).toEqual([201, null, modo])
      codigos.push(una.cuerpo.webhook)
      const otraLlave = await entorno.createLlave(comercio, { modo })
      expect((await primera(publica, enCadaModo, { ...comercio, llave: otraLlave })).cuerpo).toEqual(una.cuerpo)
    }
    expect(new Set(codigos).size).toBe(2)
  })

  it('is kept for 24 hours, and then free', async () => {
    const caso = await CASOS.rotarSecreto(comercio)
    const clave = createIdempotencyKey()
    const una = await primera(caso, clave)
    entorno.advance(24 * HOUR_MS - 1)
    expect((await primera(caso, clave)).cuerpo.secreto).toBe(una.cuerpo.secreto)
    entorno.advance(1)
    const otra = await primera(caso, clave)
    expect([otra.status, repetida(otra.cabeceras)]).toEqual([200, null])
    expect(otra.cuerpo.secreto).not.toBe(una.cuerpo.secreto)
    // The key now belongs to the new request.
    expect((await primera(caso, clave)).cuerpo.secreto).toBe(otra.cuerpo.secreto)
    expect(await filas('select from clave_idempotencia where idempotencia = $1', clave)).toHaveLength(1)
  })

  it('goes with the hourly cleanup after 24 hours, in batches', async () => {
    const clave = createIdempotencyKey()
    const caso = await CASOS.probarWebhook(comercio)
    entorno.advance(25 * HOUR_MS)
    await purgeKeys(entorno)
    await primera(caso, clave)
    await filas(
      `insert into clave_idempotencia select comercio_id, modo, operacion, 'vieja-' || n, huella, identificador,
         creado_en - interval '24 hours' from clave_idempotencia, generate_series(1, 2001) n where idempotencia = $1`,
      clave,
    )
    expect(await purgeKeys(entorno)).toBe(true)
    expect(await purgeKeys(entorno)).toBe(false)
    expect(await filas('select idempotencia from clave_idempotencia')).toEqual([{ idempotencia: clave }])
  })

  it('is not used up by a request that fails', async () => {
    const tomada = { url: url() }
    const { cuerpo: primero } = await pedir('/api/v1/webhooks', tomada)
    const caso = { path: '/api/v1/webhooks', cuerpo: tomada }
    const clave = createIdempotencyKey()
    expect(codigoDe(await primera(caso, clave))).toEqual([409, 'webhook_repetido'])
    expect(codigoDe(await primera({ ...caso, cuerpo: { url: 'nada' } }, clave))).toEqual([422, 'url_no_permitida'])
    await entorno.request('DELETE', `/api/v1/webhooks/${primero.webhook}`, { llave: comercio.llave })
    const una = await primera(caso, clave)
    expect([una.status, repetida(una.cabeceras)]).toEqual([201, null])
  })

  it('stores nothing of the request but its digest', async () => {
    const caso = await CASOS.crearWebhook(comercio)
    const clave = createIdempotencyKey()
    const { webhook } = (await primera(caso, clave)).cuerpo
    expect(await filas('select * from clave_idempotencia where idempotencia = $1', clave)).toEqual([
      {
        comercio_id: comercio.id,
        modo: 'test',
        operacion: 'crearWebhook',
        idempotencia: clave,
        huella: expect.stringMatching(/^[0-9a-f]{8}:[\w-]{16}$/),
        identificador: webhook,
        creado_en: entorno.clock(),
      },
    ])
  })

  it('does not depend on the order of the members', async () => {
    const clave = createIdempotencyKey()
    const ruta = '/api/v1/webhooks'
    const cuerpo = { url: url(), descripcion: 'Tienda' }
    const una = await primera({ path: ruta, cuerpo }, clave)
    const otra = await primera({ path: ruta, cuerpo: { descripcion: cuerpo.descripcion, url: cuerpo.url } }, clave)
    expect([otra.status, otra.cuerpo]).toEqual([201, una.cuerpo])
  })

  it('is not kept after a dry run', async () => {
    const { path: ruta, cuerpo } = await CASOS.recuperarAvisosDeWebhook(comercio)
    const clave = createIdempotencyKey()
    expect((await primera({ path: ruta, cuerpo: { ...cuerpo, ensayo: true } }, clave)).status).toBe(200)
    expect((await primera({ path: ruta, cuerpo }, clave)).status).toBe(202)
  })
})

describe('the answer to a repetition', () => {
  it('has the secret that the request created, even after a rotation', async () => {
    const caso = await CASOS.crearWebhook(comercio)
    const clave = createIdempotencyKey()
    const { webhook, secreto } = (await primera(caso, clave)).cuerpo
    const rotar = { path: `/api/v1/webhooks/${webhook}/rotar-secreto`, cuerpo: { solapamiento_horas: 0 } }
    const rotada = createIdempotencyKey()
    const nuevo = (await primera(rotar, rotada)).cuerpo.secreto
    await primera(rotar, createIdempotencyKey())
    const otra = await primera(caso, clave)
    expect(otra.cuerpo.secreto).toBe(secreto)
    // The list of valid versions tells that the secret has expired.
    expect(otra.cuerpo.secretos.map(({ version }: { version: number }) => version)).toEqual([3])
    expect((await primera(rotar, rotada)).cuerpo.secreto).toBe(nuevo)
  })

  it.each(OPERACIONES.filter(([id]) => /Webhook|Secreto/.test(id)))(
    '%s: says that the endpoint no longer exists',
    async (_, preparar) => {
      const caso = await preparar(comercio)
      const clave = createIdempotencyKey()
      const { webhook } = (await primera(caso, clave)).cuerpo
      await entorno.request('DELETE', `/api/v1/webhooks/${webhook}`, { llave: comercio.llave })
      const otra = await primera(caso, clave)
      expect(codigoDe(otra)).toEqual(CONFLICTO)
      expect(otra.cuerpo.mensaje).toContain('ya no existe')
    },
  )

  it.each(['entregado', 'intento_fallido'] as const)(
    'from the simulator shows that %s is registered once',
    async (estado) => {
      const { guia } = await comercio.api.guias.crear(buildGuia())
      for (const uno of ['recolectado', 'en_ruta'] as const) await comercio.api.simulador.avanzar(guia, { estado: uno })
      const motivo = estado === 'intento_fallido' ? { motivo: 'destinatario_ausente' } : {}
      const caso = { path: `/api/v1/simulador/guias/${guia}/avanzar`, cuerpo: { estado, ...motivo } }
      const clave = createIdempotencyKey()
      const todas = await Promise.all([primera(caso, clave), primera(caso, clave)])
      expect(todas.map(({ status }) => status)).toEqual([200, 200])
      expect(todas.map(({ cabeceras }) => repetida(cabeceras)).sort()).toEqual([null, 'true'].sort())
      // A failed attempt opens a decision, with an event of its own.
      expect((await comercio.api.guias.obtener(guia)).secuencia).toBe(estado === 'entregado' ? 4 : 5)
      // Later changes show, too.
      if (estado === 'intento_fallido') await comercio.api.simulador.avanzar(guia, { estado: 'en_bodega' })
      const ahora = await comercio.api.guias.obtener(guia)
      expect((await primera(caso, clave)).cuerpo).toMatchObject({ estado: ahora.estado, secuencia: ahora.secuencia })
    },
  )
})
