import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createTestRepartidor,
  dumpPhoneDatabase,
  fillEntrega,
  goHome,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  readPrueba,
  readShortEventoTypes,
  registerAsOperador,
  signInOnPage,
  signOutOfPage,
  tapSendNow,
  tapStep,
  today,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

const persona = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12' }
const fresh = async () =>
  (await phoneComercio.api.guias.crear(buildGuia({ ...persona, contenido: '2 pares de zapatos' }))).guia

describe.skipIf(!hasBrowser)('in a browser', () => {
  it(
    'shows of a guide that nobody carries where it is collected, and where it goes once it is taken',
    FULL_RUN_ONLY,
    async () => {
      const { codigo } = await createTestRepartidor()
      const guia = await fresh()
      await openPhone()
      await signInOnPage(codigo)
      await openGuiaPage(guia)
      await pagina.getByRole('region', { name: 'Se recoge en' }).getByText('Bodega Zona 12').waitFor()
      await pagina.getByText('Lleva: 2 pares de zapatos').waitFor()
      expect(await link('Google Maps').getAttribute('href')).toContain('destination=14.583611%2C-90.548611')
      expect(await pagina.locator('.barra a, .pasos a').allTextContents()).toEqual(['Recoger el paquete'])
      expect(await dumpPhoneDatabase()).not.toMatch(/María|5a avenida|\+502/)
      await checkWindow('por-recoger')
      await tapStep(guia, 'Recoger el paquete')
      await openGuiaPage(guia)
      await pagina.getByText(persona.destinatario).waitFor()
      await pagina.getByText('Salir a ruta').waitFor()
      await checkWindow('propia')
    },
  )

  it('says that another carries a guide, and takes it where it changes hands', FULL_RUN_ONLY, async () => {
    const [carlos, berta] = [await createTestRepartidor(), await createTestRepartidor('Berta Chávez')]
    const guia = await fresh()
    for (const estado of ['recolectado', 'en_ruta'])
      await registerAsOperador(guia, { estado, repartidor: berta.repartidor })
    await openPhone()
    await signInOnPage(carlos.codigo)
    await openGuiaPage(guia)
    await pagina.getByText('La lleva otro repartidor').waitFor()
    expect(await pagina.locator('.barra, .pasos').count()).toBe(0)
    expect(await dumpPhoneDatabase()).not.toMatch(/María|5a avenida|zapatos|\+502/)
    await checkWindow('ajena')
    await registerAsOperador(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await pagina.reload()
    await pagina.getByText('Si ya la tiene usted, regístrelo aquí.').waitFor()
    await checkWindow('de-mano-en-mano')
    await tapStep(guia, 'Salir a ruta')
    await openGuiaPage(guia)
    await pagina.getByText(persona.destinatario).waitFor()
    await link('Entregar').waitFor()
  })

  it('lists what a courier carries without being told, apart from the rest', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [ownGuia, free] = [await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor), await fresh()]
    await openPhone()
    await signInOnPage(codigo)
    const ownStop = pagina.locator(`.parada #g-${ownGuia}`)
    await ownStop.waitFor()
    await openGuiaPage(free)
    await pagina.getByText('No la lleva nadie').waitFor()
    await goHome()
    await pagina.getByRole('region', { name: 'Otras a mano' }).locator(`#g-${free}`).waitFor()
    await checkWindow('suyas-y-otras')
    // Again at the next sign-in, however soon: the phone forgot them when the courier left.
    await signOutOfPage()
    await signInOnPage(codigo)
    await ownStop.waitFor()
  })

  it('sends in its order what was collected and delivered without coverage', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    const guia = await fresh()
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await pagina.getByText('No la lleva nadie').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await tapStep(guia, 'Recoger el paquete')
    await openGuiaPage(guia)
    await pagina.getByText('El destino se verá').waitFor()
    await tapStep(guia, 'Salir a ruta')
    await fillEntrega(guia)
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    await phoneContext.setOffline(false)
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    expect(await readShortEventoTypes(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', 'entregado'])
  })

  it('keeps a delivery of what its courier never said to carry, and sends it once he does', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    const guia = await fresh()
    for (const estado of ['recolectado', 'en_bodega']) await registerAsOperador(guia, { estado })
    await openPhone()
    await signInOnPage(codigo)
    await waitForInstall()
    await phoneContext.setOffline(true)
    await fillEntrega(guia, { firmar: true })
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    await phoneContext.setOffline(false)
    await link('Vea por qué').tap()
    await pagina.getByText('La guía no está en sus manos').waitFor()
    await pagina.getByText('No la lleva nadie todavía. Si la tiene usted').waitFor()
    await checkWindow('sin-custodia')
    await locateButton('La tenía yo').tap()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readPrueba(guia)).status === 200
    })
    expect((await readPrueba(guia)).body).toMatchObject({ fotos: [{}], firma: {} })
    expect(await readShortEventoTypes(guia)).toEqual(['aceptado', 'recolectado', 'en_bodega', 'en_ruta', 'entregado'])
    await today()
    await pagina.getByText('Enviado hoy (2)').waitFor()
  })
})
