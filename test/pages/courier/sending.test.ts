import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createTestRepartidor,
  failIntento,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneBridge,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  readShortEventoTypes,
  registerAsOperador,
  signInOnPage,
  tapSendNow,
  titulo,
  today,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

/** A courier on a new phone without coverage, who tried to deliver as many parcels. */
async function withIntentos(count: number, before = async (_guias: readonly string[]) => {}) {
  const { codigo, repartidor } = await createTestRepartidor()
  const guias: string[] = []
  for (let i = 0; i < count; i++) guias.push(await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor))
  await openPhone()
  await signInOnPage(codigo)
  await titulo(`${count} por entregar`).waitFor()
  await waitForInstall()
  await phoneContext.setOffline(true)
  await before(guias)
  for (const guia of guias) await failIntento(guia)
  await today()
  await pagina.getByText(`Por enviar (${count})`).waitFor()
  return guias
}
const submissions = () => phoneBridge.forwardedRequests.filter((kind) => kind.endsWith('/eventos'))
const createGuiaWithIntento = async (guia: string) => (await readShortEventoTypes(guia)).includes('intento_fallido')

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('sends what waited in one request, and asks only about the action that is refused', async () => {
    const [one, lost, other] = await withIntentos(3, async ([, second]) => {
      await registerAsOperador(second!, { estado: 'extraviado', motivo: 'perdida' })
    })
    await phoneContext.setOffline(false)
    await pagina.getByText('Enviado hoy (2)').waitFor({ timeout: 20_000 })
    await pagina.getByText('Por enviar (1)').waitFor()
    await pagina.getByText('Necesita su atención').waitFor()
    expect(submissions()).toEqual(['POST /repartidor/v1/eventos'])
    expect([
      await createGuiaWithIntento(one!),
      await createGuiaWithIntento(lost!),
      await createGuiaWithIntento(other!),
    ]).toEqual([true, false, true])
  })

  it('sends each action by itself once two requests with all of them failed', async () => {
    const guias = await withIntentos(3)
    phoneBridge.answerWith(/POST .*\/v1\/eventos$/, 500, { codigo: 'error_interno', titulo: 'Falló algo nuestro' })
    await phoneContext.setOffline(false)
    await waitUntil(async () => {
      await tapSendNow()
      return (await Promise.all(guias.map(createGuiaWithIntento))).every(Boolean)
    })
    expect(submissions()).toEqual(guias.map((guia) => `POST /repartidor/v1/guias/${guia}/eventos`))
  })

  it('opens every screen without coverage, although none was opened with it', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await waitForInstall()
    await signInOnPage(codigo)
    await titulo('1 por entregar').waitFor()
    await phoneContext.setOffline(true)
    await pagina.reload()
    await openGuiaPage(guia)
    await link('Entregar').tap()
    await titulo('Tome una foto').waitFor()
  })

  it('says that a part of the page is missing, and loads it when asked to', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    // Neither the page nor its service worker gets the file.
    phoneBridge.cutRequest(/others\.js/, 100)
    await openPhone()
    await signInOnPage(codigo)
    await titulo('1 por entregar').waitFor()
    await pagina.goto(`${phoneBridge.url}/repartidor#/guia/${guia}`)
    await titulo('Falta una parte de la página').waitFor()
    await checkWindow('falta-una-parte')
    phoneBridge.heal()
    await locateButton('Cargarla otra vez').tap()
    await link('Entregar').waitFor()
  })
})
