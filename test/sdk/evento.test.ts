import type {
  AvanceSimulado,
  Conocido,
  Cuenta,
  Estado,
  Evento,
  GuiaParaCrear,
  Motivo,
  MotivosDeEstado,
  TipoDesconocido,
  WebhookParaCrear,
} from '@guias/sdk'
import { Guias } from '@guias/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { MOTIVOS } from '../../server/generated/contract/vocabulary.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = shareEnvironment()
type OpenUnion<T> = T | (string & Record<never, never>)

/** What is done with an event by its type; it compiles, and each branch has what only its type has. */
function read(evento: Evento): string {
  switch (evento.tipo) {
    case 'guia.aceptado':
      expectTypeOf(evento.estado_anterior).toEqualTypeOf<null>()
      expectTypeOf(evento.estado).toEqualTypeOf<'aceptado'>()
      return 'nueva'
    case 'guia.intento_fallido':
      expectTypeOf(evento).toEqualTypeOf<Evento<'guia.intento_fallido'>>()
      expectTypeOf(evento.motivo).toEqualTypeOf<OpenUnion<MotivosDeEstado['intento_fallido']> | null>()
      expectTypeOf(evento.numero_intento).toEqualTypeOf<number>()
      expectTypeOf(evento.requiere_accion).toEqualTypeOf<boolean>()
      return `intento ${evento.numero_intento.toFixed()} ${evento.motivo} ${evento.requiere_accion}`
    case 'guia.extraviado':
      expectTypeOf(evento.motivo).toEqualTypeOf<OpenUnion<'robo' | 'perdida' | 'destruido' | 'otro'> | null>()
      switch (evento.motivo) {
        case 'robo':
        case 'de_manana':
          return `extraviado: ${evento.motivo}`
        default:
          return 'extraviado'
      }
    case 'guia.escaneo_tardio':
      expectTypeOf(evento.estado_reportado).toEqualTypeOf<Estado>()
      expectTypeOf(evento.motivo).toEqualTypeOf<Motivo | null>()
      return `tarde: ${evento.estado_reportado}`
    case 'guia.entregado':
      expectTypeOf(evento.motivo).toEqualTypeOf<null>()
      return 'entregada'
    // @ts-expect-error a misspelt type is found while compiling
    case 'guia.entregdo':
      return ''
    default:
      expectTypeOf<Evento<TipoDesconocido>>().toExtend<typeof evento>()
      return String(evento.tipo) === 'guia.de_manana' ? `de mañana: ${evento.motivo}` : evento.guia
  }
}

