import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { createTestPersona, requestCode, signInWithCode, toCookieHeader } from '../equipo/persona.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import {
  createColorFoto,
  createGuiaIn,
  createTestRepartidor,
  goHome,
  groupCode,
  link,
  locateButton,
  openedGuia,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  signInOnPage,
  usePhone,
} from './courier/phone.ts'
import { evaluateIn } from './inspect.ts'
import { PHONE_POSITION } from './location/phone.ts'
import { url as deUbicacion, fakePages, useUbicacionService } from './location/service.ts'
import { checkWithoutSight, findUnannounced, type ReaderWalk } from './scanner.ts'

usePhone()
useUbicacionService()
const { createAskedGuia: askedGuia } = useQuestions(phoneEnvironment)

const SCREEN = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
/** The table of the pages without a mouse and without seeing them, as the documentation has it. */
const TABLE = readFileSync(new URL('../../docs/paginas.md', import.meta.url), 'utf8')
const row = (page: string, accion: string, { hasta, stops, headingLevels, regions }: ReaderWalk) =>
  `| ${page} | «${accion}» | ${hasta} | ${stops} | ${headingLevels} | ${regions} |`
const comprobar = (name: string, accion: string, traversal: ReaderWalk) =>
  expect.soft(TABLE).toContain(row(name, accion, traversal))

