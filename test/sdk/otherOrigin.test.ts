/** What works in a page of another site, which has no key. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
const CODE = `
import { ErrorPrueba, verificarPrueba } from '@guias/sdk/verificar'
import { leerTelefono } from '@guias/sdk/telefono'
window.probar = async (guia, manifiesto, url) => {
  const claves = await (await fetch(url + '/.well-known/jwks.json')).json()
  const pdf = await (await fetch('/prueba.pdf')).arrayBuffer()
  const { archivos } = await verificarPrueba({ guia, manifiesto, claves, archivos: [pdf] })
  const ajeno = { guia, manifiesto, claves, archivos: [new Uint8Array(3)] }
  const error = await verificarPrueba(ajeno).catch((uno) => uno)
  const conLlave = await fetch(url + '/api/v1/cuenta', { headers: { Authorization: 'Bearer x' } }).catch((uno) => uno.name)
  return [archivos[0].tipo, error instanceof ErrorPrueba && error.codigo, leerTelefono('3148 1676', 'GT').e164, conLlave]
}`

it.skipIf(!hasBrowser)('reads telephones and verifies a proof; a request with a key is not sent', async () => {
  const comercio = await environment.createComercio()
  const { guia } = await createDeliveredGuia(environment, comercio)
  const { pdf, manifiesto } = await comercio.api.guias.esperarPrueba(guia)
  const bytes = await comercio.api.archivos.descargar(pdf)
  const resolveDir = fileURLToPath(new URL('../..', import.meta.url))
  const { outputFiles } = await build({ stdin: { contents: CODE, resolveDir }, bundle: true, write: false })
  const other = createServer((req, res) => {
    if (req.url === '/prueba.pdf') res.end(bytes)
    else
      res
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(`<script type="module">${outputFiles[0]!.text}</script>`)
  })
  await new Promise<void>((listo) => other.listen(0, '127.0.0.1', listo))
  const context = await openContext()
  try {
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    const args = [guia, manifiesto, environment.url].map((one) => JSON.stringify(one)).join()
    expect(await page.evaluate(`probar(${args})`)).toEqual(['pdf', 'archivo', '+50231481676', 'TypeError'])
  } finally {
    await context.close()
    other.closeAllConnections()
    other.close()
  }
})
