import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createMobile } from '../repartidores/phone.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

// Nothing is looked up outside: short links stay as they are.
const entorno = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) })
const nuevoReceptor = useReceivers()
const {
  enlaceDe,
  ver,
  send: enviar,
  leer,
  esperar,
  createGuia: nueva,
  scanEstados,
  mensajes,
  rows: filas,
} = useUbicacionRequests(entorno)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const AHI = { lat: '14.6333', lng: '-90.6064', precision_m: '12', referencia: 'Portón verde', metodo: 'gps' }
const ALLA = { lat: '14.64', lng: '-90.61', metodo: 'mapa', cambiar: '1' }
let serie = 0
/** A phone that nobody else was asked at. */
const telefono = () => `+5023${String(3_000_000 + ++serie)}`

describe('the recipient says the place anew', () => {
  it('by the same link until the courier is on his way: an event each, as of any correction', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.confirmada'] })
    const guia = await nueva(comercio, MIXCO)
    const ruta = await enlaceDe(guia)
    await enviar(ruta, AHI)
    // The link's own time doesn't end it.
    entorno.advance(80 * HOUR_MS)
    expect(await (await ver(ruta)).text()).toContain('href="?cambiar"')
    expect(await (await ver(`${ruta}?cambiar`)).text()).toContain('Diga otra vez el lugar')
    expect((await enviar(ruta, ALLA)).status).toBe(303)
    // Sent twice over a bad line.
    expect((await enviar(ruta, ALLA)).status).toBe(303)
    const cambiada = await leer(comercio, guia)
    checkHistory(cambiada)
    expect(cambiada.secuencia).toBe(4)
    expect(cambiada.ubicacion).toMatchObject({ origen: 'destinatario', lat: 14.64, lng: -90.61, precision_m: null })
    expect(cambiada.eventos.datos[3]).toMatchObject({ tipo: 'ubicacion.confirmada', lat: 14.64, lng: -90.61 })
    await hasta(async () => receptor.receivedWebhooks.length === 2)
    await scanEstados(guia, 'recolectado', 'en_ruta')
    const antes = await filas(guia)
    expect(await (await ver(ruta)).text()).not.toContain('?cambiar')
    const tarde = await enviar(ruta, { ...AHI, cambiar: '1' })
    expect([tarde.status, (await tarde.text()).includes('Ya no se puede cambiar aquí')]).toEqual([200, true])
    expect(await filas(guia)).toEqual(antes)
    await scanEstados(guia, 'en_bodega')
    expect((await enviar(ruta, { ...AHI, cambiar: '1' })).status).toBe(303)
    expect((await leer(comercio, guia)).ubicacion).toMatchObject({ lat: 14.6333, precision_m: 12 })
  })

  it('ten times in all, and never in the place of what the merchant said', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await nueva(comercio, MIXCO)
    await comercio.api.guias.reenviarSolicitud(guia)
    await esperar(comercio, guia, ({ secuencia }) => secuencia === 3)
    // Both links are his, and each has its own rhythm of ten a minute.
    const rutas = [...Array(10).fill(await enlaceDe(guia, 1)), await enlaceDe(guia, 2)]
    const estados: number[] = []
    for (const [i, ruta] of rutas.entries())
      estados.push((await enviar(ruta, { ...ALLA, lat: String(14.64 + i / 10_000) })).status)
    expect(estados).toEqual([...Array(10).fill(303), 409])
    expect((await leer(comercio, guia)).secuencia).toBe(13)
    const otra = await nueva(comercio, MIXCO)
    const suya = await enlaceDe(otra)
    await comercio.api.guias.confirmarUbicacion(otra, { lat: 14.7, lng: -90.6 })
    const antes = await filas(otra)
    expect(await (await enviar(suya, ALLA)).text()).toContain('Ya no hace falta')
    expect(await filas(otra)).toEqual(antes)
  })
})

describe('a place in words', () => {
  it('is confirmed without a point, which the guide warns of until there is one', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await nueva(comercio, MIXCO)
    const ruta = await enlaceDe(guia)
    const referencia = 'Aldea El Carmen, casa azul tras la escuela'
    expect((await enviar(ruta, { metodo: 'descripcion', referencia })).status).toBe(303)
    const descrita = await leer(comercio, guia)
    checkHistory(descrita)
    expect(descrita.ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: null,
      lng: null,
      maps_url: null,
      referencia,
    })
    expect(descrita.advertencias).toMatchObject([{ codigo: 'lugar_descrito', campo: '/ubicacion/referencia' }])
    expect(await (await ver(ruta)).text()).toContain('El que nos describió')
    await enviar(ruta, ALLA)
    expect((await leer(comercio, guia)).advertencias).toEqual([])
  })
})

