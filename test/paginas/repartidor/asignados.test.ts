import { describe, expect, it } from 'vitest'
import { usarEntorno } from '../../entorno.ts'
import { hasta, unaGuia } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  contexto,
  dar,
  enElTelefono,
  enGrupos,
  enlace,
  entorno,
  entrarEnLaPagina,
  evaluar,
  inicio,
  nuevoRepartidor,
  pagina,
  revisarVentana,
  usarTelefono,
} from './telefono.ts'

usarTelefono(usarEntorno({}, () => ({ COURIER_REACH: 'asignado' })))

const PERSONA = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12', contenido: 'Zapatos' }
const nueva = async (municipio: string) =>
  (await comercioDelTelefono.api.guias.crear(unaGuia({ ...PERSONA, municipio }))).guia
const asignar = (guias: string[], { repartidor }: { repartidor: string }) =>
  entorno.operar('POST', '/asignaciones', { guias, repartidor })
const municipios = () =>
  evaluar<string[]>(`[...document.querySelectorAll('.municipio summary')].map((s) => s.textContent)`)
/** Two minutes later the page lists again what the courier has. */
const masTarde = () =>
  evaluar(
    `(() => { const antes = Date.now.bind(Date); Date.now = () => antes() + 121000; dispatchEvent(new Event('online')) })()`,
  )

describe.skipIf(!hayNavegador)('what is assigned to the courier', () => {
  it('is on the phone after signing in, by municipality, also without coverage, and without the people', async () => {
    const yo = await nuevoRepartidor()
    const [mixco, otra, chinautla] = [await nueva('Mixco'), await nueva('Mixco'), await nueva('Chinautla')]
    await asignar([mixco, otra, chinautla], yo)
    await abrirTelefono()
    await entrarEnLaPagina(yo.codigo)
    await pagina.getByRole('heading', { name: 'Asignados (3)' }).waitFor()
    expect(await municipios()).toEqual(['Chinautla (1)', 'Mixco (2)'])
    await revisarVentana('asignados')
    await contexto.setOffline(true)
    await pagina.getByText('Mixco (2)').tap()
    for (const guia of [mixco, otra]) await enlace(enGrupos(guia)).waitFor()
    await pagina.goto(`${new URL(pagina.url()).href.split('#')[0]}#/mas`)
    await inicio()
    await pagina.getByRole('heading', { name: 'Asignados (3)' }).waitFor()
    const guardado = await enElTelefono()
    expect(guardado).toContain(chinautla)
    for (const dato of [...Object.values(PERSONA), '31481676']) expect(guardado).not.toContain(dato)
  })

  it('shows where it goes once the courier takes it, and is then in the list of stops', async () => {
    const yo = await nuevoRepartidor()
    const guia = await nueva('Mixco')
    await asignar([guia], yo)
    await abrirTelefono()
    await entrarEnLaPagina(yo.codigo)
    await pagina.getByText('Mixco (1)').tap()
    await enlace(enGrupos(guia)).tap()
    await pagina.getByText('No la lleva nadie. A quién va y adónde se ve al tomarla.').waitFor()
    await pagina.getByText('Mixco', { exact: true }).waitFor()
    await revisarVentana('asignada')
    await dar(guia, 'Recoger el paquete')
    await inicio()
    await pagina.getByText('5a avenida norte 12').first().waitFor()
    expect(await pagina.getByRole('heading', { name: /^Asignados/ }).count()).toBe(0)
  })

  it('changes while the page is open: what is reassigned disappears, unless the courier carries it', async () => {
    const [yo, otro] = [await nuevoRepartidor(), await nuevoRepartidor('Ana Pérez')]
    const [libre, tomada, despues] = [await nueva('Mixco'), await nueva('Mixco'), await nueva('Palencia')]
    await asignar([libre, tomada], yo)
    await abrirTelefono()
    await entrarEnLaPagina(yo.codigo)
    await pagina.getByRole('heading', { name: 'Asignados (2)' }).waitFor()
    await abrirGuia(libre)
    await pagina.getByText('Mixco', { exact: true }).waitFor()
    await dar(tomada, 'Recoger el paquete')
    await hasta(async () => (await entorno.operar('GET', `/guias/${tomada}`)).cuerpo.estado === 'recolectado')
    await asignar([libre, tomada], otro)
    await asignar([despues], yo)
    await inicio()
    await masTarde()
    await pagina.getByText('Palencia (1)').waitFor()
    expect(await municipios()).toEqual(['Palencia (1)'])
    await pagina.getByText('5a avenida norte 12').first().waitFor()
    await hasta(async () => (await evaluar<number>(`document.querySelectorAll('[href$="${libre}"]').length`)) === 0)
    await pagina.goto(`${pagina.url().split('#')[0]}#/buscar`)
    await pagina.getByRole('heading', { name: 'Buscar' }).waitFor()
    await hasta(async () => (await evaluar<number>(`document.querySelectorAll('.lista li').length`)) === 1)
  })
})

describe.skipIf(!hayNavegador)('a guide that is not assigned to the courier', () => {
  it('says what to do, offers no step, and opens once it is assigned', async () => {
    const yo = await nuevoRepartidor()
    const guia = await nueva('Mixco')
    await abrirTelefono()
    await entrarEnLaPagina(yo.codigo)
    await abrirGuia(guia)
    await pagina.getByText('Se abre cuando la central se la asigne.').waitFor()
    await pagina.getByText('No la tiene asignada').waitFor()
    expect(await pagina.getByRole('navigation').count()).toBe(0)
    await revisarVentana('sin-asignar')
    await asignar([guia], yo)
    await masTarde()
    await enlace('Recoger el paquete').waitFor()
  })

  it('keeps a scan without coverage on the phone, with the reason', async () => {
    const yo = await nuevoRepartidor()
    const guia = await nueva('Mixco')
    await abrirTelefono()
    await entrarEnLaPagina(yo.codigo)
    await contexto.setOffline(true)
    await abrirGuia(guia)
    await enlace('Recoger el paquete').tap()
    await boton('Registrar').tap()
    await pagina.locator('.palomita').waitFor()
    await contexto.setOffline(false)
    await pagina.goto(`${pagina.url().split('#')[0]}#/hoy`)
    await pagina.locator('.atencion a').tap()
    await pagina.getByText('No tiene asignada esta guía. Pida a la central que se la asigne').waitFor()
  })
})
