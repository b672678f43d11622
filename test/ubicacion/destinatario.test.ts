import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

// Nothing is looked up outside: short links stay as they are.
const environment = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) })
const openReceiver = useReceivers()
const {
  linkOf,
  ver,
  send,
  read,
  esperar,
  createGuia: fresh,
  scanEstados,
  mensajes,
  rows,
} = useUbicacionRequests(environment)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const THERE = { lat: '14.6333', lng: '-90.6064', precision_m: '12', referencia: 'Portón verde', metodo: 'gps' }
const OVER_THERE = { lat: '14.64', lng: '-90.61', metodo: 'mapa', cambiar: '1' }
let seriesId = 0
/** A phone that nobody else was asked at. */
const telefono = () => `+5023${String(3_000_000 + ++seriesId)}`

describe('the recipient says the place anew', () => {
  it('by the same link until the courier is on his way: an event each, as of any correction', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.confirmada'] })
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    await send(path, THERE)
    // The link's own time doesn't end it.
    environment.advance(80 * HOUR_MS)
    expect(await (await ver(path)).text()).toContain('href="?cambiar"')
    expect(await (await ver(`${path}?cambiar`)).text()).toContain('Diga otra vez el lugar')
    expect((await send(path, OVER_THERE)).status).toBe(303)
    // Sent twice over a bad line.
    expect((await send(path, OVER_THERE)).status).toBe(303)
    const afterChange = await read(comercio, guia)
    checkHistory(afterChange)
    expect(afterChange.secuencia).toBe(4)
    expect(afterChange.ubicacion).toMatchObject({ origen: 'destinatario', lat: 14.64, lng: -90.61, precision_m: null })
    expect(afterChange.eventos.datos[3]).toMatchObject({ tipo: 'ubicacion.confirmada', lat: 14.64, lng: -90.61 })
    await waitUntil(async () => receptor.receivedWebhooks.length === 2)
    await scanEstados(guia, 'recolectado', 'en_ruta')
    const before = await rows(guia)
    expect(await (await ver(path)).text()).not.toContain('?cambiar')
    const late = await send(path, { ...THERE, cambiar: '1' })
    expect([late.status, (await late.text()).includes('Ya no se puede cambiar aquí')]).toEqual([200, true])
    expect(await rows(guia)).toEqual(before)
    await scanEstados(guia, 'en_bodega')
    expect((await send(path, { ...THERE, cambiar: '1' })).status).toBe(303)
    expect((await read(comercio, guia)).ubicacion).toMatchObject({ lat: 14.6333, precision_m: 12 })
  })

  it('ten times in all, and never in the place of what the merchant said', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    await comercio.api.guias.reenviarSolicitud(guia)
    await esperar(comercio, guia, ({ secuencia }) => secuencia === 3)
    // Both links are his, and each has its own rhythm of ten a minute.
    const paths = [...Array(10).fill(await linkOf(guia, 1)), await linkOf(guia, 2)]
    const estados: number[] = []
    for (const [i, path] of paths.entries())
      estados.push((await send(path, { ...OVER_THERE, lat: String(14.64 + i / 10_000) })).status)
    expect(estados).toEqual([...Array(10).fill(303), 409])
    expect((await read(comercio, guia)).secuencia).toBe(13)
    const other = await fresh(comercio, MIXCO)
    const ownEnlace = await linkOf(other)
    await comercio.api.guias.confirmarUbicacion(other, { lat: 14.7, lng: -90.6 })
    const before = await rows(other)
    expect(await (await send(ownEnlace, OVER_THERE)).text()).toContain('Ya no hace falta')
    expect(await rows(other)).toEqual(before)
  })
})

describe('a place in words', () => {
  it('is confirmed without a point, which the guide warns of until there is one', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const referencia = 'Aldea El Carmen, casa azul tras la escuela'
    expect((await send(path, { metodo: 'descripcion', referencia })).status).toBe(303)
    const describedPlace = await read(comercio, guia)
    checkHistory(describedPlace)
    expect(describedPlace.ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: null,
      lng: null,
      maps_url: null,
      referencia,
    })
    expect(describedPlace.advertencias).toMatchObject([{ codigo: 'lugar_descrito', campo: '/ubicacion/referencia' }])
    expect(await (await ver(path)).text()).toContain('El que nos describió')
    await send(path, OVER_THERE)
    expect((await read(comercio, guia)).advertencias).toEqual([])
  })
})