describe('a short link', () => {
  it('is said to be read, then not to answer, and asked about again if it leads nowhere', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await nueva(comercio, MIXCO)
    const ruta = await enlaceDe(guia)
    const enlace = 'https://maps.app.goo.gl/abc123'
    expect((await enviar(ruta, { enlace })).status).toBe(303)
    await hasta(async () => (await filas(guia)).enlace_corto[0].intentos === 1)
    const pagina = async () => (await ver(ruta)).text()
    expect(await pagina()).toContain('el mapa todavía no contesta')
    const deLaGuia = 'where (comercio_id, guia_id) = (select comercio_id, id from guia where guia = $1)'
    await entorno.db.pool.query(`update enlace_corto set intentos = 0 ${deLaGuia}`, [guia])
    expect(await pagina()).toContain('Estamos leyendo su enlace')
    // Words do not end the reading.
    expect((await enviar(ruta, { accion: 'senas', referencia: 'Portón negro' })).status).toBe(303)
    expect(await pagina()).toContain('Estamos leyendo su enlace')
    await entorno.db.pool.query(`delete from enlace_corto ${deLaGuia}`, [guia])
    const otraVez = await pagina()
    expect(otraVez).toContain('no lleva a un lugar del mapa')
    expect(otraVez).toContain('name="cambiar" value="1"')
    expect((await leer(comercio, guia)).ubicacion).toMatchObject({ maps_url: enlace, referencia: 'Portón negro' })
    await enviar(ruta, ALLA)
    expect((await leer(comercio, guia)).ubicacion).toMatchObject({ lat: 14.64, maps_url: null })
  })
})

describe('words beside a confirmed place', () => {
  const SENAS = { accion: 'senas', referencia: 'Portón negro' }

  it('keep its point, and are an event; the same again is none', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await nueva(comercio, MIXCO)
    const ruta = await enlaceDe(guia)
    expect((await enviar(ruta, SENAS)).status).toBe(422)
    await enviar(ruta, { ...AHI, referencia: '' })
    expect(await (await ver(ruta)).text()).toContain('¿Cómo se reconoce la puerta?')
    for (const _vez of [1, 2]) expect((await enviar(ruta, SENAS)).status).toBe(303)
    const con = await leer(comercio, guia)
    checkHistory(con)
    expect(con.secuencia).toBe(4)
    expect(con.ubicacion).toMatchObject({ lat: 14.6333, lng: -90.6064, precision_m: 12, referencia: 'Portón negro' })
    expect(con.eventos.datos[3]).toMatchObject({ tipo: 'ubicacion.confirmada', lat: 14.6333, lng: -90.6064 })
    expect((await enviar(ruta, { ...SENAS, referencia: 'x'.repeat(201) })).status).toBe(422)
    expect((await enviar(ruta, { ...SENAS, referencia: '' })).status).toBe(303)
    expect((await leer(comercio, guia)).ubicacion).toMatchObject({ lat: 14.6333, referencia: null })
    await scanEstados(guia, 'recolectado', 'en_ruta')
    const antes = await filas(guia)
    expect(await (await enviar(ruta, SENAS)).text()).not.toContain('Guardar las señas')
    expect(await filas(guia)).toEqual(antes)
  })

  it('take its point away only if the recipient says so once more', async () => {
    const comercio = await entorno.nuevoComercio()
    const referencia = 'Aldea El Carmen, casa azul tras la escuela'
    const describir = { metodo: 'descripcion', cambiar: '1', referencia }
    for (const lugar of [AHI, { enlace: 'https://maps.app.goo.gl/abc123' }] as Record<string, string>[]) {
      const guia = await nueva(comercio, MIXCO)
      const ruta = await enlaceDe(guia)
      await enviar(ruta, lugar)
      const { secuencia } = await leer(comercio, guia)
      const pregunta = await enviar(ruta, describir)
      expect([pregunta.status, (await pregunta.text()).includes('¿Quitamos el lugar del mapa?')]).toEqual([422, true])
      expect((await leer(comercio, guia)).secuencia).toBe(secuencia)
      expect((await enviar(ruta, { ...describir, sin_punto: '1' })).status).toBe(303)
      const { ubicacion } = await leer(comercio, guia)
      expect(ubicacion).toMatchObject({ estado: 'confirmada', lat: null, lng: null, maps_url: null, referencia })
    }
  })
})

