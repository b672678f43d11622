import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'

const environment = useEnvironment()
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

async function passTime(guia: string, estado: string) {
  expect((await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })).status).toBe(201)
}

/** Opens a stream as a browser does. Returns what arrives, and the way to end it. */
async function listenForEvents(
  { cookie }: Pick<TestPersona, 'cookie'>,
  query = '',
  headers: Record<string, string> = {},
) {
  const abortController = new AbortController()
  const response = await fetch(`${environment.url}/central/en-vivo${query}`, {
    headers: { Cookie: cookie, ...headers },
    signal: abortController.signal,
  })
  const stream = {
    texto: '',
    isFinished: false,
    cutOff: false,
    respuesta: response,
    close: () => abortController.abort(),
  }
  void (async () => {
    try {
      for await (const chunk of response.body!) stream.texto += Buffer.from(chunk).toString()
    } catch {
      stream.cutOff = true
    }
    stream.isFinished = true
  })()
  return stream
}
const cambios = ({ texto: text }: { texto: string }) => text.split('event: cambio').length - 1
/** The cursor that a page begins with. */
const cursorOf = async (path: string) => {
  const response = await fetch(environment.url + path, { headers: { Cookie: ana.cookie } })
  return /data-desde="([^"]+)"/.exec(await response.text())![1]!
}