describe('a short link', () => {
  it('is said to be read, then not to answer, and asked about again if it leads nowhere', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const enlace = 'https://maps.app.goo.gl/abc123'
    expect((await send(path, { enlace })).status).toBe(303)
    await waitUntil(async () => (await rows(guia)).enlace_corto[0].intentos === 1)
    const page = async () => (await ver(path)).text()
    expect(await page()).toContain('el mapa todavía no contesta')
    const ofGuia = 'where (comercio_id, guia_id) = (select comercio_id, id from guia where guia = $1)'
    await environment.db.pool.query(`update enlace_corto set intentos = 0 ${ofGuia}`, [guia])
    expect(await page()).toContain('Estamos leyendo su enlace')
    // Words do not end the reading.
    expect((await send(path, { accion: 'senas', referencia: 'Portón negro' })).status).toBe(303)
    expect(await page()).toContain('Estamos leyendo su enlace')
    await environment.db.pool.query(`delete from enlace_corto ${ofGuia}`, [guia])
    const repetition = await page()
    expect(repetition).toContain('no lleva a un lugar del mapa')
    expect(repetition).toContain('name="cambiar" value="1"')
    expect((await read(comercio, guia)).ubicacion).toMatchObject({ maps_url: enlace, referencia: 'Portón negro' })
    await send(path, OVER_THERE)
    expect((await read(comercio, guia)).ubicacion).toMatchObject({ lat: 14.64, maps_url: null })
  })
})

describe('words beside a confirmed place', () => {
  const DOOR_HINTS = { accion: 'senas', referencia: 'Portón negro' }

  it('keep its point, and are an event; the same again is none', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    expect((await send(path, DOOR_HINTS)).status).toBe(422)
    await send(path, { ...THERE, referencia: '' })
    expect(await (await ver(path)).text()).toContain('¿Cómo se reconoce la puerta?')
    for (const _round of [1, 2]) expect((await send(path, DOOR_HINTS)).status).toBe(303)
    const shown = await read(comercio, guia)
    checkHistory(shown)
    expect(shown.secuencia).toBe(4)
    expect(shown.ubicacion).toMatchObject({ lat: 14.6333, lng: -90.6064, precision_m: 12, referencia: 'Portón negro' })
    expect(shown.eventos.datos[3]).toMatchObject({ tipo: 'ubicacion.confirmada', lat: 14.6333, lng: -90.6064 })
    expect((await send(path, { ...DOOR_HINTS, referencia: 'x'.repeat(201) })).status).toBe(422)
    expect((await send(path, { ...DOOR_HINTS, referencia: '' })).status).toBe(303)
    expect((await read(comercio, guia)).ubicacion).toMatchObject({ lat: 14.6333, referencia: null })
    await scanEstados(guia, 'recolectado', 'en_ruta')
    const before = await rows(guia)
    expect(await (await send(path, DOOR_HINTS)).text()).not.toContain('Guardar las señas')
    expect(await rows(guia)).toEqual(before)
  })

  it('take its point away only if the recipient says so once more', async () => {
    const comercio = await environment.createComercio()
    const referencia = 'Aldea El Carmen, casa azul tras la escuela'
    const describeText = { metodo: 'descripcion', cambiar: '1', referencia }
    for (const place of [THERE, { enlace: 'https://maps.app.goo.gl/abc123' }] as Record<string, string>[]) {
      const guia = await fresh(comercio, MIXCO)
      const path = await linkOf(guia)
      await send(path, place)
      const { secuencia } = await read(comercio, guia)
      const askedQuestion = await send(path, describeText)
      expect([askedQuestion.status, (await askedQuestion.text()).includes('¿Quitamos el lugar del mapa?')]).toEqual([
        422,
        true,
      ])
      expect((await read(comercio, guia)).secuencia).toBe(secuencia)
      expect((await send(path, { ...describeText, sin_punto: '1' })).status).toBe(303)
      const { ubicacion } = await read(comercio, guia)
      expect(ubicacion).toMatchObject({ estado: 'confirmada', lat: null, lng: null, maps_url: null, referencia })
    }
  })
})

