import { ErrorApi, type FiltrosDeGuias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { createFailedGuia } from '../archivos/images.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { useGuias } from './move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

const codigos = async ({ api }: Comercio, filters: FiltrosDeGuias) =>
  (await api.guias.listar(filters)).datos.map(({ guia }) => guia)

/** Faults of a list with this query string, by parameter. */
async function faultsOf(query: string) {
  const { llave } = await environment.createComercio()
  const { status, body } = await environment.request('GET', `/api/v1/guias?${query}`, { llave })
  expect([status, body.codigo]).toEqual([400, 'parametro_invalido'])
  return Object.fromEntries(body.errores.map((e: { campo: string; mensaje: string }) => [e.campo, e.mensaje]))
}

describe('the list of guides by telephone', () => {
  it.each(['3296 3352', '502 3296-3352', '(502) 3296.3352', '00502 32963352', '+502 3296 3352', '+50232963352'])(
    'reads %s with the country of the account',
    async (telefono) => {
      const comercio = await environment.createComercio()
      const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
      await comercio.api.guias.crear(buildGuia())
      expect(await codigos(comercio, { telefono })).toEqual([guia])
    },
  )

  it('reads a raw plus sign, which a query string turns into a space', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
    const { body } = await environment.request('GET', '/api/v1/guias?telefono=+50232963352', {
      llave: comercio.llave,
    })
    expect(body.datos.map((one: { guia: string }) => one.guia)).toEqual([guia])
  })

  it('finds the guides whose telephone was corrected to it, and no longer those corrected from it', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
    await comercio.api.guias.corregir(guia, { telefono: '5987 1234' })
    expect(await codigos(comercio, { telefono: '3296 3352' })).toEqual([])
    expect(await codigos(comercio, { telefono: '5987 1234' })).toEqual([guia])
  })

  it('asks for the plus sign if the account has no country', async () => {
    const { id, llave } = await environment.createComercio()
    await environment.db.pool.query('update comercio set pais = null where id = $1', [id])
    const fresh = await waitUntil(async () => {
      const { status, body } = await environment.request('GET', '/api/v1/guias?telefono=32963352', { llave })
      return status === 400 && body
    })
    expect(fresh.errores[0]).toMatchObject({ campo: 'telefono', mensaje: expect.stringContaining('%2B50255551234') })
    expect((await environment.request('GET', '/api/v1/guias?telefono=%2B50232963352', { llave })).status).toBe(200)
  })

  it('refuses what is no telephone, and says why', async () => {
    expect(await faultsOf('telefono=3296')).toEqual({
      telefono: 'le faltan dígitos: un número de Guatemala tiene 8; uno de otro país va con + y su código',
    })
    expect(await faultsOf(`telefono=${'1'.repeat(41)}`)).toEqual({
      telefono: 'debe ser un texto de 40 caracteres como mucho, por ejemplo 5555 1234',
    })
  })
})

describe('the list of guides by decision', () => {
  it('finds each state, alone, together and with other filters', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const pendiente = await createFailedGuia(environment, comercio)
    const tomada = await createFailedGuia(environment, comercio)
    await api.guias.reintentar(tomada)
    const aplicada = await createFailedGuia(environment, comercio)
    await api.guias.devolver(aplicada, { razon: 'No lo quiere' })
    const superada = await createFailedGuia(environment, comercio)
    await mover(superada, 'en_ruta')
    await api.guias.crear(buildGuia())
    await createFailedGuia(environment, await environment.createComercio())
    for (const [estado, guia] of Object.entries({ pendiente, tomada, aplicada, superada }))
      expect(await codigos(comercio, { decision: [estado as 'tomada'] })).toEqual([guia])
    expect(await codigos(comercio, { decision: ['tomada', 'pendiente'] })).toEqual([tomada, pendiente])
    expect(await codigos(comercio, { decision: ['superada', 'pendiente'] })).toEqual([superada, pendiente])
    expect(await codigos(comercio, { decision: ['pendiente'], estado: ['en_ruta'] })).toEqual([])
    expect(await codigos(comercio, { decision: ['pendiente'], estado: ['intento_fallido'] })).toEqual([pendiente])
    const { body } = await environment.asOperador('GET', `/guias?comercio=${comercio.comercio}&decision=pendiente`)
    expect(body.datos.map(({ guia }: { guia: string }) => guia)).toEqual([pendiente])
    expect(Object.keys(await faultsOf('decision=abierta'))).toEqual(['decision'])
  })
})

