import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareLogo } from '../../server/platform/brand/logo.ts'
import { openBrand } from '../../server/platform/brand/open.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { buildLogoSvg, writeLogoFile } from './logos.ts'

const createPlainImage = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })

describe('a logo', () => {
  it.each([
    ['wide', 900, 100, { ancho: 600, alto: 67 }],
    ['square', 64, 64, { ancho: 144, alto: 144 }],
    ['tall', 50, 400, { ancho: 18, alto: 144 }],
  ])('(%s) is drawn anew as a small PNG, whole', async (_label, width, height, measure) => {
    const logo = await prepareLogo(writeLogoFile('logo.svg', buildLogoSvg(width, height)))
    expect(logo).toMatchObject(measure)
    expect(await sharp(logo.png).metadata()).toMatchObject({
      format: 'png',
      width: measure.ancho,
      height: measure.alto,
    })
    expect(logo.png.length).toBeLessThan(12_000)
    expect(await sharp(logo.preview.png).metadata()).toMatchObject({ format: 'png', width: 600, height: 315 })
  })

  it('in pixels is not enlarged', async () => {
    const logo = await prepareLogo(
      writeLogoFile('chico.png', await createPlainImage(60, 40, '#003366').png().toBuffer()),
    )
    expect(logo).toMatchObject({ ancho: 60, alto: 40 })
  })

  it.each([
    ['is not there', () => '/no/hay/logo.svg', /no se encuentra el archivo/],
    [
      'is a JPEG',
      async () => writeLogoFile('a.png', await createPlainImage(90, 90, '#123').jpeg().toBuffer()),
      /no es SVG ni PNG/,
    ],
    ['is a page', () => writeLogoFile('a.svg', '<html><body>hola</body></html>'), /no es SVG ni PNG/],
    ['is broken', () => writeLogoFile('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><rect'), /está dañada/],
    ['weighs too much', () => writeLogoFile('a.svg', buildLogoSvg(9, 9) + ' '.repeat(600_000)), /pasa de 512 KB/],
    ['is white', () => writeLogoFile('a.svg', buildLogoSvg(90, 90, '#fff').replace('#f5c518', '#fff')), /casi blanca/],
    [
      'is tiny',
      async () => writeLogoFile('a.png', await createPlainImage(9, 9, '#123').png().toBuffer()),
      /menos de 32 píxeles/,
    ],
  ])('that %s is refused at start, with what to do', async (_label, act, motivo) => {
    await expect(prepareLogo(await act())).rejects.toThrow(motivo)
    await expect(prepareLogo(await act())).rejects.toThrow('BRAND_LOGO: ')
  })

  describe('at an address', () => {
    let url: string
    const server = createServer((req, res) => {
      if (req.url === '/logo.svg') return res.end(buildLogoSvg(200, 50))
      if (req.url === '/pagina') return res.end('<html>')
      res.writeHead(503).end()
    })
    beforeAll(async () => {
      await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    afterAll(() => server.close())
    const open = (path: string) => openBrand(readConfig({ BRAND_LOGO: url + path }, '/'), createLog('silent'))

    it('is read once; what is no logo is refused, and without an answer the name stands alone', async () => {
      expect((await open('/logo.svg')).logo).toMatchObject({ ancho: 576, alto: 144 })
      await expect(open('/pagina')).rejects.toThrow('BRAND_LOGO: el archivo no es SVG ni PNG')
      expect(await open('/cae')).toEqual({ logo: null, icons: null })
    })
  })
})
