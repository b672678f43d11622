import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createColorFoto,
  createTestRepartidor,
  dumpPhoneDatabase,
  evaluateOnPhone,
  failIntento,
  fillEntrega,
  goHome,
  groupCode,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneBridge,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  readPrueba,
  readShortEventoTypes,
  signInOnPage,
  signOutOfPage,
  titulo,
  today,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

/** The cookies that open something; what the phone is known by stays when somebody leaves. */
const bySesion = async () => (await phoneContext.cookies()).filter(({ name }) => name !== 'guias_dispositivo')

/** Two couriers with a parcel each; the first one has his open on the phone. */
async function withTwoRepartidores() {
  const [carlos, berta] = [await createTestRepartidor(), await createTestRepartidor('Berta Chávez')]
  const [guia, ofBerta] = [
    await createGuiaOnRoute(phoneEnvironment, phoneComercio, carlos.repartidor),
    await createGuiaOnRoute(phoneEnvironment, phoneComercio, berta.repartidor),
  ]
  await openPhone()
  await signInOnPage(carlos.codigo)
  await openGuiaPage(guia)
  await link('Entregar').waitFor()
  return { carlos, berta, guia, ofBerta }
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('lets a courier in with his code, and out again', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone()
    await pagina.getByLabel('Su código').waitFor()
    await checkWindow('entrar')
    await locateButton('Entrar').tap()
    await pagina.getByText('Escriba el código').waitFor()
    await pagina.getByLabel('Su código').fill('AAAAA-AAAAA')
    await locateButton('Entrar').tap()
    await pagina.getByText('Ese código no es válido').waitFor()
    // As a thumb types it.
    await signInOnPage(codigo.toLowerCase().replace('-', ' '))
    await titulo('Hola, Carlos').waitFor()
    await checkWindow('vacio')
    const [cookie] = await bySesion()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/repartidor' })
    await pagina.reload()
    await titulo('Hola, Carlos').waitFor()
    await signOutOfPage()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await bySesion()).toEqual([])
  })

  it('weighs little, can be installed, and asks nobody else for anything', FULL_RUN_ONLY, async () => {
    await openPhone()
    await waitForInstall()
    const sesion = await phoneContext.newCDPSession(pagina)
    const { installabilityErrors } = await sesion.send('Page.getInstallabilityErrors')
    // A private window cannot install: it is the only thing Chromium has against it.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([])
    const { errors } = await sesion.send('Page.getAppManifest')
    expect(errors).toEqual([])
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setBypassServiceWorker', { bypass: true })
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina.reload({ waitUntil: 'networkidle' })
    console.log(`the courier's page with headers: ${bytes} bytes`)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(40_000)
  })

  it('leaves no draft and no photo of one on the phone when the courier goes', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').tap()
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText('Foto 1', { exact: true }).waitFor()
    await expect.poll(() => dumpPhoneDatabase()).not.toMatch(/"drafts",\[\]|"imagenes",\[\]/)
    await signOutOfPage()
    await locateButton('Salir de todos modos').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    const remaining = await dumpPhoneDatabase()
    for (const store of ['actions', 'drafts', 'guias', 'imagenes']) expect(remaining).toContain(`["${store}",[]]`)
  })

  it('keeps what was done when the session ends, and never sends it for another courier', FULL_RUN_ONLY, async () => {
    const { carlos, berta, guia, ofBerta } = await withTwoRepartidores()
    // The operator takes the code away.
    const newCodigo = (await phoneEnvironment.asOperador('POST', `/repartidores/${carlos.repartidor}/codigo`)).body
      .codigo
    const [cookie] = await bySesion()
    await waitUntil(async () => {
      const Cookie = `${cookie!.name}=${cookie!.value}`
      return (await phoneEnvironment.request('GET', '/repartidor/v1/sesion', { headers: { Cookie } })).status === 401
    })
    await failIntento(guia)
    await pagina.getByText('Su sesión venció').waitFor()
    await today()
    await pagina.getByText('Espera a que entre otra vez').waitFor()
    await checkWindow('vencida')
    await link('Entre otra vez para enviar').tap()
    await signInOnPage(berta.codigo)
    await today()
    await pagina.getByText('Espera a Carlos Méndez').waitFor()
    await failIntento(ofBerta)
    await waitUntil(async () => (await readShortEventoTypes(ofBerta)).includes('intento_fallido'))
    expect(await readShortEventoTypes(guia)).not.toContain('intento_fallido')
    // What was at hand for one isn't for the other.
    expect(await pagina.locator('main').textContent()).not.toContain(groupCode(guia))
    await signOutOfPage()
    await pagina.getByText('¿Salir sin haberlo enviado todo?').waitFor()
    await locateButton('Quedarme').tap()
    await signOutOfPage()
    await locateButton('Salir de todos modos').tap()
    await pagina.getByText('guarda una acción sin enviar').waitFor()
    await signInOnPage(newCodigo)
    await waitUntil(async () => (await readShortEventoTypes(guia)).includes('intento_fallido'))
    await today()
    await pagina.getByText('Enviado hoy (1)').waitFor()
    await signOutOfPage()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await dumpPhoneDatabase()).not.toContain(guia)
  })

  it('sends nothing for another courier where the browser has no locks, either', FULL_RUN_ONLY, async () => {
    const [carlos, berta] = [await createTestRepartidor(), await createTestRepartidor('Berta Chávez')]
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, carlos.repartidor)
    await openPhone({ initScript: `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })` })
    await signInOnPage(carlos.codigo)
    await fillEntrega(guia)
    // A photo that is under way while the phone changes hands.
    const release = phoneBridge.holdResponse(/\/archivos/)
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    await signOutOfPage()
    await locateButton('Salir de todos modos').tap()
    release()
    await signInOnPage(berta.codigo)
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    const { rows } = await phoneEnvironment.db.pool.query(
      'select autor from evento where guia = $1 order by secuencia',
      [guia],
    )
    expect(rows.at(-1)).toEqual({ autor: carlos.repartidor })
  })

  it('leaves the queue of one courier waiting while another sends his', async () => {
    const { berta, guia, ofBerta } = await withTwoRepartidores()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await failIntento(guia)
    await phoneContext.clearCookies()
    await phoneContext.setOffline(false)
    await pagina.getByText('Su sesión venció').waitFor()
    await goHome()
    await link('Entre otra vez para enviar').tap()
    await signInOnPage(berta.codigo)
    await failIntento(ofBerta)
    await waitUntil(async () => (await readShortEventoTypes(ofBerta)).includes('intento_fallido'))
    const status =
      await evaluateOnPhone<string>(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result
        const q = db.transaction('actions').objectStore('actions').getAll()
        q.onsuccess = () => { db.close(); resolver(q.result.find((una) => una.guia === '${guia}').status) } } })`)
    expect(status).toBe('pendiente')
    expect(await readShortEventoTypes(guia)).not.toContain('intento_fallido')
  })

  it('keeps nothing of what is answered when the courier has left', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    const release = phoneBridge.holdResponse(/^GET .*\/guias/)
    const late = pagina.waitForResponse(/\/guias/)
    await pagina.reload()
    // The phone's own copy, as long as no answer comes.
    await link('Entregar').waitFor()
    await signOutOfPage()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    release()
    await (await late).finished()
    await expect.poll(() => dumpPhoneDatabase()).not.toContain(guia)
  })

  it('begins on a phone that has stores of an earlier version', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone({
      initScript: `if (location.protocol.startsWith('http')) {
        const earlier = indexedDB.open('repartidor', 1)
        earlier.onupgradeneeded = () => earlier.result.createObjectStore('acciones')
        earlier.onsuccess = () => earlier.result.close() }`,
    })
    await signInOnPage(codigo)
    await titulo('Hola, Carlos').waitFor()
    expect(JSON.parse(await dumpPhoneDatabase()).map(([store]: [string]) => store)).not.toContain('acciones')
  })

  it('tells the service that somebody left until it has heard it', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone()
    await signInOnPage(codigo)
    await phoneContext.setOffline(true)
    await signOutOfPage()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    phoneBridge.reject(/^DELETE .*\/sesion$/, 1)
    await phoneContext.setOffline(false)
    await expect.poll(bySesion).toEqual([])
  })
})
