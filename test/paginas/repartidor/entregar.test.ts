import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { horaDeFoto } from '../../../server/pages/repartidor/browser/hora.ts'
import { enRuta } from '../../archivos/imagenes.ts'
import { COMPLETO, hasta, unaGuia } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  dibujarFirma,
  enElTelefono,
  enlace,
  entorno,
  entrarEnLaPagina,
  enviarYa,
  evaluar,
  fallarIntento,
  fotoDeColor,
  inicio,
  llenarEntrega,
  nuevoRepartidor,
  ocurrioEntre,
  oscuros,
  pagina,
  pruebaDe,
  puente,
  registrarComoOperador,
  revisarVentana,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

describe('the time of a photo', () => {
  it('is that of its file, unless it lies in the future', async () => {
    const tomada = (lastModified: number) => horaDeFoto(new File(['una foto'], 'foto.jpg', { lastModified }))
    const antes = Date.now() - 60_000
    expect(await tomada(antes)).toBe(new Date(antes).toISOString())
    expect(await tomada(Date.now() + 86_400_000)).toBeNull()
  })
})

describe.skipIf(!hayNavegador)('in a browser', () => {
  it('delivers with photos, a signature and the place', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const { guia } = await comercioDelTelefono.api.guias.crear(unaGuia({ destinatario: 'María López' }))
    for (const estado of ['recolectado', 'en_ruta']) await registrarComoOperador(guia, { estado, repartidor })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Tome una foto por lo menos.').waitFor()
    await pagina.getByText('Escriba quién recibió.').waitFor()
    const entrada = pagina.locator('input[type=file]')
    const grande = await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#3a6' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    await entrada.setInputFiles({ name: 'grande.jpg', mimeType: 'image/jpeg', buffer: grande })
    await pagina.getByAltText('Foto 1').waitFor()
    await entrada.setInputFiles(await fotoDeColor('#36c'))
    await pagina.getByAltText('Foto 2').waitFor()
    await entrada.setInputFiles(await fotoDeColor('#c63'))
    await pagina.getByAltText('Foto 3').waitFor()
    await boton('Quitar la foto 2').tap()
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    await boton('María López').tap()
    await expect.poll(() => pagina.getByLabel('Quién es').inputValue()).toBe('destinatario')
    await pagina.getByLabel('Documento').fill('2456 78901 0101')
    await dibujarFirma()
    const tinta = await oscuros()
    expect(tinta).toBeGreaterThan(0.002)
    await boton('Deshacer').tap()
    expect(await oscuros()).toBeLessThan(tinta)
    await dibujarFirma()
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await revisarVentana('entregar')
    // Turned: nothing of it is lost.
    const antes = await oscuros()
    await pagina.setViewportSize({ width: 740, height: 360 })
    await expect.poll(() => evaluar('document.querySelector("canvas.firma").clientWidth')).toBeGreaterThan(500)
    await expect.poll(async () => Math.abs((await oscuros()) - antes) / antes).toBeLessThan(0.35)
    await pagina.setViewportSize({ width: 360, height: 740 })
    // The camera's own app pushed the page out of memory.
    await pagina.reload()
    await pagina.getByAltText('Foto 2').waitFor()
    expect(await pagina.getByLabel('Nombre').inputValue()).toBe('María López')
    expect(await oscuros()).toBeGreaterThan(0.002)
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const momento = Date.now()
    await boton('Confirmar la entrega').tap()
    await titulo('Entregada').waitFor()
    const hecho = Date.now()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    const { cuerpo } = await pruebaDe(guia)
    expect(cuerpo).toMatchObject({
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'destinatario' },
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8,
    })
    ocurrioEntre(cuerpo.entregado_en, momento, hecho)
    // Upright, and no larger than has to be sent.
    expect(cuerpo.fotos.map(({ ancho, alto }: { ancho: number; alto: number }) => [ancho, alto])).toEqual([
      [1_920, 2_560],
      [640, 480],
    ])
    const firmada = await sharp(
      await (await fetch(cuerpo.firma.url.replace(/^https?:\/\/[^/]+/, entorno.url))).arrayBuffer(),
    )
      .greyscale()
      .stats()
    expect(firmada.channels[0]!.min).toBeLessThan(100)
    await pagina.getByText('Entregado').waitFor()
    // Nothing of the person is left on the phone.
    await expect.poll(() => enElTelefono()).not.toMatch(/María|2456 78901|\+502/)
    expect(
      await evaluar(
        'new Promise((r) => { const o = indexedDB.open("repartidor"); o.onsuccess = () => { const q = o.result.transaction("imagenes").objectStore("imagenes").count(); q.onsuccess = () => r(q.result) } })',
      ),
    ).toBe(0)
  })

  it('delivers without a place where the phone may not tell it', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono({ permissions: [] })
    await entrarEnLaPagina(codigo)
    await llenarEntrega(guia)
    await pagina.getByText('Sin permiso para ver dónde está').waitFor()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ lat: null, lng: null, firma: null })
  })

  it('names the photo that was refused, and sends the delivery once it is corrected', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await llenarEntrega(guia, { firmar: true })
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles({ name: 'x.heic', mimeType: 'image/heic', buffer: Buffer.from('nada') })
    await pagina.getByText('no pudo leer esa foto').waitFor()
    await entrada.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('tampoco') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    const momento = Date.now()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    const hecho = Date.now()
    await enlace('Vea por qué').tap()
    await pagina.getByText('(la foto 2)').waitFor()
    await revisarVentana('foto-mala')
    await boton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    expect(await pagina.getByLabel('Nombre').inputValue()).toBe('María López')
    await boton('Quitar la foto 2').tap()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    // Who signed is gone by now: neither that nor the place is asked for again.
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ fotos: [{}], firma: {}, lat: 14.7189, precision_m: 8 })
    ocurrioEntre((await pruebaDe(guia)).cuerpo.entregado_en, momento, hecho)
  })

  it('loses no photo when a delivery comes back while another try is half filled in', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await llenarEntrega(guia)
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no es') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await llenarEntrega(guia, { nombre: 'Otra Persona' })
    await abrirGuia(guia)
    await enlace('Vea por qué').tap()
    await boton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    await pagina.getByAltText('Foto 3', { exact: true }).waitFor()
    await boton('Quitar la foto 2').tap()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ fotos: [{}, {}], recibido_por: { nombre: 'María López' } })
  })

  it('sends photos again that the service swept meanwhile', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await llenarEntrega(guia, { firmar: true })
    puente.cortar(/\/entrega$/)
    await boton('Confirmar la entrega').tap()
    await hasta(async () => puente.pasados.some((que) => que.includes('tipo=firma')))
    await entorno.db.pool.query('delete from archivo where guia_id = (select id from guia where guia = $1)', [guia])
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await pruebaDe(guia)).status === 200
    })
    expect(puente.pasados.filter((que) => que.includes('tipo=foto'))).toHaveLength(2)
  })

  it('says which photo a proxy on the way finds too large', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [conFoto, otra] = [
      await enRuta(entorno, comercioDelTelefono, repartidor),
      await enRuta(entorno, comercioDelTelefono, repartidor),
    ]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    puente.contestar(/\/archivos/, 413)
    await llenarEntrega(conFoto)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await fallarIntento(otra)
    await hasta(async () => (await tiposDeEventos(otra)).includes('intento_fallido'))
    puente.sanar()
    await abrirGuia(conFoto)
    await enlace('Vea por qué').tap()
    await pagina.getByText('(la foto 1)').waitFor()
    await boton('Intentar otra vez').tap()
    await hasta(async () => (await pruebaDe(conFoto)).status === 200)
  })

  it('says that the phone is full before anything is lost', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await llenarEntrega(guia)
    // Chromium's own way of making a disk small does nothing in a private window.
    await evaluar(`{ const { add, put } = IDBObjectStore.prototype
      window.negados = 0
      const lleno = () => { window.negados++; throw new DOMException('full', 'QuotaExceededError') }
      window.vaciar = () => void Object.assign(IDBObjectStore.prototype, { add, put })
      Object.assign(IDBObjectStore.prototype, { add: lleno, put: lleno }) } 0`)
    await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor())
    await pagina.getByText('no tiene espacio').waitFor()
    expect(await pagina.locator('.fotos li').count()).toBe(1)
    // The photo's refusal still stands there when the delivery's comes.
    const negados = await evaluar<number>('window.negados')
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await evaluar<number>('window.negados')) > negados)
    await pagina.getByText('no tiene espacio').waitFor()
    await evaluar('window.vaciar()')
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    // Done, it leaves nothing of the person behind, nor does looking at it again.
    await pagina.reload()
    await abrirGuia(guia)
    await pagina.getByText('Esta guía ya terminó').waitFor()
    expect(await enElTelefono()).not.toContain('+502')
  })
})
