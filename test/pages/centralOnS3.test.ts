import { afterAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { createS3Server, type S3Server } from '../archivos/s3.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { waitUntil } from '../factories.ts'
import { evaluateIn } from './inspect.ts'

let server: S3Server
const environment = useEnvironment({}, async () => {
  server = await createS3Server()
  return server.env
})
afterAll(() => server.close())

describe.skipIf(!hasBrowser)('the photos of a guide that lie in S3', () => {
  it('are drawn, because the policy of the page names the storage', async () => {
    const { guia } = await createDeliveredGuia(environment, await environment.createComercio())
    const [name = '', value = ''] = (await createTestPersona(environment)).cookie.split('=')
    const context = await openContext()
    await context.addCookies([{ name, value, url: environment.url }])
    const page = await context.newPage()
    const response = await page.goto(`${environment.url}/central/guias/${guia}`)
    expect(response!.headers()['content-security-policy']).toContain(new URL(server.config.endpoint!).origin)
    await page.locator('#prueba').scrollIntoViewIfNeeded()
    await waitUntil(() =>
      evaluateIn<boolean>(page, `[...document.querySelectorAll('.fotos img')].every((una) => una.naturalWidth > 1)`),
    )
    expect(await page.locator('.fotos img').count()).toBe(2)
    const list = await page.goto(`${environment.url}/central/guias`)
    expect(list!.headers()['content-security-policy']).not.toContain(new URL(server.config.endpoint!).origin)
    await context.close()
  })
})
