import { beforeAll, describe, expect, it } from 'vitest'
import { KEY_ACTIONS, MERCHANT_ACTIONS } from '../../server/pages/central/merchantActions.ts'
import { hasBrowser, openContext } from '../browser.ts'
import type { Comercio } from '../environment.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo, type TestPersona } from '../equipo/persona.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from '../webhooks/webhooks.ts'
import { useOffice } from './office.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
const { createBrowserOf, perform: act, performLate } = useOffice(environment)
let ana: TestPersona
beforeAll(async () => {
  ana = await createTestPersona(environment)
})

const create = async (nombre = 'Tienda La Ceiba') =>
  (await environment.asOperador('POST', '/comercios', { nombre, pais: 'GT' })).body.comercio as string
const read = async (comercio: string) => (await environment.asOperador('GET', `/comercios/${comercio}`)).body
const pageOf = (comercio: string) => `/central/comercios/${comercio}`
const llavesOf = async (comercio: string) =>
  (await environment.asOperador('GET', `/comercios/${comercio}/llaves`)).body.datos
const statusWith = async (llave: string) => (await environment.request('GET', '/api/v1/cuenta', { llave })).status

/** For each setting: what is filled in, what the merchant is afterwards, and a value that is refused, with its field. */
const SETTINGS: Record<string, [Record<string, string>, object, Record<string, string>]> = {
  datos: [
    { nombre: 'Otra', pais: '', estricto: 'si' },
    { nombre: 'Otra', pais: null, estricto: true },
    { nombre: ' ' },
  ],
  ritmos: [{ solicitudes: '10', guias: '20' }, { ritmos: { solicitudes: 10, guias: 20 } }, { guias: 'muchas' }],
  evidencia: [
    { fotos_minimas: '3', firma: 'opcional', documento: 'no' },
    { evidencia: { fotos_minimas: 3, firma: 'opcional', documento: 'no' } },
    { fotos_minimas: '11' },
  ],
  intentos: [
    { maximos: '2', dias_entre: '0', dias_para_decidir: '4', al_vencer: 'esperar', destinatario_decide: 'si' },
    {
      politica_de_intentos: {
        maximos: 2,
        dias_entre: 0,
        dias_para_decidir: 4,
        al_vencer: 'esperar',
        destinatario_decide: true,
      },
    },
    { maximos: '21' },
  ],
}

describe.each(Object.entries(SETTINGS))('«%s» on the page of a merchant', (accion, [fields, after, bad]) => {
  it('changes its settings and says so', async () => {
    const comercio = await create()
    const { respuesta: response } = await act(ana, pageOf(comercio), { accion, ...fields })
    expect(response).toMatchObject({ status: 303, destino: `${environment.url}${pageOf(comercio)}?hecho=${accion}` })
    expect(await read(comercio)).toMatchObject(after)
    const { texto: text } = await createBrowserOf(ana).visit(`${pageOf(comercio)}?hecho=${accion}`)
    expect(text).toContain(MERCHANT_ACTIONS[accion]!.done)
  })

  it('keeps what was typed when the service refuses it, and says what is wrong beside its field', async () => {
    const comercio = await create()
    const before = await read(comercio)
    const { respuesta: response } = await act(ana, pageOf(comercio), { accion, ...fields, ...bad })
    const [[field, value]] = Object.entries(bad) as [[string, string]]
    expect(response.status).toBe(422)
    expect(response.texto).toContain(`id="error-${accion}-${field}"`)
    expect(response.texto).toContain(`value="${value.trim()}"`)
    expect(await read(comercio)).toEqual(before)
  })

  it('is neither offered nor done without scope «administrar»', async () => {
    const bea = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    const comercio = await create()
    const before = await read(comercio)
    expect((await createBrowserOf(bea).visit(pageOf(comercio))).texto).not.toContain(`value="${accion}"`)
    expect((await act(bea, pageOf(comercio), { accion, ...fields })).respuesta.status).toBe(403)
    expect(await read(comercio)).toEqual(before)
  })
})

