import { describe, expect, it } from 'vitest'
import { MOTIVOS, STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { createGuiaOnRoute } from '../archivos/images.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA_VIEW } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'

const { environment, ver } = useDispatch()

describe('GET /repartidor/v1/guias/{guia}', () => {
  it('says what a courier needs, and nothing else', async () => {
    const { guia } = await comercio.api.guias.crear(
      buildGuia({
        destinatario: 'María',
        direccion: '5a avenida 1',
        indicaciones: 'Portón verde',
        contenido: 'Zapatos',
        external_ref: 'PEDIDO-REPARTO-1',
      }),
    )
    await mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })
    const before = Date.now()
    const { status, body, headers } = await mobile.request('GET', `/guias/${guia}`)
    const after = Date.now()
    expect(status).toBe(200)
    expect(body).toEqual({
      guia,
      estado: 'recolectado',
      modo: 'test',
      custodia: 'propia',
      nombre_comercio: expect.any(String),
      recogida: RECOGIDA_VIEW,
      destinatario: 'María',
      telefono: '+50231481676',
      departamento: 'Guatemala',
      municipio: 'San Juan Sacatepéquez',
      direccion: '5a avenida 1',
      indicaciones: 'Portón verde',
      contenido: 'Zapatos',
      external_ref: 'PEDIDO-REPARTO-1',
      ubicacion: {
        estado: 'confirmada',
        lat: 14.71889,
        lng: -90.64417,
        maps_url: null,
        precision_m: null,
        referencia: null,
      },
      distancia_m: 18_220,
      intentos: 0,
      decision: null,
      secuencia: 2,
      etiqueta_desactualizada: false,
      zona_horaria: 'America/Guatemala',
      evidencia: { fotos_minimas: 1, firma: 'opcional', documento: 'opcional' },
      siguientes: expect.arrayContaining([{ estado: 'en_ruta', motivos: [], con_prueba: false, con_ubicacion: true }]),
    })
    // Its clock is what the phone sets its own by, and the answer stays out of every cache.
    const date = Date.parse(headers.get('date')!)
    expect(date).toBeGreaterThan(before - 2_000) // whole seconds, made now and then
    expect(date).toBeLessThanOrEqual(after)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('offers in each state what the contract’s machine does, but not what is the merchant’s', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const { transiciones } = STATE_MACHINE
    for (const estado of Object.keys(transiciones) as (keyof typeof transiciones)[]) {
      await environment.db.pool.query('update guia set estado = $1 where guia = $2', [estado, guia])
      const { siguientes } = await ver(guia)
      expect(siguientes).toEqual(
        transiciones[estado]
          .filter((other) => other !== 'cancelado')
          .map((other) => ({
            estado: other,
            motivos: Object.keys((MOTIVOS as Record<string, object>)[other] ?? {}),
            con_prueba: other === 'entregado',
            con_ubicacion: other === 'en_ruta',
          })),
      )
    }
  })

  it('tells the place once it is confirmed', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })
    const caseWithout = { lat: null, lng: null, maps_url: null, precision_m: null, referencia: null }
    expect((await ver(guia)).ubicacion).toEqual({ estado: 'solicitada', ...caseWithout })
    await comercio.api.guias.confirmarUbicacion(guia, {
      maps_url: 'https://www.google.com/maps?q=14.7,-90.6',
      referencia: 'Casa azul',
    })
    expect((await ver(guia)).ubicacion).toEqual({
      estado: 'confirmada',
      lat: 14.7,
      lng: -90.6,
      maps_url: 'https://www.google.com/maps?q=14.7,-90.6',
      precision_m: null,
      referencia: 'Casa azul',
    })
  })

  it('is of every merchant and mode, read as it is typed, and 404 for what names none', async () => {
    const realOne = await environment.createComercio('live')
    const { guia } = await realOne.api.guias.crear(buildGuia())
    const typedGuia = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`.toLowerCase()
    expect(await ver(encodeURIComponent(typedGuia))).toMatchObject({ guia, modo: 'live' })
    for (const other of ['000000000000', 'nada', `${guia}0`]) {
      const { status, body } = await mobile.request('GET', `/guias/${other}`)
      expect([other, status, body.codigo]).toEqual([other, 404, 'guia_desconocida'])
    }
  })
})
