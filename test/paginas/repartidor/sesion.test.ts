import { describe, expect, it } from 'vitest'
import { enRuta } from '../../archivos/imagenes.ts'
import { COMPLETO, hasta } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  contexto,
  enElTelefono,
  enGrupos,
  enlace,
  entorno,
  entrarEnLaPagina,
  evaluar,
  fallarIntento,
  fotoDeColor,
  hoy,
  inicio,
  instalado,
  llenarEntrega,
  nuevoRepartidor,
  pagina,
  pruebaDe,
  puente,
  revisarVentana,
  salir,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

/** The cookies that open something; what the phone is known by stays when somebody leaves. */
const deSesion = async () => (await contexto.cookies()).filter(({ name }) => name !== 'guias_dispositivo')

/** Two couriers with a parcel each; the first one has his open on the phone. */
async function conDosRepartidores() {
  const [carlos, berta] = [await nuevoRepartidor(), await nuevoRepartidor('Berta Chávez')]
  const [guia, deBerta] = [
    await enRuta(entorno, comercioDelTelefono, carlos.repartidor),
    await enRuta(entorno, comercioDelTelefono, berta.repartidor),
  ]
  await abrirTelefono()
  await entrarEnLaPagina(carlos.codigo)
  await abrirGuia(guia)
  await enlace('Entregar').waitFor()
  return { carlos, berta, guia, deBerta }
}

