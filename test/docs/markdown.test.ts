/** The documentation for programs: `/llms.txt`, and what it lists. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { camposDe } from '../../scripts/documentacion/campos.ts'
import { esquemasDe, type Objeto, operacionesDe } from '../../scripts/documentacion/contrato.ts'
import { leerCapitulos, leerGuiaDelContrato } from '../../scripts/documentacion/guia.ts'
import { ROOT } from '../../server/platform/root.ts'
import { compartirEntorno } from '../entorno.ts'

const entorno = compartirEntorno()
const contrato = JSON.parse(readFileSync(new URL('server/generado/contrato/comercios.json', ROOT), 'utf8')) as Objeto
const operaciones = operacionesDe(contrato)
const enlacesDe = (texto: string) => [...texto.matchAll(/\]\(([^)\s]+)\)/g)].map(([, url]) => url!)
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
      ...leerGuiaDelContrato(contrato).capitulos.map(({ nombre }) => `${entorno.url}/docs/guia/${nombre}.md`),
      ...operaciones.map(({ id }) => `${entorno.url}/docs/operaciones/${id}.md`),
    ]
    expect(esperadas.length).toBe(leerCapitulos().length + operaciones.length)
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
      if (url.endsWith('.md')) porVer.push(...enlacesDe(texto))
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
    const { metodo, ruta, definicion } = operacion
    expect(texto).toContain(`\n\n\`${metodo.toUpperCase()} ${entorno.url}${ruta}\`\n\n`)
    for (const status of Object.keys(definicion.responses as Objeto)) expect(texto).toContain(`\n### ${status}\n`)
    for (const { source } of definicion['x-codeSamples'] as Record<string, string>[]) expect(texto).toContain(source)
  })

  it('describes a member with the description beside its `$ref`', async () => {
    const conPropia = Object.values(esquemasDe(contrato)).flatMap((esquema) =>
      Object.entries((esquema.properties ?? {}) as Record<string, Objeto>)
        .filter(([, { $ref, description }]) => $ref && description)
        .map(([clave, { description }]) => [camposDe(contrato, esquema), clave, String(description).trim()] as const),
    )
    expect(conPropia.length).toBeGreaterThan(20)
    for (const [campos, clave, descripcion] of conPropia)
      expect(campos.find(({ nombre }) => nombre === clave)?.descripcion).toContain(descripcion)
    const texto = await (await fetch(`${entorno.url}/docs/operaciones/reintentarGuia.md`)).text()
    expect(texto).toMatch(/\| `fecha` \| texto \| Para qué día, .* hasta 30 días después de hoy/)
  })
})
