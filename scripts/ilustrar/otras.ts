import { Guias } from '@guias/sdk'
import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { CON_LUGAR, UNA, vivir } from './escenas.ts'
import { Hoja } from './hoja.ts'
import { comoOperador, conMosaicos, enlacesDelBuzon, esperarMensaje, type Fresco } from './servicio.ts'

/** Draws the page where a recipient decides after a failed attempt. */
export async function decision(fresco: Fresco, pagina: Page): Promise<Hoja> {
  const { url, demo } = fresco
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const { comercio } = await api.cuenta.obtener()
  await comoOperador(fresco, `/comercios/${comercio}`, { politica_de_intentos: { destinatario_decide: true } }, 'PATCH')
  let telefonos = 0
  const nueva = async () => {
    const vistos = await enlacesDelBuzon(url)
    const { guia } = await api.guias.crear({ ...CON_LUGAR, telefono: `+5023148250${telefonos++}` })
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const)
      await api.simulador.avanzar(guia, { estado })
    await pagina.goto(await esperarMensaje(url, vistos))
  }
  const opcion = (hasText: string) => pagina.locator('summary', { hasText })
  const boton = (name: string) => pagina.getByRole('button', { name })
  await conMosaicos(pagina)
  await nueva()
  await hoja.retratar('Decidir', pagina)
  await opcion('otro día').tap()
  await hoja.retratar('Otro día', pagina)
  await opcion('otro lugar').tap()
  await boton('Señalarlo en el mapa').tap()
  await pagina.locator('#mapa:not(.ciego) .leaflet-tile-loaded').first().waitFor()
  await pagina.locator('#mapa').tap({ position: { x: 200, y: 180 } })
  await hoja.retratar('Otro lugar, en el mapa', pagina)
  await opcion('un vecino').tap()
  await boton('Dejarlo con mi vecino').tap()
  await pagina.getByRole('alert').waitFor()
  await hoja.retratar('Falta el vecino', pagina)
  await opcion('No lo quiero').tap()
  await boton('No lo quiero').tap()
  await boton('Sí, que vuelva a la tienda').waitFor()
  await hoja.retratar('¿Seguro?', pagina)
  await nueva()
  await opcion('otro día').tap()
  await boton('Pedir ese día').tap()
  await pagina.getByText('Gracias').first().waitFor()
  await hoja.retratar('Decidido', pagina)
  await pagina.goto(`${url}/d/no-es-un-enlace`)
  await hoja.retratar('Enlace que no existe', pagina)
  return hoja
}

/** Draws the page that verifies a proof of delivery. */
export async function verificacion({ url, demo }: Fresco, pagina: Page): Promise<Hoja> {
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const ver = async (nombre: string, ruta: string) => {
    await pagina.goto(`${url}/verificar${ruta}`)
    await hoja.retratar(nombre, pagina)
  }
  await ver('Por código', '')
  await ver('Código que no puede ser', '?guia=no+es')
  await ver('Sin entregar', `/${(await vivir(api, ['recolectado'])).guia}`)
  const { guia } = await vivir(api, ['recolectado', 'en_ruta', 'entregado'])
  const pdf = await pruebaDe(api, guia)
  await ver('Con prueba', `/${guia}`)
  const elegir = async (nombre: string, buffer: Buffer) => {
    await pagina.locator('input[type=file]').setInputFiles({ name: 'prueba.pdf', mimeType: 'application/pdf', buffer })
    await pagina.locator('#resultado h2').waitFor()
    await hoja.retratar(nombre, pagina)
  }
  await elegir('Es el original', pdf)
  await pagina.reload()
  await elegir('No es el original', Buffer.from('%PDF-1.7 otro'))
  return hoja
}

/**
 * Returns the PDF of a guide's proof.
 * @throws if there is none after about 30 s
 */
