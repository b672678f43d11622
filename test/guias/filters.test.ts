import { ErrorApi, type FiltrosDeGuias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { createFailedGuia } from '../archivos/images.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { useGuias } from './move.ts'

const entorno = shareEnvironment()
const { mover } = useGuias(entorno)

const codigos = async ({ api }: Comercio, filtros: FiltrosDeGuias) =>
  (await api.guias.listar(filtros)).datos.map(({ guia }) => guia)

/** Faults of a list with this query string, by parameter. */
async function fallasDe(consulta: string) {
  const { llave } = await entorno.nuevoComercio()
  const { status, cuerpo } = await entorno.request('GET', `/api/v1/guias?${consulta}`, { llave })
  expect([status, cuerpo.codigo]).toEqual([400, 'parametro_invalido'])
  return Object.fromEntries(cuerpo.errores.map((e: { campo: string; mensaje: string }) => [e.campo, e.mensaje]))
}

describe('the list of guides by telephone', () => {
  it.each(['3296 3352', '502 3296-3352', '(502) 3296.3352', '00502 32963352', '+502 3296 3352', '+50232963352'])(
    'reads %s with the country of the account',
    async (telefono) => {
      const comercio = await entorno.nuevoComercio()
      const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
      await comercio.api.guias.crear(buildGuia())
      expect(await codigos(comercio, { telefono })).toEqual([guia])
    },
  )

  it('reads a raw plus sign, which a query string turns into a space', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
    const { cuerpo } = await entorno.request('GET', '/api/v1/guias?telefono=+50232963352', { llave: comercio.llave })
    expect(cuerpo.datos.map((una: { guia: string }) => una.guia)).toEqual([guia])
  })

  it('finds the guides whose telephone was corrected to it, and no longer those corrected from it', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia({ telefono: '+50232963352' }))
    await comercio.api.guias.corregir(guia, { telefono: '5987 1234' })
    expect(await codigos(comercio, { telefono: '3296 3352' })).toEqual([])
    expect(await codigos(comercio, { telefono: '5987 1234' })).toEqual([guia])
  })

  it('asks for the plus sign if the account has no country', async () => {
    const { id, llave } = await entorno.nuevoComercio()
    await entorno.db.pool.query('update comercio set pais = null where id = $1', [id])
    const nueva = await hasta(async () => {
      const { status, cuerpo } = await entorno.request('GET', '/api/v1/guias?telefono=32963352', { llave })
      return status === 400 && cuerpo
    })
    expect(nueva.errores[0]).toMatchObject({ campo: 'telefono', mensaje: expect.stringContaining('%2B50255551234') })
    expect((await entorno.request('GET', '/api/v1/guias?telefono=%2B50232963352', { llave })).status).toBe(200)
  })

  it('refuses what is no telephone, and says why', async () => {
    expect(await fallasDe('telefono=3296')).toEqual({
      telefono: 'le faltan dígitos: un número de Guatemala tiene 8; uno de otro país va con + y su código',
    })
    expect(await fallasDe(`telefono=${'1'.repeat(41)}`)).toEqual({
      telefono: 'debe ser un texto de 40 caracteres como mucho, por ejemplo 5555 1234',
    })
  })
})

describe('the list of guides by decision', () => {
  it('finds each state, alone, together and with other filters', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const pendiente = await createFailedGuia(entorno, comercio)
    const tomada = await createFailedGuia(entorno, comercio)
    await api.guias.reintentar(tomada)
    const aplicada = await createFailedGuia(entorno, comercio)
    await api.guias.devolver(aplicada, { razon: 'No lo quiere' })
    const superada = await createFailedGuia(entorno, comercio)
    await mover(superada, 'en_ruta')
    await api.guias.crear(buildGuia())
    await createFailedGuia(entorno, await entorno.nuevoComercio())
    for (const [estado, guia] of Object.entries({ pendiente, tomada, aplicada, superada }))
      expect(await codigos(comercio, { decision: [estado as 'tomada'] })).toEqual([guia])
    expect(await codigos(comercio, { decision: ['tomada', 'pendiente'] })).toEqual([tomada, pendiente])
    expect(await codigos(comercio, { decision: ['superada', 'pendiente'] })).toEqual([superada, pendiente])
    expect(await codigos(comercio, { decision: ['pendiente'], estado: ['en_ruta'] })).toEqual([])
    expect(await codigos(comercio, { decision: ['pendiente'], estado: ['intento_fallido'] })).toEqual([pendiente])
    const { cuerpo } = await entorno.operar('GET', `/guias?comercio=${comercio.comercio}&decision=pendiente`)
    expect(cuerpo.datos.map(({ guia }: { guia: string }) => guia)).toEqual([pendiente])
    expect(Object.keys(await fallasDe('decision=abierta'))).toEqual(['decision'])
  })
})

