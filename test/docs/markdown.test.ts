/** The documentation for programs: `/llms.txt`, and what it lists. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { type JsonObject, operacionesOf, schemasOf } from '../../scripts/documentation/contract.ts'
import { fieldsOf } from '../../scripts/documentation/fields.ts'
import { readChapters, readContractGuide, toSlug } from '../../scripts/documentation/guide.ts'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { fillRelativeDays } from './days.ts'

const environment = shareEnvironment()
const contract = JSON.parse(
  readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'),
) as JsonObject
const operaciones = operacionesOf(contract)
const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, url]) => url!)
/** Places of a text to which a link may lead: its anchors, and its headings as addresses. */
const placesOf = (text: string) => [
  ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  ...[...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => toSlug(title!)),
]
let list: string
beforeAll(async () => {
  list = await (await fetch(`${environment.url}/llms.txt`)).text()
})

describe('/llms.txt', () => {
  it('has the form that llmstxt.org asks for', () => {
    expect(list).toMatch(/^# .+\n\n> .+\n\n[^#]+\n\n## /)
    const [, ...sections] = list.split(/^## /m)
    for (const section of sections) expect(section).toMatch(/^.+\n\n(?:[^-].*\n\n)?(?:- \[[^\]]+\]\([^)]+\): .+\n?)+/)
    expect(list.match(/^# /gm)).toHaveLength(1)
  })

  it('lists every chapter and every operation, and nothing that is not there', async () => {
    const urls = linksOf(list)
    const expectedItems = [
      ...readContractGuide(contract).guideChapters.map(({ nombre }) => `${environment.url}/docs/guia/${nombre}.md`),
      ...operaciones.map(({ id }) => `${environment.url}/docs/operaciones/${id}.md`),
    ]
    expect(expectedItems.length).toBe(readChapters().length + operaciones.length)
    expect(urls.filter((url) => url.endsWith('.md')).sort()).toEqual(expectedItems.sort())
    const seen = new Map<string, string>()
    const toVisit = [...urls]
    for (let url = toVisit.pop(); url; url = toVisit.pop()) {
      if (seen.has(url) || !url.startsWith(environment.url)) continue
      const response = await fetch(url)
      expect(response.status, url).toBe(200)
      const text = await response.text()
      seen.set(url, text)
      // Whatever they link to is there, too.
      if (url.endsWith('.md')) toVisit.push(...linksOf(text).map((link) => link.split('#')[0]!))
    }
    for (const [de, text] of seen)
      for (const link of linksOf(text)) {
        const [url = '', place] = link.split('#')
        if (!place || !url.endsWith('.md')) continue
        expect(placesOf(seen.get(url)!), `${de} links to ${link}`).toContain(place)
      }
    for (const [url, text] of seen) {
      if (!url.endsWith('.md')) continue
      expect(text, url).toMatch(/^# .+\n\n\S/)
      expect(text, url).not.toMatch(/127\.0\.0\.1:3000|guias\.ejemplo\.com|\]\(#|\{\{|x-origen/)
    }
  })
})

describe('each of them', () => {
  it.each([
    ['/llms.txt', 'text/plain; charset=utf-8'],
    ['/llms-full.txt', 'text/plain; charset=utf-8'],
    ['/docs/grupos/catalogo.md', 'text/markdown; charset=utf-8'],
    ['/docs/guia/lotes.md', 'text/markdown; charset=utf-8'],
    ['/docs/operaciones/crearGuia.md', 'text/markdown; charset=utf-8'],
  ])('%s comes as what it is, packed, and only if it changed', async (path, tipo) => {
    const fetchPage = (headers: Record<string, string>) => request(environment.url + path, { headers })
    const whole = await fetchPage({ 'accept-encoding': 'identity' })
    expect(whole.headers).toMatchObject({ 'content-type': tipo, 'cache-control': 'public, max-age=300' })
    const text = await whole.body.text()
    for (const [encoding, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, body } = await fetchPage({ 'accept-encoding': encoding })
      expect(headers['content-encoding']).toBe(encoding)
      expect(headers.etag).toBe(whole.headers.etag)
      expect(open(Buffer.from(await body.arrayBuffer())).toString()).toBe(text)
    }
    const unchangedResponse = await fetchPage({ 'if-none-match': String(whole.headers.etag) })
    expect([unchangedResponse.statusCode, await unchangedResponse.body.text()]).toEqual([304, ''])
    expect(unchangedResponse.headers).not.toHaveProperty('content-type')
    const other = await fetchPage({ 'if-none-match': 'W/"otra"' })
    expect(other.statusCode).toBe(200)
    await other.body.dump()
  })

  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('%s tells all', async (id, operacion) => {
    const text = await (await fetch(`${environment.url}/docs/operaciones/${id}.md`)).text()
    const { method, path, definition } = operacion
    expect(text).toContain(`\n\n\`${method.toUpperCase()} ${environment.url}${path}\`\n\n`)
    for (const status of Object.keys(definition.responses as JsonObject)) expect(text).toContain(`\n### ${status}\n`)
    for (const { source } of definition['x-codeSamples'] as Record<string, string>[])
      expect(text).toContain(fillRelativeDays(source!, environment))
  })

  it('tells types, lengths, ranges, values and what holds for a member that is left out', async () => {
    const rows = new Map<string, string>()
    for (const { id } of operaciones) {
      const text = await (await fetch(`${environment.url}/docs/operaciones/${id}.md`)).text()
      // The request stands before the answers.
      for (const [row, field] of text.matchAll(/^\| `([^`]+)` \|.*$/gm))
        if (!rows.has(`${id} ${field}`)) rows.set(`${id} ${field}`, row)
      expect(text, `${id} has a table in a cell`).not.toContain('\\| ---')
      expect(text, `${id} has a member without a type`).not.toMatch(/^\| `[^`]+` \|(?: \w+ \|)? *[,|]/m)
    }
    for (const [field, tipo] of [
      ['crearGuia municipio', '| texto de 1 a 100 caracteres, obligatorio |'],
      ['crearGuia lat', '| número de -90 a 90 |'],
      ['crearGuia recogida', '| objeto, obligatorio |'],
      [
        'obtenerGuia estado',
        ' | `aceptado`: la guía existe; el repartidor aún no tiene el paquete (puede pasar a: `recolectado`, ',
      ],
      ['crearGuia metadatos', '| objeto de hasta 20 miembros |'],
      ['crearLote guias', '| lista de 1 a 100: '],
      ['listarGuias estado', 'Valores: `aceptado`, `recolectado`'],
      ['listarGuias limite', '| entero de 1 a 100 |'],
      ['simularUbicacion resultado', 'Si falta, `"confirmada"`.'],
    ] as const)
      expect(rows.get(field), field).toContain(tipo)
  })

  it('stands in /llms-full.txt, too', async () => {
    const all = await (await fetch(`${environment.url}/llms-full.txt`)).text()
    expect(all.startsWith(list.trim())).toBe(true)
    for (const { nombre } of readContractGuide(contract).guideChapters)
      expect(all).toContain((await (await fetch(`${environment.url}/docs/guia/${nombre}.md`)).text()).trim())
    for (const { id } of operaciones)
      expect(all).toContain((await (await fetch(`${environment.url}/docs/operaciones/${id}.md`)).text()).trim())
  })

  it('describes a member with the description beside its `$ref`', async () => {
    const withOwn = Object.values(schemasOf(contract)).flatMap((schema) =>
      Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)
        .filter(([, { $ref, description }]) => $ref && description)
        .map(([key, { description }]) => [fieldsOf(contract, schema), key, String(description).trim()] as const),
    )
    expect(withOwn.length).toBeGreaterThan(20)
    for (const [fields, key, descripcion] of withOwn)
      expect(fields.find(({ nombre }) => nombre === key)?.descripcion).toContain(descripcion)
    const text = await (await fetch(`${environment.url}/docs/operaciones/reintentarGuia.md`)).text()
    expect(text).toMatch(/\| `fecha` \| texto \(día\) \| Para qué día, .* hasta 30 días después de hoy/)
  })
})