describe('an event', () => {
  it('is told apart by its type, also one of tomorrow (this compiles)', () => {
    const base = { guia: 'G', motivo: null } as const
    const receive = (evento: object) => read({ ...base, ...evento } as never)
    expect(receive({ tipo: 'guia.aceptado' })).toBe('nueva')
    expect(
      receive({ tipo: 'guia.intento_fallido', motivo: 'sin_pago', numero_intento: 2, requiere_accion: true }),
    ).toBe('intento 2 sin_pago true')
    expect(receive({ tipo: 'guia.extraviado', motivo: 'de_manana' })).toBe('extraviado: de_manana')
    expect(receive({ tipo: 'guia.escaneo_tardio', estado_reportado: 'en_bodega' })).toBe('tarde: en_bodega')
    expect(receive({ tipo: 'guia.de_manana', motivo: 'x' })).toBe('de mañana: x')
    expect(receive({ tipo: 'comercio.nuevo' })).toBe('G')
    expectTypeOf<MotivosDeEstado>().toEqualTypeOf<{
      -readonly [E in keyof typeof MOTIVOS]: keyof (typeof MOTIVOS)[E]
    }>()
    expectTypeOf<MotivosDeEstado[keyof MotivosDeEstado]>().toEqualTypeOf<Conocido<Motivo>>()
  })

  it('has what its type says, as the service writes it', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const { guia } = await api.guias.crear(buildGuia())
    const late = new Date(Date.now() - 3_600_000).toISOString()
    const steps: AvanceSimulado[] = [
      { estado: 'recolectado' },
      { tipo: 'guia.nota', descripcion: 'El destinatario pide que llamen antes' },
      { estado: 'en_ruta' },
      { estado: 'intento_fallido', motivo: 'sin_pago' },
      { estado: 'extraviado', motivo: 'robo' },
      { estado: 'en_bodega', ocurrido_en: late },
      { estado: 'en_devolucion', motivo: 'danado' },
      { estado: 'devuelto' },
    ]
    for (const step of steps) await api.simulador.avanzar(guia, step)
    const guiaWithoutPlace = await api.guias.crear(buildGuiaWithoutDestino())
    await environment.waitForQuiet(comercio)
    await api.simulador.confirmarUbicacion(guiaWithoutPlace.guia)
    const eventos = [
      ...(await api.guias.eventos(guia).primeros(100)),
      ...(await api.guias.eventos(guiaWithoutPlace.guia).primeros(100)),
    ]
    const ofTipo = <T extends string>(...tipos: T[]) => tipos as readonly string[]
    for (const evento of eventos) {
      const { tipo } = evento
      const withMotivo = ofTipo('guia.intento_fallido', 'guia.extraviado', 'guia.en_devolucion').includes(tipo)
      expect([tipo, evento.motivo !== null]).toEqual([tipo, withMotivo])
      expect([tipo, evento.estado_anterior === null]).toEqual([tipo, tipo === 'guia.aceptado'])
      expect([tipo, evento.numero_intento !== null, evento.requiere_accion !== null]).toEqual([
        tipo,
        ...Array(2).fill(tipo === 'guia.intento_fallido'),
      ])
      expect([tipo, evento.estado_reportado !== null]).toEqual([tipo, tipo === 'guia.escaneo_tardio'])
      if (`guia.${evento.estado}` !== tipo)
        expect(
          ofTipo(
            'guia.nota',
            'guia.escaneo_tardio',
            'ubicacion.solicitada',
            'ubicacion.confirmada',
            'guia.decision_pendiente',
          ),
        ).toContain(tipo)
    }
    expect(new Set(eventos.map(({ tipo }) => tipo))).toEqual(
      new Set([
        ...['aceptado', 'recolectado', 'nota', 'en_ruta', 'intento_fallido', 'extraviado', 'escaneo_tardio'].map(
          (one) => `guia.${one}`,
        ),
        'guia.decision_pendiente',
        'guia.en_devolucion',
        'guia.devuelto',
        'ubicacion.solicitada',
        'ubicacion.confirmada',
      ]),
    )
  })
})

describe('a vocabulary', () => {
  it('is closed in what is sent and open in what comes (this compiles)', () => {
    const tipos = (api: Guias, estado: Estado, cuenta: Cuenta) => {
      // @ts-expect-error misspelt
      api.guias.listar({ estado: ['en_rutaa'] })
      // @ts-expect-error what comes may be of tomorrow, and is narrowed before it is sent
      api.guias.listar({ estado: [estado] })
      // @ts-expect-error misspelt
      api.eventos.listar({ tipo: ['guia.entregdo'] })
      // @ts-expect-error no such country is served
      api.catalogo.departamentos({ pais: 'ES' })
      // @ts-expect-error misspelt
      api.simulador.avanzar('A', { estado: 'intento_fallido', motivo: 'sin_pagos' })
      api.eventos.listar({ tipo: ['guia.*', 'guia.entregado'] })
      // A value that the compiler doesn't know of compares with what comes.
      if (estado === 'en_luna' || cuenta.pais === 'ES') return
      switch (estado) {
        case 'entregado':
        case 'en_luna':
      }
    }
    expectTypeOf<WebhookParaCrear['tipos']>().not.toExtend<string[] | undefined>
    expectTypeOf<GuiaParaCrear['pais']>().toEqualTypeOf<
      'GT' | 'SV' | 'HN' | 'NI' | 'CR' | 'PA' | 'CO' | 'MX' | undefined
    >()
    expectTypeOf<string & Record<never, never>>().toExtend<Estado>()
    expectTypeOf<string & Record<never, never>>().not.toExtend<Conocido<Estado>>()
    expect([tipos, Guias]).toHaveLength(2)
  })
})
