import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { listGenerated, readGenerated } from '../../server/pages/assets.ts'
import { DARK_BACKGROUND } from '../../server/pages/front.ts'
import { contrast, DEFAULT_COLOR } from '../../server/platform/brand/color.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, DEFAULT_FRONT } from '../factories.ts'

const entorno = useEnvironment()
let guia: string

beforeAll(async () => {
  guia = (await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())).guia
})

/** As it comes over the wire: `fetch` unpacks bodies. */
const pedir = (ruta: string, method = 'GET', accept = 'gzip') =>
  new Promise<{ status: number; cabeceras: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const ida = request(entorno.url + ruta, { method, headers: { 'Accept-Encoding': accept } }, async (vuelta) => {
      const bytes = Buffer.concat(await vuelta.toArray())
      resolve({ status: vuelta.statusCode!, cabeceras: vuelta.headers, bytes })
    })
    ida.on('error', reject).end()
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
  ])('(%s) stands in one frame and is served one way', async (_cual, patron, status) => {
    const ruta = patron.replace('{guia}', guia)
    const respuesta = await pedir(ruta)
    const { cabeceras } = respuesta
    expect([respuesta.status, cabeceras]).toMatchObject([
      status,
      {
        'content-type': 'text/html; charset=utf-8',
        'content-encoding': 'gzip',
        'content-length': String(respuesta.bytes.length),
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
    const html = gunzipSync(respuesta.bytes).toString()
    expect(html).toMatch(/^<!doctype html>\n<html lang="es">\n<head>\n<meta charset="utf-8">/)
    expect(html).toMatch(/<title>[^<]+<\/title>/)
    expect(html.match(/<h1/g)).toHaveLength(1)
    expect(html.match(/<main>/g)).toHaveLength(1)
    expect((await pedir(ruta, 'GET', 'identity')).bytes.toString()).toBe(html)
    const { 'x-request-id': _una, date: _una2, ...deCabeza } = (await pedir(ruta, 'HEAD')).cabeceras
    const { 'x-request-id': _otra, date: _otra2, ...deLectura } = cabeceras
    expect(deCabeza).toEqual(deLectura)
    const mala = await pedir(ruta, 'DELETE')
    expect([mala.status, mala.cabeceras]).toMatchObject([
      405,
      { allow: expect.stringMatching(/^GET, HEAD/), 'cache-control': 'no-store' },
    ])
  })

  it.each(['/docs', '/openapi.json', '/openapi.yaml', '/coleccion.json'])(
    '%s is a file for everybody',
    async (ruta) => {
      const { status, cabeceras, bytes } = await pedir(ruta, 'GET', 'br')
      expect([status, cabeceras]).toMatchObject([
        200,
        {
          'content-encoding': 'br',
          'content-length': String(bytes.length),
          'cache-control': 'public, max-age=300',
          'x-content-type-options': 'nosniff',
        },
      ])
      expect(cabeceras).not.toHaveProperty('x-robots-tag')
      expect(await pedir(`${ruta}/`)).toMatchObject({ status: 308, cabeceras: { location: `..${ruta}` } })
      expect(await pedir(ruta, 'POST')).toMatchObject({ status: 405, cabeceras: { allow: 'GET, HEAD' } })
    },
  )
})

describe('the tokens', () => {
  const carpeta = new URL('../../server/pages/', import.meta.url)
  const leer = (archivo: string) => readFileSync(new URL(archivo, carpeta), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const tokens = leer('ui/tokens.css')
  const hojas = readdirSync(carpeta, { recursive: true, encoding: 'utf8' }).filter(
    (una) => una.endsWith('.css') && una !== 'ui/tokens.css' && una !== 'docs/reading.css',
  )
  const nombres = (css: string, patron: RegExp) => [...new Set([...css.matchAll(patron)].map(([, uno]) => uno!))].sort()

  it('stand once: style sheets name colours of their own only where no token fits', () => {
    expect(hojas.filter((una) => una.endsWith('style.css'))).toHaveLength(11)
    const colores = hojas.flatMap((una) =>
      [...leer(una).matchAll(/([^{}]+)\{([^{}]*)\}/g)]
        .filter(([, , reglas]) => /#[0-9a-f]{3,8}\b|\brgb/i.test(reglas!))
        .map(([, selector]) => `${una} ${selector!.trim()}`),
    )
    // A map is as light as its tiles, a logo is drawn for paper, ink is as dark as it is drawn.
    expect(colores.filter((una) => !una.startsWith('location/openMap.css #mapa')).sort()).toEqual([
      'central/style.css .fotos img',
      'ui/capture.css .firma',
      'ui/capture.css .visor',
      'ui/document.css .marca img',
    ])
  })

  it('are all there and all used; each colour is light and dark', () => {
    const deLaMarca = DEFAULT_FRONT.head(undefined).texto
    const definidos = nombres(tokens + deLaMarca, /(--[\w-]+):/g)
    const usados = nombres([tokens, ...hojas.map(leer)].join('\n'), /var\((--[\w-]+)/g)
    // The tone of a state is set by its element.
    expect(usados.filter((uno) => !['--lleno', '--muestra', '--tono'].includes(uno))).toEqual(definidos)
    for (const [, token, color] of tokens.matchAll(/(--[\w-]+): ((?:#|rgb).*);/g)) expect([token, color]).toEqual([])
    expect(tokens).toContain(`--fondo: light-dark(#f6f8f7, ${DARK_BACKGROUND});`)
    // The brand's colour at night is made to be read on the lightest ground that there is at night.
    expect(
      contrast(DEFAULT_FRONT.brand.nightColor, /--hundido: .*, (#\w+)\);/.exec(tokens)![1]!),
    ).toBeGreaterThanOrEqual(7)
    expect(deLaMarca).toContain(`--marca-dia:${DEFAULT_COLOR}`)
  })

  it('reach a page only if it uses them, and follow the page when it chooses light or dark', () => {
    const deInicio = readGenerated('pages/home/estilo.css').toString()
    expect(deInicio).toContain('--enlace:')
    expect(deInicio).not.toMatch(/--vuelta|--velo|light-dark\(/)
    for (const hoja of hojas.filter((una) => una.endsWith('style.css'))) {
      const folder = `pages/${hoja.split('/')[0]}/`
      const css = readGenerated(`${folder}estilo.css`).toString()
      // A page may have further sheets, which load later and use the tokens of the first.
      const allSheets = listGenerated(folder)
        .filter((one) => one.endsWith('.css'))
        .map((one) => readGenerated(folder + one).toString())
        .join('\n')
      const definidos = nombres(css, /(--[\w-]+):/g)
      expect([hoja, definidos]).toEqual([hoja, definidos.filter((uno) => allSheets.includes(`var(${uno}`))])
    }
  })

  it('can be read: text and states on every surface, light and dark', () => {
    const par = (token: string) => new RegExp(`--${token}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens)!.slice(1, 3)
    const largo = (color: string) => (color.length === 4 ? color.replace(/(\w)/g, '$1$1') : color)
    const medir = (letra: string, fondo: string) => {
      const [l, f] = [par(letra), par(fondo)]
      return Math.min(...[0, 1].map((i) => contrast(largo(l[i]!), largo(f[i]!))))
    }
    for (const fondo of ['fondo', 'superficie', 'hundido', 'elevado']) {
      for (const letra of ['texto', 'suave', 'enlace', 'espera', 'viaje', 'bien', 'aviso', 'mal', 'vuelta'])
        expect([letra, fondo, medir(letra, fondo) >= 4.5]).toEqual([letra, fondo, true])
      expect(['borde-campo', fondo, medir('borde-campo', fondo) >= 3]).toEqual(['borde-campo', fondo, true])
      expect(['foco', fondo, medir('foco', fondo) >= 3]).toEqual(['foco', fondo, true])
    }
    expect(medir('sobre-mal', 'mal')).toBeGreaterThanOrEqual(4.5)
    expect(medir('sobre-inverso', 'inverso')).toBeGreaterThanOrEqual(4.5)
  })
})
