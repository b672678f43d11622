import { afterAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { createS3Server, type S3Server } from '../archivos/s3.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { hasta } from '../factories.ts'
import { evaluateIn } from './inspect.ts'

let servidor: S3Server
const entorno = useEnvironment({}, async () => {
  servidor = await createS3Server()
  return servidor.env
})
afterAll(() => servidor.close())

describe.skipIf(!hasBrowser)('the photos of a guide that lie in S3', () => {
  it('are drawn, because the policy of the page names the storage', async () => {
    const { guia } = await createDeliveredGuia(entorno, await entorno.nuevoComercio())
    const [name = '', value = ''] = (await createTestPersona(entorno)).cookie.split('=')
    const contexto = await openContext()
    await contexto.addCookies([{ name, value, url: entorno.url }])
    const pagina = await contexto.newPage()
    const respuesta = await pagina.goto(`${entorno.url}/central/guias/${guia}`)
    expect(respuesta!.headers()['content-security-policy']).toContain(new URL(servidor.config.endpoint!).origin)
    await pagina.locator('#prueba').scrollIntoViewIfNeeded()
    await hasta(() =>
      evaluateIn<boolean>(pagina, `[...document.querySelectorAll('.fotos img')].every((una) => una.naturalWidth > 1)`),
    )
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    const lista = await pagina.goto(`${entorno.url}/central/guias`)
    expect(lista!.headers()['content-security-policy']).not.toContain(new URL(servidor.config.endpoint!).origin)
    await contexto.close()
  })
})