describe('a position that is no door', () => {
  it('is taken if the recipient says so, and the courier is told how inexact it is', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const lejana = { ...THERE, precision_m: '1800' }
    expect((await send(path, lejana)).status).toBe(422)
    expect((await read(comercio, guia)).ubicacion.estado).toBe('solicitada')
    expect((await send(path, { ...lejana, aproximado: '1' })).status).toBe(303)
    expect((await read(comercio, guia)).ubicacion.precision_m).toBe(1_800)
    const phone = await createMobile(environment)
    await phone.registrar(guia, { estado: 'recolectado', idempotencia: 'recoger' })
    const { body } = await phone.request('GET', `/guias/${guia}`)
    expect(body.ubicacion).toMatchObject({ lat: 14.6333, lng: -90.6064, precision_m: 1_800 })
  })
})

describe('another link in the place of one whose time is over', () => {
  const expired = async (comercio: Comercio) => {
    const guia = await fresh(comercio, { telefono: telefono() })
    environment.advance(73 * HOUR_MS)
    await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    return guia
  }

  it('goes to the guide’s own telephone, of which the answer tells two digits', async () => {
    const comercio = await environment.createComercio()
    const guia = await expired(comercio)
    const path = await linkOf(guia)
    const [row] = (await rows(guia)).guia
    const page = await (await ver(path)).text()
    const response = await send(path, { accion: 'otro', referencia: '+50255555555' })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain(`termina en <strong>${row.telefono.slice(-2)}</strong>`)
    for (const html of [page, text]) expect(html).not.toMatch(new RegExp(`\\b\\d*${row.telefono.slice(-3)}\\b`))
    const sentRequest = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'solicitada')
    checkHistory(sentRequest)
    expect((await mensajes(comercio)).map((one) => [one.numero, one.telefono])).toEqual([
      [1, row.telefono],
      [2, row.telefono],
    ])
    // While that one is good, nothing more is sent, neither is the old link good again.
    expect(await (await send(path, { accion: 'otro' })).text()).toContain('Ya le mandamos otro enlace')
    expect(await mensajes(comercio)).toHaveLength(2)
    expect([(await ver(path)).status, (await ver(await linkOf(guia, 2))).status]).toEqual([410, 200])
    expect((await send(await linkOf(guia, 2), THERE)).status).toBe(303)
  })

  it('is one, though it is asked for several times at once', async () => {
    const comercio = await environment.createComercio()
    const guia = await expired(comercio)
    const path = await linkOf(guia)
    const texts = await Promise.all(
      Array.from({ length: 3 }, async () => (await send(path, { accion: 'otro' })).text()),
    )
    expect(texts.map((text) => text.includes('Ya le mandamos otro enlace')).sort()).toEqual([false, true, true])
    expect((await rows(guia)).mensaje).toHaveLength(2)
  })

  it('is sent at most three times for one guide, counting recipient and merchant together', async () => {
    const comercio = await environment.createComercio()
    const guia = await expired(comercio)
    const path = await linkOf(guia, 1)
    for (let number = 2; number <= 4; number++) {
      expect((await send(path, { accion: 'otro' })).status).toBe(200)
      await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'solicitada')
      environment.advance(73 * HOUR_MS)
      await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    }
    const before = await rows(guia)
    const last = await send(path, { accion: 'otro' })
    expect([last.status, (await last.text()).includes('No podemos mandarle otro enlace')]).toEqual([429, true])
    expect(await rows(guia)).toEqual(before)
    await expect(comercio.api.guias.reenviarSolicitud(guia)).rejects.toMatchObject({ codigo: 'limite_de_solicitudes' })
  })

  it('is for nobody whose link is good, over or unknown', async () => {
    const comercio = await environment.createComercio()
    const [openGuia, cancelled] = [await fresh(comercio), await fresh(comercio)]
    await comercio.api.guias.cancelar(cancelled)
    const paths: [string, string][] = [
      [await linkOf(openGuia), '¿Dónde le entregamos'],
      [await linkOf(cancelled), 'Ya no hace falta'],
      ['/u/AAAAAAAAAAAAAAAAAAAAAA', 'No encontramos'],
    ]
    const before = await mensajes(comercio)
    for (const [path, text] of paths) expect(await (await send(path, { accion: 'otro' })).text()).toContain(text)
    expect(await mensajes(comercio)).toEqual(before)
  })
})
