import { describe, expect, it } from 'vitest'
import type { GuiaDeReparto } from '../../../server/generado/contrato/tipos/index.ts'
import { rumboDe } from '../../../server/pages/repartidor/browser/rumbo.ts'
import { COMPLETO, RECOGIDA } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import { revisarBarras, revisarLetrasGrandes } from '../revisar.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  enGrupos,
  enlace,
  entrarEnLaPagina,
  evaluar,
  fallarIntento,
  fotoDeColor,
  guiaEn,
  inicio,
  nuevoRepartidor,
  PERSONA,
  pagina,
  revisarVentana,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

const activo = () =>
  evaluar<string>('document.activeElement.id || document.activeElement.name || document.activeElement.type')
/** Where the bar ends, and how far the window reaches. */
const abajo = () =>
  evaluar<[number, number]>(`[document.querySelector('.barra').getBoundingClientRect().bottom, innerHeight]`)

describe('the directions to a recipient', () => {
  it('are the description of the place and the indications, each text once', () => {
    const senas = (referencia: string | null, indicaciones: string | null) => {
      const ubicacion = { estado: 'confirmada', lat: 14.6, lng: -90.6, maps_url: null, precision_m: null, referencia }
      const datos = { custodia: 'propia', departamento: 'Guatemala', municipio: 'Mixco', indicaciones, ubicacion }
      return rumboDe(datos as GuiaDeReparto, 'en_ruta')!.senas
    }
    expect(senas('Portón verde', 'Dejar con un vecino: Rosa Caal')).toEqual([
      'Portón verde',
      'Dejar con un vecino: Rosa Caal',
    ])
    expect(senas('Portón verde', 'Portón verde')).toEqual(['Portón verde'])
    expect(senas(null, 'Portón verde')).toEqual(['Portón verde'])
  })
})