describe.skipIf(!hasBrowser)('with the keyboard alone, and as a screen reader has it', () => {
  const openHere = async (direccion: string, options = {}) => {
    const context = await openContext({ ...SCREEN, ...options })
    const page = await context.newPage()
    await page.goto(direccion, { waitUntil: 'networkidle' })
    return page
  }
  let guia: string
  beforeAll(async () => {
    guia = (await phoneComercio.api.guias.crear(buildGuia())).guia
  })

  it.each([
    ['a control without a name', '<h1>A</h1><button>Ir</button><input>', /textbox/],
    ['a skipped level', '<h1>A</h1><h3>B</h3><button>Ir</button>', /to be less than or equal to 2/],
    ['a focus that can’t be seen', '<h1>A</h1><button style="outline: 0">Ir</button>', /no outline/],
    [
      'a focus below a bar',
      `<h1>A</h1><button>Ir</button>
      <div style="position: fixed; inset: 0; background: red"></div>`,
      /covered/,
    ],
  ])('finds %s', async (_, html, missing) => {
    const page = await openHere('about:blank')
    await page.setContent(`<style>:focus-visible { outline: 3px solid }</style><main>${html}</main>`)
    await expect(checkWithoutSight(page, 'Ir')).rejects.toThrow(missing)
    await page.context().close()
  })

  it('finds what appears and nobody hears', async () => {
    const page = await openHere('about:blank')
    await page.setContent('<main><p id="a"></p><p id="b" role="status"></p></main>')
    const say = (elementId: string) =>
      findUnannounced(page, () =>
        evaluateIn(page, `document.getElementById('${elementId}').textContent = 'Falta el nombre'`),
      )
    expect(await say('a')).toEqual(['Falta el nombre'])
    expect(await say('b')).toEqual([])
    await page.context().close()
  })

  it.each([
    ['`/`', () => `${phoneEnvironment.url}/`, 'Seguir el envío'],
    ['`/comercio`', () => `${phoneEnvironment.url}/comercio`, 'Desde una hoja de cálculo'],
    ['`/r/{guia}`', () => `${phoneEnvironment.url}/r/${guia}`, 'Seguir otro envío'],
    ['`/r`, a code that can’t be one', () => `${phoneEnvironment.url}/r?guia=no+es`, 'Seguir el envío'],
    ['an address where nothing is', () => `${phoneEnvironment.url}/no/hay`, 'Seguir el envío'],
    ['`/verificar`', () => `${phoneEnvironment.url}/verificar`, 'Verificar'],
    ['`/entrar`', () => `${phoneEnvironment.url}/entrar`, 'Mandar el código'],
    ['`/entrar/codigo`', () => `${phoneEnvironment.url}/entrar/codigo`, 'Entrar'],
    ['`/docs/consola`', () => `${phoneEnvironment.url}/docs/consola`, 'Enviar'],
  ] as const)('%s', FULL_RUN_ONLY, async (name, direccion, accion) => {
    const page = await openHere(direccion())
    comprobar(name, accion, await checkWithoutSight(page, accion))
    await page.context().close()
  })

  it('the page on which a person proves to be there', FULL_RUN_ONLY, async () => {
    const { comercio } = await phoneEnvironment.createComercio()
    const personaWithoutFactor = await createTestPersona(phoneEnvironment, { comercio, alcances: ['despacho'] })
    const withApp = await createTestPersona(phoneEnvironment)
    await phoneEnvironment.db.pool.query(
      `update sesion_persona set presencia_en = presencia_en - interval '1 hour'
       where persona_id in (select id from persona where persona = any($1))`,
      [[personaWithoutFactor.persona, withApp.persona]],
    )
    for (const [name, path, accion, { cookie }] of [
      ['`/cuenta/presencia`', '/cuenta/presencia', 'Mandar el código', personaWithoutFactor],
      ['`/cuenta/presencia/codigo`', '/cuenta/presencia/codigo', 'Confirmar', personaWithoutFactor],
      ['`/cuenta/presencia`, with an app', '/cuenta/presencia', 'Confirmar', withApp],
    ] as const) {
      const page = await openHere(phoneEnvironment.url + path, { extraHTTPHeaders: { Cookie: cookie } })
      comprobar(name, accion, await checkWithoutSight(page, accion))
      await page.context().close()
    }
  })

  it('the pages of the office', FULL_RUN_ONLY, async () => {
    const { cookie, persona } = await createTestPersona(phoneEnvironment)
    const emptyEntry = (await phoneEnvironment.asOperador('POST', '/comercios', { nombre: 'Tienda La Ceiba' })).body
      .comercio
    const own = await phoneEnvironment.createComercio()
    const { guia: sola } = await own.api.guias.crear(buildGuia())
    const { guia: asignada } = await own.api.guias.crear(buildGuia())
    const { repartidor } = (await phoneEnvironment.asOperador('POST', '/repartidores', { nombre: 'Eva Tum' })).body
    await phoneEnvironment.asOperador('POST', '/asignaciones', { guias: [asignada], repartidor })
    const alone = new URLSearchParams({ estado: 'aceptado', comercio: own.comercio })
    for (const [name, path, accion] of [
      ['`/central/guias`, nothing found', '/central/guias?q=nadie', 'Buscar'],
      ['`/central/guias/{guia}`', `/central/guias/${sola}`, 'Poner el lugar'],
      ['`/central/reparto/asignar`', `/central/reparto/asignar?${alone}`, 'Asignar lo marcado'],
      ['`/central/reparto/{repartidor}`', `/central/reparto/${repartidor}`, 'Asignar lo marcado'],
      ['`/central/comercios`, nothing found', '/central/comercios?texto=nadie', 'Buscar comercio'],
      ['`/central/comercios/nuevo`', '/central/comercios/nuevo', 'Crear el comercio'],
      ['`/central/comercios/{comercio}`', `/central/comercios/${emptyEntry}`, 'Crear una llave'],
      ['`/central/equipo/{persona}`', `/central/equipo/${persona}`, 'Cambiar sus permisos'],
      ['`/central/equipo/sistemas`', '/central/equipo/sistemas', 'Agregar un sistema'],
      ['`/central/equipo/servicio`', '/central/equipo/servicio', 'Buscar'],
      ['`/central/avisos`, nothing there', '/central/avisos', 'Buscar'],
      ['`/central/varias`', `/central/varias?accion=cancelar&guia=${sola}`, 'Cancelar 1 guía'],
    ] as const) {
      const page = await openHere(phoneEnvironment.url + path, { extraHTTPHeaders: { Cookie: cookie } })
      comprobar(name, accion, await checkWithoutSight(page, accion))
      await page.context().close()
    }
  })

  it('the page that asks for the second factor', FULL_RUN_ONLY, async () => {
    const { correo } = await createTestPersona(phoneEnvironment)
    const { codigo, signInCookie: input } = await requestCode(phoneEnvironment, correo)
    const [name = '', value = ''] = toCookieHeader(
      (await signInWithCode(phoneEnvironment, input, codigo)).headers,
    ).split(/[=;]/)
    const page = await openHere('about:blank')
    await page.context().addCookies([{ name, value, url: phoneEnvironment.url }])
    await page.goto(`${phoneEnvironment.url}/entrar/segundo-factor`)
    comprobar('`/entrar/segundo-factor`', 'Entrar', await checkWithoutSight(page, 'Entrar'))
    await page.context().close()
  })

  it('the page that verifies a proof', FULL_RUN_ONLY, async () => {
    const { guia } = await createDeliveredGuia(phoneEnvironment, phoneComercio)
    await waitUntil(async () => (await phoneComercio.api.guias.pruebaEntrega(guia)).pdf)
    const page = await openHere(`${phoneEnvironment.url}/verificar/${guia}`)
    comprobar('`/verificar/{guia}`', 'Elegir el PDF', await checkWithoutSight(page, 'Elegir el PDF'))
    const bad = { name: 'otro.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 otro') }
    const silentServer = await findUnannounced(page, async () => {
      await page.locator('input[type=file]').setInputFiles(bad)
      await page.locator('#resultado :text-matches("\\\\w")').first().waitFor()
    })
    expect(silentServer).toEqual([])
    await page.context().close()
  })

  it('the recipient’s page', FULL_RUN_ONLY, async () => {
    const page = await openHere(`${deUbicacion}/u/${fakePages.createRequest()}`, {
      permissions: ['geolocation'],
      geolocation: { ...PHONE_POSITION, accuracy: 8 },
    })
    const elegir = await checkWithoutSight(page, 'Estoy ahí ahora')
    comprobar('`/u/{token}`, choosing', 'Estoy ahí ahora', elegir)
    await page.getByRole('button', { name: 'Pegar un enlace de mapa' }).press('Enter')
    await page.locator('#enlace').fill('https://example.com/')
    const silentServer = await findUnannounced(page, async () => {
      await page.locator('#enlace').press('Enter')
      await page.getByText('no es un mapa admitido').first().waitFor()
    })
    expect(silentServer).toEqual([])
    await page.getByRole('button', { name: 'Atrás' }).press('Enter')
    await page.getByRole('button', { name: 'Estoy ahí ahora' }).press('Enter')
    await page.locator('#mapa.leaflet-container:not(.ciego)').waitFor()
    comprobar('`/u/{token}`, the pin', 'Confirmar', await checkWithoutSight(page, 'Confirmar'))
    await page.getByRole('button', { name: 'Confirmar' }).press('Enter')
    await page.getByRole('heading', { name: /Gracias/ }).waitFor()
    const thanksPage = await checkWithoutSight(page, 'Seguir mi paquete')
    comprobar('`/u/{token}`, afterwards', 'Seguir mi paquete', thanksPage)
    await page.context().close()
  })

  it('the page of a decision', async () => {
    const { enlace: context } = await askedGuia()
    const page = await openHere(phoneEnvironment.url + context)
    const elegir = await checkWithoutSight(page, 'Que lo lleven otro día')
    comprobar('`/d/{token}`, choosing', 'Que lo lleven otro día', elegir)
    await page.locator('summary', { hasText: 'Que lo dejen con un vecino' }).press('Enter')
    const vecino = await checkWithoutSight(page, 'Dejarlo con mi vecino')
    comprobar('`/d/{token}`, a neighbour', 'Dejarlo con mi vecino', vecino)
    await page.getByLabel('Nombre de su vecino').fill('Rosa Caal')
    await page.getByRole('button', { name: 'Dejarlo con mi vecino' }).press('Enter')
    await page.getByRole('heading', { name: /Gracias/ }).waitFor()
    const thanksPage = await checkWithoutSight(page, 'Seguir mi paquete')
    comprobar('`/d/{token}`, afterwards', 'Seguir mi paquete', thanksPage)
    await page.context().close()
  })

  it('the courier’s page', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [ownGuia] = [
      await createGuiaIn(repartidor, ['recolectado', 'en_ruta']),
      await createGuiaIn(repartidor, ['recolectado'], { lat: 14.8, lng: -90.7, telefono: '+50255551234' }),
      await createGuiaIn(repartidor, ['recolectado'], { lat: 14.9, lng: -90.7, telefono: '+50255551235' }),
    ]
    await openPhone()
    await openedGuia('Reparto').waitFor()
    comprobar('`/repartidor`, signing in', 'Entrar', await checkWithoutSight(pagina, 'Entrar'))
    expect(
      await findUnannounced(pagina, async () => {
        await locateButton('Entrar').press('Enter')
        await pagina.getByText('Escriba el código').waitFor()
      }),
    ).toEqual([])
    await signInOnPage(codigo)
    await openedGuia('3 por entregar').waitFor()
    comprobar('`/repartidor`, the first screen', 'Entregar', await checkWithoutSight(pagina, 'Entregar'))
    await link('Buscar').press('Enter')
    await pagina.getByLabel('Código, teléfono o nombre').and(pagina.locator(':focus')).waitFor()
    comprobar('`/repartidor`, searching', 'Abrir', await checkWithoutSight(pagina, 'Abrir'))
    expect(
      await findUnannounced(pagina, async () => {
        await pagina.getByLabel('Código, teléfono o nombre').press('Enter')
        await pagina.getByText('Escriba las 12 letras').waitFor()
      }),
    ).toEqual([])
    await goHome()
    await openedGuia('3 por entregar').waitFor()
    await link('Más').press('Enter')
    await openedGuia('Más').waitFor()
    await pagina.getByLabel('Oscuro').waitFor()
    comprobar('`/repartidor`, more', 'Marcar varias', await checkWithoutSight(pagina, 'Marcar varias'))
    await link('Marcar varias').press('Enter')
    await openedGuia('Marcar varias').waitFor()
    await locateButton('Marcar las 3').press('Enter')
    comprobar('`/repartidor`, many ticked', 'Salir a ruta con 2', await checkWithoutSight(pagina, 'Salir a ruta con 2'))
    await openGuiaPage(ownGuia)
    await openedGuia(groupCode(ownGuia)).waitFor()
    await link('Entregar').waitFor()
    comprobar('`/repartidor`, a guide', 'Entregar', await checkWithoutSight(pagina, 'Entregar'))
    await link('Entregar').press('Enter')
    await openedGuia('Tome una foto').waitFor()
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText('Foto 1').waitFor()
    comprobar('`/repartidor`, delivering, the photo', 'Seguir', await checkWithoutSight(pagina, 'Seguir'))
    await locateButton('Seguir').press('Enter')
    await openedGuia('¿Quién recibe?').waitFor()
    comprobar('`/repartidor`, delivering, the receiver', 'Seguir', await checkWithoutSight(pagina, 'Seguir'))
    expect(
      await findUnannounced(pagina, async () => {
        await locateButton('Seguir').press('Enter')
        await pagina.getByText('Escriba quién recibió.').waitFor()
      }),
    ).toEqual([])
    await pagina.getByLabel('Nombre').fill('María López')
    await locateButton('Seguir').press('Enter')
    await openedGuia('Firma').waitFor()
    comprobar('`/repartidor`, delivering, the signature', 'Seguir', await checkWithoutSight(pagina, 'Seguir'))
    await locateButton('Seguir').press('Enter')
    await openedGuia('Entregar').waitFor()
    const confirmar = 'Confirmar la entrega'
    comprobar('`/repartidor`, delivering, the last step', confirmar, await checkWithoutSight(pagina, confirmar))
    await locateButton(confirmar).press('Enter')
    await openedGuia('Entregado').waitFor()
    comprobar('`/repartidor`, done', 'Ver la lista', await checkWithoutSight(pagina, 'Ver la lista'))
    await goHome()
    await openedGuia('2 por entregar').waitFor()
    await link('Escanear').press('Enter')
    await openedGuia('Escanear').waitFor()
    await pagina.locator('video').waitFor({ state: 'detached' })
    const scan = await checkWithoutSight(pagina, 'Cargar varias a la lista')
    comprobar('`/repartidor`, scanning', 'Cargar varias a la lista', scan)
    expect(phoneContext.pages()).toHaveLength(1)
  })
})
