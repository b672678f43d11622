import { describe, expect, it } from 'vitest'
import { ROOT } from '../../../server/platform/root.ts'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import {
  createGuiaIn,
  createTestRepartidor,
  evaluateOnPhone,
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
  readStops,
  signInOnPage,
  signOutOfPage,
  titulo,
  today,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

describe('the order of the stops', () => {
  const HOY = '2026-11-25'
  const stopAt = (nombre: string, lat: number | null, lng: number | null, more: object = {}) => ({
    nombre,
    final: false,
    datos: { decision: null },
    heading: { lugar: { lat, lng, maps_url: null } },
    ...more,
  })
  const decisionFor = (fecha: string | null) => ({ datos: { decision: { fecha } } })
  const arrange = async (rows: object[], from: object | null) => {
    // Its types are those of a browser, which this project's tests do not have.
    const { inStopOrder } = await import(new URL('server/pages/courier/browser/stops.ts', ROOT).href)
    return inStopOrder(rows, from, HOY).map(({ nombre }: { nombre: string }) => nombre)
  }
  const NORTH_STOPS = [
    stopAt('a 3', 14.63, -90.5),
    stopAt('a 1', 14.61, -90.5),
    stopAt('a 2', 14.62, -90.5),
    stopAt('al sur', 14.585, -90.5),
  ]

  it('goes from each stop to the nearest of the others, and begins at the given point', async () => {
    expect(await arrange(NORTH_STOPS, { lat: 14.6, lng: -90.5 })).toEqual(['a 1', 'a 2', 'a 3', 'al sur'])
    expect(await arrange(NORTH_STOPS, { lat: 14.59, lng: -90.5 })).toEqual(['al sur', 'a 1', 'a 2', 'a 3'])
  })

  it('stays the same for the others once the first stop is done', async () => {
    const [, ...followingStops] = await arrange(NORTH_STOPS, { lat: 14.6, lng: -90.5 })
    const stopsWithoutFirst = NORTH_STOPS.filter(({ nombre }) => nombre !== 'a 1')
    expect(await arrange(stopsWithoutFirst, { lat: 14.61, lng: -90.5 })).toEqual(followingStops)
  })

  it('counts a degree of longitude for less than one of latitude, far from the equator', async () => {
    const rows = [stopAt('al norte', 60.0015, 10), stopAt('al este', 60, 10.002)]
    expect(await arrange(rows, { lat: 60, lng: 10 })).toEqual(['al este', 'al norte'])
  })

  it('puts last stops without a place, those that go back, those for a later day, and finished ones', async () => {
    const rows = [
      stopAt('terminada', 14.6, -90.5, { final: true }),
      stopAt('mañana', 14.6, -90.5, decisionFor('2026-11-26')),
      stopAt('intentada', 14.6, -90.5, { estado: 'intento_fallido' }),
      stopAt('ya no se entrega', 14.6, -90.5, { estado: 'en_ruta', datos: { decision: { accion: 'devolver' } } }),
      stopAt('otra vez hoy', 14.68, -90.5, { estado: 'intento_fallido', ...decisionFor(HOY) }),
      stopAt('sin lugar', null, null),
      stopAt('sin datos', null, null, { datos: null, heading: null }),
      stopAt('hoy', 14.7, -90.5, decisionFor(HOY)),
      stopAt('de ayer', 14.69, -90.5, decisionFor('2026-11-24')),
    ]
    expect(await arrange(rows, { lat: 14.6, lng: -90.5 })).toEqual([
      'otra vez hoy',
      'de ayer',
      'hoy',
      'sin lugar',
      'sin datos',
      'intentada',
      'ya no se entrega',
      'mañana',
      'terminada',
    ])
    expect(await arrange(rows, null)).toEqual([
      'otra vez hoy',
      'sin lugar',
      'sin datos',
      'hoy',
      'de ayer',
      'intentada',
      'ya no se entrega',
      'mañana',
      'terminada',
    ])
  })

  it('takes little time for as many guides as a courier can carry', async () => {
    const stops = Array.from({ length: 500 }, (_, i) => stopAt(`${i}`, 14.6 + ((i * 7919) % 500) / 1_000, -90.5))
    expect(await arrange(stops, { lat: 14, lng: -90.5 })).toHaveLength(500)
  })
})

const HERE = { lat: 14.7189, lng: -90.6442 }
const moveNorth = (km: number) => ({ lat: HERE.lat + km / 111.2, lng: HERE.lng })
/** Parcels in the reverse order of their addresses: the nearest has the last one. */
async function tres(repartidor: string) {
  const guias: string[] = []
  for (const [i, direccion] of ['3a calle', '2a calle', '1a calle'].entries())
    guias.push(
      await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], {
        direccion,
        destinatario: `Vecina de la ${direccion}`,
        ...moveNorth(i + 0.1),
      }),
    )
  return guias as [string, string, string]
}
const failHere = async (guia: string) => {
  await openGuiaPage(guia)
  await link('No se pudo entregar').tap()
  await pagina.getByLabel('No había nadie').check()
  await locateButton('Registrar').tap()
  await titulo('Intento fallido').waitFor()
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('begins where the courier is, stays after a reload, and goes on after each stop, also without coverage', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [nearby, media] = await tres(repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await expect.poll(readStops).toEqual(['3a calle', '2a calle', '1a calle'])
    await pagina.getByText('a 100 m').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    // Somewhere else: the order does not move by itself.
    await phoneContext.setGeolocation({ latitude: moveNorth(5).lat, longitude: HERE.lng, accuracy: 8 })
    await pagina.reload()
    await expect.poll(readStops).toEqual(['3a calle', '2a calle', '1a calle'])
    await phoneContext.setGeolocation({ latitude: HERE.lat, longitude: HERE.lng, accuracy: 8 })
    await failHere(nearby)
    await pagina.getByText('Sigue: 2a calle').waitFor()
    await link('Siguiente').tap()
    await titulo(new RegExp(media.slice(0, 4))).waitFor()
    // From the far end, the way goes back.
    await phoneContext.setGeolocation({ latitude: moveNorth(5).lat, longitude: HERE.lng, accuracy: 8 })
    await pagina.goto(`${phoneBridge.url}/repartidor#/mas`)
    await locateButton('Ordenar desde aquí').tap()
    // What was tried comes last, until somebody decides what becomes of it.
    await expect.poll(readStops).toEqual(['1a calle', '2a calle', '3a calle'])
    await pagina.getByRole('region', { name: 'Vuelven a bodega' }).getByText('3a calle', { exact: true }).waitFor()
  })

  it('begins at the last stop if it may not know where the phone is, and before it by address', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [nearby] = await tres(repartidor)
    await openPhone({ permissions: [] })
    await signInOnPage(codigo)
    await expect.poll(readStops).toEqual(['1a calle', '2a calle', '3a calle'])
    await failHere(nearby)
    await pagina.getByText('Sigue: 2a calle').waitFor()
    await goHome()
    await expect.poll(readStops).toEqual(['2a calle', '1a calle', '3a calle'])
    await pagina.getByText('a 1.0 km').waitFor()
  })

  it('forgets where the day began when another courier signs in', async () => {
    const [carlos, berta] = [await createTestRepartidor(), await createTestRepartidor('Berta Chávez')]
    await createGuiaOnRoute(phoneEnvironment, phoneComercio, carlos.repartidor)
    await tres(berta.repartidor)
    await openPhone({ permissions: [] })
    await signInOnPage(carlos.codigo)
    await titulo('1 por entregar').waitFor()
    await failHere((await evaluateOnPhone<string>(`document.querySelector('[id^=g-]').id`)).slice(2))
    await today()
    await pagina.getByText('Enviado hoy (1)').waitFor()
    await signOutOfPage()
    await signInOnPage(berta.codigo)
    await expect.poll(readStops).toEqual(['1a calle', '2a calle', '3a calle'])
  })
})
