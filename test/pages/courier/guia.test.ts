import { describe, expect, it } from 'vitest'
import { createClock } from '../../../server/platform/time/clock.ts'
import { dayInWords } from '../../../server/platform/time/day.ts'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { CON_ROSA, useQuestions } from '../../decisiones/questions.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createTestRepartidor,
  evaluateOnPhone,
  expectOccurredBetween,
  failIntento,
  goHome,
  groupCode,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneEnvironment,
  readEventos,
  readShortEventoTypes,
  registerAsOperador,
  signInOnPage,
  titulo,
  today,
  usePhone,
} from './phone.ts'

usePhone()

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('says in the guide and in the list what was decided, and that a label is old', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const { api } = phoneComercio
    const [guiaToRetry, guiaToReturn] = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await registerAsOperador(guiaToRetry, { estado: 'intento_fallido', motivo: 'sin_respuesta' })
    await api.guias.devolver(guiaToReturn, { razon: 'No lo quiere' })
    const { decision } = await api.guias.reintentar(guiaToRetry, { franja: { desde: '14:00', hasta: '18:00' } })
    const moment = `Otro intento el ${dayInWords(decision!.fecha!)}, de 14:00 a 18:00`
    const guiaWithEtiqueta = (await api.guias.crear(buildGuia())).guia
    await (await fetch((await api.guias.etiqueta(guiaWithEtiqueta)).url)).arrayBuffer()
    await registerAsOperador(guiaWithEtiqueta, { estado: 'recolectado', repartidor })
    await api.guias.corregir(guiaWithEtiqueta, { direccion: 'Calle 2' })
    await openPhone()
    await signInOnPage(codigo)
    await pagina.getByText(`Intento fallido · ${moment}`).waitFor()
    await pagina.getByRole('region', { name: 'Vuelven a bodega' }).getByText('Vuelve al comercio').waitFor()
    await checkWindow('decisiones')
    await openGuiaPage(guiaToRetry)
    await pagina.getByText(moment, { exact: true }).waitFor()
    await goHome()
    await openGuiaPage(guiaToReturn)
    await pagina.getByText('Vuelve al comercio', { exact: true }).waitFor()
    await goHome()
    await openGuiaPage(guiaWithEtiqueta)
    await pagina.getByText('La etiqueta puede ser vieja').waitFor()
  })

  it('says on the road for which day and hours the parcel left again', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const { api } = phoneComercio
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await registerAsOperador(guia, { estado: 'intento_fallido', motivo: 'sin_respuesta' })
    await api.guias.reintentar(guia, { franja: { desde: '14:00', hasta: '18:00' } })
    await registerAsOperador(guia, { estado: 'en_ruta', repartidor })
    await openPhone()
    await signInOnPage(codigo)
    await pagina.getByText(/Otro intento el .*, de 14:00 a 18:00/).waitFor()
  })

  it('says with which neighbour the recipient wants it left, and on which day', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const { createComercio: shop, linkOf, send } = useQuestions(phoneEnvironment)
    const guia = await createGuiaOnRoute(phoneEnvironment, await shop(), repartidor)
    await registerAsOperador(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await phoneEnvironment.waitForQuiet()
    expect((await send(await linkOf(guia), CON_ROSA)).status).toBe(303)
    await openPhone({ timezoneId: 'America/Guatemala' })
    await signInOnPage(codigo)
    await pagina.getByText(/Intento fallido · Otro intento el \p{L}+ \d+ de \p{L}+/u).waitFor()
    await openGuiaPage(guia)
    await pagina.getByText(/^Otro intento el/).waitFor()
    await pagina.getByText('Dejar con un vecino: Rosa Caal, casa verde de enfrente').waitFor()
    await checkWindow('vecino')
  })

  it('opens a guide that is typed, and offers what may be done to it alone', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const { guia } = await phoneComercio.api.guias.crear(
      buildGuia({ destinatario: 'María José Ajú', direccion: '5a avenida norte 12', indicaciones: 'Portón verde' }),
    )
    for (const estado of ['recolectado', 'en_ruta']) await registerAsOperador(guia, { estado, repartidor })
    await openPhone()
    await signInOnPage(codigo)
    await link('Buscar').tap()
    const field = pagina.getByLabel('Código, teléfono o nombre')
    const other = '7K3M9QX2A1B4'
    await field.fill(other.slice(0, 11))
    await locateButton('Abrir').tap()
    await pagina.getByText('aquí hay 11').waitFor()
    await field.fill(`${other.slice(0, 11)}7`)
    await locateButton('Abrir').tap()
    await pagina.getByText('alguna letra está cambiada').waitFor()
    await field.fill(groupCode(guia).toLowerCase().replace(/0/g, 'o').replace(/1/g, 'l'))
    await field.press('Enter')
    await titulo(groupCode(guia)).waitFor()
    await pagina.getByText('María José Ajú').waitFor()
    await pagina.getByText('5a avenida norte 12, San Juan Sacatepéquez, Guatemala').waitFor()
    expect(await link('Llamar').getAttribute('href')).toBe('tel:+50231481676')
    expect(await link('Google Maps').getAttribute('href')).toContain('destination=14.71889%2C-90.64417')
    expect(await link('Waze').getAttribute('href')).toContain('ll=14.71889%2C-90.64417')
    expect(await pagina.locator('.barra a').allTextContents()).toEqual(['Entregar', 'No se pudo entregar'])
    expect(await pagina.locator('.pasos a').allTextContents()).toEqual([
      'Dejar en bodega',
      'Anotar algo',
      'Empezar la devolución',
      'Reportar extravío',
    ])
    await checkWindow('guia')
  })

  it('keeps a failed attempt with its reason, and notes', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('No se pudo entregar').tap()
    await locateButton('Registrar').tap()
    await pagina.getByText('Elija el motivo.').waitFor()
    await checkWindow('intento')
    await pagina.getByLabel('Otro motivo').check()
    await locateButton('Registrar').tap()
    await pagina.getByText('Escriba en la nota qué pasó.').waitFor()
    await pagina.getByLabel('Nota').fill('Hay un perro\nbravo')
    await locateButton('Registrar').tap()
    await pagina.getByText('Intento fallido').waitFor()
    await openGuiaPage(guia)
    await link('Anotar algo').tap()
    await pagina.getByLabel('Nota').fill('Que llamen antes')
    await locateButton('Guardar la nota').tap()
    await waitUntil(async () => (await readShortEventoTypes(guia)).includes('nota'))
    expect((await readEventos(guia)).slice(-3)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'otro', descripcion: 'Hay un perro bravo' },
      { tipo: 'guia.decision_pendiente' },
      { tipo: 'guia.nota', descripcion: 'Que llamen antes' },
    ])
    // The place was known, because it had been allowed.
    expect((await phoneEnvironment.asOperador('GET', `/guias/${guia}`)).body.estado).toBe('intento_fallido')
  })

  it(
    'tells times by the clock of the destination, named where the phone’s shows another hour',
    FULL_RUN_ONLY,
    async () => {
      const { codigo, repartidor } = await createTestRepartidor()
      const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
      await openPhone({ timezoneId: 'America/Bogota' })
      await signInOnPage(codigo)
      await failIntento(guia)
      await waitUntil(async () => (await readShortEventoTypes(guia)).includes('intento_fallido'))
      const { hora: hour } = createClock('America/Guatemala')
      const lastHour = hour((await readEventos(guia)).at(-1)!.ocurrido_en)
      await today()
      await pagina.getByText(`${lastHour} (hora de Guatemala)`).tap()
      await pagina.getByText(`, a las ${lastHour} (hora de Guatemala).`).waitFor()
    },
  )

  it('does not let a parcel out whose place nobody confirmed', async () => {
    const { codigo } = await createTestRepartidor()
    const { guia } = await phoneComercio.api.guias.crear(buildGuiaWithoutDestino())
    await registerAsOperador(guia, { estado: 'recolectado' })
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await pagina.getByText('falta confirmar el lugar').waitFor()
    expect(await link('Salir a ruta').count()).toBe(0)
    expect(await link('Dejar en bodega').count()).toBe(1)
  })

  it('corrects the phone’s clock, and says when it is wrong', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone({ initScript: 'const deVerdad = Date.now; Date.now = () => deVerdad() + 47 * 60_000' })
    await signInOnPage(codigo)
    await pagina.getByText('está 47 min adelantado').waitFor()
    const moment = Date.now()
    await failIntento(guia)
    expectOccurredBetween(
      (await waitUntil(async () => (await readEventos(guia)).find(({ motivo }) => motivo)))!.ocurrido_en,
      moment,
      Date.now(),
    )
  })

  it('dates no step before the guide was read, also if the phone’s clock is set back', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    const read = Date.parse((await readEventos(guia)).at(-1)!.ocurrido_en)
    await evaluateOnPhone('void (Date.now = ((antes) => () => antes() - 3_600_000)(Date.now))')
    await failIntento(guia)
    const evento = await waitUntil(async () => (await readEventos(guia)).find(({ motivo }) => motivo))
    expect(evento).toMatchObject({ tipo: 'guia.intento_fallido', motivo: 'destinatario_ausente' })
    expect(Date.parse(evento!.ocurrido_en)).toBeGreaterThanOrEqual(read)
  })

  it('is used with a keyboard', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await pagina.getByLabel('Su código').waitFor()
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.type(codigo)
    await pagina.keyboard.press('Enter')
    await link('Escanear').waitFor()
    for (const place of ['', 'Buscar']) {
      await pagina.keyboard.press('Tab')
      expect(await evaluateOnPhone('document.activeElement.textContent')).toBe(place)
    }
    await pagina.keyboard.press('Enter')
    await expect.poll(() => evaluateOnPhone('document.activeElement.id')).toBe('guia')
    await pagina.keyboard.type(guia)
    await pagina.keyboard.press('Enter')
    await link('No se pudo entregar').press('Enter')
    await titulo('No se pudo entregar').waitFor()
    // The title takes the focus, and the keys go on from there.
    await expect.poll(() => evaluateOnPhone('document.activeElement.tagName')).toBe('H1')
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Space')
    // Photos, the note, the button.
    for (let i = 0; i < 3; i++) await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Enter')
    await waitUntil(async () => (await readShortEventoTypes(guia)).includes('intento_fallido'))
    expect((await readEventos(guia)).slice(-2)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'destinatario_ausente' },
      { tipo: 'guia.decision_pendiente' },
    ])
  })
})
