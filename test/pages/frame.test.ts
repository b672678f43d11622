import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { listGenerated, readGenerated } from '../../server/pages/assets.ts'
import { DARK_BACKGROUND } from '../../server/pages/front.ts'
import { contrast, DEFAULT_COLOR } from '../../server/platform/brand/color.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, DEFAULT_FRONT } from '../factories.ts'

const environment = useEnvironment()
let guia: string

beforeAll(async () => {
  guia = (await (await environment.createComercio()).api.guias.crear(buildGuia())).guia
})

/** As it comes over the wire: `fetch` unpacks bodies. */
const fetchPage = (path: string, method = 'GET', accept = 'gzip') =>
  new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const outgoing = request(
      environment.url + path,
      { method, headers: { 'Accept-Encoding': accept } },
      async (round) => {
        const bytes = Buffer.concat(await round.toArray())
        resolve({ status: round.statusCode!, headers: round.headers, bytes })
      },
    )
    outgoing.on('error', reject).end()
  })

describe('every page', () => {
  it.each([
    ['tracking', '/r/{guia}', 200],
    ['the first', '/', 200],
    ['search of no code', '/r?guia=nada', 404],
    ['tracking of nothing', '/r/nada', 404],
    ['verification', '/verificar/{guia}', 200],
    ['verification of nothing', '/verificar/nada', 404],
    ['verification, by a code', '/verificar', 200],
    ['a recipient’s', '/u/nada', 404],
    ['a recipient’s decision', '/d/nada', 404],
    ['the courier’s', '/repartidor', 200],
    ['the console', '/docs/consola', 200],
  ])('(%s) stands in one frame and is served one way', async (_label, pattern, status) => {
    const path = pattern.replace('{guia}', guia)
    const response = await fetchPage(path)
    const { headers } = response
    expect([response.status, headers]).toMatchObject([
      status,
      {
        'content-type': 'text/html; charset=utf-8',
        'content-encoding': 'gzip',
        'content-length': String(response.bytes.length),
        'content-language': 'es',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        vary: expect.stringMatching(/^(Accept, )?Accept-Encoding$/),
        'permissions-policy': expect.stringMatching(/^camera=\((self)?\), geolocation=\((self)?\), microphone=\(\)$/),
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; .*form-action '(none|self)'; base-uri 'none'; frame-ancestors 'none'$/,
        ),
      },
    ])
    const html = gunzipSync(response.bytes).toString()
    expect(html).toMatch(/^<!doctype html>\n<html lang="es">\n<head>\n<meta charset="utf-8">/)
    expect(html).toMatch(/<title>[^<]+<\/title>/)
    expect(html.match(/<h1/g)).toHaveLength(1)
    expect(html.match(/<main>/g)).toHaveLength(1)
    expect((await fetchPage(path, 'GET', 'identity')).bytes.toString()).toBe(html)
    const {
      'x-request-id': _firstRequestId,
      date: _firstDate,
      ...headersOfHead
    } = (await fetchPage(path, 'HEAD')).headers
    const { 'x-request-id': _otherRequestId, date: _otherDate, ...ofReading } = headers
    expect(headersOfHead).toEqual(ofReading)
    const bad = await fetchPage(path, 'DELETE')
    expect([bad.status, bad.headers]).toMatchObject([
      405,
      { allow: expect.stringMatching(/^GET, HEAD/), 'cache-control': 'no-store' },
    ])
  })

  it.each(['/docs', '/openapi.json', '/openapi.yaml', '/coleccion.json'])(
    '%s is a file for everybody',
    async (path) => {
      const { status, headers, bytes } = await fetchPage(path, 'GET', 'br')
      expect([status, headers]).toMatchObject([
        200,
        {
          'content-encoding': 'br',
          'content-length': String(bytes.length),
          'cache-control': 'public, max-age=300',
          'x-content-type-options': 'nosniff',
        },
      ])
      expect(headers).not.toHaveProperty('x-robots-tag')
      expect(await fetchPage(`${path}/`)).toMatchObject({ status: 308, headers: { location: `..${path}` } })
      expect(await fetchPage(path, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    },
  )
})

describe('the tokens', () => {
  const baseFolder = new URL('../../server/pages/', import.meta.url)
  const read = (file: string) => readFileSync(new URL(file, baseFolder), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const tokens = read('ui/tokens.css')
  const sheets = readdirSync(baseFolder, { recursive: true, encoding: 'utf8' }).filter(
    (one) => one.endsWith('.css') && one !== 'ui/tokens.css' && one !== 'docs/reading.css',
  )
  const names = (css: string, pattern: RegExp) => [...new Set([...css.matchAll(pattern)].map(([, one]) => one!))].sort()

  it('stand once: style sheets name colours of their own only where no token fits', () => {
    expect(sheets.filter((one) => one.endsWith('style.css'))).toHaveLength(11)
    const colors = sheets.flatMap((one) =>
      [...read(one).matchAll(/([^{}]+)\{([^{}]*)\}/g)]
        .filter(([, , rules]) => /#[0-9a-f]{3,8}\b|\brgb/i.test(rules!))
        .map(([, selector]) => `${one} ${selector!.trim()}`),
    )
    // A map is as light as its tiles, a logo is drawn for paper, ink is as dark as it is drawn.
    expect(colors.filter((one) => !one.startsWith('location/openMap.css #mapa')).sort()).toEqual([
      'central/style.css .fotos img',
      'docs/bar.css .barra .marca::before,\n.barra .marca img',
      'location/smallMap.css .alfiler',
      'location/smallMap.css .croquis img::before',
      'location/smallMap.css .croquis svg',
      'ui/capture.css .firma',
      'ui/capture.css .visor',
      'ui/document.css .marca img',
    ])
  })

  it('are all there and all used; each colour is light and dark', () => {
    const brandHead = DEFAULT_FRONT.head(undefined).texto
    const definedNames = names(tokens + brandHead, /(--[\w-]+):/g)
    const usados = names([tokens, ...sheets.map(read)].join('\n'), /var\((--[\w-]+)/g)
    // The tone of a state is set by its element.
    expect(usados.filter((one) => !['--lleno', '--muestra', '--tono'].includes(one))).toEqual(definedNames)
    for (const [, token, color] of tokens.matchAll(/(--[\w-]+): ((?:#|rgb).*);/g)) expect([token, color]).toEqual([])
    expect(tokens).toContain(`--fondo: light-dark(#f6f8f7, ${DARK_BACKGROUND});`)
    // The brand's colour at night is made to be read on the lightest ground that there is at night.
    expect(
      contrast(DEFAULT_FRONT.brand.nightColor, /--hundido: .*, (#\w+)\);/.exec(tokens)![1]!),
    ).toBeGreaterThanOrEqual(7)
    expect(brandHead).toContain(`--marca-dia:${DEFAULT_COLOR}`)
  })

  it('reach a page only if it uses them, and follow the page when it chooses light or dark', () => {
    const homeStyle = readGenerated('pages/home/estilo.css').toString()
    expect(homeStyle).toContain('--enlace:')
    expect(homeStyle).not.toMatch(/--vuelta|--velo|light-dark\(/)
    for (const sheet of sheets.filter((one) => one.endsWith('style.css'))) {
      const folder = `pages/${sheet.split('/')[0]}/`
      const css = readGenerated(`${folder}estilo.css`).toString()
      // A page may have further sheets, which load later and use the tokens of the first.
      const allSheets = listGenerated(folder)
        .filter((one) => one.endsWith('.css'))
        .map((one) => readGenerated(folder + one).toString())
        .join('\n')
      const definedNames = names(css, /(--[\w-]+):/g)
      expect([sheet, definedNames]).toEqual([sheet, definedNames.filter((one) => allSheets.includes(`var(${one}`))])
    }
  })

  it('can be read: text and states on every surface, light and dark', () => {
    const pair = (token: string) => new RegExp(`--${token}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens)!.slice(1, 3)
    const length = (color: string) => (color.length === 4 ? color.replace(/(\w)/g, '$1$1') : color)
    const measure = (letter: string, background: string) => {
      const [l, f] = [pair(letter), pair(background)]
      return Math.min(...[0, 1].map((i) => contrast(length(l[i]!), length(f[i]!))))
    }
    for (const background of ['fondo', 'superficie', 'hundido', 'elevado']) {
      for (const letter of ['texto', 'suave', 'enlace', 'espera', 'viaje', 'bien', 'aviso', 'mal', 'vuelta'])
        expect([letter, background, measure(letter, background) >= 4.5]).toEqual([letter, background, true])
      expect(['borde-campo', background, measure('borde-campo', background) >= 3]).toEqual([
        'borde-campo',
        background,
        true,
      ])
      expect(['foco', background, measure('foco', background) >= 3]).toEqual(['foco', background, true])
    }
    expect(measure('sobre-mal', 'mal')).toBeGreaterThanOrEqual(4.5)
    expect(measure('sobre-inverso', 'inverso')).toBeGreaterThanOrEqual(4.5)
  })
})