describe('the list of merchants', () => {
  it('finds a merchant by its name, page by page', async () => {
    const { visit } = createBrowserOf(ana)
    const newWebhooks = []
    for (let i = 0; i < 51; i++) newWebhooks.push(await create(`Librería ${i} El Árbol`))
    const codigos = (text: string) =>
      [...text.matchAll(/central\/comercios\/(com_[0-9A-Z]{12})"/g)].map(([, one]) => one)
    const first = await visit('/central/comercios?texto=arbol')
    const next = /href="[^"]*(\/central\/comercios\?[^"]*cursor=[^"]+)"/.exec(first.texto)![1]!
    const second = await visit(next.replaceAll('&amp;', '&'))
    expect([...codigos(first.texto), ...codigos(second.texto)]).toEqual(newWebhooks.toReversed())
    expect((await visit('/central/comercios?texto=nadie')).texto).toContain('No hay ninguno')
    const bad = await visit('/central/comercios?texto=%25')
    expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('role="alert"')])
  })

  it('offers a new merchant only to a person who may create one', async () => {
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    expect((await createBrowserOf(ana).visit('/central/comercios')).texto).toContain('Nuevo comercio')
    expect((await createBrowserOf(bea).visit('/central/comercios')).texto).not.toContain('Nuevo comercio')
    expect((await createBrowserOf(bea).visit('/central/comercios/nuevo')).status).toBe(404)
  })

  it.each(['com_000000000000', 'x', 'nuevo/x', 'com_000000000000/webhooks'])(
    'says that «%s» is not there',
    async (path) => {
      expect((await createBrowserOf(ana).visit(`/central/comercios/${path}`)).status).toBe(404)
    },
  )
})

describe('a new merchant', () => {
  const NUEVO = '/central/comercios/nuevo'
  const findNamedComercios = async (name: string) =>
    (await environment.asOperador('GET', `/comercios?texto=${encodeURIComponent(name)}`)).body.datos

  it('is created with the invitation of its first person', async () => {
    const { visit } = createBrowserOf(ana)
    const correo = createCorreoAddress()
    const done = await visit(NUEVO, { nombre: 'Zapatería Uno', pais: 'SV', correo, persona: 'Eva Ruiz' })
    const [{ comercio, pais }] = await findNamedComercios('Zapatería Uno')
    expect([done.destino, pais]).toEqual([`${environment.url}${pageOf(comercio)}?hecho=invitado`, 'SV'])
    expect((await findPendingCorreo(environment, 'invitacion', correo)).lugar).toBe('Zapatería Uno')
    expect((await visit(done.destino!)).texto).toContain('la invitación va en camino')
  })

  it('is created without a person', async () => {
    const { a } = await createBrowserOf(ana).visit(NUEVO, {
      nombre: 'Zapatería Dos',
      pais: '',
      correo: '',
      persona: '',
    })
    const [{ comercio, pais }] = await findNamedComercios('Zapatería Dos')
    expect([a, pais]).toEqual([pageOf(comercio), null])
  })

  it('is created, and its page says that the invitation was refused and lets it be sent again', async () => {
    const { visit } = createBrowserOf(ana)
    const { status, texto: text } = await visit(NUEVO, {
      nombre: 'Zapatería Tres',
      pais: 'GT',
      correo: 'eva',
      persona: 'Eva',
    })
    const [{ comercio }] = await findNamedComercios('Zapatería Tres')
    expect(status).toBe(422)
    for (const message of [
      'pero la invitación no salió',
      'id="error-invitar-correo"',
      'value="eva"',
      `action="../../${pageOf(comercio).slice(1)}"`,
    ])
      expect(text).toContain(message)
  })

  it('is not created when its person could not be invited without a proof of presence', async () => {
    const bea = await createTestPersona(environment)
    await performLate(bea)
    const { visit } = createBrowserOf(bea)
    expect((await visit(NUEVO)).texto).toContain(
      'cuenta/presencia?volver=%2Fcentral%2Fcomercios%2Fnuevo%3Fconfirmado%3D1',
    )
    const { status, texto: text } = await visit(NUEVO, {
      nombre: 'Zapatería Cuatro',
      pais: 'GT',
      correo: 'e@x.gt',
      persona: 'Eva',
    })
    expect([status, text]).toEqual([403, expect.stringContaining('Todavía no se creó nada')])
    expect(await findNamedComercios('Zapatería Cuatro')).toEqual([])
  })
})

