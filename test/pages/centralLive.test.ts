import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'

const entorno = useEnvironment()
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ana = await createTestPersona(entorno)
})

async function pasar(guia: string, estado: string) {
  expect((await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })).status).toBe(201)
}

/** Opens a stream as a browser does. Returns what arrives, and the way to end it. */
async function escuchar({ cookie }: Pick<TestPersona, 'cookie'>, query = '', cabeceras: Record<string, string> = {}) {
  const aborto = new AbortController()
  const respuesta = await fetch(`${entorno.url}/central/en-vivo${query}`, {
    headers: { Cookie: cookie, ...cabeceras },
    signal: aborto.signal,
  })
  const flujo = { texto: '', terminado: false, cortado: false, respuesta, close: () => aborto.abort() }
  void (async () => {
    try {
      for await (const trozo of respuesta.body!) flujo.texto += Buffer.from(trozo).toString()
    } catch {
      flujo.cortado = true
    }
    flujo.terminado = true
  })()
  return flujo
}
const cambios = ({ texto }: { texto: string }) => texto.split('event: cambio').length - 1
/** The cursor that a page begins with. */
const cursorDe = async (ruta: string) => {
  const respuesta = await fetch(entorno.url + ruta, { headers: { Cookie: ana.cookie } })
  return /data-desde="([^"]+)"/.exec(await respuesta.text())![1]!
}

