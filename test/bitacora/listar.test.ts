import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'

const entorno = shareEnvironment()

const pausar = { estado: 'pausado' as const }

describe('GET /api/v1/bitacora', () => {
  it('tells a merchant who changed what is his, newest first, page by page', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/ruta-secreta', descripcion: 'la de Ana' })
    await api.webhooks.cambiar(webhook, pausar)
    await entorno.operar('PATCH', `/comercios/${comercio.comercio}`, { estricto: true, nombre: 'Otro nombre' })
    const primera = await api.cuenta.bitacora({ limite: 2 })
    const segunda = await api.cuenta.bitacora({ limite: 2, cursor: primera.cursor_siguiente! })
    expect(segunda.cursor_siguiente).toBeNull()
    const [ajustes, pausa, creacion] = [...primera.datos, ...segunda.datos]
    expect(ajustes).toMatchObject({
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
    expect(pausa).toMatchObject({
      accion: 'cambiarWebhook',
      quien: { tipo: 'llave', identificador: expect.stringMatching(/^llave_/) },
      sobre: { tipo: 'webhook', identificador: webhook },
      modo: 'test',
      campos: ['estado'],
      antes: { estado: 'activo' },
      despues: { estado: 'pausado' },
      red: '127.0.0.0/24',
    })
    expect(creacion).toMatchObject({
      accion: 'crearWebhook',
      campos: ['host', 'url', 'tipos', 'estado', 'descripcion'],
      antes: null,
      despues: { host: '127.0.0.1:9', tipos: ['*'], estado: 'activo' },
    })
    expect(JSON.stringify(creacion)).not.toMatch(/secreta|\bAna\b/)
  })

  it('tells the values of each policy of a merchant, before and after', async () => {
    const comercio = await entorno.nuevoComercio()
    await entorno.operar('PATCH', `/comercios/${comercio.comercio}`, {
      evidencia: { fotos_minimas: 2, firma: 'no', documento: 'no' },
      politica_de_intentos: {
        maximos: 4,
        dias_entre: 2,
        dias_para_decidir: 3,
        al_vencer: 'esperar',
        destinatario_decide: true,
      },
    })
    const [linea] = (await comercio.api.cuenta.bitacora()).datos
    expect([linea!.antes, linea!.despues]).toEqual([
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
    const comercio = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await otro.api.webhooks.crear({ url: 'http://127.0.0.1:9/x' })
    await entorno.operar('GET', `/guias/${guia}`)
    const vista = await hasta(async () => (await comercio.api.cuenta.bitacora()).datos[0])
    expect(vista).toMatchObject({
      accion: 'consultarGuia',
      quien: { tipo: 'operador' },
      sobre: { tipo: 'guia', identificador: guia },
      modo: 'test',
    })
    const enVivo = await entorno.createLlave(comercio, { modo: 'live' })
    expect((await entorno.request('GET', '/api/v1/bitacora', { llave: enVivo })).cuerpo.datos).toEqual([])
    expect((await otro.api.cuenta.bitacora()).datos.map(({ accion }) => accion)).toEqual(['crearWebhook'])
  })

  it('takes filters that add up, and asks for a scope of its own', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/1' })
    const otra = await api.webhooks.crear({ url: 'http://127.0.0.1:9/2' })
    await api.webhooks.cambiar(webhook, pausar)
    const acciones = async (filtros: Parameters<typeof api.cuenta.bitacora>[0]) =>
      (await api.cuenta.bitacora(filtros)).datos.map(({ accion }) => accion)
    expect(await acciones({ sobre: webhook })).toEqual(['cambiarWebhook', 'crearWebhook'])
    expect(await acciones({ sobre: otra.webhook, accion: 'cambiarWebhook' })).toEqual([])
    expect(await acciones({ accion: 'crearWebhook' })).toEqual(['crearWebhook', 'crearWebhook'])
    const { creado_en } = (await api.cuenta.bitacora({ limite: 1 })).datos[0]!
    expect(await acciones({ creado_desde: creado_en })).toEqual(['cambiarWebhook'])
    expect(await acciones({ creado_hasta: creado_en, sobre: webhook })).toEqual(['crearWebhook'])
    const llave = await entorno.createLlave(comercio, { alcances: ['guias:leer'] })
    expect((await entorno.request('GET', '/api/v1/bitacora', { llave })).cuerpo.codigo).toBe('alcance_insuficiente')
  })
})
