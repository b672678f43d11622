import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createFoto } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import {
  checkWindow,
  createGuiaIn,
  createTestRepartidor,
  dumpPhoneDatabase,
  fillEntrega,
  groupCode,
  locateButton,
  openPhone,
  openStep,
  pagina,
  phoneComercio,
  phoneContext,
  readPrueba,
  registerAsOperador,
  signInOnPage,
  titulo,
  usePhone,
  waitForDone,
  waitForInstall,
} from './phone.ts'

usePhone()

const createGuiaOnRouteWith = (repartidor: string, datos: object) =>
  createGuiaIn(repartidor, ['recolectado', 'en_ruta'], datos)
/** A guide on its way whose place was never confirmed. */
async function createGuiaOnRouteWithoutPlace(repartidor: string, datos: object) {
  const { guia } = await phoneComercio.api.guias.crear(buildGuiaWithoutDestino(datos))
  await registerAsOperador(guia, { estado: 'recolectado', repartidor })
  await registerAsOperador(guia, {
    estado: 'en_ruta',
    repartidor,
    forzar: { razon: 'La central habló con el cliente' },
  })
  return guia
}

/** The point where the test's phone is. */
const HERE = { lat: 14.7189, lng: -90.6442 }
const M = 1 / 111_195
const moveNorth = (meters: number) => ({ lat: HERE.lat + meters * M, lng: HERE.lng })
const DIRECCION = 'Aldea Loma Alta'
const MARIA = { destinatario: 'María López', telefono: '+50231480001', direccion: DIRECCION }
const LUIS = { destinatario: 'Luis Pérez', telefono: '+50231480002', direccion: DIRECCION }
const ROSA = { destinatario: 'Rosa Caal', telefono: '+50231480003', direccion: DIRECCION }