describe('the keys of a merchant', () => {
  const fresh = { accion: 'llave', modo: 'test', readGuias: 'si', vence_en: '', redes: '' }
  /** Creates a key on the page. Returns the text that is shown once. */
  async function crearLlave(comercio: string, more: Record<string, string> = {}) {
    const { respuesta: response } = await act(ana, pageOf(comercio), { ...fresh, ...more })
    expect(response.status).toBe(200)
    return /id="secreto">([^<]+)</.exec(response.texto)![1]!
  }

  it('are shown once, with the scopes, the end and the networks that were chosen', async () => {
    const comercio = await create()
    const llave = await crearLlave(comercio, {
      vence_en: '2126-11-30',
      redes: '203.0.113.0/24, 2001:db8::/48',
      escribirGuias: 'si',
    })
    const [created] = await llavesOf(comercio)
    expect(created).toMatchObject({
      modo: 'test',
      alcances: ['guias:leer', 'guias:escribir'],
      vence_en: '2126-12-01T05:59:59.000Z',
      redes: ['203.0.113.0/24', '2001:db8::/48'],
    })
    const { texto: text } = await createBrowserOf(ana).visit(pageOf(comercio))
    expect([text.includes(created.id), text.includes(llave)]).toEqual([true, false])
    const pageWithoutPermissions = await act(ana, pageOf(comercio), { ...fresh, readGuias: '', vence_en: 'ayer' })
    expect(pageWithoutPermissions.respuesta.status).toBe(422)
    for (const field of ['alcances', 'vence_en'])
      expect(pageWithoutPermissions.respuesta.texto).toContain(`id="error-llave-${field}"`)
  })

  it('are rotated and revoked', async () => {
    const comercio = await create()
    const llave = await crearLlave(comercio)
    const [{ id: target }] = await llavesOf(comercio)
    const rotation = await act(ana, pageOf(comercio), { accion: 'rotar', target, solapamiento_horas: '1' })
    const other = /id="secreto">([^<]+)</.exec(rotation.respuesta.texto)![1]!
    expect(await Promise.all([llave, other].map(statusWith))).toEqual([200, 200])
    const { respuesta: response } = await act(ana, pageOf(comercio), { accion: 'revocar', target })
    expect(response.a).toBe(pageOf(comercio))
    expect((await llavesOf(comercio)).find(({ id }: { id: string }) => id === target).revocado_en).not.toBeNull()
    expect((await createBrowserOf(ana).visit(pageOf(comercio))).texto).toContain('Las que ya no valen (1)')
  })

  it.each(Object.keys(KEY_ACTIONS))('take no «%s» for the key of another merchant', async (accion) => {
    const [one, other] = [await create(), await create()]
    await crearLlave(one)
    const [{ id: target }] = await llavesOf(one)
    expect((await act(ana, pageOf(other), { accion, target, solapamiento_horas: '0' })).respuesta.status).toBe(400)
    expect((await llavesOf(one))[0]).toMatchObject({ revocado_en: null, vence_en: null })
  })

  it('ask for a proof of presence, and are hidden from a person without the scope «administrar»', async () => {
    const comercio = await create()
    const [late, bea] = [
      await createTestPersona(environment),
      await createTestPersona(environment, { alcances: ['ver'] }),
    ]
    await performLate(late)
    const { respuesta: response } = await act(late, pageOf(comercio), fresh)
    expect([response.status, response.texto]).toEqual([
      403,
      expect.stringContaining(`cuenta/presencia?volver=${encodeURIComponent(pageOf(comercio))}`),
    ])
    expect(
      (await act(bea, pageOf(comercio), { accion: 'revocar', target: 'llave_000000000000' })).respuesta.status,
    ).toBe(403)
    expect((await createBrowserOf(bea).visit(pageOf(comercio))).texto).not.toContain('Llaves')
    expect(await llavesOf(comercio)).toEqual([])
  })
})

describe('the persons of a merchant', () => {
  it('are invited, get other scopes, and are removed', async () => {
    const comercio = await create()
    const correo = createCorreoAddress()
    const invitationResult = await act(ana, pageOf(comercio), {
      accion: 'invitar',
      correo,
      nombre: 'Eva',
      lectura: 'si',
    })
    expect(invitationResult.respuesta.a).toBe(pageOf(comercio))
    expect((await findPendingCorreo(environment, 'invitacion', correo)).enlace).toContain('/invitacion/')
    const eva = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
    const { texto: text } = await createBrowserOf(ana).visit(pageOf(comercio))
    for (const message of [eva.correo, 'Puede lectura', 'entró el']) expect(text).toContain(message)
    const target = eva.membresia
    const readPersonas = async () => (await environment.asOperador('GET', `/personas?ambito=${comercio}`)).body.datos
    await act(ana, pageOf(comercio), { accion: 'permisos', target, despacho: 'si', cobros: 'si' })
    expect((await readPersonas())[0].membresias).toMatchObject([{ alcances: ['despacho', 'cobros'] }])
    const bareEntry = await act(ana, pageOf(comercio), { accion: 'permisos', target })
    expect([bareEntry.respuesta.status, bareEntry.respuesta.texto]).toEqual([
      422,
      expect.stringContaining(`id="error-permisos-${target}-alcances"`),
    ])
    await act(ana, pageOf(comercio), { accion: 'quitar', target })
    expect(await readPersonas()).toEqual([])
  })
})

