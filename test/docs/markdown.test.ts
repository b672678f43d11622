/** The documentation for programs: `/llms.txt`, and what it lists. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { type JsonObject, operacionesOf, schemasOf } from '../../scripts/documentation/contract.ts'
import { camposDe } from '../../scripts/documentation/fields.ts'
import { readChapters, readContractGuide, toSlug } from '../../scripts/documentation/guide.ts'
import { ROOT } from '../../server/platform/root.ts'
import { shareEnvironment } from '../environment.ts'
import { fillRelativeDays } from './days.ts'

const entorno = shareEnvironment()
const contrato = JSON.parse(
  readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'),
) as JsonObject
const operaciones = operacionesOf(contrato)
const enlacesDe = (texto: string) => [...texto.matchAll(/\]\(([^)\s]+)\)/g)].map(([, url]) => url!)
/** Places of a text to which a link may lead: its anchors, and its headings as addresses. */
const lugaresDe = (texto: string) => [
  ...[...texto.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  ...[...texto.matchAll(/^#+ (.+)$/gm)].map(([, titulo]) => toSlug(titulo!)),
]
let lista: string
beforeAll(async () => {
  lista = await (await fetch(`${entorno.url}/llms.txt`)).text()
})

describe('/llms.txt', () => {
  it('has the form that llmstxt.org asks for', () => {
    expect(lista).toMatch(/^# .+\n\n> .+\n\n[^#]+\n\n## /)
    const [, ...secciones] = lista.split(/^## /m)
    for (const seccion of secciones) expect(seccion).toMatch(/^.+\n\n(?:[^-].*\n\n)?(?:- \[[^\]]+\]\([^)]+\): .+\n?)+/)
    expect(lista.match(/^# /gm)).toHaveLength(1)
  })

  it('lists every chapter and every operation, and nothing that is not there', async () => {
    const urls = enlacesDe(lista)
    const esperadas = [
      ...readContractGuide(contrato).guideChapters.map(({ nombre }) => `${entorno.url}/docs/guia/${nombre}.md`),
      ...operaciones.map(({ id }) => `${entorno.url}/docs/operaciones/${id}.md`),
    ]
    expect(esperadas.length).toBe(readChapters().length + operaciones.length)
    expect(urls.filter((url) => url.endsWith('.md')).sort()).toEqual(esperadas.sort())
    const vistas = new Map<string, string>()
    const porVer = [...urls]
    for (let url = porVer.pop(); url; url = porVer.pop()) {
      if (vistas.has(url) || !url.startsWith(entorno.url)) continue
      const respuesta = await fetch(url)
      expect(respuesta.status, url).toBe(200)
      const texto = await respuesta.text()
      vistas.set(url, texto)
      // Whatever they link to is there, too.
      if (url.endsWith('.md')) porVer.push(...enlacesDe(texto).map((enlace) => enlace.split('#')[0]!))
    }
    for (const [de, texto] of vistas)
      for (const enlace of enlacesDe(texto)) {
        const [url = '', lugar] = enlace.split('#')
        if (!lugar || !url.endsWith('.md')) continue
        expect(lugaresDe(vistas.get(url)!), `${de} links to ${enlace}`).toContain(lugar)
      }
    for (const [url, texto] of vistas) {
      if (!url.endsWith('.md')) continue
      expect(texto, url).toMatch(/^# .+\n\n\S/)
      expect(texto, url).not.toMatch(/127\.0\.0\.1:3000|guias\.ejemplo\.com|\]\(#|\{\{|x-origen/)
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
  ])('%s comes as what it is, packed, and only if it changed', async (ruta, tipo) => {
    const pedir = (headers: Record<string, string>) => request(entorno.url + ruta, { headers })
    const entero = await pedir({ 'accept-encoding': 'identity' })
    expect(entero.headers).toMatchObject({ 'content-type': tipo, 'cache-control': 'public, max-age=300' })
    const texto = await entero.body.text()
    for (const [codificacion, abrir] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, body } = await pedir({ 'accept-encoding': codificacion })
      expect(headers['content-encoding']).toBe(codificacion)
      expect(headers.etag).toBe(entero.headers.etag)
      expect(abrir(Buffer.from(await body.arrayBuffer())).toString()).toBe(texto)
    }
    const sinCambios = await pedir({ 'if-none-match': String(entero.headers.etag) })
    expect([sinCambios.statusCode, await sinCambios.body.text()]).toEqual([304, ''])
    expect(sinCambios.headers).not.toHaveProperty('content-type')
    const otra = await pedir({ 'if-none-match': 'W/"otra"' })
    expect(otra.statusCode).toBe(200)
    await otra.body.dump()
  })

  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('%s tells all', async (id, operacion) => {
    const texto = await (await fetch(`${entorno.url}/docs/operaciones/${id}.md`)).text()
    const { method: metodo, path: ruta, definition: definicion } = operacion
    expect(texto).toContain(`\n\n\`${metodo.toUpperCase()} ${entorno.url}${ruta}\`\n\n`)
    for (const status of Object.keys(definicion.responses as JsonObject)) expect(texto).toContain(`\n### ${status}\n`)
    for (const { source } of definicion['x-codeSamples'] as Record<string, string>[])
      expect(texto).toContain(fillRelativeDays(source!, entorno))
  })

  it('tells types, lengths, ranges, values and what holds for a member that is left out', async () => {
    const filas = new Map<string, string>()
    for (const { id } of operaciones) {
      const texto = await (await fetch(`${entorno.url}/docs/operaciones/${id}.md`)).text()
      // The request stands before the answers.
      for (const [fila, campo] of texto.matchAll(/^\| `([^`]+)` \|.*$/gm))
        if (!filas.has(`${id} ${campo}`)) filas.set(`${id} ${campo}`, fila)
      expect(texto, `${id} has a member without a type`).not.toMatch(/^\| `[^`]+` \|(?: \w+ \|)? *[,|]/m)
    }
    for (const [campo, tipo] of [
      ['crearGuia municipio', '| texto de 1 a 100 caracteres, obligatorio |'],
      ['crearGuia lat', '| número de -90 a 90 |'],
      ['crearGuia recogida', '| objeto, obligatorio |'],
      ['crearGuia metadatos', '| objeto de hasta 20 miembros |'],
      ['crearLote guias', '| lista de 1 a 100: '],
      ['listarGuias estado', 'Valores: `aceptado`, `recolectado`'],
      ['listarGuias limite', '| entero de 1 a 100 |'],
      ['simularUbicacion resultado', 'Si falta, `"confirmada"`.'],
    ] as const)
      expect(filas.get(campo), campo).toContain(tipo)
  })

  it('stands in /llms-full.txt, too', async () => {
    const todo = await (await fetch(`${entorno.url}/llms-full.txt`)).text()
    expect(todo.startsWith(lista.trim())).toBe(true)
    for (const { nombre } of readContractGuide(contrato).guideChapters)
      expect(todo).toContain((await (await fetch(`${entorno.url}/docs/guia/${nombre}.md`)).text()).trim())
    for (const { id } of operaciones)
      expect(todo).toContain((await (await fetch(`${entorno.url}/docs/operaciones/${id}.md`)).text()).trim())
  })

  it('describes a member with the description beside its `$ref`', async () => {
    const conPropia = Object.values(schemasOf(contrato)).flatMap((esquema) =>
      Object.entries((esquema.properties ?? {}) as Record<string, JsonObject>)
        .filter(([, { $ref, description }]) => $ref && description)
        .map(([clave, { description }]) => [camposDe(contrato, esquema), clave, String(description).trim()] as const),
    )
    expect(conPropia.length).toBeGreaterThan(20)
    for (const [campos, clave, descripcion] of conPropia)
      expect(campos.find(({ nombre }) => nombre === clave)?.descripcion).toContain(descripcion)
    const texto = await (await fetch(`${entorno.url}/docs/operaciones/reintentarGuia.md`)).text()
    expect(texto).toMatch(/\| `fecha` \| texto \(día\) \| Para qué día, .* hasta 30 días después de hoy/)
  })
})
