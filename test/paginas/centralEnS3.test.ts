import { afterAll, describe, expect, it } from 'vitest'
import { entregada } from '../archivos/imagenes.ts'
import { crearServidorS3, type ServidorS3 } from '../archivos/s3.ts'
import { usarEntorno } from '../entorno.ts'
import { nuevaPersona } from '../equipo/persona.ts'
import { hasta } from '../fabricas.ts'
import { abrirContexto, hayNavegador } from '../navegador.ts'
import { evaluarEn } from './revisar.ts'

let servidor: ServidorS3
const entorno = usarEntorno({}, async () => {
  servidor = await crearServidorS3()
  return servidor.env
})
afterAll(() => servidor.cerrar())

describe.skipIf(!hayNavegador)('the photos of a guide that lie in S3', () => {
  it('are drawn, because the policy of the page names the storage', async () => {
    const { guia } = await entregada(entorno, await entorno.nuevoComercio())
    const [name = '', value = ''] = (await nuevaPersona(entorno)).cookie.split('=')
    const contexto = await abrirContexto()
    await contexto.addCookies([{ name, value, url: entorno.url }])
    const pagina = await contexto.newPage()
    const respuesta = await pagina.goto(`${entorno.url}/central/guias/${guia}`)
    expect(respuesta!.headers()['content-security-policy']).toContain(new URL(servidor.config.endpoint!).origin)
    await pagina.locator('#prueba').scrollIntoViewIfNeeded()
    await hasta(() =>
      evaluarEn<boolean>(pagina, `[...document.querySelectorAll('.fotos img')].every((una) => una.naturalWidth > 1)`),
    )
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    const lista = await pagina.goto(`${entorno.url}/central/guias`)
    expect(lista!.headers()['content-security-policy']).not.toContain(new URL(servidor.config.endpoint!).origin)
    await contexto.close()
  })
})