describe.skipIf(!hayNavegador)('in a browser', () => {
  it('lets a courier in with his code, and out again', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono()
    await pagina.getByLabel('Su código').waitFor()
    await revisarVentana('entrar')
    await boton('Entrar').tap()
    await pagina.getByText('Escriba el código').waitFor()
    await pagina.getByLabel('Su código').fill('AAAAA-AAAAA')
    await boton('Entrar').tap()
    await pagina.getByText('Ese código no es válido').waitFor()
    // As a thumb types it.
    await entrarEnLaPagina(codigo.toLowerCase().replace('-', ' '))
    await titulo('Hola, Carlos').waitFor()
    await revisarVentana('vacio')
    const [galleta] = await deSesion()
    expect(galleta).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/repartidor' })
    await pagina.reload()
    await titulo('Hola, Carlos').waitFor()
    await salir()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await deSesion()).toEqual([])
  })

  it('weighs little, can be installed, and asks nobody else for anything', COMPLETO, async () => {
    await abrirTelefono()
    await instalado()
    const sesion = await contexto.newCDPSession(pagina)
    const { installabilityErrors } = await sesion.send('Page.getInstallabilityErrors')
    // A private window cannot install: it is the only thing Chromium has against it.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([])
    const { errors } = await sesion.send('Page.getAppManifest')
    expect(errors).toEqual([])
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setBypassServiceWorker', { bypass: true })
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina.reload({ waitUntil: 'networkidle' })
    console.log(`the courier's page with headers: ${bytes} bytes`)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(40_000)
  })

  it('leaves no draft and no photo of one on the phone when the courier goes', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor())
    await pagina.getByAltText('Foto 1', { exact: true }).waitFor()
    await expect.poll(() => enElTelefono()).not.toMatch(/"borradores",\[\]|"imagenes",\[\]/)
    await salir()
    await boton('Salir de todos modos').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    const quedan = await enElTelefono()
    for (const almacen of ['acciones', 'borradores', 'guias', 'imagenes']) expect(quedan).toContain(`["${almacen}",[]]`)
  })

  it('keeps what was done when the session ends, and never sends it for another courier', COMPLETO, async () => {
    const { carlos, berta, guia, deBerta } = await conDosRepartidores()
    // The operator takes the code away.
    const nuevo = (await entorno.operar('POST', `/repartidores/${carlos.repartidor}/codigo`)).cuerpo.codigo
    const [galleta] = await deSesion()
    await hasta(async () => {
      const Cookie = `${galleta!.name}=${galleta!.value}`
      return (await entorno.pedir('GET', '/repartidor/v1/sesion', { cabeceras: { Cookie } })).status === 401
    })
    await fallarIntento(guia)
    await pagina.getByText('Su sesión venció').waitFor()
    await hoy()
    await pagina.getByText('Espera a que entre otra vez').waitFor()
    await revisarVentana('vencida')
    await enlace('Entre otra vez para enviar').tap()
    await entrarEnLaPagina(berta.codigo)
    await hoy()
    await pagina.getByText('Espera a Carlos Méndez').waitFor()
    await fallarIntento(deBerta)
    await hasta(async () => (await tiposDeEventos(deBerta)).includes('intento_fallido'))
    expect(await tiposDeEventos(guia)).not.toContain('intento_fallido')
    // What was at hand for one isn't for the other.
    expect(await pagina.locator('main').textContent()).not.toContain(enGrupos(guia))
    await salir()
    await pagina.getByText('¿Salir sin haberlo enviado todo?').waitFor()
    await boton('Quedarme').tap()
    await salir()
    await boton('Salir de todos modos').tap()
    await pagina.getByText('guarda una acción sin enviar').waitFor()
    await entrarEnLaPagina(nuevo)
    await hasta(async () => (await tiposDeEventos(guia)).includes('intento_fallido'))
    await hoy()
    await pagina.getByText('Enviado hoy (1)').waitFor()
    await salir()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await enElTelefono()).not.toContain(guia)
  })

  it('sends nothing for another courier where the browser has no locks, either', COMPLETO, async () => {
    const [carlos, berta] = [await nuevoRepartidor(), await nuevoRepartidor('Berta Chávez')]
    const guia = await enRuta(entorno, comercioDelTelefono, carlos.repartidor)
    await abrirTelefono({ alEmpezar: `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })` })
    await entrarEnLaPagina(carlos.codigo)
    await llenarEntrega(guia)
    // A photo that is under way while the phone changes hands.
    const soltar = puente.retener(/\/archivos/)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await salir()
    await boton('Salir de todos modos').tap()
    soltar()
    await entrarEnLaPagina(berta.codigo)
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    const { rows } = await entorno.db.pool.query('select autor from evento where guia = $1 order by secuencia', [guia])
    expect(rows.at(-1)).toEqual({ autor: carlos.repartidor })
  })

  it('leaves the queue of one courier waiting while another sends his', async () => {
    const { berta, guia, deBerta } = await conDosRepartidores()
    await instalado()
    await contexto.setOffline(true)
    await fallarIntento(guia)
    await contexto.clearCookies()
    await contexto.setOffline(false)
    await pagina.getByText('Su sesión venció').waitFor()
    await inicio()
    await enlace('Entre otra vez para enviar').tap()
    await entrarEnLaPagina(berta.codigo)
    await fallarIntento(deBerta)
    await hasta(async () => (await tiposDeEventos(deBerta)).includes('intento_fallido'))
    const situacion = await evaluar<string>(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result
        const q = db.transaction('acciones').objectStore('acciones').getAll()
        q.onsuccess = () => { db.close(); resolver(q.result.find((una) => una.guia === '${guia}').situacion) } } })`)
    expect(situacion).toBe('pendiente')
    expect(await tiposDeEventos(guia)).not.toContain('intento_fallido')
  })

  it('keeps nothing of what is answered when the courier has left', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    const soltar = puente.retener(/^GET .*\/guias/)
    const tarde = pagina.waitForResponse(/\/guias/)
    await pagina.reload()
    // The phone's own copy, as long as no answer comes.
    await enlace('Entregar').waitFor()
    await salir()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    soltar()
    await (await tarde).finished()
    await expect.poll(() => enElTelefono()).not.toContain(guia)
  })

  it('tells the service that somebody left until it has heard it', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await contexto.setOffline(true)
    await salir()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    puente.rechazar(/^DELETE .*\/sesion$/, 1)
    await contexto.setOffline(false)
    await expect.poll(deSesion).toEqual([])
  })
})