describe.skipIf(!hayNavegador)('in a browser', () => {
  it('leads to where the parcel has to go: pickup, recipient, and the merchant when it goes back', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [porRecoger, enRuta, vuelve] = [
      await guiaEn(repartidor, []),
      await guiaEn(repartidor, ['recolectado', 'en_ruta']),
      await guiaEn(repartidor, ['recolectado', 'en_devolucion']),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    const lugar = async (nombre: string) => {
      const region = pagina.getByRole('region', { name: nombre })
      await region.waitFor()
      const enlaces: Record<string, string> = {}
      for (const uno of await region.getByRole('link').all())
        enlaces[(await uno.textContent())!] = (await uno.getAttribute('href'))!
      return { texto: await region.textContent(), enlaces }
    }
    const aBodega = {
      'Google Maps': expect.stringContaining('destination=14.583611%2C-90.548611'),
      Waze: expect.stringContaining('ll=14.583611%2C-90.548611'),
    }
    await abrirGuia(porRecoger)
    expect(await lugar('Se recoge en')).toEqual({ texto: expect.stringContaining('Bodega Zona 12'), enlaces: aBodega })
    await abrirGuia(vuelve)
    expect(await lugar('Se devuelve a')).toEqual({ texto: expect.stringContaining('Bodega Zona 12'), enlaces: aBodega })
    expect(await pagina.getByText(PERSONA.direccion).count()).toBe(0)
    await revisarVentana('vuelve')
    await abrirGuia(enRuta)
    const destino = await lugar('Se entrega a')
    expect(destino.texto).toContain('5a avenida norte 12')
    expect(destino.enlaces).toEqual({
      Llamar: 'tel:+50231481676',
      WhatsApp: expect.stringMatching(/^https:\/\/wa\.me\/50231481676\?text=Hola/),
      'Google Maps': expect.stringContaining('destination=14.71889%2C-90.64417'),
      Waze: expect.stringContaining('ll=14.71889%2C-90.64417'),
    })
    expect(decodeURIComponent(destino.enlaces.WhatsApp!)).toContain(
      `Hola, María José Ajú. Soy Carlos Méndez, traigo su paquete de`,
    )
    expect(decodeURIComponent(destino.enlaces.WhatsApp!)).toContain(enGrupos(enRuta))
  })

  it('names who to ask for at the pickup, with directions, and calls or writes to them', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const recogida = {
      ...RECOGIDA,
      contacto: 'Luis Batz',
      telefono: '5555 1234',
      direccion: '12 avenida 3-40',
      indicaciones: 'Portón azul',
    }
    const guia = await guiaEn(repartidor, [], { ...PERSONA, recogida })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    const region = pagina.getByRole('region', { name: 'Se recoge en' })
    await region.waitFor()
    expect(await region.textContent()).toMatch(/Luis Batz, .*Bodega Zona 12, 12 avenida 3-40.*Portón azul/s)
    expect(await region.getByRole('link', { name: 'Llamar' }).getAttribute('href')).toBe('tel:+50255551234')
    const escribir = await region.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')
    expect(decodeURIComponent(escribir!)).toContain('Hola, Luis Batz. Soy Carlos Méndez, vengo a recoger un paquete de')
    await revisarVentana('recogida')
  })

  it('keeps what is done most at the thumb, and what ends a parcel’s way apart and asked about', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await guiaEn(repartidor, ['recolectado', 'en_ruta'], {
      ...PERSONA,
      indicaciones: 'Portón verde, frente a la tienda de la esquina, al lado de la ferretería. '.repeat(6),
    })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    for (const y of [0, 400, 10_000]) {
      await evaluar(`scrollTo(0, ${y})`)
      const [fin, alto] = await abajo()
      expect(fin).toBeLessThanOrEqual(alto)
      expect(fin).toBeGreaterThan(alto - 40)
    }
    expect(await pagina.locator('.barra a').allTextContents()).toEqual(['Entregar', 'No se pudo entregar'])
    const apartados = pagina.getByRole('navigation', { name: 'Si ya no se entrega' })
    expect(await apartados.getByRole('link').allTextContents()).toEqual(['Empezar la devolución', 'Reportar extravío'])
    await revisarVentana('guia-abierta')
    await apartados.getByRole('link', { name: 'Reportar extravío' }).tap()
    await pagina.getByLabel('Se perdió').check()
    await boton('Registrar').tap()
    await pagina.getByText('¿Reportar extravío?').waitFor()
    await revisarVentana('extravio')
    await boton('No, volver').tap()
    expect(await tiposDeEventos(guia)).not.toContain('extraviado')
    await boton('Registrar').tap()
    await pagina.getByRole('dialog').getByRole('button', { name: 'Reportar extravío' }).tap()
    await titulo('Extravío reportado').waitFor()
  })

  it('tells each fault at its field, and takes the focus to the first', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await guiaEn(repartidor, ['recolectado', 'en_ruta'])
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await titulo('Entregar').waitFor()
    await boton('Confirmar la entrega').tap()
    const dicho = (campo: string) =>
      evaluar<[string, string]>(`(() => { const campo = document.querySelector(${JSON.stringify(campo)})
        return [campo.getAttribute('aria-invalid'), document.getElementById(campo.getAttribute('aria-describedby').split(' ')[0]).textContent] })()`)
    await pagina.getByText('Escriba quién recibió.').waitFor()
    expect(await dicho('input[type=file]')).toEqual(['true', 'Tome una foto por lo menos.'])
    expect(await dicho('#nombre')).toEqual(['true', 'Escriba quién recibió.'])
    await expect.poll(activo).toBe('file')
    await revisarVentana('entregar-fallas')
    await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor())
    await pagina.getByAltText('Foto 1').waitFor()
    await boton('Confirmar la entrega').tap()
    await expect.poll(activo).toBe('nombre')
    await abrirGuia(guia)
    await enlace('No se pudo entregar').tap()
    await boton('Registrar').tap()
    await pagina.getByText('Elija el motivo.').waitFor()
    expect(await dicho('[role=radiogroup]')).toEqual(['true', 'Elija el motivo.'])
    await expect.poll(activo).toBe('motivo')
    await pagina.getByLabel('Otro motivo').check()
    await boton('Registrar').tap()
    await pagina.getByText('Escriba en la nota qué pasó.').waitFor()
    expect(await dicho('#nota')).toEqual(['true', 'Escriba en la nota qué pasó.'])
    await expect.poll(activo).toBe('nota')
  })

  it('says that it is done, and goes on with the next one', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const lejos = await guiaEn(repartidor, ['recolectado', 'en_ruta'], {
      destinatario: 'Zoila',
      direccion: '9a calle 1',
    })
    const cerca = await guiaEn(repartidor, ['recolectado', 'en_ruta'], { destinatario: 'Ana', direccion: '1a calle 1' })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(lejos)
    await fallarIntento(lejos)
    await titulo('Intento anotado').waitFor()
    await pagina.getByText('Zoila').waitFor()
    await pagina.getByText('El servicio ya lo tiene.').waitFor()
    await revisarVentana('hecho')
    const [fin, alto] = await abajo()
    expect(fin).toBeLessThanOrEqual(alto)
    await enlace('Siguiente: Ana').tap()
    await titulo(enGrupos(cerca)).waitFor()
    await enlace('Entregar').waitFor()
    await revisarBarras(pagina)
    await revisarLetrasGrandes(pagina)
    await inicio()
    await enlace('Escanear').waitFor()
    await revisarLetrasGrandes(pagina)
  })
})