describe('the list of guides by metadata', () => {
  it('finds the exact text of a key, also in Unicode and NFD, and all keys must match', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const one = await api.guias.crear(buildGuia({ metadatos: { canal: 'web', 'campaña [1]': 'Día & noche' } }))
    const other = await api.guias.crear(buildGuia({ metadatos: { canal: 'web', 'campaña [1]': 'día & noche' } }))
    await api.guias.crear(buildGuia({ metadatos: { canal: 'web ' } }))
    await api.guias.crear(buildGuia())
    expect(await codigos(comercio, { metadatos: { canal: 'web' } })).toEqual([other.guia, one.guia])
    const decomposed = { ['campaña [1]'.normalize('NFD')]: 'Día & noche'.normalize('NFD') }
    expect(await codigos(comercio, { metadatos: decomposed })).toEqual([one.guia])
    expect(await codigos(comercio, { metadatos: { canal: 'web', ...decomposed } })).toEqual([one.guia])
    expect(await codigos(comercio, { metadatos: { canal: 'tienda', ...decomposed } })).toEqual([])
    expect(await codigos(comercio, { metadatos: { Canal: 'web' } })).toEqual([])
    expect(await codigos(comercio, { metadatos: { canal: "web' or 1=1 --" } })).toEqual([])
  })

  it('reads brackets that are not escaped', async () => {
    const { api, llave } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ metadatos: { canal: 'web' } }))
    const { body } = await environment.request('GET', '/api/v1/guias?metadatos[canal]=web&estado=aceptado', { llave })
    expect(body.datos.map((one: { guia: string }) => one.guia)).toEqual([guia])
  })

  const MENSAJE =
    'va como metadatos[clave]=texto, cada clave una vez y 5 claves como mucho; la clave tiene de 1 a 40 caracteres, y el texto, de 1 a 500'
  it.each([
    ['more than 5 keys', [1, 2, 3, 4, 5, 6].map((i) => `metadatos[k${i}]=v`).join('&')],
    ['a key of 41 characters', `metadatos[${'k'.repeat(41)}]=v`],
    ['a text of 501 characters', `metadatos[canal]=${'v'.repeat(501)}`],
    ['an empty text', 'metadatos[canal]='],
    ['a key that is given twice', 'metadatos[canal]=web&metadatos[canal]=tienda'],
    ['JSON', `metadatos=${encodeURIComponent('{"canal":"web"}')}`],
    ['a text without a key', 'metadatos=web'],
  ])('refuses %s', async (_description, query) => {
    for (const one of [query, query.replaceAll('[', '%5B').replaceAll(']', '%5D')]) {
      expect(Object.values(await faultsOf(one))).toEqual([MENSAJE])
    }
  })

  it.each([
    'metadatos[canal]=%00',
    'metadatos[]=web',
    'metadatos[__proto__]=web',
    'metadatos[canal]=web&metadatos=x',
    'otros[canal]=web',
  ])('refuses %s', async (query) => {
    expect(Object.keys(await faultsOf(query)).length).toBeGreaterThan(0)
  })
})

describe('the list of guides by location and by change', () => {
  it('finds the states of the location', async () => {
    const comercio = await environment.createComercio()
    const confirmed = await comercio.api.guias.crear(buildGuia())
    const [solicitada, expired] = [
      await comercio.api.guias.crear(buildGuiaWithoutDestino() as ReturnType<typeof buildGuia>),
      await comercio.api.guias.crear(buildGuiaWithoutDestino() as ReturnType<typeof buildGuia>),
    ]
    await comercio.api.simulador.confirmarUbicacion(expired.guia, { resultado: 'vencida' })
    expect(await codigos(comercio, { ubicacion: ['confirmada'] })).toEqual([confirmed.guia])
    expect(await codigos(comercio, { ubicacion: ['vencida', 'solicitada'] })).toEqual([expired.guia, solicitada.guia])
    expect(await faultsOf('ubicacion=perdida')).toEqual({
      ubicacion: 'debe ser uno de: solicitada, confirmada, vencida, fallida, sin repetir',
    })
  })

  it('includes the guide that changed at that very instant, newest guide first', async () => {
    const comercio = await environment.createComercio()
    const [one, other] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    await mover(one.guia, 'recolectado')
    const { actualizado_en } = await comercio.api.guias.obtener(one.guia)
    expect(await codigos(comercio, { actualizado_desde: other.creado_en })).toEqual([other.guia, one.guia])
    expect(await codigos(comercio, { actualizado_desde: actualizado_en })).toContain(one.guia)
    const after = new Date(Date.parse(actualizado_en) + 1).toISOString()
    expect(await codigos(comercio, { actualizado_desde: after })).toEqual([])
    expect(Object.keys(await faultsOf('actualizado_desde=ayer'))).toEqual(['actualizado_desde'])
  })
})

