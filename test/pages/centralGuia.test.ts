import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'
import { evaluateIn } from './inspect.ts'

const entorno = useEnvironment()
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ana = await createTestPersona(entorno)
})

const ver = async (guia: string, quien = ana) =>
  (await createScriptlessBrowser(entorno, quien.cookie).visit(`/central/guias/${guia}`)).texto
const registrar = (guia: string, cuerpo: object) => entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)
let telefonos = 0
async function preguntada(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(
    buildGuiaWithoutDestino({ telefono: `+5023${String(6_000_000 + ++telefonos)}` }),
  )
  await hasta(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}
/** Sends the form beside the messages, as a browser does. */
async function reenviar(guia: string, quien = ana) {
  const { visit: ir } = createScriptlessBrowser(entorno, quien.cookie)
  const ruta = `/central/guias/${guia}`
  const { texto } = await ir(ruta)
  const clave = /value="reenviar".*?name="idempotencia" value="([^"]+)"/.exec(texto)?.[1] ?? ''
  return () => ir(ruta, { accion: 'reenviar', idempotencia: clave, secuencia: '1' })
}
const mensajes = async (guia: string) => (await entorno.operar('GET', `/mensajes?guia=${guia}`)).cuerpo.datos

describe('the proof on the page of a guide', () => {
  it('shows who received it, with links that open, also to the PDF', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(entorno, comercio)
    await hasta(async () => (await comercio.api.guias.pruebaEntrega(guia)).pdf)
    const texto = await ver(guia)
    for (const dicho of ['María López', 'Familiar', 'Bajar el PDF', foto, firma]) expect(texto).toContain(dicho)
    const enlaces = [...texto.matchAll(/href="((?:\.\.\/)*archivos\/[^"]+)"/g)].map(([, una]) => una!)
    expect(enlaces).toHaveLength(3)
    for (const uno of enlaces) {
      const respuesta = await fetch(new URL(uno.replaceAll('&amp;', '&'), `${entorno.url}/central/guias/${guia}`))
      expect(respuesta.status).toBe(200)
    }
  })

  it('says of a delivery without a proof that it has none, and names the one that was undone', async () => {
    const sinPrueba = await createGuiaOnRoute(entorno, comercio)
    expect(await ver(sinPrueba)).not.toContain('Prueba de entrega')
    await registrar(sinPrueba, { estado: 'entregado', forzar: { razon: 'Se entregó en papel' } })
    expect(await ver(sinPrueba)).toContain('La guía se entregó sin prueba.')
    const { guia, foto } = await createDeliveredGuia(entorno, comercio)
    const { secuencia } = await comercio.api.guias.obtener(guia)
    await entorno.operar('POST', `/guias/${guia}/rectificar`, { razon: 'Era otra puerta', secuencia })
    const texto = await ver(guia)
    expect(texto).toMatch(/La entrega del [^<]+ se deshizo, y su prueba ya no vale/)
    expect(texto).not.toContain(foto)
  })
})

describe('the failed attempts on the page of a guide', () => {
  it('show why, when, who went, and the photos', async () => {
    const movil = await createMobile(entorno)
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const lectura = () => ({ ocurrido_en: new Date().toISOString(), idempotencia: randomUUID() })
    for (const estado of ['recolectado', 'en_ruta']) await movil.registrar(guia, { estado, ...lectura() })
    const foto = (await movil.upload(guia, 'foto', await createFoto())).cuerpo.archivo
    const fallo = { estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion: 'Perro bravo' }
    await movil.registrar(guia, { ...fallo, fotos: [foto], ...lectura() })
    const texto = await ver(guia)
    expect(texto).toMatch(/id="intentos">Intentos<.*1\. No había nadie.*Perro bravo.*Carlos Méndez.*archivos\/arch_/s)
    expect(texto).toContain(foto)
    expect(texto).toContain(`central/reparto/${movil.repartidor}"`)
    expect(await ver(await createGuiaOnRoute(entorno, comercio))).not.toContain('id="intentos"')
  })
})

describe('the messages on the page of a guide', () => {
  it('are shown as they say it, and one more is sent once for each form', async () => {
    const guia = await preguntada()
    const texto = await ver(guia)
    expect(texto).toMatch(/Le escribe [^<]+ le envía un paquete a [^<]+\. Díganos dónde entregarlo:/)
    expect(texto).toContain('https://wa.me/5023')
    const enviar = await reenviar(guia)
    expect(await enviar()).toMatchObject({
      status: 303,
      destino: `${entorno.url}/central/guias/${guia}?hecho=reenviar`,
    })
    await enviar()
    expect(await mensajes(guia)).toHaveLength(2)
    const { rows } = await entorno.db.pool.query('select quien from bitacora where sobre = $1 and accion = $2', [
      guia,
      'reenviarSolicitudPorOperador',
    ])
    expect(rows).toEqual([{ quien: ana.persona }])
  })

  it('are not sent again past the limit, nor for a place that is known, and the page says why', async () => {
    const guia = await preguntada()
    const tarde = await reenviar(guia)
    for (let veces = 0; veces < 3; veces++) await comercio.api.guias.reenviarSolicitud(guia)
    const { status, texto } = await tarde()
    expect([status, texto]).toEqual([409, expect.stringContaining('Ya se reenvió 3 veces a ese teléfono')])
    expect(texto).not.toContain('value="reenviar"')
    const conLugar = await preguntada()
    await entorno.operar('POST', `/guias/${conLugar}/ubicacion`, { lat: 14.71889, lng: -90.64417, razon: 'Llamó' })
    expect(await ver(conLugar)).toContain('No hay nada que reenviar: el lugar está confirmado.')
    const cancelada = await preguntada()
    await comercio.api.guias.cancelar(cancelada)
    expect(await ver(cancelada)).toContain('la guía está en «Cancelado»')
  })

  it('are sent by nobody without the scope', async () => {
    const bea = await createTestPersona(entorno, { alcances: ['ver'] })
    const guia = await preguntada()
    expect(await ver(guia, bea)).not.toContain('value="reenviar"')
    expect((await (await reenviar(guia, bea))()).status).toBe(403)
    expect(await mensajes(guia)).toHaveLength(1)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('draws the photos under the policy of the page', async () => {
    const [name = '', value = ''] = ana.cookie.split('=')
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const contexto = await openContext({ viewport: { width: 360, height: 740 } })
    await contexto.addCookies([{ name, value, url: entorno.url }])
    const pagina: Page = await contexto.newPage()
    await pagina.goto(`${entorno.url}/central/guias/${guia}`)
    await pagina.locator('#prueba').scrollIntoViewIfNeeded()
    await hasta(() =>
      evaluateIn<boolean>(pagina, `[...document.querySelectorAll('.fotos img')].every((una) => una.naturalWidth > 1)`),
    )
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    await contexto.close()
  })
})
