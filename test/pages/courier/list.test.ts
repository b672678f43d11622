import { describe, expect, it } from 'vitest'
import { checkDigit } from '../../../server/platform/codes/guideCode.ts'
import { ROOT } from '../../../server/platform/root.ts'
import { hasBrowser } from '../../browser.ts'
import { buildEstadoReport, buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createGuiaIn,
  createTestRepartidor,
  evaluateOnPhone,
  fillEntrega,
  goHome,
  groupCode,
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
  registerAsOperador,
  signInOnPage,
  titulo,
  today,
  usePhone,
} from './phone.ts'

usePhone()

/** A day's guides, in that courier's hands or to be collected by him; each lies a little farther north than the one before. */
async function newGuias(count: number, repartidor: string, estado = 'recolectado'): Promise<string[]> {
  const guias: string[] = []
  for (let i = 0; i < count; i += 100) {
    const { resultados } = await phoneComercio.api.guias.crearLote({
      guias: Array.from({ length: Math.min(100, count - i) }, (_, j) =>
        buildGuia({
          destinatario: `Vecina ${i + j}`,
          direccion: `${i + j}a calle 5`,
          lat: 14.6 + (i + j) / 1_000,
          lng: -90.6,
        }),
      ),
    })
    guias.push(...resultados.map((one) => (one.ok ? one.guia : '')))
  }
  await phoneEnvironment.db.pool.query('update guia set estado = $1, custodio = $2 where guia = any($3)', [
    estado,
    repartidor,
    guias,
  ])
  return guias
}
const readTableRows = () => pagina.locator('.lista li')
/** Fails unless each row fills the width of the list, shows all its text, and lies below the row before it. */
async function expectWholeRows() {
  const rows = await evaluateOnPhone<{ left: number; right: number; top: number; bottom: number; clipped: boolean }[]>(
    `[...document.querySelectorAll('.lista li > *')].slice(0, 4).map((row) => {
      const { left, right, top, bottom } = row.getBoundingClientRect()
      return { left: Math.round(left), right: Math.round(right), top, bottom, clipped: row.scrollWidth > row.clientWidth || row.clientWidth === 0 }
    })`,
  )
  expect(rows.length).toBeGreaterThan(1)
  for (const [i, { left, right, top, clipped }] of rows.entries()) {
    expect({ left, right, clipped }).toEqual({ left: 16, right: 344, clipped: false })
    expect(top).toBeGreaterThanOrEqual(rows[i - 1]?.bottom ?? 0)
  }
}
const eventosOfAll = async (guias: string[], tipo: string) =>
  (
    await phoneEnvironment.db.pool.query('select guia, idempotencia from evento where guia = any($1) and tipo = $2', [
      guias,
      tipo,
    ])
  ).rows as { guia: string; idempotencia: string }[]