describe('the webhooks of a merchant', () => {
  const deliveriesPathOf = ({ comercio }: Comercio, webhook: string) => `${pageOf(comercio)}/webhooks/${webhook}`

  it('are shown with their deliveries, and one is sent again, once for a form', async () => {
    const { api, comercio, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const aviso = buildAvisoCode(webhook, guia)
    await waitForAviso(api, webhook, aviso)
    const { visit } = createBrowserOf(ana)
    expect((await visit(`${pageOf(comercio.comercio)}/webhooks`)).texto).toContain(webhook)
    const submissions = deliveriesPathOf(comercio, webhook)
    expect((await visit(`${submissions}?estado=entregado`)).texto).toContain(`${webhook}/${aviso}"`)
    expect((await visit(`${submissions}?estado=fallido`)).texto).toContain('No hay ninguno')
    expect((await visit(`${submissions}?estado=perdida`)).status).toBe(422)
    const { respuesta: response, send } = await act(ana, `${submissions}/${aviso}`, { accion: 'reenviar' })
    expect(response.destino).toBe(`${environment.url}${submissions}/${aviso}?hecho=reenviar`)
    await waitForAviso(api, webhook, aviso, 2)
    await send()
    expect((await api.webhooks.obtenerAviso(webhook, aviso)).intentos).toBe(2)
    expect(receptor.receivedWebhooks.filter(({ id }) => id === `evt_${guia}_1`)).toHaveLength(2)
    const { texto: text } = await visit(`${submissions}/${aviso}?hecho=reenviar`)
    for (const message of ['Va a salir otra vez.', 'Intentos', `evt_${guia}_1`]) expect(text).toContain(message)
  })

  it('are not sent again without scope «operar», nor for another merchant', async () => {
    const { api, comercio, webhook } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const aviso = buildAvisoCode(webhook, guia)
    await waitForAviso(api, webhook, aviso)
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    const path = `${deliveriesPathOf(comercio, webhook)}/${aviso}`
    expect((await createBrowserOf(bea).visit(path)).texto).not.toContain('value="reenviar"')
    expect((await act(bea, path, { accion: 'reenviar' })).respuesta.status).toBe(403)
    expect((await act(ana, path, { accion: 'borrar' })).respuesta.status).toBe(400)
    const other = await create()
    expect((await createBrowserOf(ana).visit(`${pageOf(other)}/webhooks/${webhook}/${aviso}`)).status).toBe(404)
    expect((await api.webhooks.obtenerAviso(webhook, aviso)).intentos).toBe(1)
  })
})

describe('the audit record of a merchant', () => {
  it('names who did what, and is found by what was done', async () => {
    const comercio = await create()
    await act(ana, pageOf(comercio), { accion: 'ritmos', solicitudes: '7', guias: '7' })
    const { visit } = createBrowserOf(ana)
    const path = `${pageOf(comercio)}/bitacora`
    const { texto } = await visit(path)
    const actions = (text: string) => [...text.matchAll(/<td><b>([^<]*)</g)].map(([, action]) => action)
    expect(actions(texto)).toEqual(expect.arrayContaining(['Cambiar un comercio', 'Crear un comercio']))
    for (const message of ['Ana Pérez', ana.persona]) expect(texto).toContain(message)
    const filteredPage = await visit(`${path}?accion=crearComercio`)
    expect(actions(filteredPage.texto)).toEqual(['Crear un comercio'])
    expect(filteredPage.texto).toContain('<option value="crearComercio" selected>Crear un comercio</option>')
    expect((await visit(`${path}?accion=nada`)).texto).toContain('No hay nada')
    const bea = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    expect((await createBrowserOf(bea).visit(path)).status).toBe(404)
  })
})

describe.skipIf(!hasBrowser)('the program of the office', () => {
  it('copies a new key', async () => {
    const comercio = await create()
    const context = await openContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const [name = '', value = ''] = ana.cookie.split('=')
    await context.addCookies([{ name, value, url: environment.url }])
    const page = await context.newPage()
    await page.goto(environment.url + pageOf(comercio))
    await page.locator('summary', { hasText: 'Crear una llave' }).click()
    await page.getByRole('button', { name: 'Crear una llave' }).click()
    await page.getByRole('button', { name: 'Copiar' }).click()
    await page.getByText('Copiado.').waitFor()
    const copiedText = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(await statusWith(copiedText)).toBe(200)
    await context.close()
  })
})
