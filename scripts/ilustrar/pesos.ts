/**
 * Measures the size of each page's first load, and the time until the page is usable on a slow phone with a slow
 * network.
 */
import { Guias } from '@guias/sdk'
import type { Page } from 'playwright-core'
import { conUnTelefono } from '../demo/navegador.ts'
import { comoOperador, enlacesDelBuzon, esperarMensaje, type Fresco } from './servicio.ts'

/** Slow 3G as Lighthouse simulates it: kilobits per second, round trip in milliseconds, and a CPU four times slower. */
const LENTO = { bajada: 400, subida: 400, vuelta: 400, freno: 4 }
const VECES = 3

/** Address of a page, and a function that resolves when the page is usable. */
type Pagina = { direccion: string; util: (pagina: Page) => Promise<unknown> }

async function medir({ direccion, util }: Pagina): Promise<{ bytes: number; segundos: number }> {
  return conUnTelefono({ latitude: 14.7, longitude: -90.6, accuracy: 8 }, async (pagina, contexto) => {
    await pagina.setViewportSize({ width: 360, height: 740 })
    const sesion = await contexto.newCDPSession(pagina)
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: LENTO.vuelta,
      downloadThroughput: (LENTO.bajada * 1_000) / 8,
      uploadThroughput: (LENTO.subida * 1_000) / 8,
    })
    await sesion.send('Emulation.setCPUThrottlingRate', { rate: LENTO.freno })
    const desde = performance.now()
    await pagina.goto(direccion, { waitUntil: 'commit' })
    await util(pagina)
    const segundos = (performance.now() - desde) / 1_000
    await pagina.waitForLoadState('networkidle')
    return { bytes, segundos }
  })
}

/** Makes a guide whose delivery fails, and returns the link with which its recipient decides. */
async function pedirDecision(fresco: Fresco, api: Guias, vistos: readonly string[]): Promise<string> {
  const { comercio } = await api.cuenta.obtener()
  await comoOperador(fresco, `/comercios/${comercio}`, { politica_de_intentos: { destinatario_decide: true } }, 'PATCH')
  const lugar = { lat: 14.63077, lng: -90.60711, recogida: { lat: 14.583611, lng: -90.548611 } }
  const destino = { telefono: '+50231481676', departamento: 'Guatemala', municipio: 'Mixco' }
  const { guia } = await api.guias.crear({ ...destino, ...lugar })
  for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const)
    await api.simulador.avanzar(guia, { estado })
  return esperarMensaje(fresco.url, vistos)
}

/**
 * Prints a table row for each page: the bytes of its first load, headers included, and the median of three times until
 * the page is usable.
 */
export async function pesarPaginas(fresco: Fresco): Promise<void> {
  const { url, demo } = fresco
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const destino = { telefono: '+50231481676', departamento: 'Guatemala', municipio: 'Mixco' }
  const recogida = { lat: 14.583611, lng: -90.548611 }
  const vistos = await enlacesDelBuzon(url)
  const { guia } = await api.guias.crear({ ...destino, recogida })
  const enlace = await esperarMensaje(url, vistos)
  const decision = await pedirDecision(fresco, api, [...vistos, enlace])
  const boton = (name: string) => (pagina: Page) => pagina.getByRole('button', { name }).waitFor()
  const paginas: Readonly<Record<string, Pagina>> = {
    '`/`': { direccion: url, util: boton('Seguir el envío') },
    '`/u/{token}`': { direccion: enlace, util: boton('Estoy ahí ahora') },
    '`/d/{token}`': { direccion: decision, util: (pagina) => pagina.locator('h1').waitFor() },
    '`/r/{guia}`': { direccion: `${url}/r/${guia}`, util: (pagina) => pagina.locator('h1').waitFor() },
    '`/repartidor`': { direccion: `${url}/repartidor`, util: boton('Entrar') },
    '`/verificar/{guia}`': { direccion: `${url}/verificar/${guia}`, util: (pagina) => pagina.locator('h1').waitFor() },
    '`/entrar`': { direccion: `${url}/entrar`, util: boton('Mandar el código') },
    '`/docs/consola`': { direccion: `${url}/docs/consola`, util: boton('Enviar') },
  }
  console.log('| page | bytes | usable after |\n|---|---:|---:|')
  for (const [nombre, pagina] of Object.entries(paginas)) {
    const medidas = []
    for (let i = 0; i < VECES; i++) medidas.push(await medir(pagina))
    const [, { segundos }] = medidas.toSorted((a, b) => a.segundos - b.segundos) as [unknown, { segundos: number }]
    console.log(`| ${nombre} | ${medidas[0]!.bytes} | ${segundos.toFixed(1)} s |`)
  }
}
