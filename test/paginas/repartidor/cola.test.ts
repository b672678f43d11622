import { describe, expect, it } from 'vitest'
import { enRuta } from '../../archivos/imagenes.ts'
import { COMPLETO, hasta, unaGuia } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  contexto,
  dar,
  enlace,
  entorno,
  entrarEnLaPagina,
  enviarYa,
  evaluar,
  eventosDe,
  fallarIntento,
  fotoDeColor,
  hoy,
  inicio,
  instalado,
  llenarEntrega,
  mirar,
  nuevoRepartidor,
  ocurrioEntre,
  pagina,
  pruebaDe,
  puente,
  registrarComoOperador,
  revisarVentana,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

/** Events of a failed attempt, which opens a decision. */
const INTENTO = ['intento_fallido', 'decision_pendiente']

usarTelefono()

describe.skipIf(!hayNavegador)('in a browser', () => {
  it(
    'sends the photos of a failed attempt with it, also without coverage and when the service swept them',
    COMPLETO,
    async () => {
      const { codigo, repartidor } = await nuevoRepartidor()
      const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
      await abrirTelefono()
      await entrarEnLaPagina(codigo)
      await abrirGuia(guia)
      await enlace('No se pudo entregar').waitFor()
      await instalado()
      await contexto.setOffline(true)
      await enlace('No se pudo entregar').tap()
      await pagina.getByLabel('No había nadie').check()
      for (const [i, color] of ['#36c', '#c63', '#3c6'].entries()) {
        await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor(color))
        await pagina.getByAltText(`Foto ${i + 1}`, { exact: true }).waitFor()
      }
      await boton('Quitar la foto 2').tap()
      await revisarVentana('intento-con-fotos')
      await boton('Registrar').tap()
      await pagina.getByText('Intento fallido (por enviar)').waitFor()
      await pagina.reload()
      await pagina.getByText('Intento fallido (por enviar)').waitFor()
      // Its first photo arrives and is gone before the event gets there.
      puente.cortar(/POST .*\/eventos$/)
      await contexto.setOffline(false)
      await hasta(async () => puente.pasados.filter((que) => que.includes('tipo=foto')).length === 2)
      await entorno.db.pool.query('delete from archivo where tipo = $1 and usado_en is null', ['foto'])
      await hoy()
      await enviarYa()
      await pagina.getByText('Enviado hoy (1)').waitFor()
      const { datos } = await comercioDelTelefono.api.guias.intentos(guia)
      expect(datos).toMatchObject([{ numero_intento: 1, motivo: 'destinatario_ausente' }])
      expect(datos[0]!.fotos.map(({ ancho }) => ancho)).toEqual([640, 640])
      expect(puente.pasados.filter((que) => que.includes('tipo=foto'))).toHaveLength(4)
      expect(await tiposDeEventos(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', ...INTENTO])
    },
  )

  it('works without coverage: everything arrives once, in order, with its own time', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [una, otra] = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    const sinDatos = (await comercioDelTelefono.api.guias.crear(unaGuia())).guia
    for (const estado of ['recolectado', 'en_bodega']) await registrarComoOperador(sinDatos, { estado })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    for (const guia of [una, otra]) {
      await abrirGuia(guia)
      await enlace('Entregar').waitFor()
    }
    await instalado()
    await contexto.setOffline(true)
    await inicio()
    await pagina.reload()
    await pagina.getByText('Sin cobertura.').waitFor()

    const primero = Date.now()
    await fallarIntento(una)
    await pagina.getByText('(por enviar)').waitFor()
    const trasPrimero = Date.now()
    // What is offered follows from what is still to be sent.
    await abrirGuia(una)
    expect((await pagina.locator('.barra a').allTextContents())[0]).toBe('Salir a ruta')
    await dar(una, 'Salir a ruta')
    await pagina.getByText('En ruta (por enviar)').waitFor()
    await llenarEntrega(una, { fotos: 2, firmar: true })
    const antesDeEntregar = Date.now()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    const entregado = Date.now()
    await pagina.reload()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await fallarIntento(otra, 'No contesta')
    // One of which nothing is known but its code.
    await inicio()
    await enlace('Buscar').tap()
    await pagina.getByLabel('Código, nombre o dirección').fill(sinDatos)
    await boton('Abrir').tap()
    await pagina.getByText('Sin cobertura no se ve el destino').waitFor()
    await revisarVentana('sin-datos')
    await dar(sinDatos, 'Salir a ruta')
    await fallarIntento(sinDatos)
    await hoy()
    await pagina.getByRole('heading', { name: 'Por enviar (6)' }).waitFor()
    await pagina.getByText('Espera cobertura').first().waitFor()
    await revisarVentana('sin-cobertura')
    expect(await tiposDeEventos(una)).toEqual(['aceptado', 'recolectado', 'en_ruta'])

    // Coverage comes in pieces, and the page is closed and opened in between.
    puente.perder(/POST .*\/eventos$/)
    puente.cortar(/POST .*tipo=firma$/)
    puente.perder(/POST .*\/entrega$/)
    await contexto.setOffline(false)
    for (const falla of [1, 2, 3]) {
      await hasta(async () => puente.fallas() === falla)
      await pagina.reload()
      await titulo('Lo que hizo').waitFor()
      await enviarYa()
    }
    await pagina.getByText('Enviado hoy (6)').waitFor()

    expect(await tiposDeEventos(una)).toEqual([
      'aceptado',
      'recolectado',
      'en_ruta',
      'intento_fallido',
      'decision_pendiente',
      'en_ruta',
      'entregado',
    ])
    const eventos = (await eventosDe(una)).slice(3)
    ocurrioEntre(eventos[0]!.ocurrido_en, primero, trasPrimero)
    ocurrioEntre(eventos[3]!.ocurrido_en, antesDeEntregar, entregado)
    const prueba = (await pruebaDe(una)).cuerpo
    expect(prueba.fotos).toHaveLength(2)
    expect(prueba.firma).not.toBeNull()
    // Photos that had arrived were not sent again, unless the first reload took the answer.
    const subidas = puente.pasados.filter((que) => que.includes('tipo=foto')).length
    expect([2, 3]).toContain(subidas)
    expect(await tiposDeEventos(otra)).toEqual(['aceptado', 'recolectado', 'en_ruta', ...INTENTO])
    expect(await tiposDeEventos(sinDatos)).toEqual(['aceptado', 'recolectado', 'en_bodega', 'en_ruta', ...INTENTO])
    const { rows } = await entorno.db.pool.query('select count(*)::int as n from evento where guia = any($1)', [
      [una, otra, sinDatos],
    ])
    expect(rows).toEqual([{ n: 7 + 5 + 6 }])
  })

  it('shows what the service refused, and goes on with the rest', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [cancelada, movida, libre] = [
      (await comercioDelTelefono.api.guias.crear(unaGuia())).guia,
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    for (const guia of [cancelada, movida, libre]) {
      await abrirGuia(guia)
      await pagina.locator('.barra').waitFor()
    }
    await instalado()
    await contexto.setOffline(true)
    await comercioDelTelefono.api.guias.cancelar(cancelada)
    await dar(cancelada, 'Recoger el paquete')
    await dar(cancelada, 'Dejar en bodega')
    await fallarIntento(movida)
    await fallarIntento(libre)
    await registrarComoOperador(movida, { estado: 'en_devolucion', motivo: 'a_pedido_del_comercio' })
    await contexto.setOffline(false)
    await hoy()
    await pagina.getByText('Enviado hoy (2)').waitFor()
    await pagina.getByText('Necesita su atención').waitFor()
    // Older than what the depot read meanwhile: noted, and told.
    await pagina.getByText('anotado, sin cambiar el estado').waitFor()
    expect(await tiposDeEventos(libre)).toContain('intento_fallido')
    expect(await tiposDeEventos(cancelada)).toEqual(['aceptado', 'cancelado'])
    await pagina.locator('.lista .atencion a').first().tap()
    await pagina.locator('.nota.mal').waitFor()
    expect(await pagina.locator('.nota.mal').textContent()).toContain('cancelado')
    await revisarVentana('conflicto')
    await boton('Intentar otra vez').tap()
    await pagina.getByText('Necesita su atención').waitFor()
    for (const quedan of [1, 0]) {
      await pagina.locator('.nota.mal').waitFor()
      await boton('Descartar').tap()
      await pagina.getByText('¿Descartar esta acción?').waitFor()
      if (quedan === 1) await revisarVentana('descartar')
      await pagina.getByRole('dialog').getByRole('button', { name: 'Descartar' }).tap()
      await enlace('Escanear').waitFor()
      await hoy()
      if (quedan === 1) {
        await pagina.getByText('Necesita su atención').waitFor()
        await pagina.locator('.lista .atencion a').first().tap()
      }
    }
    expect(await pagina.getByText('Por enviar').count()).toBe(0)
    expect(await tiposDeEventos(cancelada)).toEqual(['aceptado', 'cancelado'])
  })

  it('uploads a refused photo anew once, and asks the courier when it is refused again', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    puente.contestar(/POST .*\/eventos$/, 422, {
      codigo: 'validacion',
      titulo: 'Datos inválidos',
      errores: [{ campo: '/fotos/0', mensaje: 'No hay tal archivo' }],
    })
    await fallarIntento(guia, 'No había nadie', true)
    await hoy()
    await pagina.getByText('Necesita su atención').waitFor()
    expect(puente.pasados.filter((que) => que.includes('tipo=foto'))).toHaveLength(2)
  })

  it('works in two tabs without doing anything twice', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guias = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    const [aqui, alla] = [pagina, await contexto.newPage()]
    await alla.goto(`${puente.url}/repartidor`)
    await alla.getByRole('link', { name: 'Escanear' }).waitFor()
    await contexto.setOffline(true)
    await fallarIntento(guias[0]!)
    mirar(alla)
    await fallarIntento(guias[1]!)
    mirar(aqui)
    await hoy()
    await pagina.getByRole('heading', { name: 'Por enviar (2)' }).waitFor()
    await contexto.setOffline(false)
    await pagina.getByText('Enviado hoy (2)').waitFor()
    for (const guia of guias)
      expect((await tiposDeEventos(guia)).filter((tipo) => tipo === 'intento_fallido')).toHaveLength(1)
    expect(puente.pasados.filter((que) => que.endsWith('/eventos'))).toEqual(['POST /repartidor/v1/eventos'])
  })

  it('leaves a service alone that asks for it', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    puente.rechazar(/\/eventos$/, 2)
    const momento = Date.now()
    await fallarIntento(guia)
    const hecho = Date.now()
    await hoy()
    await pagina.getByText('Por enviar (1)').waitFor()
    await hasta(async () => {
      await enviarYa()
      return (await tiposDeEventos(guia)).includes('intento_fallido')
    })
    const { rows } = await entorno.db.pool.query(
      'select registrado_en from evento where guia = $1 order by secuencia',
      [guia],
    )
    expect(rows.at(-1).registrado_en.getTime() - momento).toBeGreaterThan(2_000)
    ocurrioEntre((await eventosDe(guia)).at(-1)!.ocurrido_en, momento, hecho)
  })

  it('goes on with the rest when only one thing does not get through', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [conFoto, otra] = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    // Small packets pass, large ones don't: what a bad network does to photos.
    puente.cortar(/\/archivos/, 1_000)
    await llenarEntrega(conFoto)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await fallarIntento(otra)
    await hasta(async () => (await tiposDeEventos(otra)).includes('intento_fallido'))
    expect(await tiposDeEventos(conFoto)).not.toContain('entregado')
    puente.sanar()
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await pruebaDe(conFoto)).status === 200
    })
  })

  it('keeps the later action of a guide behind its failed one', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [guia, otra] = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('No se pudo entregar').waitFor()
    await instalado()
    await contexto.setOffline(true)
    await fallarIntento(guia, 'No había nadie', true)
    await pagina.getByText('Intento fallido (por enviar)').waitFor()
    await dar(guia, 'Salir a ruta')
    // The photo does not pass, so the attempt stays on the phone.
    puente.cortar(/\/archivos/, 1_000)
    await contexto.setOffline(false)
    await fallarIntento(otra)
    await hasta(async () => (await tiposDeEventos(otra)).includes('intento_fallido'))
    puente.sanar()
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await tiposDeEventos(guia)).length === 6
    })
    expect((await tiposDeEventos(guia)).slice(-3)).toEqual(['intento_fallido', 'decision_pendiente', 'en_ruta'])
  })

  it('does not wait for a time that the phone’s clock was set back from', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    await instalado()
    await contexto.setOffline(true)
    await fallarIntento(guia)
    await evaluar(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result, lejos = Date.now() + 86_400_000
        const tx = db.transaction(['acciones', 'ajustes'], 'readwrite')
        tx.objectStore('ajustes').put(lejos, 'pausa')
        const q = tx.objectStore('acciones').getAll()
        q.onsuccess = () => { for (const una of q.result) tx.objectStore('acciones').put({ ...una, noAntesDe: lejos }) }
        tx.oncomplete = () => { db.close(); resolver() } } })`)
    await contexto.setOffline(false)
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await tiposDeEventos(guia)).includes('intento_fallido')
    })
  })

  it('sends with the page closed, when the browser says that there is coverage', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await instalado()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    puente.cortar(/\/sesion$/, 100)
    await llenarEntrega(guia)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    const testigo = await contexto.newPage()
    await testigo.goto(`${puente.url}/healthz`)
    await pagina.close()
    const sesion = await contexto.newCDPSession(testigo)
    const registro = new Promise<string>((resolve) => {
      sesion.on(
        'ServiceWorker.workerRegistrationUpdated',
        ({ registrations: [uno] }) => uno && resolve(uno.registrationId),
      )
    })
    await sesion.send('ServiceWorker.enable')
    puente.sanar()
    const origin = puente.url
    await sesion.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId: await registro,
      tag: 'cola',
      lastChance: false,
    })
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    mirar(testigo)
  })

  it('offers a new version, and changes to it without losing what is to be sent', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    const [antes] = (await instalado()) as string[]
    puente.cortar(/\/sesion$/, 50)
    await fallarIntento(guia)
    puente.cambiar = (ruta, cuerpo) =>
      ruta.endsWith('servicio.js') ? cuerpo.replace(/"version":"\w+"/, '"version":"otra"') : cuerpo
    await evaluar('navigator.serviceWorker.getRegistration("/repartidor").then((r) => r.update()).then(() => 0)')
    await pagina.getByText('Hay una versión nueva.').waitFor()
    expect(await evaluar<string[]>('caches.keys()')).toContain(antes)
    await boton('Cargarla').tap()
    await expect.poll(() => evaluar<string[]>('caches.keys()').catch(() => [])).toEqual(['repartidor-otra'])
    await pagina.getByText('Intento fallido (por enviar)').waitFor()
  })
})