describe('GET /central/en-vivo', () => {
  it('tells the pages of all guides, and that of one guide only of its own', async () => {
    const [one, other] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    const from = await cursorOf('/central/guias')
    const all = await listenForEvents(ana, `?desde=${from}`)
    const ofOneGuia = await listenForEvents(ana, `?desde=${from}&guia=${one.guia}`)
    expect(all.respuesta.headers.get('content-type')).toBe('text/event-stream')
    expect(all.respuesta.headers.get('cache-control')).toBe('no-store')
    await passTime(other.guia, 'recolectado')
    await waitUntil(async () => cambios(all) === 1)
    await passTime(one.guia, 'recolectado')
    await waitUntil(async () => cambios(ofOneGuia) === 1 && cambios(all) === 2)
    expect(all.texto).not.toContain(one.guia)
    all.close()
    ofOneGuia.close()
  })

  it('tells at once of a change after the cursor, and of none before it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const before = await cursorOf(`/central/guias/${guia}`)
    await passTime(guia, 'recolectado')
    const late = await listenForEvents(ana, `?desde=${before}&guia=${guia}`)
    await waitUntil(async () => cambios(late) === 1)
    const id = /id: (\S+)/.exec(late.texto)![1]!
    // As a browser that lost the connection.
    const other = await listenForEvents(ana, `?desde=${before}&guia=${guia}`, { 'Last-Event-ID': id })
    await passTime(guia, 'en_ruta')
    await waitUntil(async () => cambios(late) === 2 && cambios(other) > 0)
    expect(cambios(other)).toBe(1)
    for (const stream of [late, other]) stream.close()
  })

  it('tells the page of a guide of a note and of each state of a message, and no other page', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
    await environment.waitForQuiet(comercio)
    const from = await cursorOf(`/central/guias/${guia}`)
    const note = () => environment.asOperador('POST', `/guias/${guia}/notas`, { texto: 'Llamó' })
    await note()
    const [stream, all] = [
      await listenForEvents(ana, `?desde=${from}&guia=${guia}`),
      await listenForEvents(ana, `?desde=${await cursorOf('/central/guias')}`),
    ]
    // The note was written after the page was read, and before its stream was opened.
    await waitUntil(async () => cambios(stream) === 1)
    await environment.db.pool.query(`update mensaje set estado = 'leido' where guia = $1`, [guia])
    await waitUntil(async () => cambios(stream) === 2)
    const id = [...stream.texto.matchAll(/id: (\S+)/g)].at(-1)![1]!
    const other = await listenForEvents(ana, `?desde=${from}&guia=${guia}`, { 'Last-Event-ID': id })
    await note()
    await waitUntil(async () => cambios(stream) === 3 && cambios(other) > 0)
    expect([cambios(other), cambios(all)]).toEqual([1, 0])
    for (const one of [stream, all, other]) one.close()
  })

  it('sends no change that the page already showed, even when other streams get it', async () => {
    const other = await listenForEvents(ana, `?desde=${await cursorOf('/central')}`)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const stream = await listenForEvents(ana, `?desde=${await cursorOf('/central')}`)
    await waitUntil(async () => cambios(other) > 0)
    const before = cambios(other)
    await passTime(guia, 'recolectado')
    await waitUntil(async () => cambios(other) > before && cambios(stream) > 0)
    expect(cambios(stream)).toBe(1)
    for (const one of [other, stream]) one.close()
  })

  it.each(['', 'x', '5:4:', '1:9:3,2', '1:99999999999999999999:', "1:2:';", `${'1:2:-'.repeat(600)}1:2:`, '1:2:~x~x'])(
    'tells of a change for the cursor «%.20s», which it cannot read',
    async (desde) => {
      const stream = await listenForEvents(ana, `?${new URLSearchParams({ desde })}`)
      await waitUntil(async () => cambios(stream) === 1)
      expect(stream.respuesta.status).toBe(200)
      stream.close()
    },
  )

  it('is for people of the office alone, and ends with their session', async () => {
    const shop = await createTestPersona(environment, { comercio: comercio.comercio, alcances: ['propietario'] })
    const personaWithoutFactor = await createTestPersona(environment, { withApp: false })
    const caja = await createTestPersona(environment, { alcances: ['caja'] })
    for (const [caller, status] of [
      [shop, 403],
      [personaWithoutFactor, 403],
      [caja, 403],
      [{ cookie: 'guias_sesion=x' }, 401],
    ] as const) {
      const stream = await listenForEvents(caller)
      expect(stream.respuesta.status).toBe(status)
    }
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    const [beaStream, ownStream] = [await listenForEvents(bea), await listenForEvents(ana)]
    await environment.asOperador('DELETE', `/personas/${bea.persona}/sesiones`)
    await waitUntil(async () => beaStream.isFinished)
    expect(ownStream.isFinished).toBe(false)
    ownStream.close()
  })

  it('ends with the permission to see guides, and at the end of the session', async () => {
    const [bea, eva] = [
      await createTestPersona(environment, { alcances: ['ver'] }),
      await createTestPersona(environment),
    ]
    const [beaStream, other] = [await listenForEvents(bea), await listenForEvents(eva)]
    await environment.asOperador('PATCH', `/membresias/${bea.membresia}`, { alcances: ['caja'] })
    await waitUntil(async () => beaStream.isFinished)
    expect([other.respuesta.status, other.isFinished]).toEqual([200, false])
    environment.advance(12 * HOUR_MS)
    try {
      await waitUntil(async () => other.isFinished)
    } finally {
      environment.advance(-12 * HOUR_MS)
    }
  })

  it('gives one session ten streams', async () => {
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    const flujos = []
    for (let i = 0; i < 10; i++) flujos.push(await listenForEvents(bea))
    const other = await listenForEvents(bea)
    expect([other.respuesta.status, other.respuesta.headers.get('retry-after')]).toEqual([503, '60'])
    flujos[0]!.close()
    await waitUntil(async () => {
      const one = await listenForEvents(bea)
      flujos.push(one)
      return one.respuesta.status === 200
    })
    for (const stream of flujos) stream.close()
  })

  it('has a comment before a proxy takes it for dead, also while other guides change', FULL_RUN_ONLY, async () => {
    const [{ guia }, other] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    const stream = await listenForEvents(ana, `?desde=${await cursorOf('/central')}&guia=${guia}`)
    await expect
      .poll(
        async () => {
          await environment.asOperador('POST', `/guias/${other.guia}/eventos`, {
            tipo: 'guia.nota',
            descripcion: 'Sigue',
          })
          return stream.texto.includes('\n:\n')
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toBe(true)
    expect(cambios(stream)).toBe(0)
    stream.close()
  })

  it('answers HEAD without a stream', async () => {
    const { status, body } = await fetch(`${environment.url}/central/en-vivo`, {
      method: 'HEAD',
      headers: { Cookie: ana.cookie },
    })
    expect([status, body]).toEqual([200, null])
  })
})

