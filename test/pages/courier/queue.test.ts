import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createColorFoto,
  createTestRepartidor,
  evaluateOnPhone,
  expectOccurredBetween,
  failIntento,
  fillEntrega,
  goHome,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneBridge,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  postponeQueue,
  readEventos,
  readPrueba,
  readShortEventoTypes,
  registerAsOperador,
  signInOnPage,
  tapSendNow,
  tapStep,
  titulo,
  today,
  usePhone,
  waitForInstall,
  watchTab,
} from './phone.ts'

/** Events of a failed attempt, which opens a decision. */
const INTENTO = ['intento_fallido', 'decision_pendiente']

usePhone()

describe.skipIf(!hasBrowser)('in a browser', () => {
  it(
    'sends the photos of a failed attempt with it, also without coverage and when the service swept them',
    FULL_RUN_ONLY,
    async () => {
      const { codigo, repartidor } = await createTestRepartidor()
      const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
      await openPhone()
      await signInOnPage(codigo)
      await openGuiaPage(guia)
      await link('No se pudo entregar').waitFor()
      await waitForInstall()
      await phoneContext.setOffline(true)
      await link('No se pudo entregar').tap()
      await pagina.getByLabel('No había nadie').check()
      for (const [i, color] of ['#36c', '#c63', '#3c6'].entries()) {
        await pagina.locator('input[type=file]').setInputFiles(await createColorFoto(color))
        await pagina.getByAltText(`Foto ${i + 1}`, { exact: true }).waitFor()
      }
      await locateButton('Quitar la foto 2').tap()
      await checkWindow('intento-con-fotos')
      await locateButton('Registrar').tap()
      await pagina.getByText('Por enviar:').waitFor()
      await pagina.reload()
      await pagina.getByText('Por enviar:').waitFor()
      // Its first photo arrives and is gone before the event gets there.
      phoneBridge.cutRequest(/POST .*\/eventos$/)
      await phoneContext.setOffline(false)
      await waitUntil(
        async () => phoneBridge.forwardedRequests.filter((kind) => kind.includes('tipo=foto')).length === 2,
      )
      await phoneEnvironment.db.pool.query('delete from archivo where tipo = $1 and usado_en is null', ['foto'])
      await today()
      await tapSendNow()
      await pagina.getByText('Enviado hoy (1)').waitFor()
      const { datos } = await phoneComercio.api.guias.intentos(guia)
      expect(datos).toMatchObject([{ numero_intento: 1, motivo: 'destinatario_ausente' }])
      expect(datos[0]!.fotos.map(({ ancho }) => ancho)).toEqual([640, 640])
      expect(phoneBridge.forwardedRequests.filter((kind) => kind.includes('tipo=foto'))).toHaveLength(4)
      expect(await readShortEventoTypes(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', ...INTENTO])
    },
  )

  it('works without coverage: everything arrives once, in order, with its own time', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [one, other] = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    const guiaWithoutData = (await phoneComercio.api.guias.crear(buildGuia())).guia
    for (const estado of ['recolectado', 'en_bodega']) await registerAsOperador(guiaWithoutData, { estado })
    await openPhone()
    await signInOnPage(codigo)
    for (const guia of [one, other]) {
      await openGuiaPage(guia)
      await link('Entregar').waitFor()
    }
    await waitForInstall()
    await phoneContext.setOffline(true)
    await goHome()
    await pagina.reload()
    await pagina.getByText('Sin cobertura.').waitFor()

    const first = Date.now()
    await failIntento(one)
    await pagina.getByText('Por enviar:').waitFor()
    const afterFirst = Date.now()
    // What is offered follows from what is still to be sent.
    await openGuiaPage(one)
    expect((await pagina.locator('.barra a').allTextContents())[0]).toBe('Salir a ruta')
    await tapStep(one, 'Salir a ruta')
    await pagina.getByText('Por enviar:').waitFor()
    await fillEntrega(one, { fotos: 2, firmar: true })
    const beforeDelivery = Date.now()
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    const entregado = Date.now()
    await pagina.reload()
    await pagina.getByText('Por enviar:').waitFor()
    await failIntento(other, 'No contesta')
    // One of which nothing is known but its code.
    await goHome()
    await link('Buscar').tap()
    await pagina.getByLabel('Código, teléfono o nombre').fill(guiaWithoutData)
    await locateButton('Abrir').tap()
    await pagina.getByText('Sin cobertura no se ve el destino').waitFor()
    await checkWindow('sin-datos')
    await tapStep(guiaWithoutData, 'Salir a ruta')
    await failIntento(guiaWithoutData)
    await today()
    await pagina.getByRole('heading', { name: 'Por enviar (6)' }).waitFor()
    await pagina.getByText('Espera cobertura').first().waitFor()
    await checkWindow('sin-cobertura')
    expect(await readShortEventoTypes(one)).toEqual(['aceptado', 'recolectado', 'en_ruta'])

    // Coverage comes in pieces, and the page is closed and opened in between.
    phoneBridge.loseResponse(/POST .*\/eventos$/)
    phoneBridge.cutRequest(/POST .*tipo=firma$/)
    phoneBridge.loseResponse(/POST .*\/entrega$/)
    await phoneContext.setOffline(false)
    for (const fault of [1, 2, 3]) {
      await waitUntil(async () => phoneBridge.fallas() === fault)
      await pagina.reload()
      await titulo('Lo que hizo').waitFor()
      await tapSendNow()
    }
    await pagina.getByText('Enviado hoy (6)').waitFor()

    expect(await readShortEventoTypes(one)).toEqual([
      'aceptado',
      'recolectado',
      'en_ruta',
      'intento_fallido',
      'decision_pendiente',
      'en_ruta',
      'entregado',
    ])
    const eventos = (await readEventos(one)).slice(3)
    expectOccurredBetween(eventos[0]!.ocurrido_en, first, afterFirst)
    expectOccurredBetween(eventos[3]!.ocurrido_en, beforeDelivery, entregado)
    const prueba = (await readPrueba(one)).body
    expect(prueba.fotos).toHaveLength(2)
    expect(prueba.firma).not.toBeNull()
    // Photos that had arrived were not sent again, unless the first reload took the answer.
    const subidas = phoneBridge.forwardedRequests.filter((kind) => kind.includes('tipo=foto')).length
    expect([2, 3]).toContain(subidas)
    expect(await readShortEventoTypes(other)).toEqual(['aceptado', 'recolectado', 'en_ruta', ...INTENTO])
    expect(await readShortEventoTypes(guiaWithoutData)).toEqual([
      'aceptado',
      'recolectado',
      'en_bodega',
      'en_ruta',
      ...INTENTO,
    ])
    const { rows } = await phoneEnvironment.db.pool.query(
      'select count(*)::int as n from evento where guia = any($1)',
      [[one, other, guiaWithoutData]],
    )
    expect(rows).toEqual([{ n: 7 + 5 + 6 }])
  })

  it('shows what the service refused, and goes on with the rest', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [cancelled, relocation, free] = [
      (await phoneComercio.api.guias.crear(buildGuia())).guia,
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await openPhone()
    await signInOnPage(codigo)
    for (const guia of [cancelled, relocation, free]) {
      await openGuiaPage(guia)
      await pagina.locator('.barra').waitFor()
    }
    await waitForInstall()
    await phoneContext.setOffline(true)
    await phoneComercio.api.guias.cancelar(cancelled)
    await tapStep(cancelled, 'Recoger el paquete')
    await tapStep(cancelled, 'Dejar en bodega')
    await failIntento(relocation)
    await failIntento(free)
    await registerAsOperador(relocation, { estado: 'en_devolucion', motivo: 'a_pedido_del_comercio' })
    await phoneContext.setOffline(false)
    await today()
    await pagina.getByText('Enviado hoy (2)').waitFor()
    await pagina.getByText('Necesita su atención').waitFor()
    // Older than what the depot read meanwhile: noted, and told.
    await pagina.getByText('anotado, sin cambiar el estado').waitFor()
    expect(await readShortEventoTypes(free)).toContain('intento_fallido')
    expect(await readShortEventoTypes(cancelled)).toEqual(['aceptado', 'cancelado'])
    await pagina.locator('.lista .atencion a').first().tap()
    await pagina.locator('.nota.mal').waitFor()
    expect(await pagina.locator('.nota.mal').textContent()).toContain('cancelado')
    await checkWindow('conflicto')
    await locateButton('Intentar otra vez').tap()
    await pagina.getByText('Necesita su atención').waitFor()
    for (const remaining of [1, 0]) {
      await pagina.locator('.nota.mal').waitFor()
      await locateButton('Descartar').tap()
      await pagina.getByText('¿Descartar esta acción?').waitFor()
      if (remaining === 1) await checkWindow('descartar')
      await pagina.getByRole('dialog').getByRole('button', { name: 'Descartar' }).tap()
      await link('Escanear').waitFor()
      await today()
      if (remaining === 1) {
        await pagina.getByText('Necesita su atención').waitFor()
        await pagina.locator('.lista .atencion a').first().tap()
      }
    }
    expect(await pagina.getByText('Por enviar').count()).toBe(0)
    expect(await readShortEventoTypes(cancelled)).toEqual(['aceptado', 'cancelado'])
  })

  it('uploads a refused photo anew once, and asks the courier when it is refused again', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    phoneBridge.answerWith(/POST .*\/eventos$/, 422, {
      codigo: 'validacion',
      titulo: 'Datos inválidos',
      errores: [{ campo: '/fotos/0', mensaje: 'No hay tal archivo' }],
    })
    await failIntento(guia, 'No había nadie', true)
    await today()
    await pagina.getByText('Necesita su atención').waitFor()
    expect(phoneBridge.forwardedRequests.filter((kind) => kind.includes('tipo=foto'))).toHaveLength(2)
  })

  it('works in two tabs without doing anything twice', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guias = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await openPhone()
    await signInOnPage(codigo)
    const [here, elsewhere] = [pagina, await phoneContext.newPage()]
    await elsewhere.goto(`${phoneBridge.url}/repartidor`)
    await elsewhere.getByRole('link', { name: 'Escanear' }).waitFor()
    await phoneContext.setOffline(true)
    await failIntento(guias[0]!)
    watchTab(elsewhere)
    await failIntento(guias[1]!)
    await goHome()
    watchTab(here)
    await today()
    await pagina.getByRole('heading', { name: 'Por enviar (2)' }).waitFor()
    await phoneContext.setOffline(false)
    await pagina.getByText('Enviado hoy (2)').waitFor()
    for (const guia of guias)
      expect((await readShortEventoTypes(guia)).filter((tipo) => tipo === 'intento_fallido')).toHaveLength(1)
    expect(phoneBridge.forwardedRequests.filter((kind) => kind.endsWith('/eventos'))).toEqual([
      'POST /repartidor/v1/eventos',
    ])
  })

  it('leaves a service alone that asks for it', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    phoneBridge.reject(/\/eventos$/, 2)
    const moment = Date.now()
    await failIntento(guia)
    const done = Date.now()
    await today()
    await pagina.getByText('Por enviar (1)').waitFor()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readShortEventoTypes(guia)).includes('intento_fallido')
    })
    const { rows } = await phoneEnvironment.db.pool.query(
      'select registrado_en from evento where guia = $1 order by secuencia',
      [guia],
    )
    expect(rows.at(-1).registrado_en.getTime() - moment).toBeGreaterThan(2_000)
    expectOccurredBetween((await readEventos(guia)).at(-1)!.ocurrido_en, moment, done)
  })

  it('goes on with the rest when only one thing does not get through', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [withFoto, other] = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await openPhone()
    await signInOnPage(codigo)
    // Small packets pass, large ones don't: what a bad network does to photos.
    phoneBridge.cutRequest(/\/archivos/, 1_000)
    await fillEntrega(withFoto)
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    await failIntento(other)
    await waitUntil(async () => (await readShortEventoTypes(other)).includes('intento_fallido'))
    expect(await readShortEventoTypes(withFoto)).not.toContain('entregado')
    phoneBridge.heal()
    await goHome()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readPrueba(withFoto)).status === 200
    })
  })

  it('keeps the later action of a guide behind its failed one', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [guia, other] = [
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
      await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor),
    ]
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('No se pudo entregar').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await failIntento(guia, 'No había nadie', true)
    await pagina.getByText('Por enviar:').waitFor()
    await tapStep(guia, 'Salir a ruta')
    // The photo does not pass, so the attempt stays on the phone.
    phoneBridge.cutRequest(/\/archivos/, 1_000)
    await phoneContext.setOffline(false)
    await failIntento(other)
    await goHome()
    await waitUntil(async () => (await readShortEventoTypes(other)).includes('intento_fallido'))
    phoneBridge.heal()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readShortEventoTypes(guia)).length === 6
    })
    expect((await readShortEventoTypes(guia)).slice(-3)).toEqual(['intento_fallido', 'decision_pendiente', 'en_ruta'])
  })

  it('does not wait for a time that the phone’s clock was set back from', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await failIntento(guia)
    await postponeQueue(86_400_000)
    await phoneContext.setOffline(false)
    await goHome()
    await waitUntil(async () => {
      await tapSendNow()
      return (await readShortEventoTypes(guia)).includes('intento_fallido')
    })
  })

  it('sends with the page closed, when the browser says that there is coverage', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await waitForInstall()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    phoneBridge.cutRequest(/\/sesion$/, 100)
    await fillEntrega(guia)
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByText('Por enviar:').waitFor()
    const witnessPage = await phoneContext.newPage()
    await witnessPage.goto(`${phoneBridge.url}/healthz`)
    await pagina.close()
    const sesion = await phoneContext.newCDPSession(witnessPage)
    const registro = new Promise<string>((resolve) => {
      sesion.on(
        'ServiceWorker.workerRegistrationUpdated',
        ({ registrations: [one] }) => one && resolve(one.registrationId),
      )
    })
    await sesion.send('ServiceWorker.enable')
    phoneBridge.heal()
    const origin = phoneBridge.url
    await sesion.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId: await registro,
      tag: 'cola',
      lastChance: false,
    })
    await waitUntil(async () => (await readPrueba(guia)).status === 200)
    watchTab(witnessPage)
  })

  it('offers a new version, and changes to it without losing what is to be sent', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    const [before] = (await waitForInstall()) as string[]
    phoneBridge.cutRequest(/\/sesion$/, 50)
    await failIntento(guia)
    phoneBridge.change = (path, body) =>
      path.endsWith('servicio.js') ? body.replace(/"version":"\w+"/, '"version":"otra"') : body
    await evaluateOnPhone(
      'navigator.serviceWorker.getRegistration("/repartidor").then((r) => r.update()).then(() => 0)',
    )
    await pagina.getByText('Hay una versión nueva.').waitFor()
    expect(await evaluateOnPhone<string[]>('caches.keys()')).toContain(before)
    await locateButton('Cargarla').tap()
    await expect.poll(() => evaluateOnPhone<string[]>('caches.keys()').catch(() => [])).toEqual(['repartidor-otra'])
    await pagina.getByText('Por enviar:').waitFor()
  })
})
