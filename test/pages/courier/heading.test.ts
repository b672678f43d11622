import { describe, expect, it } from 'vitest'
import type { GuiaDeReparto } from '../../../server/generated/contract/types/index.ts'
import { headingOf } from '../../../server/pages/courier/browser/heading.ts'
import { hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY, RECOGIDA } from '../../factories.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import {
  checkWindow,
  createColorFoto,
  createGuiaIn,
  createTestRepartidor,
  evaluateOnPhone,
  failIntento,
  goHome,
  groupCode,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  PERSONA,
  pagina,
  readShortEventoTypes,
  signInOnPage,
  titulo,
  usePhone,
} from './phone.ts'

usePhone()

const activo = () =>
  evaluateOnPhone<string>('document.activeElement.id || document.activeElement.name || document.activeElement.type')
/** Where the bar ends, and how far the window reaches. */
const abajo = () =>
  evaluateOnPhone<[number, number]>(`[document.querySelector('.barra').getBoundingClientRect().bottom, innerHeight]`)

describe('the directions to a recipient', () => {
  it('are the description of the place and the indications, each text once', () => {
    const doorHints = (referencia: string | null, indicaciones: string | null) => {
      const ubicacion = { estado: 'confirmada', lat: 14.6, lng: -90.6, maps_url: null, precision_m: null, referencia }
      const datos = { custodia: 'propia', departamento: 'Guatemala', municipio: 'Mixco', indicaciones, ubicacion }
      return headingOf(datos as GuiaDeReparto, 'en_ruta')!.directions
    }
    expect(doorHints('Portón verde', 'Dejar con un vecino: Rosa Caal')).toEqual([
      'Portón verde',
      'Dejar con un vecino: Rosa Caal',
    ])
    expect(doorHints('Portón verde', 'Portón verde')).toEqual(['Portón verde'])
    expect(doorHints(null, 'Portón verde')).toEqual(['Portón verde'])
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('leads to where the parcel has to go: pickup, recipient, and the merchant when it goes back', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [guiaToCollect, onRoute, returningGuia] = [
      await createGuiaIn(repartidor, []),
      await createGuiaIn(repartidor, ['recolectado', 'en_ruta']),
      await createGuiaIn(repartidor, ['recolectado', 'en_devolucion']),
    ]
    await openPhone()
    await signInOnPage(codigo)
    const place = async (name: string) => {
      const region = pagina.getByRole('region', { name })
      await region.waitFor()
      const links: Record<string, string> = {}
      for (const one of await region.getByRole('link').all())
        links[(await one.textContent())!] = (await one.getAttribute('href'))!
      return { texto: await region.textContent(), links }
    }
    const toWarehouse = {
      'Google Maps': expect.stringContaining('destination=14.583611%2C-90.548611'),
      Waze: expect.stringContaining('ll=14.583611%2C-90.548611'),
    }
    await openGuiaPage(guiaToCollect)
    expect(await place('Se recoge en')).toEqual({
      texto: expect.stringContaining('Bodega Zona 12'),
      links: toWarehouse,
    })
    await openGuiaPage(returningGuia)
    expect(await place('Se devuelve a')).toEqual({
      texto: expect.stringContaining('Bodega Zona 12'),
      links: toWarehouse,
    })
    expect(await pagina.getByText(PERSONA.direccion).count()).toBe(0)
    await checkWindow('vuelve')
    await openGuiaPage(onRoute)
    const destino = await place('Se entrega a')
    expect(destino.texto).toContain('5a avenida norte 12')
    expect(destino.links).toEqual({
      Llamar: 'tel:+50231481676',
      WhatsApp: expect.stringMatching(/^https:\/\/wa\.me\/50231481676\?text=Hola/),
      'Google Maps': expect.stringContaining('destination=14.71889%2C-90.64417'),
      Waze: expect.stringContaining('ll=14.71889%2C-90.64417'),
    })
    expect(decodeURIComponent(destino.links.WhatsApp!)).toContain(
      `Hola, María José Ajú. Soy Carlos Méndez, traigo su paquete de`,
    )
    expect(decodeURIComponent(destino.links.WhatsApp!)).toContain(groupCode(onRoute))
  })

  it('names who to ask for at the pickup, with directions, and calls or writes to them', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const recogida = {
      ...RECOGIDA,
      contacto: 'Luis Batz',
      telefono: '5555 1234',
      direccion: '12 avenida 3-40',
      indicaciones: 'Portón azul',
    }
    const guia = await createGuiaIn(repartidor, [], { ...PERSONA, recogida })
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    const region = pagina.getByRole('region', { name: 'Se recoge en' })
    await region.waitFor()
    expect(await region.textContent()).toMatch(/Luis Batz, .*Bodega Zona 12, 12 avenida 3-40.*Portón azul/s)
    expect(await region.getByRole('link', { name: 'Llamar' }).getAttribute('href')).toBe('tel:+50255551234')
    const write = await region.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')
    expect(decodeURIComponent(write!)).toContain('Hola, Luis Batz. Soy Carlos Méndez, vengo a recoger un paquete de')
    await checkWindow('recogida')
  })

  it(
    'keeps what is done most at the thumb, and what ends a parcel’s way apart and asked about',
    FULL_RUN_ONLY,
    async () => {
      const { codigo, repartidor } = await createTestRepartidor()
      const guia = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], {
        ...PERSONA,
        indicaciones: 'Portón verde, frente a la tienda de la esquina, al lado de la ferretería. '.repeat(6),
      })
      await openPhone()
      await signInOnPage(codigo)
      await openGuiaPage(guia)
      await link('Entregar').waitFor()
      for (const y of [0, 400, 10_000]) {
        await evaluateOnPhone(`scrollTo(0, ${y})`)
        const [end, height] = await abajo()
        expect(end).toBeLessThanOrEqual(height)
        expect(end).toBeGreaterThan(height - 40)
      }
      expect(await pagina.locator('.barra a').allTextContents()).toEqual(['Entregar', 'No se pudo entregar'])
      const furtherActions = pagina.getByRole('navigation', { name: 'Si ya no se entrega' })
      expect(await furtherActions.getByRole('link').allTextContents()).toEqual([
        'Empezar la devolución',
        'Reportar extravío',
      ])
      await checkWindow('guia-abierta')
      await furtherActions.getByRole('link', { name: 'Reportar extravío' }).tap()
      await pagina.getByLabel('Se perdió').check()
      await locateButton('Registrar').tap()
      await pagina.getByText('¿Reportar extravío?').waitFor()
      await checkWindow('extravio')
      await locateButton('No, volver').tap()
      expect(await readShortEventoTypes(guia)).not.toContain('extraviado')
      await locateButton('Registrar').tap()
      await pagina.getByRole('dialog').getByRole('button', { name: 'Reportar extravío' }).tap()
      await titulo('Extraviado').waitFor()
    },
  )

  it('tells each fault at its field, and takes the focus to the first', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'])
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').tap()
    await titulo('Tome una foto').waitFor()
    const message = (field: string) =>
      evaluateOnPhone<[string, string]>(`(() => { const campo = document.querySelector(${JSON.stringify(field)})
        return [campo.getAttribute('aria-invalid'), document.getElementById(campo.getAttribute('aria-describedby').split(' ')[0]).textContent] })()`)
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText('Foto 1').waitFor()
    await locateButton('Seguir').tap()
    await locateButton('Seguir').tap()
    await pagina.getByText('Escriba quién recibió.').waitFor()
    expect(await message('#nombre')).toEqual(['true', 'Escriba quién recibió.'])
    await expect.poll(activo).toBe('nombre')
    await checkWindow('entregar-fallas')
    await openGuiaPage(guia)
    await link('No se pudo entregar').tap()
    await locateButton('Registrar').tap()
    await pagina.getByText('Elija el motivo.').waitFor()
    expect(await message('[role=radiogroup]')).toEqual(['true', 'Elija el motivo.'])
    await expect.poll(activo).toBe('motivo')
    await pagina.getByLabel('Otro motivo').check()
    expect(await pagina.getByText('Elija el motivo.').count()).toBe(0)
    await locateButton('Registrar').tap()
    await pagina.getByText('Escriba en la nota qué pasó.').waitFor()
    expect(await message('#nota')).toEqual(['true', 'Escriba en la nota qué pasó.'])
    await expect.poll(activo).toBe('nota')
  })

  it('shows all reasons of a failed attempt above the bar, on a small phone', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'])
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('No se pudo entregar').tap()
    await pagina.getByRole('radio').first().waitFor()
    const visible = `(() => { const bar = document.querySelector('.barra').getBoundingClientRect().top
      return [...document.querySelectorAll('.motivos .opcion')].filter((e) => e.getBoundingClientRect().bottom <= bar).length })()`
    expect(await evaluateOnPhone<number>(visible)).toBe(11)
  })

  it('says that it is done, and goes on with the next one', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const far = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], {
      destinatario: 'Zoila',
      direccion: '9a calle 1',
    })
    const nearby = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], {
      destinatario: 'Ana',
      direccion: '1a calle 1',
    })
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(far)
    await failIntento(far)
    await titulo('Intento fallido').waitFor()
    await pagina.getByText('Zoila').waitFor()
    await pagina.getByText('Enviado.').waitFor()
    await checkWindow('hecho')
    const [end, height] = await abajo()
    expect(end).toBeLessThanOrEqual(height)
    await link('Siguiente').tap()
    await titulo(groupCode(nearby)).waitFor()
    await link('Entregar').waitFor()
    await checkBars(pagina)
    await checkLargeText(pagina)
    await goHome()
    await link('Escanear').waitFor()
    await checkLargeText(pagina)
  })
})
