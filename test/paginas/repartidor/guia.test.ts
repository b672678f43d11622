import { describe, expect, it } from 'vitest'
import { createClock } from '../../../server/platform/time/clock.ts'
import { enRuta } from '../../archivos/imagenes.ts'
import { CON_ROSA, usarPreguntas } from '../../decisiones/preguntas.ts'
import { COMPLETO, hasta, sinDestino, unaGuia } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  enGrupos,
  enlace,
  entorno,
  entrarEnLaPagina,
  evaluar,
  eventosDe,
  fallarIntento,
  hoy,
  inicio,
  nuevoRepartidor,
  ocurrioEntre,
  pagina,
  registrarComoOperador,
  revisarVentana,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

describe.skipIf(!hayNavegador)('in a browser', () => {
  it('says in the guide and in the list what was decided, and that a label is old', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const { api } = comercioDelTelefono
    const [porReintentar, porDevolver] = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await registrarComoOperador(porReintentar, { estado: 'intento_fallido', motivo: 'sin_respuesta' })
    await api.guias.devolver(porDevolver, { razon: 'No lo quiere' })
    const { decision } = await api.guias.reintentar(porReintentar, { franja: { desde: '14:00', hasta: '18:00' } })
    const cuando = `Otro intento el ${decision!.fecha!.split('-').reverse().join('/')}, de 14:00 a 18:00`
    const conEtiqueta = (await api.guias.crear(unaGuia())).guia
    await (await fetch((await api.guias.etiqueta(conEtiqueta)).url)).arrayBuffer()
    await registrarComoOperador(conEtiqueta, { estado: 'recolectado', repartidor })
    await api.guias.corregir(conEtiqueta, { direccion: 'Calle 2' })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await pagina.getByText(`Intento fallido · ${cuando}`).waitFor()
    await pagina.getByRole('region', { name: 'Vuelven a bodega' }).getByText('Vuelve al comercio').waitFor()
    await revisarVentana('decisiones')
    await abrirGuia(porReintentar)
    await pagina.getByText(cuando, { exact: true }).waitFor()
    await inicio()
    await abrirGuia(porDevolver)
    await pagina.getByText('Vuelve al comercio', { exact: true }).waitFor()
    await inicio()
    await abrirGuia(conEtiqueta)
    await pagina.getByText('La etiqueta puede ser vieja').waitFor()
  })

  it('says on the road for which day and hours the parcel left again', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const { api } = comercioDelTelefono
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await registrarComoOperador(guia, { estado: 'intento_fallido', motivo: 'sin_respuesta' })
    await api.guias.reintentar(guia, { franja: { desde: '14:00', hasta: '18:00' } })
    await registrarComoOperador(guia, { estado: 'en_ruta', repartidor })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await pagina.getByText(/Otro intento el .*, de 14:00 a 18:00/).waitFor()
  })

  it('says with which neighbour the recipient wants it left, and on which day', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const { tienda, enlaceDe, enviar } = usarPreguntas(entorno)
    const guia = await enRuta(entorno, await tienda(), repartidor)
    await registrarComoOperador(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await entorno.quietud()
    expect((await enviar(await enlaceDe(guia), CON_ROSA)).status).toBe(303)
    await abrirTelefono({ timezoneId: 'America/Guatemala' })
    await entrarEnLaPagina(codigo)
    await pagina.getByText(/Intento fallido · Otro intento el \d\d\/\d\d\/\d{4}/).waitFor()
    await abrirGuia(guia)
    await pagina.getByText(/^Otro intento el/).waitFor()
    await pagina.getByText('Dejar con un vecino: Rosa Caal, casa verde de enfrente').waitFor()
    await revisarVentana('vecino')
  })

  it('opens a guide that is typed, and offers what may be done to it alone', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const { guia } = await comercioDelTelefono.api.guias.crear(
      unaGuia({ destinatario: 'María José Ajú', direccion: '5a avenida norte 12', indicaciones: 'Portón verde' }),
    )
    for (const estado of ['recolectado', 'en_ruta']) await registrarComoOperador(guia, { estado, repartidor })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await enlace('Buscar').tap()
    const campo = pagina.getByLabel('Código, nombre o dirección')
    const otra = '7K3M9QX2A1B4'
    await campo.fill(otra.slice(0, 11))
    await boton('Abrir').tap()
    await pagina.getByText('aquí hay 11').waitFor()
    await campo.fill(`${otra.slice(0, 11)}7`)
    await boton('Abrir').tap()
    await pagina.getByText('alguna letra está cambiada').waitFor()
    await campo.fill(enGrupos(guia).toLowerCase().replace(/0/g, 'o').replace(/1/g, 'l'))
    await campo.press('Enter')
    await titulo(enGrupos(guia)).waitFor()
    await pagina.getByText('María José Ajú').waitFor()
    await pagina.getByText('5a avenida norte 12, San Juan Sacatepéquez, Guatemala').waitFor()
    expect(await enlace('Llamar').getAttribute('href')).toBe('tel:+50231481676')
    expect(await enlace('Google Maps').getAttribute('href')).toContain('destination=14.71889%2C-90.64417')
    expect(await enlace('Waze').getAttribute('href')).toContain('ll=14.71889%2C-90.64417')
    expect(await pagina.locator('.barra a').allTextContents()).toEqual(['Entregar', 'No se pudo entregar'])
    expect(await pagina.locator('.pasos a').allTextContents()).toEqual([
      'Dejar en bodega',
      'Anotar algo',
      'Empezar la devolución',
      'Reportar extravío',
    ])
    await revisarVentana('guia')
  })

  it('keeps a failed attempt with its reason, and notes', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('No se pudo entregar').tap()
    await boton('Registrar').tap()
    await pagina.getByText('Elija el motivo.').waitFor()
    await revisarVentana('intento')
    await pagina.getByLabel('Otro motivo').check()
    await boton('Registrar').tap()
    await pagina.getByText('Escriba en la nota qué pasó.').waitFor()
    await pagina.getByLabel('Nota').fill('Hay un perro\nbravo')
    await boton('Registrar').tap()
    await pagina.getByText('Intento fallido').waitFor()
    await abrirGuia(guia)
    await enlace('Anotar algo').tap()
    await pagina.getByLabel('Nota').fill('Que llamen antes')
    await boton('Guardar la nota').tap()
    await hasta(async () => (await tiposDeEventos(guia)).includes('nota'))
    expect((await eventosDe(guia)).slice(-3)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'otro', descripcion: 'Hay un perro bravo' },
      { tipo: 'guia.decision_pendiente' },
      { tipo: 'guia.nota', descripcion: 'Que llamen antes' },
    ])
    // The place was known, because it had been allowed.
    expect((await entorno.operar('GET', `/guias/${guia}`)).cuerpo.estado).toBe('intento_fallido')
  })

  it('tells times by the clock of the destination, named where the phone’s shows another hour', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono({ timezoneId: 'America/Bogota' })
    await entrarEnLaPagina(codigo)
    await fallarIntento(guia)
    await hasta(async () => (await tiposDeEventos(guia)).includes('intento_fallido'))
    const { hora } = createClock('America/Guatemala')
    const suya = hora((await eventosDe(guia)).at(-1)!.ocurrido_en)
    await hoy()
    await pagina.getByText(`${suya} (hora de Guatemala)`).tap()
    await pagina.getByText(`, a las ${suya} (hora de Guatemala).`).waitFor()
  })

  it('does not let a parcel out whose place nobody confirmed', async () => {
    const { codigo } = await nuevoRepartidor()
    const { guia } = await comercioDelTelefono.api.guias.crear(sinDestino())
    await registrarComoOperador(guia, { estado: 'recolectado' })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await pagina.getByText('falta confirmar el lugar').waitFor()
    expect(await enlace('Salir a ruta').count()).toBe(0)
    expect(await enlace('Dejar en bodega').count()).toBe(1)
  })

  it('corrects the phone’s clock, and says when it is wrong', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono({ alEmpezar: 'const deVerdad = Date.now; Date.now = () => deVerdad() + 47 * 60_000' })
    await entrarEnLaPagina(codigo)
    await pagina.getByText('está 47 min adelantado').waitFor()
    const momento = Date.now()
    await fallarIntento(guia)
    ocurrioEntre(
      (await hasta(async () => (await eventosDe(guia)).find(({ motivo }) => motivo)))!.ocurrido_en,
      momento,
      Date.now(),
    )
  })

  it('dates no step before the guide was read, also if the phone’s clock is set back', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    const leida = Date.parse((await eventosDe(guia)).at(-1)!.ocurrido_en)
    await evaluar('void (Date.now = ((antes) => () => antes() - 3_600_000)(Date.now))')
    await fallarIntento(guia)
    const evento = await hasta(async () => (await eventosDe(guia)).find(({ motivo }) => motivo))
    expect(evento).toMatchObject({ tipo: 'guia.intento_fallido', motivo: 'destinatario_ausente' })
    expect(Date.parse(evento!.ocurrido_en)).toBeGreaterThanOrEqual(leida)
  })

  it('is used with a keyboard', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await pagina.getByLabel('Su código').waitFor()
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.type(codigo)
    await pagina.keyboard.press('Enter')
    await enlace('Escanear').waitFor()
    for (const donde of ['', 'Buscar']) {
      await pagina.keyboard.press('Tab')
      expect(await evaluar('document.activeElement.textContent')).toBe(donde)
    }
    await pagina.keyboard.press('Enter')
    await expect.poll(() => evaluar('document.activeElement.id')).toBe('guia')
    await pagina.keyboard.type(guia)
    await pagina.keyboard.press('Enter')
    await enlace('No se pudo entregar').press('Enter')
    await titulo('No se pudo entregar').waitFor()
    // The title takes the focus, and the keys go on from there.
    await expect.poll(() => evaluar('document.activeElement.tagName')).toBe('H1')
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Space')
    // Photos, the note, the button.
    for (let i = 0; i < 3; i++) await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Enter')
    await hasta(async () => (await tiposDeEventos(guia)).includes('intento_fallido'))
    expect((await eventosDe(guia)).slice(-2)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'destinatario_ausente' },
      { tipo: 'guia.decision_pendiente' },
    ])
  })
})
