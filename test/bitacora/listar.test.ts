import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'

const environment = shareEnvironment()

const pauseChange = { estado: 'pausado' as const }

describe('GET /api/v1/bitacora', () => {
  it('tells a merchant who changed what is his, newest first, page by page', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/ruta-secreta', descripcion: 'la de Ana' })
    await api.webhooks.cambiar(webhook, pauseChange)
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, { estricto: true, nombre: 'Otro nombre' })
    const first = await api.cuenta.bitacora({ limite: 2 })
    const second = await api.cuenta.bitacora({ limite: 2, cursor: first.cursor_siguiente! })
    expect(second.cursor_siguiente).toBeNull()
    const [settingValues, pauseEntry, creation] = [...first.datos, ...second.datos]
    expect(settingValues).toMatchObject({
      accion: 'cambiarComercio',
      quien: { tipo: 'operador', identificador: expect.stringMatching(/^op_/), llave: null },
      sobre: { tipo: 'comercio', identificador: comercio.comercio },
      modo: null,
      campos: ['nombre', 'estricto'],
      antes: { estricto: false },
      despues: { estricto: true },
      // Nothing of how the operator works.
      id_solicitud: null,
      red: null,
    })
    expect(pauseEntry).toMatchObject({
      accion: 'cambiarWebhook',
      quien: { tipo: 'llave', identificador: expect.stringMatching(/^llave_/) },
      sobre: { tipo: 'webhook', identificador: webhook },
      modo: 'test',
      campos: ['estado'],
      antes: { estado: 'activo' },
      despues: { estado: 'pausado' },
      red: '127.0.0.0/24',
    })
    expect(creation).toMatchObject({
      accion: 'crearWebhook',
      campos: ['host', 'url', 'tipos', 'estado', 'descripcion'],
      antes: null,
      despues: { host: '127.0.0.1:9', tipos: ['*'], estado: 'activo' },
    })
    expect(JSON.stringify(creation)).not.toMatch(/secreta|\bAna\b/)
  })

  it('tells the values of each policy of a merchant, before and after', async () => {
    const comercio = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      evidencia: { fotos_minimas: 2, firma: 'no', documento: 'no' },
      politica_de_intentos: {
        maximos: 4,
        dias_entre: 2,
        dias_para_decidir: 3,
        al_vencer: 'esperar',
        destinatario_decide: true,
      },
    })
    const [line] = (await comercio.api.cuenta.bitacora()).datos
    expect([line!.antes, line!.despues]).toEqual([
      {
        evidencia_fotos: 1,
        evidencia_firma: 'opcional',
        evidencia_documento: 'opcional',
        politica_de_intentos_maximos: 3,
        politica_de_intentos_dias_entre: 1,
        politica_de_intentos_dias_para_decidir: 5,
        politica_de_intentos_al_vencer: 'devolver',
        politica_de_intentos_destinatario_decide: false,
      },
      {
        evidencia_fotos: 2,
        evidencia_firma: 'no',
        evidencia_documento: 'no',
        politica_de_intentos_maximos: 4,
        politica_de_intentos_dias_entre: 2,
        politica_de_intentos_dias_para_decidir: 3,
        politica_de_intentos_al_vencer: 'esperar',
        politica_de_intentos_destinatario_decide: true,
      },
    ])
  })

  it('tells which operator looked at his guides, and nothing of other merchants or of the other mode', async () => {
    const comercio = await environment.createComercio()
    const other = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await other.api.webhooks.crear({ url: 'http://127.0.0.1:9/x' })
    await environment.asOperador('GET', `/guias/${guia}`)
    const view = await waitUntil(async () => (await comercio.api.cuenta.bitacora()).datos[0])
    expect(view).toMatchObject({
      accion: 'consultarGuia',
      quien: { tipo: 'operador' },
      sobre: { tipo: 'guia', identificador: guia },
      modo: 'test',
    })
    const liveOne = await environment.createLlave(comercio, { modo: 'live' })
    expect((await environment.request('GET', '/api/v1/bitacora', { llave: liveOne })).body.datos).toEqual([])
    expect((await other.api.cuenta.bitacora()).datos.map(({ accion }) => accion)).toEqual(['crearWebhook'])
  })

  it('takes filters that add up, and asks for a scope of its own', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/1' })
    const other = await api.webhooks.crear({ url: 'http://127.0.0.1:9/2' })
    await api.webhooks.cambiar(webhook, pauseChange)
    const acciones = async (filters: Parameters<typeof api.cuenta.bitacora>[0]) =>
      (await api.cuenta.bitacora(filters)).datos.map(({ accion }) => accion)
    expect(await acciones({ sobre: webhook })).toEqual(['cambiarWebhook', 'crearWebhook'])
    expect(await acciones({ sobre: other.webhook, accion: 'cambiarWebhook' })).toEqual([])
    expect(await acciones({ accion: 'crearWebhook' })).toEqual(['crearWebhook', 'crearWebhook'])
    const { creado_en: createdAt } = (await api.cuenta.bitacora({ limite: 1 })).datos[0]!
    expect(await acciones({ creado_desde: createdAt })).toEqual(['cambiarWebhook'])
    expect(await acciones({ creado_hasta: createdAt, sobre: webhook })).toEqual(['crearWebhook'])
    const llave = await environment.createLlave(comercio, { alcances: ['guias:leer'] })
    expect((await environment.request('GET', '/api/v1/bitacora', { llave })).body.codigo).toBe('alcance_insuficiente')
  })
})