describe.skipIf(!hasBrowser)('an open page of the office', () => {
  /** Opens a page in a browser in which that person is signed in. */
  async function open(path: string, caller = ana) {
    const context = await openContext({})
    const [name = '', value = ''] = caller.cookie.split('=')
    await context.addCookies([{ name, value, url: environment.url }])
    const pagina = await context.newPage()
    await pagina.goto(environment.url + path)
    return { context, pagina }
  }

  it('gives way to the sign-in once its session ended unused, which leads back to it', async () => {
    const caller = await createTestPersona(environment)
    const { pagina, context } = await open('/central/guias', caller)
    await environment.db.pool.query('update sesion_persona set inactiva_en = $2 where sesion = $1', [
      caller.sesion,
      environment.clock(),
    ])
    await pagina.getByText('pasó un rato sin que nadie la usara').waitFor()
    expect(await pagina.locator('[name=volver]').getAttribute('value')).toBe('/central/guias')
    await context.close()
  })

  it('shows a change without being loaded again, and keeps the focus, typed text and open forms', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { context, pagina } = await open(`/central/guias/${guia}`)
    await pagina.evaluate('window.misma = true')
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).click()
    await pagina.locator('summary', { hasText: 'Nota de la central' }).click()
    const nota = pagina.getByLabel('Nota', { exact: true })
    await nota.fill('Vuelve el jue')
    await passTime(guia, 'recolectado')
    await pagina.locator('.cabeza .insignia', { hasText: 'Recolectado' }).waitFor()
    await pagina.keyboard.type('ves')
    expect(await nota.inputValue()).toBe('Vuelve el jueves')
    await passTime(guia, 'en_ruta')
    await pagina.locator('.cabeza .insignia', { hasText: 'En ruta' }).waitFor()
    expect(await nota.inputValue()).toBe('Vuelve el jueves')
    const secuenciaOf = (accion: string) =>
      pagina.locator(`form:has([value="${accion}"]) [name="secuencia"]`).inputValue()
    // What the person typed was about the guide as it was, so its form is the one of then.
    expect([await secuenciaOf('notar'), await secuenciaOf('anotar')]).toEqual(['1', '3'])
    // It can no longer be cancelled, and nothing was typed there.
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).waitFor({ state: 'detached' })
    await pagina.getByRole('button', { name: 'Nota de la central' }).click()
    await pagina.getByText('La nota quedó guardada.').waitFor()
    expect(await pagina.evaluate('window.misma')).toBeUndefined()
    await context.close()
  })

  it('keeps a form with typed text that is no longer offered, and the service refuses it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { context, pagina } = await open(`/central/guias/${guia}`)
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).click()
    await pagina.locator('#cancelar-razon').fill('Llamó la tienda')
    await pagina.locator('h1').focus()
    await passTime(guia, 'recolectado')
    await pagina.locator('.cabeza .insignia', { hasText: 'Recolectado' }).waitFor()
    expect(await pagina.locator('#cancelar-razon').inputValue()).toBe('Llamó la tienda')
    await pagina.getByRole('button', { name: 'Cancelar la guía' }).click()
    await pagina.getByRole('heading', { level: 1 }).waitFor()
    expect((await environment.asOperador('GET', `/guias/${guia}`)).body.estado).toBe('recolectado')
    await context.close()
  })

  it('shows a new guide in the list, and keeps the chosen filter and the focused row', async () => {
    const { guia: old } = await comercio.api.guias.crear(buildGuia())
    const { context, pagina } = await open('/central/guias')
    await pagina.getByLabel('Estado').selectOption('en_ruta')
    const row = pagina.locator(`a[href$="guias/${old}"]`)
    await row.focus()
    const { guia: fresh } = await comercio.api.guias.crear(buildGuia())
    await pagina.locator(`a[href$="guias/${fresh}"]`).waitFor()
    expect(await pagina.getByLabel('Estado').inputValue()).toBe('en_ruta')
    expect(await pagina.evaluate('document.activeElement.getAttribute("href")')).toContain(old)
    expect(await pagina.locator('tbody tr').first().innerText()).toContain(fresh.slice(0, 4))
    await context.close()
  })

  it('counts a new guide on the first page, and shows what a courier takes', async () => {
    const liveEntry = await environment.createComercio('live')
    const { repartidor } = (await environment.asOperador('POST', '/repartidores', { nombre: 'Luis Batz' })).body
    const [today, lleva] = [await open('/central'), await open(`/central/reparto/${repartidor}`)]
    const { guia } = await liveEntry.api.guias.crear(buildGuia())
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado', repartidor })
    await today.pagina.locator('.cuentas', { hasText: '1 creadas hoy' }).waitFor()
    await lleva.pagina.getByText('Lleva 1 paquete.').waitFor()
    for (const { context } of [today, lleva]) await context.close()
  })
})

// The merchant of the other tests has the address of before the stop.
describe('a stream of a process that stops', () => {
  it('ends in order when the process stops, so that no stop waits for it', async () => {
    const stream = await listenForEvents(ana)
    await environment.reset()
    await waitUntil(async () => stream.isFinished)
    expect(stream.cutOff).toBe(false)
  })
})
