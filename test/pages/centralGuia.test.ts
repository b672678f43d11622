import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'
import { evaluateIn } from './inspect.ts'

const environment = useEnvironment()
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

const ver = async (guia: string, caller = ana) =>
  (await createScriptlessBrowser(environment, caller.cookie).visit(`/central/guias/${guia}`)).texto
const registrar = (guia: string, body: object) => environment.asOperador('POST', `/guias/${guia}/eventos`, body)
let telefonos = 0
async function askedGuia(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(
    buildGuiaWithoutDestino({ telefono: `+5023${String(6_000_000 + ++telefonos)}` }),
  )
  await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}
/** Sends the form beside the messages, as a browser does. */
async function reenviar(guia: string, caller = ana) {
  const { visit } = createScriptlessBrowser(environment, caller.cookie)
  const path = `/central/guias/${guia}`
  const { texto: text } = await visit(path)
  const key = /value="reenviar".*?name="idempotencia" value="([^"]+)"/.exec(text)?.[1] ?? ''
  return () => visit(path, { accion: 'reenviar', idempotencia: key, secuencia: '1' })
}
const mensajes = async (guia: string) => (await environment.asOperador('GET', `/mensajes?guia=${guia}`)).body.datos

describe('the proof on the page of a guide', () => {
  it('shows who received it, with links that open, also to the PDF', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(environment, comercio)
    await waitUntil(async () => (await comercio.api.guias.pruebaEntrega(guia)).pdf)
    const text = await ver(guia)
    for (const message of ['María López', 'Familiar', 'Bajar el PDF', foto, firma]) expect(text).toContain(message)
    const links = [...text.matchAll(/href="((?:\.\.\/)*archivos\/[^"]+)"/g)].map(([, one]) => one!)
    expect(links).toHaveLength(3)
    for (const one of links) {
      const response = await fetch(new URL(one.replaceAll('&amp;', '&'), `${environment.url}/central/guias/${guia}`))
      expect(response.status).toBe(200)
    }
  })

  it('says of a delivery without a proof that it has none, and names the one that was undone', async () => {
    const guiaWithoutPrueba = await createGuiaOnRoute(environment, comercio)
    expect(await ver(guiaWithoutPrueba)).not.toContain('Prueba de entrega')
    await registrar(guiaWithoutPrueba, { estado: 'entregado', forzar: { razon: 'Se entregó en papel' } })
    expect(await ver(guiaWithoutPrueba)).toContain('La guía se entregó sin prueba.')
    const { guia, foto } = await createDeliveredGuia(environment, comercio)
    const { secuencia } = await comercio.api.guias.obtener(guia)
    await environment.asOperador('POST', `/guias/${guia}/rectificar`, { razon: 'Era otra puerta', secuencia })
    const text = await ver(guia)
    expect(text).toMatch(/La entrega del [^<]+ se deshizo, y su prueba ya no vale/)
    // Its pictures are closed, apart from a proof that is valid.
    expect(text).toMatch(
      new RegExp(`<details[^>]*><summary>Ver la prueba que ya no vale</summary>.*${foto}.*</details>`, 's'),
    )
  })
})

describe('the place on the page of a guide', () => {
  it('is on a small map, whose tiles the page may load, once it is known', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const response = await fetch(`${environment.url}/central/guias/${guia}`, { headers: { Cookie: ana.cookie } })
    const text = await response.text()
    const [, tile = ''] = /<figure class="croquis">.*?<img src="(https:[^"]+)"/s.exec(text) ?? []
    expect(response.headers.get('content-security-policy')).toContain(new URL(tile).origin)
    expect(await ver(await askedGuia())).not.toContain('<figure')
  })
})

describe('the failed attempts on the page of a guide', () => {
  it('show why, when, who went, and the photos', async () => {
    const phone = await createMobile(environment)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const lectura = () => ({ ocurrido_en: new Date().toISOString(), idempotencia: randomUUID() })
    for (const estado of ['recolectado', 'en_ruta']) await phone.registrar(guia, { estado, ...lectura() })
    const foto = (await phone.upload(guia, 'foto', await createFoto())).body.archivo
    const fallo = { estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion: 'Perro bravo' }
    await phone.registrar(guia, { ...fallo, fotos: [foto], ...lectura() })
    const text = await ver(guia)
    expect(text).toMatch(/id="intentos">Intentos<.*1\. No había nadie.*Perro bravo.*Carlos Méndez.*archivos\/arch_/s)
    expect(text).toContain(foto)
    expect(text).toContain(`central/reparto/${phone.repartidor}"`)
    expect(await ver(await createGuiaOnRoute(environment, comercio))).not.toContain('id="intentos"')
  })
})

describe('the messages on the page of a guide', () => {
  it('are shown as they say it, and one more is sent once for each form', async () => {
    const guia = await askedGuia()
    const text = await ver(guia)
    expect(text).toMatch(/Le escribe [^<]+ le envía un paquete a [^<]+\. Díganos dónde entregarlo:/)
    expect(text).toContain('https://wa.me/5023')
    const send = await reenviar(guia)
    expect(await send()).toMatchObject({
      status: 303,
      destino: `${environment.url}/central/guias/${guia}?hecho=reenviar`,
    })
    await send()
    expect(await mensajes(guia)).toHaveLength(2)
    const { rows } = await environment.db.pool.query('select quien from bitacora where sobre = $1 and accion = $2', [
      guia,
      'reenviarSolicitudPorOperador',
    ])
    expect(rows).toEqual([{ quien: ana.persona }])
  })

  it('are not sent again past the limit, nor for a place that is known, and the page says why', async () => {
    const guia = await askedGuia()
    const late = await reenviar(guia)
    for (let times = 0; times < 3; times++) await comercio.api.guias.reenviarSolicitud(guia)
    const { status, texto: text } = await late()
    expect([status, text]).toEqual([409, expect.stringContaining('Ya se reenvió 3 veces a ese teléfono')])
    expect(text).not.toContain('value="reenviar"')
    const hasPlace = await askedGuia()
    await environment.asOperador('POST', `/guias/${hasPlace}/ubicacion`, {
      lat: 14.71889,
      lng: -90.64417,
      razon: 'Llamó',
    })
    expect(await ver(hasPlace)).toContain('No hay nada que reenviar: el lugar está confirmado.')
    const cancelled = await askedGuia()
    await comercio.api.guias.cancelar(cancelled)
    expect(await ver(cancelled)).toContain('la guía está en «Cancelado»')
  })

  it('are sent by nobody without the scope', async () => {
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    const guia = await askedGuia()
    expect(await ver(guia, bea)).not.toContain('value="reenviar"')
    expect((await (await reenviar(guia, bea))()).status).toBe(403)
    expect(await mensajes(guia)).toHaveLength(1)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('draws the photos under the policy of the page', async () => {
    const [name = '', value = ''] = ana.cookie.split('=')
    const { guia } = await createDeliveredGuia(environment, comercio)
    const context = await openContext({ viewport: { width: 360, height: 740 } })
    await context.addCookies([{ name, value, url: environment.url }])
    const page: Page = await context.newPage()
    await page.goto(`${environment.url}/central/guias/${guia}`)
    await page.locator('#prueba').scrollIntoViewIfNeeded()
    await waitUntil(() =>
      evaluateIn<boolean>(page, `[...document.querySelectorAll('.fotos img')].every((una) => una.naturalWidth > 1)`),
    )
    expect(await page.locator('.fotos img').count()).toBe(2)
    await context.close()
  })
})