describe('the progress of the day', () => {
  const AHORA = Date.parse('2026-11-24T20:00:00Z')
  const one = { repartidor: 'rep_1', estado: 'entregado', status: 'pendiente', ocurrido_en: '2026-11-24T15:00:00Z' }
  const acciones = [
    { ...one, guia: 'A' },
    { ...one, guia: 'B', estado: 'devuelto', status: 'enviada' },
    { ...one, guia: 'C', status: 'atencion' },
    { ...one, guia: 'D', ocurrido_en: '2026-11-24T05:59:00Z' },
    { ...one, guia: 'E', repartidor: 'rep_2' },
  ]
  const count = async (today?: object) => {
    // Its types are those of a browser, which this project's tests do not have.
    const { terminadas } = await import(new URL('server/pages/courier/browser/list.ts', ROOT).href)
    return terminadas(acciones, 'rep_1', today, AHORA)
  }

  it('counts what was delivered or returned, but nothing that the service refused', async () => {
    expect(await count()).toBe(3)
  })

  it('counts what another phone did, each guide once, and nothing of yesterday', async () => {
    expect(await count({ desde: '2026-11-24T06:00:00.000Z', terminadas: ['B', 'X', 'Y'] })).toBe(4)
    expect(await count({ desde: '2026-11-23T06:00:00.000Z', terminadas: ['X', 'Y'] })).toBe(3)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('shows of two hundred guides each with its address, in an order that stays, and draws what is seen', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guias = await newGuias(200, repartidor)
    await openPhone({ permissions: [] })
    await signInOnPage(codigo)
    await titulo('200 por entregar').waitFor()
    const before = await readStops()
    expect(before).toHaveLength(200)
    expect(before.slice(0, 4)).toEqual(['0a calle 5', '1a calle 5', '2a calle 5', '3a calle 5'])
    expect(await readTableRows().first().textContent()).toBe('1a calle 5 Vecina 1 · Recolectado')
    // What changes a guide, or brings it anew, leaves its place to it.
    await registerAsOperador(guias[150]!, { tipo: 'guia.nota', descripcion: 'Algo' })
    await pagina.reload()
    await titulo('200 por entregar').waitFor()
    expect(await readStops()).toEqual(before)
    // Of all rows only those at the window are laid out and painted; scrolled, others are.
    const drawnItems = () =>
      evaluateOnPhone<number[]>(`[...document.querySelectorAll('.lista li')].flatMap((li, i) =>
        li.firstElementChild.checkVisibility({ contentVisibilityAuto: true }) ? [i] : [])`)
    await expect.poll(async () => (await drawnItems()).length).toBeLessThan(40)
    await readTableRows().nth(180).scrollIntoViewIfNeeded()
    await expect.poll(drawnItems).toContain(180)
    expect((await drawnItems()).length).toBeLessThan(40)
    expect(await drawnItems()).not.toContain(0)
    // Back from a guide the list is where it was left.
    await pagina.locator(`#g-${guias[180]!}`).tap()
    await titulo(groupCode(guias[180]!)).waitFor()
    await link('Inicio').tap()
    await expect.poll(() => evaluateOnPhone('document.activeElement.id')).toBe(`g-${guias[180]!}`)
    expect(await evaluateOnPhone<number>('scrollY')).toBeGreaterThan(2_000)
  })

  it('finds guides by their words, their code and their state, and tells how many of how many', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [guia] = await newGuias(12, repartidor, 'en_ruta')
    await newGuias(3, repartidor, 'en_devolucion')
    await openPhone()
    await signInOnPage(codigo)
    await titulo('12 por entregar, 3 por devolver').waitFor()
    await pagina.getByText('0 de 15 entregadas').waitFor()
    await link('Buscar').tap()
    const field = pagina.getByLabel('Código, teléfono o nombre')
    await expect.poll(() => readTableRows().count()).toBe(15)
    expect(await readTableRows().first().textContent()).toMatch(
      /^Vecina \d+ [-\w]{14} \d+a calle 5, .+ En ruta · a [\d,]+ k?m$/,
    )
    await field.fill('VECÍNA 11a')
    await expect.poll(() => readTableRows().count()).toBe(1)
    await pagina.getByText('Se ven 1 de 15.').waitFor()
    await field.fill(`${guia!.slice(0, 4).toLowerCase()}-${guia!.slice(4, 7)}`)
    await expect.poll(() => readTableRows().count()).toBe(1)
    await field.fill('zzz')
    await locateButton('Abrir').tap()
    await pagina.getByText('Nada en la lista dice eso.').waitFor()
    await field.fill('')
    await locateButton('En devolución 3').tap()
    await expect.poll(() => readTableRows().count()).toBe(3)
    await pagina.getByText('Se ven 3 de 15.').waitFor()
    await checkWindow('lista-filtrada')
    await locateButton('Todas 15').tap()
    await expect.poll(() => readTableRows().count()).toBe(15)
    // A code's first characters may all be letters.
    const allLetters = 'BCDFGHJKMNP'
    await field.fill(allLetters + checkDigit(allLetters))
    await locateButton('Abrir').tap()
    await titulo(/BCDF-GHJK-MNP/).waitFor()
    await pagina.goBack()
    await field.fill('bcdf-ghj')
    await expect.poll(() => readTableRows().count()).toBe(1)
  })

  it('asks for the place once it is told to, and never before', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    await newGuias(12, repartidor, 'en_ruta')
    await openPhone({
      permissions: [],
      initScript: `window.pedidos = 0
        for (const cual of ['getCurrentPosition', 'watchPosition'])
          navigator.geolocation[cual] = (_bien, mal) => { window.pedidos++; mal({ code: 1, PERMISSION_DENIED: 1 }) }`,
    })
    await signInOnPage(codigo)
    await titulo('12 por entregar').waitFor()
    expect((await readStops())[0]).toBe('0a calle 5')
    expect(await evaluateOnPhone('window.pedidos')).toBe(0)
    await link('Más').tap()
    await locateButton('Ordenar desde aquí').tap()
    await pagina.getByText('No se sabe dónde está').waitFor()
    expect(await evaluateOnPhone('window.pedidos')).toBe(1)
    await goHome()
    await link('Escanear').waitFor()
    expect((await readStops())[0]).toBe('0a calle 5')
  })

  it(
    'sends out two hundred with a few taps: each its own event, once, also without coverage',
    FULL_RUN_ONLY,
    async () => {
      const { codigo, repartidor } = await createTestRepartidor()
      const guias = await newGuias(200, repartidor)
      await openPhone()
      await signInOnPage(codigo)
      await titulo('200 por entregar').waitFor()
      await phoneContext.setOffline(true)
      await link('Salir a ruta con 200').tap()
      await pagina.getByText('200 marcadas').waitFor()
      await locateButton('No marcar ninguna').tap()
      await readTableRows().first().getByRole('checkbox').check()
      await pagina.getByText('1 marcada', { exact: true }).waitFor()
      await locateButton('Marcar las 200').tap()
      await pagina.getByText('200 marcadas').waitFor()
      await locateButton('Salir a ruta con 200').tap()
      await titulo('En ruta: 200 guías').waitFor()
      await today()
      await pagina.getByText('Por enviar (200)').waitFor()
      // The first answer is lost: what is sent again is known by its key.
      phoneBridge.loseResponse(/POST .*\/eventos$/)
      await phoneContext.setOffline(false)
      await waitUntil(async () => (await eventosOfAll(guias, 'guia.en_ruta')).length === 200)
      const eventos = await eventosOfAll(guias, 'guia.en_ruta')
      expect(new Set(eventos.map(({ guia }) => guia)).size).toBe(200)
      expect(new Set(eventos.map(({ idempotencia }) => idempotencia)).size).toBe(200)
      // Fifty leave at a time, and the fifty whose answer was lost once more.
      await pagina.getByText('Enviado hoy (200)').waitFor()
      expect(phoneBridge.forwardedRequests.filter((kind) => kind.endsWith('/eventos'))).toEqual(
        Array(5).fill('POST /repartidor/v1/eventos'),
      )
    },
  )

  it('shows on another phone what the courier did today, and counts what this phone adds', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [one, other] = await newGuias(4, repartidor, 'en_ruta')
    for (const guia of [one!, other!]) await registerAsOperador(guia, buildEstadoReport('entregado'))
    // Where the third parcel goes.
    await openPhone({ geolocation: { latitude: 14.602, longitude: -90.6, accuracy: 8 } })
    await signInOnPage(codigo)
    await pagina.getByText('2 de 4 entregadas').waitFor()
    await pagina.getByText('Ya está aquí').waitFor()
    const third = (await pagina.locator('.donde').getAttribute('id'))!.slice(2)
    await phoneContext.setOffline(true)
    await fillEntrega(third)
    await locateButton('Confirmar la entrega').tap()
    await titulo('Entregado').waitFor()
    await goHome()
    await pagina.getByText('3 de 4 entregadas').waitFor()
    await phoneContext.setOffline(false)
    await today()
    await pagina.getByText('Enviado hoy (1)').waitFor()
    await goHome()
    await pagina.getByText('3 de 4 entregadas').waitFor()
  })

  it('finds a guide by its telephone in any spelling, by its reference and by its contents', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const datos = {
      telefono: '+50255501234',
      contenido: 'Repuesto de licuadora',
      external_ref: `Pedido-77 ${Date.now()}`,
    }
    await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], { ...datos, destinatario: 'Wendy Xol' })
    await newGuias(3, repartidor, 'en_ruta')
    await openPhone()
    await signInOnPage(codigo)
    await titulo('4 por entregar').waitFor()
    await link('Buscar').tap()
    const field = pagina.getByLabel('Código, teléfono o nombre')
    for (const searched of ['5550 1234', '+502 5550-1234', '00502 55501234', '1234', 'licuadora', datos.external_ref]) {
      await field.fill('')
      await expect.poll(() => readTableRows().count()).toBe(4)
      await field.fill(searched)
      await expect.poll(() => readTableRows().count(), { message: searched }).toBe(1)
      await readTableRows().getByText('Wendy Xol').waitFor()
    }
    await field.fill('5550 9999')
    await expect.poll(() => readTableRows().count()).toBe(0)
    await pagina.getByText('Ninguna de sus 4 guías dice eso.').waitFor()
    await checkWindow('buscar-telefono')
  })

  it('says which of the ticked it could not take along', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    await newGuias(3, repartidor)
    const [other] = await newGuias(1, repartidor, 'en_devolucion')
    await openPhone()
    await signInOnPage(codigo)
    await titulo('3 por entregar, 1 por devolver').waitFor()
    await link('Más').tap()
    await link('Marcar varias').tap()
    await locateButton('Marcar las 4').tap()
    await expectWholeRows()
    await checkWindow('marcadas')
    await locateButton('Salir a ruta con 3').tap()
    await titulo('En ruta: 3 guías').waitFor()
    await pagina.getByRole('region', { name: 'No se pudo con 1' }).getByText(groupCode(other!)).waitFor()
    await checkWindow('lote-hecho')
  })

  it('says of what is over how it ended and whose it was, also when it is looked at again', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [guia] = await newGuias(1, repartidor, 'en_ruta')
    await registerAsOperador(guia!, buildEstadoReport('entregado'))
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia!)
    await pagina.getByText('Esta guía ya terminó').waitFor()
    await goHome()
    await pagina
      .getByRole('link', { name: groupCode(guia!) })
      .getByText('Entregado: Tienda La Ceiba')
      .waitFor()
  })
})