describe('a position that is no door', () => {
  it('is taken if the recipient says so, and the courier is told how inexact it is', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await nueva(comercio, MIXCO)
    const ruta = await enlaceDe(guia)
    const lejana = { ...AHI, precision_m: '1800' }
    expect((await enviar(ruta, lejana)).status).toBe(422)
    expect((await leer(comercio, guia)).ubicacion.estado).toBe('solicitada')
    expect((await enviar(ruta, { ...lejana, aproximado: '1' })).status).toBe(303)
    expect((await leer(comercio, guia)).ubicacion.precision_m).toBe(1_800)
    const movil = await createMobile(entorno)
    await movil.registrar(guia, { estado: 'recolectado', idempotencia: 'recoger' })
    const { cuerpo } = await movil.request('GET', `/guias/${guia}`)
    expect(cuerpo.ubicacion).toMatchObject({ lat: 14.6333, lng: -90.6064, precision_m: 1_800 })
  })
})

describe('another link in the place of one whose time is over', () => {
  const vencida = async (comercio: Comercio) => {
    const guia = await nueva(comercio, { telefono: telefono() })
    entorno.advance(73 * HOUR_MS)
    await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    return guia
  }

  it('goes to the guide’s own telephone, of which the answer tells two digits', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await vencida(comercio)
    const ruta = await enlaceDe(guia)
    const [fila] = (await filas(guia)).guia
    const pagina = await (await ver(ruta)).text()
    const respuesta = await enviar(ruta, { accion: 'otro', referencia: '+50255555555' })
    expect(respuesta.status).toBe(200)
    const texto = await respuesta.text()
    expect(texto).toContain(`termina en <strong>${fila.telefono.slice(-2)}</strong>`)
    for (const html of [pagina, texto]) expect(html).not.toMatch(new RegExp(`\\b\\d*${fila.telefono.slice(-3)}\\b`))
    const pedida = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'solicitada')
    checkHistory(pedida)
    expect((await mensajes(comercio)).map((uno) => [uno.numero, uno.telefono])).toEqual([
      [1, fila.telefono],
      [2, fila.telefono],
    ])
    // While that one is good, nothing more is sent, neither is the old link good again.
    expect(await (await enviar(ruta, { accion: 'otro' })).text()).toContain('Ya le mandamos otro enlace')
    expect(await mensajes(comercio)).toHaveLength(2)
    expect([(await ver(ruta)).status, (await ver(await enlaceDe(guia, 2))).status]).toEqual([410, 200])
    expect((await enviar(await enlaceDe(guia, 2), AHI)).status).toBe(303)
  })

  it('is one, though it is asked for several times at once', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await vencida(comercio)
    const ruta = await enlaceDe(guia)
    const textos = await Promise.all(
      Array.from({ length: 3 }, async () => (await enviar(ruta, { accion: 'otro' })).text()),
    )
    expect(textos.map((texto) => texto.includes('Ya le mandamos otro enlace')).sort()).toEqual([false, true, true])
    expect((await filas(guia)).mensaje).toHaveLength(2)
  })

  it('is sent at most three times for one guide, counting recipient and merchant together', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await vencida(comercio)
    const ruta = await enlaceDe(guia, 1)
    for (let numero = 2; numero <= 4; numero++) {
      expect((await enviar(ruta, { accion: 'otro' })).status).toBe(200)
      await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'solicitada')
      entorno.advance(73 * HOUR_MS)
      await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    }
    const antes = await filas(guia)
    const ultima = await enviar(ruta, { accion: 'otro' })
    expect([ultima.status, (await ultima.text()).includes('No podemos mandarle otro enlace')]).toEqual([429, true])
    expect(await filas(guia)).toEqual(antes)
    await expect(comercio.api.guias.reenviarSolicitud(guia)).rejects.toMatchObject({ codigo: 'limite_de_solicitudes' })
  })

  it('is for nobody whose link is good, over or unknown', async () => {
    const comercio = await entorno.nuevoComercio()
    const [abierta, cancelada] = [await nueva(comercio), await nueva(comercio)]
    await comercio.api.guias.cancelar(cancelada)
    const rutas: [string, string][] = [
      [await enlaceDe(abierta), '¿Dónde le entregamos'],
      [await enlaceDe(cancelada), 'Ya no hace falta'],
      ['/u/AAAAAAAAAAAAAAAAAAAAAA', 'No encontramos'],
    ]
    const antes = await mensajes(comercio)
    for (const [ruta, texto] of rutas) expect(await (await enviar(ruta, { accion: 'otro' })).text()).toContain(texto)
    expect(await mensajes(comercio)).toEqual(antes)
  })
})
