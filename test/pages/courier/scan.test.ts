import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { barsOf, qrOf } from '../../../server/platform/pdf/barcodes.ts'
import { createFoto, createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser, openBrowserWithCamera } from '../../browser.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createTestRepartidor,
  evaluateOnPhone,
  goHome,
  groupCode,
  link,
  locateButton,
  openPhone,
  pagina,
  phoneBridge,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  readShortEventoTypes,
  registerAsOperador,
  requestedUrls,
  signInOnPage,
  titulo,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

/** What a label shows to a camera, bars or a QR, in grey: drawn by hand, since the service bars sharp from other formats. */
function drawing(kind: { bars?: string; qr?: string }, ancho = 640, alto = 480) {
  const greys = Buffer.alloc(ancho * alto, 0xee)
  const drawRectangle = (x: number, y: number, w: number, h: number) => {
    for (let row = y; row < y + h; row++) greys.fill(0, row * ancho + x, row * ancho + x + w)
  }
  if (kind.bars) {
    const anchos = barsOf(kind.bars)!
    const modules = anchos.reduce((a, b) => a + b)
    const modulo = Math.floor((ancho - 40) / modules)
    let x = Math.floor((ancho - modulo * modules) / 2)
    for (const [i, n] of anchos.entries()) {
      if (i % 2 === 0) drawRectangle(x, 140, n * modulo, 180)
      x += n * modulo
    }
  }
  if (kind.qr) {
    const { side, modules } = qrOf(kind.qr)!
    const modulo = Math.floor((alto - 120) / side)
    for (let i = 0; i < side * side; i++) {
      if (modules[i]) drawRectangle(60 + (i % side) * modulo, 60 + Math.floor(i / side) * modulo, modulo, modulo)
    }
  }
  return { greys, ancho, alto }
}
type Drawing = ReturnType<typeof drawing>
/** The guide whose label the camera sees. */
let _guiaOnCamera: string

/** A film of one picture, as Chromium's false camera plays it. */
function buildVideo({ greys, ancho, alto }: Drawing): Buffer {
  const frame = Buffer.concat([Buffer.from('FRAME\n'), greys, Buffer.alloc((ancho * alto) / 2, 128)])
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${ancho} H${alto} F5:1 Ip A1:1 C420jpeg\n`), frame, frame])
}

const png = ({ greys, ancho, alto }: Drawing) =>
  sharp(greys, { raw: { width: ancho, height: alto, channels: 1 } })
    .png()
    .toBuffer()

describe.skipIf(!hasBrowser)('in a browser', () => {
  let folder: string
  let browser: Browser
  /** The guide whose label the camera sees. */
  let guiaOnCamera: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-repartidor-'))
    guiaOnCamera = (await phoneComercio.api.guias.crear(buildGuia({ contenido: 'Etiquetas' }))).guia
    await writeFile(join(folder, 'etiqueta.y4m'), buildVideo(drawing({ bars: guiaOnCamera })))
    browser = await openBrowserWithCamera(join(folder, 'etiqueta.y4m'))
  })
  afterAll(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('reads bars with the camera and a QR from a photo, without a reader of the browser', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    // The camera sees the label at once: what is to be done before that has to hold it back.
    await openPhone(
      {
        initScript: `window.camara = Promise.resolve()
        const dispositivos = navigator.mediaDevices // none on an empty page
        const pedir = dispositivos?.getUserMedia.bind(dispositivos)
        if (dispositivos) dispositivos.getUserMedia = async (que) => { await window.camara; return pedir(que) }`,
      },
      browser,
    )
    await waitForInstall()
    expect(requestedUrls.filter((one) => one.includes('lector.'))).toEqual([])
    await signInOnPage(codigo)
    expect(await evaluateOnPhone('typeof BarcodeDetector')).toBe('undefined')
    await link('Escanear').tap()
    await titulo(groupCode(guiaOnCamera)).waitFor()
    await pagina.getByText('Lleva: Etiquetas').waitFor()
    await goHome()
    await evaluateOnPhone('void (window.camara = new Promise((soltar) => { window.soltar = soltar }))')
    await link('Escanear').tap()
    await pagina.getByLabel('Cargar varias').check()
    await evaluateOnPhone('window.soltar()')
    await pagina.getByText('1 guía').waitFor()
    await checkWindow('escanear')
    // It is before the camera still: a moment later the box is gone.
    await pagina.getByLabel('Cargar varias').tap()
    await titulo(groupCode(guiaOnCamera)).waitFor()
    const { guia } = await phoneComercio.api.guias.crear(buildGuia({ contenido: 'Cuadros' }))
    await goHome()
    await phoneContext.clearPermissions()
    await phoneContext.grantPermissions(['geolocation'])
    await link('Escanear').tap()
    await pagina.getByText('Sin permiso para usar la cámara').waitFor()
    const input = pagina.locator('input[type=file]')
    await input.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: await createFoto() })
    await pagina.getByText('No se ve ningún código').waitFor()
    const foreign = await png(drawing({ qr: 'https://example.com/menu' }))
    await input.setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: foreign })
    await pagina.getByText('Ese código no es de una guía').waitFor()
    const own = await png(drawing({ qr: `https://guias.example.com/r/${guia}` }))
    await input.setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: own })
    await pagina.getByText('Lleva: Cuadros').waitFor()
  })

  it('takes many parcels one after the other, each once', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const inWarehouse = async () => {
      const { guia } = await phoneComercio.api.guias.crear(buildGuia())
      for (const estado of ['recolectado', 'en_bodega']) await registerAsOperador(guia, { estado })
      return guia
    }
    const [one, other] = [await inWarehouse(), await inWarehouse()]
    const ownGuia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone({ permissions: [] }, browser)
    await signInOnPage(codigo)
    await titulo('1 por entregar').waitFor()
    await link('Escanear').tap()
    await pagina.getByText('Sin permiso para usar la cámara').waitFor()
    await pagina.getByLabel('Cargar varias').check()
    const show = async (guia: string) =>
      pagina.locator('input[type=file]').setInputFiles({
        name: 'etiqueta.png',
        mimeType: 'image/png',
        buffer: await png(drawing({ bars: guia })),
      })
    for (const guia of [one, other, ownGuia]) {
      await show(guia)
      await pagina.getByText(`${groupCode(guia)} en la lista.`).waitFor()
    }
    await show(one)
    await pagina.getByText('3 guías').waitFor()
    await checkWindow('tomar-varias')
    await locateButton('Salir a ruta con 2').tap()
    await titulo('En ruta: 2 guías').waitFor()
    await pagina.getByRole('region', { name: 'No se pudo con 1' }).getByText(groupCode(ownGuia)).waitFor()
    for (const guia of [one, other]) await waitUntil(async () => (await readShortEventoTypes(guia)).includes('en_ruta'))
    await goHome()
    await titulo('3 por entregar').waitFor()
    expect((await readShortEventoTypes(one)).filter((tipo) => tipo === 'en_ruta')).toHaveLength(1)
  })

  it('uses the browser’s own reader where there is one', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone(
      {
        initScript: `window.BarcodeDetector = class { static async getSupportedFormats() { return ['code_128', 'qr_code'] }
        async detect(video) { return video.videoWidth > 0 ? [{ rawValue: '${guiaOnCamera}' }] : [] } }`,
      },
      browser,
    )
    await signInOnPage(codigo)
    await link('Escanear').tap()
    await titulo(groupCode(guiaOnCamera)).waitFor()
    expect(phoneBridge.forwardedRequests.some((one) => one.includes('lector.'))).toBe(false)
  })
})