describe('the list of guides by metadata', () => {
  it('finds the exact text of a key, also in Unicode and NFD, and all keys must match', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const uno = await api.guias.crear(buildGuia({ metadatos: { canal: 'web', 'campaña [1]': 'Día & noche' } }))
    const otro = await api.guias.crear(buildGuia({ metadatos: { canal: 'web', 'campaña [1]': 'día & noche' } }))
    await api.guias.crear(buildGuia({ metadatos: { canal: 'web ' } }))
    await api.guias.crear(buildGuia())
    expect(await codigos(comercio, { metadatos: { canal: 'web' } })).toEqual([otro.guia, uno.guia])
    const nfd = { ['campaña [1]'.normalize('NFD')]: 'Día & noche'.normalize('NFD') }
    expect(await codigos(comercio, { metadatos: nfd })).toEqual([uno.guia])
    expect(await codigos(comercio, { metadatos: { canal: 'web', ...nfd } })).toEqual([uno.guia])
    expect(await codigos(comercio, { metadatos: { canal: 'tienda', ...nfd } })).toEqual([])
    expect(await codigos(comercio, { metadatos: { Canal: 'web' } })).toEqual([])
    expect(await codigos(comercio, { metadatos: { canal: "web' or 1=1 --" } })).toEqual([])
  })

  it('reads brackets that are not escaped', async () => {
    const { api, llave } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia({ metadatos: { canal: 'web' } }))
    const { cuerpo } = await entorno.request('GET', '/api/v1/guias?metadatos[canal]=web&estado=aceptado', { llave })
    expect(cuerpo.datos.map((una: { guia: string }) => una.guia)).toEqual([guia])
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
  ])('refuses %s', async (_que, consulta) => {
    for (const una of [consulta, consulta.replaceAll('[', '%5B').replaceAll(']', '%5D')]) {
      expect(Object.values(await fallasDe(una))).toEqual([MENSAJE])
    }
  })

  it.each([
    'metadatos[canal]=%00',
    'metadatos[]=web',
    'metadatos[__proto__]=web',
    'metadatos[canal]=web&metadatos=x',
    'otros[canal]=web',
  ])('refuses %s', async (consulta) => {
    expect(Object.keys(await fallasDe(consulta)).length).toBeGreaterThan(0)
  })
})

describe('the list of guides by location and by change', () => {
  it('finds the states of the location', async () => {
    const comercio = await entorno.nuevoComercio()
    const confirmada = await comercio.api.guias.crear(buildGuia())
    const [solicitada, vencida] = [
      await comercio.api.guias.crear(buildGuiaWithoutDestino() as ReturnType<typeof buildGuia>),
      await comercio.api.guias.crear(buildGuiaWithoutDestino() as ReturnType<typeof buildGuia>),
    ]
    await comercio.api.simulador.confirmarUbicacion(vencida.guia, { resultado: 'vencida' })
    expect(await codigos(comercio, { ubicacion: ['confirmada'] })).toEqual([confirmada.guia])
    expect(await codigos(comercio, { ubicacion: ['vencida', 'solicitada'] })).toEqual([vencida.guia, solicitada.guia])
    expect(await fallasDe('ubicacion=perdida')).toEqual({
      ubicacion: 'debe ser uno de: solicitada, confirmada, vencida, fallida, sin repetir',
    })
  })

  it('includes the guide that changed at that very instant, newest guide first', async () => {
    const comercio = await entorno.nuevoComercio()
    const [una, otra] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    await mover(una.guia, 'recolectado')
    const { actualizado_en } = await comercio.api.guias.obtener(una.guia)
    expect(await codigos(comercio, { actualizado_desde: otra.creado_en })).toEqual([otra.guia, una.guia])
    expect(await codigos(comercio, { actualizado_desde: actualizado_en })).toContain(una.guia)
    const despues = new Date(Date.parse(actualizado_en) + 1).toISOString()
    expect(await codigos(comercio, { actualizado_desde: despues })).toEqual([])
    expect(Object.keys(await fallasDe('actualizado_desde=ayer'))).toEqual(['actualizado_desde'])
  })
})

