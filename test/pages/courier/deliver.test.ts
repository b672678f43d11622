import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { fotoTime } from '../../../server/pages/courier/browser/time.ts'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  countDarkPixels,
  createColorFoto,
  createTestRepartidor,
  drawFirma,
  dumpPhoneDatabase,
  evaluateOnPhone,
  expectOccurredBetween,
  failIntento,
  fillEntrega,
  goHome,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  openStep,
  pagina,
  phoneBridge,
  phoneComercio,
  phoneEnvironment,
  readPrueba,
  readShortEventoTypes,
  registerAsOperador,
  signInOnPage,
  tapSendNow,
  titulo,
  usePhone,
  waitForDone,
} from './phone.ts'

usePhone()

describe('the time of a photo', () => {
  it('is that of its file, unless it lies in the future', async () => {
    const tomada = (lastModified: number) => fotoTime(new File(['una foto'], 'foto.jpg', { lastModified }))
    const before = Date.now() - 60_000
    expect(await tomada(before)).toBe(new Date(before).toISOString())
    expect(await tomada(Date.now() + 86_400_000)).toBeNull()
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('delivers with photos, a signature and the place', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const { guia } = await phoneComercio.api.guias.crear(buildGuia({ destinatario: 'María López' }))
    for (const estado of ['recolectado', 'en_ruta']) await registerAsOperador(guia, { estado, repartidor })
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').tap()
    await titulo('Tome una foto').waitFor()
    await pagina.getByText('San Juan Sacatepéquez, Guatemala').waitFor()
    await checkWindow('entregar-fotos')
    const input = pagina.locator('input[type=file]')
    const grande = await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#3a6' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    await input.setInputFiles({ name: 'grande.jpg', mimeType: 'image/jpeg', buffer: grande })
    await pagina.getByAltText('Foto 1').waitFor()
    await input.setInputFiles(await createColorFoto('#36c'))
    await pagina.getByAltText('Foto 2').waitFor()
    await input.setInputFiles(await createColorFoto('#c63'))
    await pagina.getByAltText('Foto 3').waitFor()
    await locateButton('Quitar la foto 2').tap()
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    await checkWindow('entregar-con-fotos')
    await locateButton('Seguir').tap()
    await titulo('¿Quién recibe?').waitFor()
    await checkWindow('entregar-quien')
    await locateButton('Es a quien viene').tap()
    await pagina.getByLabel('Documento').fill('2456 78901 0101')
    await drawFirma()
    const inkCount = await countDarkPixels()
    expect(inkCount).toBeGreaterThan(0.002)
    await locateButton('Deshacer').tap()
    expect(await countDarkPixels()).toBeLessThan(inkCount)
    await drawFirma()
    await checkWindow('entregar-firma')
    // Turned: nothing of it is lost.
    const before = await countDarkPixels()
    await pagina.setViewportSize({ width: 740, height: 360 })
    await expect.poll(() => evaluateOnPhone('document.querySelector("canvas.firma").clientWidth')).toBeGreaterThan(500)
    await expect.poll(async () => Math.abs((await countDarkPixels()) - before) / before).toBeLessThan(0.35)
    await pagina.setViewportSize({ width: 360, height: 740 })
    // The camera's own app pushed the page out of memory.
    await pagina.reload()
    await expect.poll(countDarkPixels).toBeGreaterThan(0.002)
    await locateButton('Seguir').tap()
    for (const message of ['2 fotos', 'Recibe María López, es el destinatario', 'Firmó', 'Documento 2456 78901 0101'])
      await pagina.locator('.resumen').getByText(message, { exact: true }).first().waitFor()
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await checkWindow('entregar')
    const moment = Date.now()
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    const done = Date.now()
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    const { body } = await readPrueba(guia)
    expect(body).toMatchObject({
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'destinatario' },
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8,
    })
    expectOccurredBetween(body.entregado_en, moment, done)
    // Upright, and no larger than has to be sent.
    expect(body.fotos.map(({ ancho, alto }: { ancho: number; alto: number }) => [ancho, alto])).toEqual([
      [1_920, 2_560],
      [640, 480],
    ])
    const signedOne = await sharp(
      await (await fetch(body.firma.url.replace(/^https?:\/\/[^/]+/, phoneEnvironment.url))).arrayBuffer(),
    )
      .greyscale()
      .stats()
    expect(signedOne.channels[0]!.min).toBeLessThan(100)
    await pagina.getByText('Entregado').waitFor()
    // Nothing of the person is left on the phone.
    await expect.poll(() => dumpPhoneDatabase()).not.toMatch(/María|2456 78901|\+502/)
    expect(
      await evaluateOnPhone(
        'new Promise((r) => { const o = indexedDB.open("repartidor"); o.onsuccess = () => { const q = o.result.transaction("imagenes").objectStore("imagenes").count(); q.onsuccess = () => r(q.result) } })',
      ),
    ).toBe(0)
  })

  it('delivers without a place where the phone may not tell it', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone({ permissions: [] })
    await signInOnPage(codigo)
    await fillEntrega(guia)
    await pagina.getByText('Sin permiso para ver dónde está').waitFor()
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    expect((await readPrueba(guia)).body).toMatchObject({ lat: null, lng: null, firma: null })
  })

  it('names the photo that was refused, and sends the delivery once it is corrected', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(guia, { firmar: true })
    await openStep(guia, 'fotos')
    const input = pagina.locator('input[type=file]')
    await input.setInputFiles({ name: 'x.heic', mimeType: 'image/heic', buffer: Buffer.from('nada') })
    await pagina.getByText('no pudo leer esa foto').waitFor()
    await input.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('tampoco') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    await openStep(guia, 'confirmar')
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const moment = Date.now()
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    const done = Date.now()
    await link('Vea por qué').tap()
    await pagina.getByText('(la foto 2)').waitFor()
    await checkWindow('foto-mala')
    await locateButton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    await pagina.getByText('Recibe María López').first().waitFor()
    await openStep(guia, 'fotos')
    await locateButton('Quitar la foto 2').tap()
    await openStep(guia, 'confirmar')
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    // Who signed is gone by now: neither that nor the place is asked for again.
    expect((await readPrueba(guia)).body).toMatchObject({ fotos: [{}], firma: {}, lat: 14.7189, precision_m: 8 })
    expectOccurredBetween((await readPrueba(guia)).body.entregado_en, moment, done)
  })

  it('loses no photo when a delivery comes back while another try is half filled in', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(guia)
    await openStep(guia, 'fotos')
    const input = pagina.locator('input[type=file]')
    await input.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no es') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    await openStep(guia, 'confirmar')
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await fillEntrega(guia, { nombre: 'Otra Persona' })
    await openGuiaPage(guia)
    await link('Vea por qué').tap()
    await locateButton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    await openStep(guia, 'fotos')
    await pagina.getByAltText('Foto 3', { exact: true }).waitFor()
    await locateButton('Quitar la foto 2').tap()
    await openStep(guia, 'confirmar')
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    expect((await readPrueba(guia)).body).toMatchObject({ fotos: [{}, {}], recibido_por: { nombre: 'María López' } })
  })

  it('sends photos again that the service swept meanwhile', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(guia, { firmar: true })
    phoneBridge.cutRequest(/\/entrega$/)
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => phoneBridge.forwardedRequests.some((kind) => kind.includes('tipo=firma')))
    await phoneEnvironment.db.pool.query('delete from archivo where guia_id = (select id from guia where guia = $1)', [
      guia,
    ])
    await goHome()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readPrueba(guia)).status === 200
    })
    expect(phoneBridge.forwardedRequests.filter((kind) => kind.includes('tipo=foto'))).toHaveLength(2)
  })

  it('says which photo a proxy on the way finds too large', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [withFoto, other] = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await openPhone()
    await signInOnPage(codigo)
    phoneBridge.answerWith(/\/archivos/, 413)
    await fillEntrega(withFoto)
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await failIntento(other)
    await waitUntil(async () => (await readShortEventoTypes(other)).includes('intento_fallido'))
    phoneBridge.heal()
    await openGuiaPage(withFoto)
    await link('Vea por qué').tap()
    await pagina.getByText('(la foto 1)').waitFor()
    await locateButton('Intentar otra vez').tap()
    await waitUntil(async () => (await readPrueba(withFoto)).status === 200)
  })

  it('says that the phone is full before anything is lost', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(guia)
    // Chromium's own way of making a disk small does nothing in a private window.
    await evaluateOnPhone(`{ const { add, put } = IDBObjectStore.prototype
      window.negados = 0
      const lleno = () => { window.negados++; throw new DOMException('full', 'QuotaExceededError') }
      window.vaciar = () => void Object.assign(IDBObjectStore.prototype, { add, put })
      Object.assign(IDBObjectStore.prototype, { add: lleno, put: lleno }) } 0`)
    await openStep(guia, 'fotos')
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByText('no tiene espacio').waitFor()
    expect(await pagina.locator('.fotos li').count()).toBe(1)
    await openStep(guia, 'confirmar')
    // The photo's refusal still stands there when the delivery's comes.
    const deniedCount = await evaluateOnPhone<number>('window.negados')
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => (await evaluateOnPhone<number>('window.negados')) > deniedCount)
    await pagina.getByText('no tiene espacio').waitFor()
    await evaluateOnPhone('window.vaciar()')
    await locateButton('Confirmar la entrega').tap()
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    // Done, it leaves nothing of the person behind, nor does looking at it again.
    await pagina.reload()
    await openGuiaPage(guia)
    await pagina.getByText('Esta guía ya terminó').waitFor()
    expect(await dumpPhoneDatabase()).not.toContain('+502')
  })
})