describe('GET /central/en-vivo', () => {
  it('tells the pages of all guides, and that of one guide only of its own', async () => {
    const [una, otra] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    const desde = await cursorDe('/central/guias')
    const todas = await escuchar(ana, `?desde=${desde}`)
    const deUna = await escuchar(ana, `?desde=${desde}&guia=${una.guia}`)
    expect(todas.respuesta.headers.get('content-type')).toBe('text/event-stream')
    expect(todas.respuesta.headers.get('cache-control')).toBe('no-store')
    await pasar(otra.guia, 'recolectado')
    await hasta(async () => cambios(todas) === 1)
    await pasar(una.guia, 'recolectado')
    await hasta(async () => cambios(deUna) === 1 && cambios(todas) === 2)
    expect(todas.texto).not.toContain(una.guia)
    todas.close()
    deUna.close()
  })

  it('tells at once of a change after the cursor, and of none before it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const antes = await cursorDe(`/central/guias/${guia}`)
    await pasar(guia, 'recolectado')
    const tarde = await escuchar(ana, `?desde=${antes}&guia=${guia}`)
    await hasta(async () => cambios(tarde) === 1)
    const id = /id: (\S+)/.exec(tarde.texto)![1]!
    // As a browser that lost the connection.
    const otra = await escuchar(ana, `?desde=${antes}&guia=${guia}`, { 'Last-Event-ID': id })
    await pasar(guia, 'en_ruta')
    await hasta(async () => cambios(tarde) === 2 && cambios(otra) > 0)
    expect(cambios(otra)).toBe(1)
    for (const flujo of [tarde, otra]) flujo.close()
  })

  it('sends no change that the page already showed, even when other streams get it', async () => {
    const otra = await escuchar(ana, `?desde=${await cursorDe('/central')}`)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const flujo = await escuchar(ana, `?desde=${await cursorDe('/central')}`)
    await hasta(async () => cambios(otra) > 0)
    const antes = cambios(otra)
    await pasar(guia, 'recolectado')
    await hasta(async () => cambios(otra) > antes && cambios(flujo) > 0)
    expect(cambios(flujo)).toBe(1)
    for (const uno of [otra, flujo]) uno.close()
  })

  it.each(['', 'x', '5:4:', '1:9:3,2', '1:99999999999999999999:', "1:2:';", `${'1:2:-'.repeat(600)}1:2:`])(
    'tells of a change for the cursor «%.20s», which it cannot read',
    async (desde) => {
      const flujo = await escuchar(ana, `?${new URLSearchParams({ desde })}`)
      await hasta(async () => cambios(flujo) === 1)
      expect(flujo.respuesta.status).toBe(200)
      flujo.close()
    },
  )

  it('is for people of the office alone, and ends with their session', async () => {
    const tienda = await createTestPersona(entorno, { comercio: comercio.comercio, alcances: ['propietario'] })
    const sinFactor = await createTestPersona(entorno, { conApp: false })
    const caja = await createTestPersona(entorno, { alcances: ['caja'] })
    for (const [quien, status] of [
      [tienda, 403],
      [sinFactor, 403],
      [caja, 403],
      [{ cookie: 'guias_sesion=x' }, 401],
    ] as const) {
      const flujo = await escuchar(quien)
      expect(flujo.respuesta.status).toBe(status)
    }
    const bea = await createTestPersona(entorno, { alcances: ['ver'] })
    const [suyo, mio] = [await escuchar(bea), await escuchar(ana)]
    await entorno.operar('DELETE', `/personas/${bea.persona}/sesiones`)
    await hasta(async () => suyo.terminado)
    expect(mio.terminado).toBe(false)
    mio.close()
  })

  it('ends with the permission to see guides, and at the end of the session', async () => {
    const [bea, eva] = [await createTestPersona(entorno, { alcances: ['ver'] }), await createTestPersona(entorno)]
    const [suyo, otro] = [await escuchar(bea), await escuchar(eva)]
    await entorno.operar('PATCH', `/membresias/${bea.membresia}`, { alcances: ['caja'] })
    await hasta(async () => suyo.terminado)
    expect([otro.respuesta.status, otro.terminado]).toEqual([200, false])
    entorno.advance(12 * HOUR_MS)
    try {
      await hasta(async () => otro.terminado)
    } finally {
      entorno.advance(-12 * HOUR_MS)
    }
  })

  it('gives one session ten streams', async () => {
    const bea = await createTestPersona(entorno, { alcances: ['ver'] })
    const flujos = []
    for (let i = 0; i < 10; i++) flujos.push(await escuchar(bea))
    const otro = await escuchar(bea)
    expect([otro.respuesta.status, otro.respuesta.headers.get('retry-after')]).toEqual([503, '60'])
    flujos[0]!.close()
    await hasta(async () => {
      const uno = await escuchar(bea)
      flujos.push(uno)
      return uno.respuesta.status === 200
    })
    for (const flujo of flujos) flujo.close()
  })

  it('has a comment before a proxy takes it for dead, also while other guides change', FULL_RUN_ONLY, async () => {
    const [{ guia }, otra] = [await comercio.api.guias.crear(buildGuia()), await comercio.api.guias.crear(buildGuia())]
    const flujo = await escuchar(ana, `?desde=${await cursorDe('/central')}&guia=${guia}`)
    await expect
      .poll(
        async () => {
          await entorno.operar('POST', `/guias/${otra.guia}/eventos`, { tipo: 'guia.nota', descripcion: 'Sigue' })
          return flujo.texto.includes('\n:\n')
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toBe(true)
    expect(cambios(flujo)).toBe(0)
    flujo.close()
  })

  it('answers HEAD without a stream', async () => {
    const { status, body } = await fetch(`${entorno.url}/central/en-vivo`, {
      method: 'HEAD',
      headers: { Cookie: ana.cookie },
    })
    expect([status, body]).toEqual([200, null])
  })
})

describe.skipIf(!hasBrowser)('an open page of the office', () => {
  /** Opens a page in a browser in which that person is signed in. */
  async function abrir(ruta: string, quien = ana) {
    const contexto = await openContext({})
    const [name = '', value = ''] = quien.cookie.split('=')
    await contexto.addCookies([{ name, value, url: entorno.url }])
    const pagina = await contexto.newPage()
    await pagina.goto(entorno.url + ruta)
    return { context: contexto, pagina }
  }

  it('gives way to the sign-in once its session ended unused, which leads back to it', async () => {
    const quien = await createTestPersona(entorno)
    const { pagina, context: contexto } = await abrir('/central/guias', quien)
    await entorno.db.pool.query('update sesion_persona set inactiva_en = $2 where sesion = $1', [
      quien.sesion,
      entorno.clock(),
    ])
    await pagina.getByText('pasó un rato sin que nadie la usara').waitFor()
    expect(await pagina.locator('[name=volver]').getAttribute('value')).toBe('/central/guias')
    await contexto.close()
  })

  it('shows a change without being loaded again, and keeps the focus, typed text and open forms', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { context: contexto, pagina } = await abrir(`/central/guias/${guia}`)
    await pagina.evaluate('window.misma = true')
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).click()
    await pagina.locator('summary', { hasText: 'Nota de la central' }).click()
    const nota = pagina.getByLabel('Nota', { exact: true })
    await nota.fill('Vuelve el jue')
    await pasar(guia, 'recolectado')
    await pagina.locator('.cabeza .insignia', { hasText: 'Recolectado' }).waitFor()
    await pagina.keyboard.type('ves')
    expect(await nota.inputValue()).toBe('Vuelve el jueves')
    await pasar(guia, 'en_ruta')
    await pagina.locator('.cabeza .insignia', { hasText: 'En ruta' }).waitFor()
    expect(await nota.inputValue()).toBe('Vuelve el jueves')
    const secuenciaDe = (accion: string) =>
      pagina.locator(`form:has([value="${accion}"]) [name="secuencia"]`).inputValue()
    // What the person typed was about the guide as it was, so its form is the one of then.
    expect([await secuenciaDe('notar'), await secuenciaDe('anotar')]).toEqual(['1', '3'])
    // It can no longer be cancelled, and nothing was typed there.
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).waitFor({ state: 'detached' })
    await pagina.getByRole('button', { name: 'Nota de la central' }).click()
    await pagina.getByText('La nota quedó guardada.').waitFor()
    expect(await pagina.evaluate('window.misma')).toBeUndefined()
    await contexto.close()
  })

  it('keeps a form with typed text that is no longer offered, and the service refuses it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { context: contexto, pagina } = await abrir(`/central/guias/${guia}`)
    await pagina.locator('summary', { hasText: 'Cancelar la guía' }).click()
    await pagina.locator('#cancelar-razon').fill('Llamó la tienda')
    await pagina.locator('h1').focus()
    await pasar(guia, 'recolectado')
    await pagina.locator('.cabeza .insignia', { hasText: 'Recolectado' }).waitFor()
    expect(await pagina.locator('#cancelar-razon').inputValue()).toBe('Llamó la tienda')
    await pagina.getByRole('button', { name: 'Cancelar la guía' }).click()
    await pagina.getByRole('heading', { level: 1 }).waitFor()
    expect((await entorno.operar('GET', `/guias/${guia}`)).cuerpo.estado).toBe('recolectado')
    await contexto.close()
  })

  it('shows a new guide in the list, and keeps the chosen filter and the focused row', async () => {
    const { guia: vieja } = await comercio.api.guias.crear(buildGuia())
    const { context: contexto, pagina } = await abrir('/central/guias')
    await pagina.getByLabel('Estado').selectOption('en_ruta')
    const fila = pagina.locator(`a[href$="guias/${vieja}"]`)
    await fila.focus()
    const { guia: nueva } = await comercio.api.guias.crear(buildGuia())
    await pagina.locator(`a[href$="guias/${nueva}"]`).waitFor()
    expect(await pagina.getByLabel('Estado').inputValue()).toBe('en_ruta')
    expect(await pagina.evaluate('document.activeElement.getAttribute("href")')).toContain(vieja)
    expect(await pagina.locator('tbody tr').first().innerText()).toContain(nueva.slice(0, 4))
    await contexto.close()
  })

  it('counts a new guide on the first page, and shows what a courier takes', async () => {
    const vivo = await entorno.nuevoComercio('live')
    const { repartidor } = (await entorno.operar('POST', '/repartidores', { nombre: 'Luis Batz' })).cuerpo
    const [hoy, lleva] = [await abrir('/central'), await abrir(`/central/reparto/${repartidor}`)]
    const { guia } = await vivo.api.guias.crear(buildGuia())
    await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado', repartidor })
    await hoy.pagina.locator('.cuentas', { hasText: '1 creadas hoy' }).waitFor()
    await lleva.pagina.getByText('Lleva 1 paquete.').waitFor()
    for (const { context: contexto } of [hoy, lleva]) await contexto.close()
  })
})

// The merchant of the other tests has the address of before the stop.
describe('a stream of a process that stops', () => {
  it('ends in order when the process stops, so that no stop waits for it', async () => {
    const flujo = await escuchar(ana)
    await entorno.reset()
    await hasta(async () => flujo.terminado)
    expect(flujo.cortado).toBe(false)
  })
})