describe('filters of the list', () => {
  it('add up, and keep their cursor', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const creadas: string[] = []
    for (let i = 0; i < 7; i++) {
      const { guia } = await api.guias.crear(
        buildGuia({ telefono: '+50232963352', metadatos: { canal: i % 2 ? 'web' : 'app' } }),
      )
      await api.guias.crear(buildGuia({ telefono: '+50232963352', metadatos: { canal: 'x' } }))
      if (i % 2) creadas.unshift(guia)
    }
    await mover(creadas[0]!, 'recolectado')
    const filtros: FiltrosDeGuias = {
      telefono: '3296 3352',
      metadatos: { canal: 'web' },
      ubicacion: ['confirmada'],
      estado: ['aceptado', 'recolectado'],
      actualizado_desde: '2020-01-01T00:00:00Z',
    }
    const leidas: string[] = []
    for await (const { guia } of api.guias.listar({ ...filtros, limite: 1 })) leidas.push(guia)
    expect(leidas).toEqual(creadas)
    expect(await codigos(comercio, { ...filtros, estado: ['recolectado'] })).toEqual([creadas[0]])
    expect(await codigos(comercio, { telefono: '3296 3352', estado: ['recolectado'] })).toEqual([creadas[0]])
    const { cursor_siguiente } = await api.guias.listar({ ...filtros, limite: 1 })
    const con = (cambios: FiltrosDeGuias) => api.guias.listar({ ...filtros, cursor: cursor_siguiente!, ...cambios })
    expect((await con({ telefono: '+502 32963352', limite: 5 })).datos.map(({ guia }) => guia)).toEqual(
      creadas.slice(1),
    )
    await expect(con({ metadatos: { canal: 'app' } })).rejects.toThrow(ErrorApi)
  })

  it('find no guide of another merchant or of the other mode', async () => {
    const una = buildGuia({ telefono: '+50255667788', metadatos: { canal: 'ajeno' } })
    const dueno = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio()
    const { guia } = await dueno.api.guias.crear(una)
    const llave = await entorno.createLlave(dueno, { modo: 'live' })
    for (const consulta of [
      'telefono=5566+7788',
      'metadatos%5Bcanal%5D=ajeno',
      'ubicacion=confirmada',
      'actualizado_desde=2020-01-01T00:00:00Z',
      'telefono=5566+7788&estado=aceptado',
    ]) {
      const [suyas, ajenas, deOtroModo] = await Promise.all(
        [dueno.llave, otro.llave, llave].map(async (llave) => {
          const { cuerpo } = await entorno.request('GET', `/api/v1/guias?${consulta}`, { llave })
          return cuerpo.datos.map((vista: { guia: string }) => vista.guia)
        }),
      )
      expect([consulta, suyas, ajenas, deOtroModo]).toEqual([consulta, [guia], [], []])
    }
  })

  it('read 2,000 guides a page at most: the short page says that it is partial, and its cursor goes on', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const vieja = await api.guias.crear(buildGuia({ metadatos: { canal: 'raro' } }))
    for (let i = 0; i < 21; i++) await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuia()) })
    const nueva = await api.guias.crear(buildGuia({ metadatos: { canal: 'raro' } }))
    for (const filtros of [
      { metadatos: { canal: 'raro' } },
      { metadatos: { canal: 'raro' }, estado: ['aceptado', 'cancelado', 'entregado'] },
      { metadatos: { canal: 'raro' }, telefono: '3148 1676', estado: ['aceptado'] },
    ] as FiltrosDeGuias[]) {
      const primera = await api.guias.listar(filtros)
      expect([primera.datos.map(({ guia }) => guia), primera.parcial]).toEqual([[nueva.guia], true])
      const segunda = await api.guias.listar({ ...filtros, cursor: primera.cursor_siguiente! })
      expect(segunda).toEqual({
        datos: [expect.objectContaining({ guia: vieja.guia })],
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
    const llenas: number[] = []
    for await (const { datos, parcial } of api.guias.listar({ ubicacion: ['confirmada'], limite: 100 }).paginas()) {
      llenas.push(datos.length)
      expect(parcial).toBe(false)
    }
    expect(llenas).toEqual([...Array.from({ length: 21 }, () => 100), 2])
  })
})
