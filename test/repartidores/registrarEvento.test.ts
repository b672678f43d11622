import { describe, expect, it } from 'vitest'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'

const { environment, ago: hace, ver, eventos } = useDispatch()

describe('POST /repartidor/v1/guias/{guia}/eventos', () => {
  it('registers in the courier’s name what happened, when it happened', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await mobile.registrar(guia, { estado: 'recolectado', ocurrido_en: hace(0), idempotencia: key() })
    const moment = hace(-1)
    const { status, body } = await mobile.registrar(guia, {
      estado: 'en_ruta',
      ocurrido_en: moment,
      lat: 14.7,
      lng: -90.6,
      idempotencia: key(),
    })
    expect([status, body]).toMatchObject([201, { estado: 'en_ruta', ocurrido_en: moment, aplicado: true }])
    const fallido = await mobile.registrar(guia, {
      estado: 'intento_fallido',
      motivo: 'destinatario_ausente',
      ocurrido_en: hace(-2),
      idempotencia: key(),
    })
    expect(fallido.body).toMatchObject({ numero_intento: 1, requiere_accion: false })
    expect(await ver(guia)).toMatchObject({ estado: 'intento_fallido', intentos: 1, secuencia: 5 })
    const autores = (await eventos(guia)).map(({ autor }) => autor)
    expect(autores).toEqual([null, ...Array(4).fill(mobile.repartidor)])
    expect((await comercio.api.guias.obtener(guia)).estado).toBe('intento_fallido')
    const [intento] = (await comercio.api.guias.intentos(guia)).datos
    expect(intento!.repartidor).toEqual({ repartidor: mobile.repartidor, nombre: 'Carlos Méndez' })
  })

  it('does not do what is not a courier’s', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
    await mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })
    const faltas = async (body: object) => {
      const response = await mobile.registrar(guia, { idempotencia: key(), ...body })
      expect(response.status).toBe(422)
      return response.body.errores
    }
    expect(await faltas({ estado: 'en_ruta', forzar: { razon: 'Me urge' } })).toMatchObject([{ campo: '/forzar' }])
    expect(await faltas({ estado: 'entregado' })).toMatchObject([
      { campo: '/estado', mensaje: expect.stringContaining('/entrega') },
    ])
    expect(await faltas({ estado: 'en_devolucion', motivo: 'robo' })).toMatchObject([{ campo: '/motivo' }])
    expect(await faltas({ estado: 'en_bodega', autor: 'rep_000000000000' })).toMatchObject([{ codigo: 'desconocido' }])
    const responseWithoutKey = await mobile.registrar(guia, { estado: 'en_bodega' })
    expect(responseWithoutKey.body.errores).toMatchObject([{ campo: '/idempotencia', codigo: 'requerido' }])
    const guiaWithoutPlace = await mobile.registrar(guia, { estado: 'en_ruta', idempotencia: key() })
    expect([guiaWithoutPlace.status, guiaWithoutPlace.body.codigo]).toEqual([409, 'ubicacion_sin_confirmar'])
    expect(guiaWithoutPlace.body.mensaje).toContain('central')
    const cancelled = await mobile.registrar(guia, { estado: 'cancelado', idempotencia: key() })
    expect([cancelled.status, cancelled.body.codigo]).toEqual([409, 'transicion_invalida'])
    expect(await ver(guia)).toMatchObject({ estado: 'recolectado' })
  })

  it('tells a wrong clock so that the phone can show it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { status, body } = await mobile.registrar(guia, {
      estado: 'recolectado',
      ocurrido_en: hace(-6),
      idempotencia: key(),
    })
    expect([status, body.errores]).toEqual([
      422,
      [
        {
          campo: '/ocurrido_en',
          codigo: 'fuera_de_rango',
          mensaje: expect.stringMatching(/5 minutos en el futuro; revise el reloj/),
        },
      ],
    ])
  })

  it('notes down what comes late, and moves nothing back', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_transito'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    const { status, body } = await mobile.registrar(guia, {
      estado: 'en_bodega',
      ocurrido_en: hace(30),
      idempotencia: key(),
    })
    expect([status, body]).toMatchObject([
      201,
      { tipo: 'guia.escaneo_tardio', estado: 'en_transito', estado_reportado: 'en_bodega', aplicado: false },
    ])
    expect((await ver(guia)).estado).toBe('en_transito')
  })

  it('is one event, however often and at once it is sent; another of the same key is a conflict', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const idempotencia = key()
    const accion = { estado: 'recolectado', ocurrido_en: hace(0), idempotencia }
    const seen = await Promise.all(Array.from({ length: 20 }, () => mobile.registrar(guia, accion)))
    expect(seen.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    const repeated = await mobile.registrar(guia, accion)
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    for (const { body } of seen) expect(body).toEqual(repeated.body)
    expect(await eventos(guia)).toHaveLength(2)
    // Also once the guide has gone on.
    await mobile.registrar(guia, { estado: 'en_ruta', idempotencia: key() })
    expect((await mobile.registrar(guia, accion)).body).toEqual(repeated.body)
    const other = await mobile.registrar(guia, { ...accion, estado: 'en_bodega' })
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect(await eventos(guia)).toHaveLength(3)
  })
})