describe('filters of the list', () => {
  it('add up, and keep their cursor', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const created: string[] = []
    for (let i = 0; i < 7; i++) {
      const { guia } = await api.guias.crear(
        buildGuia({ telefono: '+50232963352', metadatos: { canal: i % 2 ? 'web' : 'app' } }),
      )
      await api.guias.crear(buildGuia({ telefono: '+50232963352', metadatos: { canal: 'x' } }))
      if (i % 2) created.unshift(guia)
    }
    await mover(created[0]!, 'recolectado')
    const filters: FiltrosDeGuias = {
      telefono: '3296 3352',
      metadatos: { canal: 'web' },
      ubicacion: ['confirmada'],
      estado: ['aceptado', 'recolectado'],
      actualizado_desde: '2020-01-01T00:00:00Z',
    }
    const listed: string[] = []
    for await (const { guia } of api.guias.listar({ ...filters, limite: 1 })) listed.push(guia)
    expect(listed).toEqual(created)
    expect(await codigos(comercio, { ...filters, estado: ['recolectado'] })).toEqual([created[0]])
    expect(await codigos(comercio, { telefono: '3296 3352', estado: ['recolectado'] })).toEqual([created[0]])
    const { cursor_siguiente } = await api.guias.listar({ ...filters, limite: 1 })
    const listWith = (cambios: FiltrosDeGuias) =>
      api.guias.listar({ ...filters, cursor: cursor_siguiente!, ...cambios })
    expect((await listWith({ telefono: '+502 32963352', limite: 5 })).datos.map(({ guia }) => guia)).toEqual(
      created.slice(1),
    )
    await expect(listWith({ metadatos: { canal: 'app' } })).rejects.toThrow(ErrorApi)
  })

  it('find no guide of another merchant or of the other mode', async () => {
    const one = buildGuia({ telefono: '+50255667788', metadatos: { canal: 'ajeno' } })
    const owner = await environment.createComercio()
    const other = await environment.createComercio()
    const { guia } = await owner.api.guias.crear(one)
    const llave = await environment.createLlave(owner, { modo: 'live' })
    for (const query of [
      'telefono=5566+7788',
      'metadatos%5Bcanal%5D=ajeno',
      'ubicacion=confirmada',
      'actualizado_desde=2020-01-01T00:00:00Z',
      'telefono=5566+7788&estado=aceptado',
    ]) {
      const [ownGuias, foreign, ofOtherMode] = await Promise.all(
        [owner.llave, other.llave, llave].map(async (llave) => {
          const { body } = await environment.request('GET', `/api/v1/guias?${query}`, { llave })
          return body.datos.map((view: { guia: string }) => view.guia)
        }),
      )
      expect([query, ownGuias, foreign, ofOtherMode]).toEqual([query, [guia], [], []])
    }
  })

  it('read 2,000 guides a page at most: the short page says that it is partial, and its cursor goes on', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const old = await api.guias.crear(buildGuia({ metadatos: { canal: 'raro' } }))
    for (let i = 0; i < 21; i++) await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuia()) })
    const fresh = await api.guias.crear(buildGuia({ metadatos: { canal: 'raro' } }))
    for (const filters of [
      { metadatos: { canal: 'raro' } },
      { metadatos: { canal: 'raro' }, estado: ['aceptado', 'cancelado', 'entregado'] },
      { metadatos: { canal: 'raro' }, telefono: '3148 1676', estado: ['aceptado'] },
    ] as FiltrosDeGuias[]) {
      const first = await api.guias.listar(filters)
      expect([first.datos.map(({ guia }) => guia), first.parcial]).toEqual([[fresh.guia], true])
      const second = await api.guias.listar({ ...filters, cursor: first.cursor_siguiente! })
      expect(second).toEqual({
        datos: [expect.objectContaining({ guia: old.guia })],
        cursor_siguiente: null,
        parcial: false,
      })
    }
    // A list with one filter that has an index reads no guide that does not match.
    expect(await api.guias.listar({ ubicacion: ['fallida', 'vencida'] })).toEqual({
      datos: [],
      cursor_siguiente: null,
      parcial: false,
    })
    // A full page has read no more than it shows, so its cursor is where it ends.
    const pageSizes: number[] = []
    for await (const { datos, parcial } of api.guias.listar({ ubicacion: ['confirmada'], limite: 100 }).paginas()) {
      pageSizes.push(datos.length)
      expect(parcial).toBe(false)
    }
    expect(pageSizes).toEqual([...Array.from({ length: 21 }, () => 100), 2])
  })
})
