/** One offline page made by Redoc; its inline scripts are named by hash, so that its policy needs no 'unsafe-inline'. */
import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Objeto } from './contrato.ts'
import { conDiagramas } from './diagrama.ts'
import { enEspanol } from './espanol.ts'

type Correr = (programa: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<void>

/** Pictures that Redoc's footer would fetch from elsewhere. */
const AJENAS = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(?:-full)?\.svg/g

const hash = (codigo: string) => `'sha256-${createHash('sha256').update(codigo).digest('base64')}'`

export async function construirPagina(contrato: Objeto, carpeta: URL, correr: Correr) {
  const entrada = new URL('documentacion.entrada.json', carpeta)
  const pagina = new URL('documentacion.html', carpeta)
  const info = contrato.info as Objeto
  const description = await conDiagramas(String(info.description))
  // Whoever reads the page is at the service: `{base_url}` would be read as a place under this one.
  const servers = [{ url: '/', description: 'Este servicio' }]
  await writeFile(entrada, JSON.stringify({ ...contrato, info: { ...info, description }, servers }))
  const [desde, hacia] = [entrada, pagina].map((url) => fileURLToPath(url)) as [string, string]
  const plantilla = ['--template', 'server/paginas/docs/plantilla.hbs']
  // The half of the page that is written here, and the half that the browser writes, say the same words.
  await correr('redocly', ['build-docs', desde, '--output', hacia, '--inlineBundle', ...plantilla], {
    NODE_OPTIONS: `--import ${new URL('traducirRedoc.mjs', import.meta.url).href}`,
  })
  const html = enEspanol((await readFile(pagina, 'utf8')).replace(AJENAS, 'data:,'))
  await writeFile(pagina, html)
  const scripts = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, codigo = '']) =>
    hash(codigo),
  )
  await writeFile(new URL('documentacion.json', carpeta), JSON.stringify({ scripts }))
  await rm(entrada)
}
