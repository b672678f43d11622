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
  enElTelefono,
  enlace,
  entorno,
  entrarEnLaPagina,
  enviarYa,
  hoy,
  inicio,
  instalado,
  llenarEntrega,
  nuevoRepartidor,
  pagina,
  pruebaDe,
  registrarComoOperador,
  revisarVentana,
  salir,
  tiposDeEventos,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

const persona = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12' }
const nueva = async () =>
  (await comercioDelTelefono.api.guias.crear(unaGuia({ ...persona, contenido: '2 pares de zapatos' }))).guia

describe.skipIf(!hayNavegador)('in a browser', () => {
  it(
    'shows of a guide that nobody carries where it is collected, and where it goes once it is taken',
    COMPLETO,
    async () => {
      const { codigo } = await nuevoRepartidor()
      const guia = await nueva()
      await abrirTelefono()
      await entrarEnLaPagina(codigo)
      await abrirGuia(guia)
      await pagina.getByRole('region', { name: 'Se recoge en' }).getByText('Bodega Zona 12').waitFor()
      await pagina.getByText('Lleva: 2 pares de zapatos').waitFor()
      expect(await enlace('Google Maps').getAttribute('href')).toContain('destination=14.583611%2C-90.548611')
      expect(await pagina.locator('.barra a, .pasos a').allTextContents()).toEqual(['Recoger el paquete'])
      expect(await enElTelefono()).not.toMatch(/María|5a avenida|\+502/)
      await revisarVentana('por-recoger')
      await dar(guia, 'Recoger el paquete')
      await abrirGuia(guia)
      await pagina.getByText(persona.destinatario).waitFor()
      await pagina.getByText('Salir a ruta').waitFor()
      await revisarVentana('propia')
    },
  )

  it('says that another carries a guide, and takes it where it changes hands', COMPLETO, async () => {
    const [carlos, berta] = [await nuevoRepartidor(), await nuevoRepartidor('Berta Chávez')]
    const guia = await nueva()
    for (const estado of ['recolectado', 'en_ruta'])
      await registrarComoOperador(guia, { estado, repartidor: berta.repartidor })
    await abrirTelefono()
    await entrarEnLaPagina(carlos.codigo)
    await abrirGuia(guia)
    await pagina.getByText('La lleva otro repartidor').waitFor()
    expect(await pagina.locator('.barra, .pasos').count()).toBe(0)
    expect(await enElTelefono()).not.toMatch(/María|5a avenida|zapatos|\+502/)
    await revisarVentana('ajena')
    await registrarComoOperador(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await pagina.reload()
    await pagina.getByText('Si ya la tiene usted, regístrelo aquí.').waitFor()
    await revisarVentana('de-mano-en-mano')
    await dar(guia, 'Salir a ruta')
    await abrirGuia(guia)
    await pagina.getByText(persona.destinatario).waitFor()
    await enlace('Entregar').waitFor()
  })

  it('lists what a courier carries without being told, apart from the rest', COMPLETO, async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [suya, libre] = [await enRuta(entorno, comercioDelTelefono, repartidor), await nueva()]
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    const laSuya = pagina.locator(`.parada #g-${suya}`)
    await laSuya.waitFor()
    await abrirGuia(libre)
    await pagina.getByText('No la lleva nadie').waitFor()
    await inicio()
    await pagina.getByRole('region', { name: 'Otras a mano' }).locator(`#g-${libre}`).waitFor()
    await revisarVentana('suyas-y-otras')
    // Again at the next sign-in, however soon: the phone forgot them when the courier left.
    await salir()
    await entrarEnLaPagina(codigo)
    await laSuya.waitFor()
  })

  it('sends in its order what was collected and delivered without coverage', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await nueva()
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await abrirGuia(guia)
    await pagina.getByText('No la lleva nadie').waitFor()
    await instalado()
    await contexto.setOffline(true)
    await dar(guia, 'Recoger el paquete')
    await abrirGuia(guia)
    await pagina.getByText('El destino se verá').waitFor()
    await dar(guia, 'Salir a ruta')
    await llenarEntrega(guia)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await contexto.setOffline(false)
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    expect(await tiposDeEventos(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', 'entregado'])
  })

  it('keeps a delivery of what its courier never said to carry, and sends it once he does', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await nueva()
    for (const estado of ['recolectado', 'en_bodega']) await registrarComoOperador(guia, { estado })
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await instalado()
    await contexto.setOffline(true)
    await llenarEntrega(guia, { firmar: true })
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await contexto.setOffline(false)
    await enlace('Vea por qué').tap()
    await pagina.getByText('La guía no está en sus manos').waitFor()
    await pagina.getByText('No la lleva nadie todavía. Si la tiene usted').waitFor()
    await revisarVentana('sin-custodia')
    await boton('La tenía yo').tap()
    await hasta(async () => {
      await enviarYa()
      return (await pruebaDe(guia)).status === 200
    })
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ fotos: [{}], firma: {} })
    expect(await tiposDeEventos(guia)).toEqual(['aceptado', 'recolectado', 'en_bodega', 'en_ruta', 'entregado'])
    await hoy()
    await pagina.getByText('Enviado hoy (2)').waitFor()
  })
})
