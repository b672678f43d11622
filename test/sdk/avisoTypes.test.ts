import type { IncomingMessage } from 'node:http'
import {
  type AvisoDeDeshabilitado,
  type AvisoDeGuia,
  type AvisoDePrueba,
  type AvisoDesconocido,
  type AvisoDeWebhook,
  type AvisoDeWebhookConIntentos,
  type CabecerasRecibidas,
  type CuerpoDeAviso,
  type EnsayoDeRecuperacion,
  type Evento,
  firmarWebhook,
  type GuiaDeAviso,
  Guias,
  type Listado,
  type Recuperacion,
  type RecuperacionParaCrear,
  type Solicitud,
  verificarWebhook,
  type Webhook,
  type WebhookConSecreto,
} from '@guias/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { AVISO, ID, SECRETO } from './signatures.ts'

describe('types', () => {
  const read = (aviso: CuerpoDeAviso): string => {
    switch (aviso.tipo) {
      case 'guia.entregado':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeGuia<'guia.entregado'>>()
        expectTypeOf(aviso.datos.guia).toEqualTypeOf<GuiaDeAviso>()
        expectTypeOf(aviso.datos.evento).toEqualTypeOf<Evento<'guia.entregado'>>()
        // @ts-expect-error a guide's notice has no webhook
        aviso.datos.webhook
        return aviso.datos.guia.guia
      case 'guia.intento_fallido':
        expectTypeOf(aviso.datos.evento.numero_intento).toEqualTypeOf<number>()
        return String(aviso.datos.evento.motivo)
      case 'webhook.prueba':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDePrueba>()
        expectTypeOf(aviso.datos.webhook).toEqualTypeOf<Webhook>()
        // @ts-expect-error nor has the trial a guide
        aviso.datos.guia
        return aviso.datos.webhook.webhook
      case 'webhook.deshabilitado':
        expectTypeOf(aviso).toEqualTypeOf<AvisoDeDeshabilitado>()
        return aviso.datos.webhook.url
      // @ts-expect-error a misspelt type is found while compiling
      case 'guia.entregdo':
        return ''
      // @ts-expect-error of whatever family
      case 'webhok.prueba':
        return ''
      default:
        expectTypeOf<AvisoDesconocido>().toExtend<typeof aviso>()
        // @ts-expect-error nobody knows what comes with it
        aviso.datos.guia
        // A type that this version doesn't know is compared as text.
        if (String(aviso.tipo) === 'guia.de_manana' && 'guia' in aviso.datos) return aviso.datos.evento.id
        return `otro ${aviso.tipo}`
    }
  }
  const byForma = (aviso: CuerpoDeAviso) => {
    if ('guia' in aviso.datos) {
      expectTypeOf(aviso.datos.guia).toEqualTypeOf<GuiaDeAviso>()
      return aviso.datos.evento.secuencia
    }
    if ('webhook' in aviso.datos) {
      expectTypeOf(aviso.datos.webhook).toEqualTypeOf<Webhook>()
      return aviso.datos.webhook.estado
    }
    expectTypeOf(aviso.datos).toEqualTypeOf<object>()
    return undefined
  }

  it('tipo tells what comes with it, although new ones may come (this compiles)', async () => {
    const receive = async (tipo: string, datos: object) => {
      const body = JSON.stringify({ id: ID, tipo, creado_en: '', datos })
      return verificarWebhook(body, await firmarWebhook(body, { id: ID, secreto: SECRETO }), SECRETO)
    }
    const guia = { guia: { guia: 'G' }, evento: { id: 'E', secuencia: 3 } }
    const webhook = { webhook: { webhook: 'W', url: 'U', estado: 'activo' } }
    expect(read(await receive('guia.entregado', guia))).toBe('G')
    expect(read(await receive('guia.de_manana', guia))).toBe('E')
    expect(read(await receive('webhook.prueba', webhook))).toBe('W')
    expect(read(await receive('webhook.deshabilitado', webhook))).toBe('U')
    expect(read(await receive('comercio.nuevo', {}))).toBe('otro comercio.nuevo')
    expect([guia, webhook, {}].map((datos) => byForma({ tipo: 'x', datos } as never))).toEqual([3, 'activo', undefined])
  })

  it('match the arguments and results of the methods (this compiles)', () => {
    const api = new Guias({ llave: 'guia_test_x' })
    expectTypeOf(verificarWebhook).returns.toEqualTypeOf<Promise<CuerpoDeAviso>>()
    expectTypeOf(api.webhooks.crear).returns.toEqualTypeOf<Solicitud<WebhookConSecreto>>()
    expectTypeOf(api.webhooks.eliminar).returns.toEqualTypeOf<Solicitud<void>>()
    expectTypeOf(api.webhooks.recuperar).returns.toEqualTypeOf<Solicitud<Recuperacion>>()
    expectTypeOf(api.webhooks.ensayarRecuperacion).returns.toEqualTypeOf<Solicitud<EnsayoDeRecuperacion>>()
    expectTypeOf(api.webhooks.avisos).returns.toExtend<Listado<AvisoDeWebhook>>()
    expectTypeOf(api.webhooks.obtenerAviso).returns.toEqualTypeOf<Solicitud<AvisoDeWebhookConIntentos>>()
    const withTrial = { desde: '2026-11-20T15:00:00Z', ensayo: true }
    // @ts-expect-error a rehearsal is asked for by name, also when the data come in a variable
    const bad: RecuperacionParaCrear = withTrial
    // @ts-expect-error the parsed body is not the body
    const body: Parameters<typeof verificarWebhook>[0] = AVISO
    expectTypeOf<IncomingMessage['headers']>().toExtend<CabecerasRecibidas>()
    expectTypeOf<Headers>().toExtend<CabecerasRecibidas>()
    expect([bad, body]).toHaveLength(2)
  })
})