export async function pruebaDe(api: Guias, guia: string): Promise<Buffer> {
  for (let i = 0; i < 300; i++) {
    const { pdf } = await api.guias.pruebaEntrega(guia)
    if (pdf) return Buffer.from(await (await fetch(pdf.url)).arrayBuffer())
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the proof has no PDF')
}

/** Draws pages that have only one state: the first page, the documentation, and the pages for developers. */
export async function otras(fresco: Fresco, pagina: Page): Promise<Hoja> {
  const { url, demo } = fresco
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const ver = async (nombre: string, ruta: string, recargar = false) => {
    await pagina.goto(url + ruta, { waitUntil: 'networkidle' })
    await hoja.retratar(nombre, pagina, { recargar })
  }
  await ver('Inicio', '/')
  await pagina.getByLabel('Código de la guía').fill((await vivir(api, [])).guia)
  await pagina.getByRole('button', { name: 'Seguir el envío' }).tap()
  await pagina.getByRole('heading', { name: 'Historial' }).waitFor()
  await ver('Inicio, con lo buscado', '/')
  await ver('Aquí no hay nada', '/no/hay/nada')
  await ver('Documentación', '/docs', true)
  await ver('Consola', '/docs/consola')
  const vistos = await enlacesDelBuzon(url)
  await api.guias.crear({ ...UNA, telefono: '+50231482600' })
  await esperarMensaje(url, vistos)
  await ver('Buzón', '/buzon')
  await ver('Entrar', '/entrar')
  await ver('Entrar, el código', '/entrar/codigo')
  const invitada = {
    correo: 'maria.xicara@ejemplo.com',
    nombre: 'María José Ajú Xicará',
    alcances: ['ver', 'operar', 'administrar'],
  }
  const { codigo } = await comoOperador<{ codigo: string }>(fresco, '/invitaciones', invitada)
  const buzon = await (await fetch(`${url}/buzon`)).text()
  await ver('Invitación', `/invitacion/${/invitacion\/([\w-]+)/.exec(buzon)![1]}`)
  await pagina.getByLabel('Código que le dio quien le invitó').fill(codigo)
  await pagina.getByRole('button', { name: 'Aceptar y entrar' }).tap()
  await pagina.getByRole('heading', { name: 'Falta su segundo factor' }).waitFor()
  await ver('Falta el segundo factor', '/cuenta')
  await pagina.getByRole('button', { name: 'Usar una app de códigos' }).tap()
  await pagina.getByRole('heading', { name: 'Su app de códigos' }).waitFor()
  await hoja.retratar('Su app de códigos', pagina)
  const secret = (await pagina.locator('.clave').textContent())!.replaceAll(' ', '')
  await pagina.getByLabel('Seis cifras de la app').fill(await generate({ secret }))
  await pagina.getByRole('button', { name: 'Confirmar' }).tap()
  await pagina.getByRole('heading', { name: 'Sus códigos de recuperación' }).waitFor()
  await hoja.retratar('Sus códigos de recuperación', pagina)
  await ver('Su cuenta', '/cuenta')
  await ver('Central, guías', '/central/guias')
  await ver('Central, nada hallado', '/central/guias?q=nadie+asi')
  await ver(
    'Central, una guía',
    `/central/guias/${(await vivir(api, ['recolectado', 'en_ruta', 'intento_fallido'])).guia}`,
  )
  const { guia } = await vivir(api, ['recolectado', 'en_ruta', 'entregado'])
  await pruebaDe(api, guia)
  await ver('Central, una guía entregada', `/central/guias/${guia}`)
  await ver('Central, comercios', '/central/comercios')
  const { datos } = await comoOperador<{ datos: { comercio: string }[] }>(fresco, '/comercios')
  await ver('Central, un comercio', `/central/comercios/${datos[0]!.comercio}`)
  await ver('Central, equipo', '/central/equipo')
  await ver('Central, repartidores', '/central/equipo/repartidores')
  await ver('Central, avisos', '/central/avisos')
  await ver('Central, servicio', '/central/equipo/servicio')
  await ver('Central, varias guías', `/central/varias?accion=cancelar&guia=${(await vivir(api, [])).guia}`)
  await verReparto(fresco, api, ver)
  await ver('Piezas', '/ui')
  return hoja
}

/** Draws the pages on which the office assigns guides. */
async function verReparto(fresco: Fresco, api: Guias, ver: (nombre: string, ruta: string) => Promise<void>) {
  const { datos } = await comoOperador<{ datos: { repartidor: string }[] }>(fresco, '/repartidores')
  const { repartidor } = datos[0]!
  const { guia } = await vivir(api, [])
  await comoOperador(fresco, '/asignaciones', { guias: [guia], repartidor })
  await ver('Central, reparto', '/central/reparto')
  await ver('Central, un repartidor', `/central/reparto/${repartidor}`)
  await ver('Central, asignar', '/central/reparto/asignar?estado=aceptado&cuales=todas')
  await comoOperador(fresco, '/asignaciones/retirar', { guias: [guia] })
}
