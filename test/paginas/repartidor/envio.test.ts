import { describe, expect, it } from 'vitest'
import { enRuta } from '../../archivos/imagenes.ts'
import { hasta } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirGuia,
  abrirTelefono,
  boton,
  comercioDelTelefono,
  contexto,
  enlace,
  entorno,
  entrarEnLaPagina,
  enviarYa,
  fallarIntento,
  hoy,
  instalado,
  nuevoRepartidor,
  pagina,
  puente,
  registrarComoOperador,
  revisarVentana,
  tiposDeEventos,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

/** A courier on a new phone without coverage, who tried to deliver as many parcels. */
async function conIntentos(cuantos: number, antes = async (_guias: readonly string[]) => {}) {
  const { codigo, repartidor } = await nuevoRepartidor()
  const guias: string[] = []
  for (let i = 0; i < cuantos; i++) guias.push(await enRuta(entorno, comercioDelTelefono, repartidor))
  await abrirTelefono()
  await entrarEnLaPagina(codigo)
  await titulo(`${cuantos} por entregar`).waitFor()
  await instalado()
  await contexto.setOffline(true)
  await antes(guias)
  for (const guia of guias) await fallarIntento(guia)
  await hoy()
  await pagina.getByText(`Por enviar (${cuantos})`).waitFor()
  return guias
}
const envios = () => puente.pasados.filter((que) => que.endsWith('/eventos'))
const conIntento = async (guia: string) => (await tiposDeEventos(guia)).includes('intento_fallido')

describe.skipIf(!hayNavegador)('in a browser', () => {
  it('sends what waited in one request, and asks only about the action that is refused', async () => {
    const [una, perdida, otra] = await conIntentos(3, async ([, segunda]) => {
      await registrarComoOperador(segunda!, { estado: 'extraviado', motivo: 'perdida' })
    })
    await contexto.setOffline(false)
    await pagina.getByText('Enviado hoy (2)').waitFor({ timeout: 20_000 })
    await pagina.getByText('Por enviar (1)').waitFor()
    await pagina.getByText('Necesita su atención').waitFor()
    expect(envios()).toEqual(['POST /repartidor/v1/eventos'])
    expect([await conIntento(una!), await conIntento(perdida!), await conIntento(otra!)]).toEqual([true, false, true])
  })

  it('sends each action by itself once two requests with all of them failed', async () => {
    const guias = await conIntentos(3)
    puente.contestar(/POST .*\/v1\/eventos$/, 500, { codigo: 'error_interno', titulo: 'Falló algo nuestro' })
    await contexto.setOffline(false)
    await hasta(async () => {
      await enviarYa()
      return (await Promise.all(guias.map(conIntento))).every(Boolean)
    })
    expect(envios()).toEqual(guias.map((guia) => `POST /repartidor/v1/guias/${guia}/eventos`))
  })

  it('opens every screen without coverage, although none was opened with it', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    await abrirTelefono()
    await instalado()
    await entrarEnLaPagina(codigo)
    await titulo('1 por entregar').waitFor()
    await contexto.setOffline(true)
    await pagina.reload()
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await titulo('Entregar').waitFor()
  })

  it('says that a part of the page is missing, and loads it when asked to', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercioDelTelefono, repartidor)
    // Neither the page nor its service worker gets the file.
    puente.cortar(/otras\.js/, 100)
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await titulo('1 por entregar').waitFor()
    await pagina.goto(`${puente.url}/repartidor#/guia/${guia}`)
    await titulo('Falta una parte de la página').waitFor()
    await revisarVentana('falta-una-parte')
    puente.sanar()
    await boton('Cargarla otra vez').tap()
    await enlace('Entregar').waitFor()
  })
})