const checkbox = (guia: string) => pagina.getByRole('checkbox', { name: groupCode(guia) })
/** The card of another parcel, offered or asked about. */
const findCard = (guia: string) => pagina.locator('.otra').filter({ hasText: groupCode(guia) })
const dialog = () => pagina.getByRole('dialog')
const pruebasOf = (guias: string[]) =>
  waitUntil(async () => {
    const all = await Promise.all(guias.map(readPrueba))
    return all.every(({ status }) => status === 200) && all.map(({ body }) => body)
  })

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('offers parcels of one door, asks without a confirmed place, and records a receiver for each', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const one = await createGuiaOnRouteWith(repartidor, { ...MARIA, ...HERE })
    const luisGuia = { ...LUIS, contenido: 'Zapatos' }
    const neighbour = await createGuiaOnRouteWith(repartidor, {
      ...luisGuia,
      ...moveNorth(20),
      direccion: 'ALDEA  Loma Alta.',
    })
    const guiaOfSameTelefono = await createGuiaOnRouteWith(repartidor, {
      ...MARIA,
      ...moveNorth(45),
      direccion: 'Junto a la escuela',
    })
    const otherVillageGuia = await createGuiaOnRouteWith(repartidor, {
      ...ROSA,
      destinatario: 'Ana Tzoc',
      telefono: '+50231480004',
      ...moveNorth(3_300),
    })
    const neighbouringGuia = await createGuiaOnRouteWith(repartidor, {
      ...moveNorth(10),
      destinatario: 'Juan Xol',
      telefono: '+50231480005',
      direccion: 'Casa azul',
    })
    const guiaWithoutPlace = await createGuiaOnRouteWithoutPlace(repartidor, ROSA)
    await openPhone()
    await signInOnPage(codigo)
    await titulo('6 por entregar').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await fillEntrega(one, { nombre: '', firmar: true, documento: '2456 78901 0101' })
    await checkbox(neighbour).waitFor()
    expect(await pagina.getByRole('checkbox').count()).toBe(2)
    expect(await pagina.getByRole('checkbox', { checked: true }).count()).toBe(0)
    expect(await findCard(guiaOfSameTelefono).count()).toBe(1)
    // Code, address and contents stay apart, also as one text of a screen reader.
    expect(await findCard(neighbour).textContent()).toMatch(
      new RegExp(`^Luis Pérez ${groupCode(neighbour)} Zapatos · Otro destinatario · ALDEA {2}Loma Alta\\., [^·]+$`),
    )
    for (const guia of [otherVillageGuia, neighbouringGuia])
      expect(await pagina.getByText(groupCode(guia)).count()).toBe(0)

    // The parcel without a place is asked about by name; «no» leaves it out.
    await findCard(guiaWithoutPlace).getByRole('button').tap()
    await dialog().getByText('Rosa Caal').waitFor()
    for (const message of [groupCode(guiaWithoutPlace), DIRECCION]) await dialog().getByText(message).waitFor()
    await checkWindow('puerta-pregunta')
    await locateButton('No, es otra puerta').tap()
    expect(await checkbox(guiaWithoutPlace).count()).toBe(0)
    await findCard(guiaWithoutPlace).getByRole('button').tap()
    await locateButton('Sí, es esta puerta').tap()
    await checkbox(guiaWithoutPlace).waitFor()

    for (const guia of [neighbour, guiaOfSameTelefono]) await checkbox(guia).check()
    const relacion = findCard(neighbour).getByLabel('Quién es para Luis Pérez')
    expect(await relacion.inputValue()).toBe('')
    await locateButton('Confirmar las 4 entregas').tap()
    await findCard(neighbour).getByText('Elija quién es.').waitFor()
    await findCard(guiaWithoutPlace).getByText('Elija quién es.').waitFor()
    await checkWindow('puerta')
    await relacion.selectOption('vecino')
    await findCard(guiaWithoutPlace).getByRole('button', { name: 'Lo recibe Rosa Caal' }).tap()
    await findCard(guiaWithoutPlace).getByText('La firma y el documento son de otra persona').waitFor()
    // The courier's phone may push the page out of memory: nothing that was stored is lost.
    await expect.poll(dumpPhoneDatabase).toContain('"nombre":"Rosa Caal"')
    await pagina.reload()
    await expect.poll(() => relacion.inputValue()).toBe('vecino')
    await locateButton('Confirmar las 4 entregas').tap()
    await waitForDone('Entregado: 4 guías')

    await phoneContext.setOffline(false)
    const pruebas = await pruebasOf([one, neighbour, guiaOfSameTelefono, guiaWithoutPlace])
    const maria = { nombre: 'María López', documento: '2456 78901 0101' }
    expect(pruebas).toMatchObject([
      { recibido_por: { ...maria, relacion: 'destinatario' }, fotos: [{}], firma: {} },
      { recibido_por: { ...maria, relacion: 'vecino' }, fotos: [{}], firma: {} },
      { recibido_por: { ...maria, relacion: 'destinatario' }, fotos: [{}], firma: {} },
      { recibido_por: { nombre: 'Rosa Caal', documento: null, relacion: 'destinatario' }, fotos: [{}], firma: null },
    ])
    expect(new Set(pruebas.map(({ fotos }) => fotos[0].archivo)).size).toBe(4)
    expect(new Set(pruebas.map(({ fotos }) => fotos[0].sha256)).size).toBe(1)
    for (const guia of [otherVillageGuia, neighbouringGuia]) expect((await readPrueba(guia)).status).toBe(404)
  })

  it('compares where the courier is with the place of each parcel, and warns of the one that is far', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const one = await createGuiaOnRouteWithoutPlace(repartidor, MARIA)
    const lejana = await createGuiaOnRouteWith(repartidor, { ...LUIS, ...moveNorth(3_300) })
    const nearbyGuia = await createGuiaOnRouteWith(repartidor, { ...ROSA, ...moveNorth(100) })
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(one)
    await pagina.getByText('precisión de unos 8 m').waitFor()
    expect(await pagina.getByRole('checkbox').count()).toBe(0)
    for (const guia of [lejana, nearbyGuia]) {
      await findCard(guia).getByRole('button').tap()
      await locateButton('Sí, es esta puerta').tap()
      await findCard(guia).getByRole('combobox').selectOption('familiar')
    }
    await findCard(lejana).getByText('Está a 3.3 km del lugar confirmado de este paquete.').waitFor()
    expect(await findCard(nearbyGuia).getByText('del lugar confirmado').count()).toBe(0)
    await locateButton('Confirmar las 3 entregas').tap()
    await dialog().getByText('Luis Pérez').waitFor()
    await dialog().getByText('3.3 km').waitFor()
    expect(await dialog().getByText('Rosa Caal').count()).toBe(0)
    await checkWindow('puerta-lejos')
    await locateButton('Volver').tap()
    expect((await readPrueba(one)).status).toBe(404)
    await locateButton('Confirmar las 3 entregas').tap()
    await locateButton('Entregar aquí').tap()
    await waitForDone('Entregado: 3 guías')
    const avisadas = (await pruebasOf([one, lejana, nearbyGuia])).map(({ distancia_m, distancia_avisada_m }) => [
      distancia_m,
      distancia_avisada_m,
    ])
    expect(avisadas).toEqual([
      [null, null],
      [3_300, 3_300],
      [100, null],
    ])
  })

  it('leaves out a ticked parcel that changed meanwhile, and says so', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const one = await createGuiaOnRouteWith(repartidor, { ...MARIA, ...HERE })
    const other = await createGuiaOnRouteWith(repartidor, { ...LUIS, ...HERE })
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(one)
    await checkbox(other).check()
    await findCard(other).getByRole('combobox').selectOption('familiar')
    await registerAsOperador(other, { estado: 'intento_fallido', motivo: 'otro', descripcion: 'Pidió otro día' })
    await pagina.reload()
    await pagina.getByText(`La guía ${groupCode(other)} ya no va con esta entrega`).waitFor()
    expect(await checkbox(other).count()).toBe(0)
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    await pruebasOf([one])
    expect((await readPrueba(other)).status).toBe(404)
  })

  it('does not keep «destinatario» once the receiver is renamed', FULL_RUN_ONLY, async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const one = await createGuiaOnRouteWith(repartidor, { ...MARIA, ...HERE })
    const other = await createGuiaOnRouteWith(repartidor, { ...LUIS, ...HERE })
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(one, { nombre: '' })
    await pagina.getByText('Recibe María López, es el destinatario').first().waitFor()
    await checkbox(other).check()
    const relacion = findCard(other).getByRole('combobox')
    await findCard(other).getByRole('button', { name: 'Lo recibe Luis Pérez' }).tap()
    await expect.poll(() => relacion.inputValue()).toBe('destinatario')
    await findCard(other).getByLabel('Quién lo recibe').fill('Pedro Choc')
    await expect.poll(() => relacion.inputValue()).toBe('')
    await openStep(one, 'quien')
    await pagina.getByLabel('Nombre').fill('Pedro Choc')
    await expect.poll(() => pagina.getByLabel('Quién es', { exact: true }).inputValue()).toBe('')
    await checkBars(pagina)
    await checkLargeText(pagina)
  })

  it('warns far from the confirmed place, with the distance, and the proof says so', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const [far, nearby] = [
      await createGuiaOnRouteWith(repartidor, {}),
      await createGuiaOnRouteWith(repartidor, { lat: 14.7315, lng: -90.6442 }),
    ]
    await openPhone({ geolocation: { latitude: 14.73, longitude: -90.64417, accuracy: 9 } })
    await signInOnPage(codigo)
    await fillEntrega(far)
    await pagina.getByText('Está a 1.2 km del lugar confirmado.').waitFor()
    await locateButton('Confirmar la entrega').tap()
    await pagina.getByRole('dialog').getByText('Está a 1.2 km del lugar confirmado').waitFor()
    await checkWindow('lejos')
    await locateButton('Volver').tap()
    expect((await readPrueba(far)).status).toBe(404)
    await locateButton('Confirmar la entrega').tap()
    await locateButton('Entregar aquí').tap()
    await waitForDone('Entregado')
    const prueba = await waitUntil(async () => {
      const response = await readPrueba(far)
      return response.status === 200 && response.body
    })
    expect(prueba).toMatchObject({ distancia_m: 1_235, distancia_avisada_m: 1_235 })
    await fillEntrega(nearby)
    await pagina.getByText('precisión de unos 9 m').waitFor()
    await locateButton('Confirmar la entrega').tap()
    await waitForDone('Entregado')
    const other = await waitUntil(async () => {
      const response = await readPrueba(nearby)
      return response.status === 200 && response.body
    })
    expect(other).toMatchObject({ distancia_m: 167, distancia_avisada_m: null })
  })

  it('keeps when a photo was taken, though the page makes it anew', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRouteWith(repartidor, {})
    await openPhone({ timezoneId: 'America/Guatemala' })
    await signInOnPage(codigo)
    await fillEntrega(guia)
    await openStep(guia, 'fotos')
    const photoWith = async (IFD2: Record<string, string>) => ({
      name: 'camara.jpg',
      mimeType: 'image/jpeg',
      buffer: await sharp(await createFoto())
        .withExif({ IFD2 })
        .jpeg()
        .toBuffer(),
    })
    const input = pagina.locator('input[type=file]')
    await input.setInputFiles(
      await photoWith({ DateTimeOriginal: '2026:11:20 08:00:00', OffsetTimeOriginal: '-05:00' }),
    )
    await pagina.getByAltText('Foto 2', { exact: true }).waitFor()
    // Without a zone of its own the camera's clock is the phone's.
    await input.setInputFiles(await photoWith({ DateTimeOriginal: '2026:11:20 09:30:00' }))
    await pagina.getByAltText('Foto 3', { exact: true }).waitFor()
    await openStep(guia, 'confirmar')
    await locateButton('Confirmar la entrega').tap()
    const { fotos } = await waitUntil(async () => {
      const response = await readPrueba(guia)
      return response.status === 200 && response.body
    })
    expect(fotos.map(({ capturado_en }: { capturado_en: string }) => capturado_en)).toEqual([
      '2026-11-20T21:04:05.000Z',
      '2026-11-20T13:00:00.000Z',
      '2026-11-20T15:30:00.000Z',
    ])
  })
})
