// A path is an operation, a page or a file only as it is written: every other spelling is the 404 of an unknown path.
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'

// Nothing comes back while the limits' clock stands, and a network has enough for all of this.
const environment = useEnvironment({ limitsClock: () => 0 }, () => ({
  REQUESTS_PER_NETWORK: '10000',
  MAILBOX: '1',
  SECURITY_CONTACT: 'mailto:seguridad@ejemplo.com',
}))
const operaciones = readOperations(readDocument())

let comercio: Comercio
/** Links that open, as paths with their query. */
const links: Record<'etiquetas' | 'archivos', string> = { etiquetas: '', archivos: '' }
/** Pages and files that answer, as paths. */
const pages: string[] = []
beforeAll(async () => {
  comercio = await environment.createComercio()
  const { guia } = await createDeliveredGuia(environment, comercio)
  const other = await createGuiaOnRoute(environment, comercio)
  links.etiquetas = (await comercio.api.guias.etiqueta(other)).url.slice(environment.url.length)
  const prueba = `/api/v1/guias/${guia}/prueba-entrega`
  const { body } = await environment.request('GET', prueba, { llave: comercio.llave })
  links.archivos = body.fotos[0].url.slice(environment.url.length)
  pages.push(`/r/${guia}`, `/verificar/${guia}`, '/docs', '/docs/consola', '/docs/marca.css', '/repartidor')
  pages.push('/repartidor/manifiesto.webmanifest', '/llms.txt', '/openapi.json', '/coleccion.json')
  pages.push('/buzon', '/.well-known/security.txt', `/u/${'A'.repeat(22)}`, `/d/${'A'.repeat(22)}`)
  const html = await (await fetch(`${environment.url}/repartidor`)).text()
  pages.push(`/${/repartidor\/recursos\/estilo\.\w+\.css/.exec(html)![0]}`)
})

/** The path with each of its written letters in the other case, one at a time; codes, tokens and queries stay. */
function buildOtherSpellings(path: string, fijo: (segment: string, anterior?: string) => boolean): string[] {
  const [route = '', query] = path.split('?')
  const segments = route.split('/')
  return segments.flatMap((segment, i) => {
    const letter = /[a-z]/.exec(segment)?.index
    if (letter === undefined || fijo(segment, segments[i - 1])) return []
    const other = segment.slice(0, letter) + segment[letter]!.toUpperCase() + segment.slice(letter + 1)
    return segments.with(i, other).join('/') + (query === undefined ? '' : `?${query}`)
  })
}

async function request(method: string, path: string) {
  const options = {
    headers: { Authorization: `Bearer ${comercio.llave}` },
    method,
    redirect: 'manual',
  } as const
  const response = await fetch(environment.url + path, options)
  const text = await response.text()
  const codigo: unknown = text.startsWith('{') ? JSON.parse(text).codigo : undefined
  return [response.status, codigo]
}
const UNKNOWN_ROUTE = [404, 'ruta_desconocida']

describe('a path in another case, or with a slash at its end', () => {
  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('is not %s', async (_id, operacion) => {
    const method = operacion.method.toUpperCase()
    const path = operacion.path.replace(/\{\w+\}/g, '0')
    // `/guias/Bulk` is a guide's path, and `/passkeys/Reto` a passkey's.
    const escrituras = buildOtherSpellings(
      path,
      (segment, anterior) => segment === '0' || segment === 'bulk' || anterior === 'passkeys',
    )
    expect(escrituras.length).toBeGreaterThan(0)
    for (const other of [...escrituras, `${path}/`])
      expect([other, ...(await request(method, other))]).toEqual([other, ...UNKNOWN_ROUTE])
    expect(await request(method, path)).not.toEqual(UNKNOWN_ROUTE)
  })

  it.each(['etiquetas', 'archivos'] as const)('opens no signed link of /%s/', async (target) => {
    const link = links[target]
    const [route, query] = link.split('?')
    const others = [...buildOtherSpellings(link, (segment) => segment !== target), `${route}/?${query}`]
    expect(others).toHaveLength(2)
    for (const other of others) expect([other, ...(await request('GET', other))]).toEqual([other, ...UNKNOWN_ROUTE])
    expect(await request('GET', link)).toEqual([200, undefined])
  })

  it('is no page and no file', async () => {
    for (const path of pages) {
      // Codes are read in either case, and a token is its own matter.
      const others = buildOtherSpellings(path, (segment) => /^[0-9A-Z]{12}$|^A{22}$/.test(segment))
      expect([path, others.length > 0]).toEqual([path, true])
      // What stands below a page answers for itself.
      for (const other of others.slice(0, 1))
        expect([other, ...(await request('GET', other))]).toEqual([other, ...UNKNOWN_ROUTE])
      expect([path, await request('GET', path)]).not.toEqual([path, UNKNOWN_ROUTE])
    }
  })

  it('is told to leave the slash away', async () => {
    const { body } = await environment.request('GET', '/api/v1/guias/', { llave: comercio.llave })
    expect(body.mensaje).toContain('Quite la / del final')
  })
})

describe('an unknown path', () => {
  const G = '7K3M9QX2A1B4'
  it.each([
    ['/api/v1/guia', '/api/v1/guias'],
    ['/api/v1/Guias', '/api/v1/guias'],
    ['/guias', '/api/v1/guias'],
    ['/v1/guias/bulks', '/api/v1/guias/bulk'],
    ['/api/v2/webhook', '/api/v1/webhooks'],
    [`/api/v1/guia/${G}/`, `/api/v1/guias/${G}`],
    [`/api/v1/guias/${G}/cancela`, `/api/v1/guias/${G}/cancelar`],
    ['/api/v1/catalogo/departamento', '/api/v1/catalogo/departamentos'],
    ['/api/v1/municipios', '/api/v1/catalogo/municipios'],
    ['/bulk', '/api/v1/guias/bulk'],
    [`/api/v1/guias/${G}/prueba`, `/api/v1/guias/${G}/prueba-entrega`],
    [`/api/v1/guia/${G}/reenviar`, `/api/v1/guias/${G}/reenviar-solicitud`],
  ])('%s gets the path that was probably meant, %s', async (path, parecida) => {
    const { status, body } = await environment.request('GET', path, { llave: comercio.llave })
    expect([status, body.codigo]).toEqual(UNKNOWN_ROUTE)
    expect(body.mensaje).toContain(`¿Quiso decir ${parecida}?`)
  })

  it.each([
    '/api/v1/pedidos',
    '/operaciones/v1/guia',
    `/api/v1/${G}`,
    `/api/v1/${G}/cancelar`,
    `/api/v1/guias/${G}/a/b/c/d`,
    `/api/v1/${'guias/'.repeat(400)}x`,
  ])('%s gets none, as no path is similar', async (path) => {
    const { body } = await environment.request('GET', path, { llave: comercio.llave })
    expect([body.codigo, body.mensaje]).toEqual(['ruta_desconocida', expect.not.stringContaining('¿')])
  })
})
