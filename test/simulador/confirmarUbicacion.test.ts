import { ErrorValidacion } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../server/domain/ubicacion/ubicacion.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MASTER_KEY, shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { catchProblema } from '../problema.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { readEventoTypes } from './simulate.ts'

const environment = shareEnvironment()
const secrets = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
/** The link that the guide's newest message carries. */
const linkOf = async (guia: string) => {
  const { rows } = await environment.db.pool.query(
    `select id, kid from mensaje where guia = $1 order by numero desc limit 1`,
    [guia],
  )
  return `${environment.url}/u/${tokenOf(secrets, rows[0].id, rows[0].kid)!.token}`
}
const openReceiver = useReceivers()

describe('confirmar-ubicacion', () => {
  it('without a body is the middle of the declared municipality, as the recipient’s word', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ municipio: 'Chinautla' }))
    const confirmed = await comercio.api.simulador.confirmarUbicacion(guia)
    expect(confirmed.ubicacion).toMatchObject({ estado: 'confirmada', origen: 'destinatario', distancia_km: 0 })
    expect(confirmed.ubicacion.lat).toBeCloseTo(14.7, 0)
    expect(confirmed.secuencia).toBe(3)
    // Again: nothing happens.
    expect(await comercio.api.simulador.confirmarUbicacion(guia)).toEqual(confirmed)
    expect(await readEventoTypes(comercio, guia)).toEqual([
      'guia.aceptado',
      'ubicacion.solicitada',
      'ubicacion.confirmada',
    ])
    expect(await (await fetch(await linkOf(guia))).text()).toContain('Gracias')
  })

  it('is where the recipient says, far or near', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ municipio: 'Chinautla' }))
    const far = await api.simulador.confirmarUbicacion(guia, {
      lat: 15.7,
      lng: -88.6,
      referencia: 'Frente al muelle',
    })
    expect(far.ubicacion).toMatchObject({ lat: 15.7, lng: -88.6, referencia: 'Frente al muelle' })
    expect(far.advertencias).toMatchObject([{ codigo: 'fuera_del_departamento', campo: '/ubicacion' }])
    // The recipient is asked no more, as his page says; the merchant may correct.
    expect(await catchProblema(api.simulador.confirmarUbicacion(guia))).toMatchObject({
      codigo: 'ubicacion_ya_confirmada',
    })
    expect((await api.guias.confirmarUbicacion(guia, { lat: 14.7, lng: -90.5 })).ubicacion.origen).toBe('comercio')
  })

  it('needs a place where the catalogue knows none', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ municipio: 'Villa Inexistente del Monte' }))
    const error = await catchProblema(api.simulador.confirmarUbicacion(guia))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error).toMatchObject({ errores: [{ campo: '/lat', codigo: 'requerido' }] })
    expect((await api.simulador.confirmarUbicacion(guia, { lat: 14.7, lng: -90.5 })).ubicacion.estado).toBe(
      'confirmada',
    )
  })

  it.each(['confirmada', 'vencida', 'fallida'] as const)(
    'drives %s the same every time, at once, and its webhook arrives',
    async (resultado) => {
      const comercio = await environment.createComercio()
      const receptor = await openReceiver()
      await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.*'] })
      const guias = await Promise.all(
        Array.from({ length: 6 }, async () => {
          // Not waiting for the message: whether or not a worker was faster makes no difference.
          const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
          const { ubicacion, secuencia } = await comercio.api.simulador.confirmarUbicacion(guia, { resultado })
          expect([ubicacion.estado, secuencia]).toEqual([resultado, 3])
          return guia
        }),
      )
      await environment.waitForQuiet(comercio)
      const tipos = ['guia.aceptado', 'ubicacion.solicitada', `ubicacion.${resultado}`]
      for (const guia of guias) {
        expect(await readEventoTypes(comercio, guia)).toEqual(tipos)
        expect((await comercio.api.guias.obtener(guia)).ubicacion.estado).toBe(resultado)
        const ubicacionAvisos = await waitUntil(async () => {
          const recibidos = receptor.receivedWebhooks.filter(({ json }) => json.datos.guia.guia === guia)
          return recibidos.length >= 2 && recibidos
        })
        expect(ubicacionAvisos.map(({ json }) => json.tipo).sort()).toEqual(tipos.slice(1).sort())
      }
    },
  )

  it('lets the recipient’s link expire with the request, and a new one confirm', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    // A phone of its own: only so many requests a day go to one.
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ telefono: '+50230001234' }))
    const expired = await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    expect(Date.parse(expired.ubicacion.solicitud!.vence_en!)).toBeLessThanOrEqual(Date.now())
    expect((await fetch(await linkOf(guia))).status).toBe(410)
    expect(await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })).toEqual(expired)
    const impossibleProblema = await catchProblema(api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' }))
    expect([impossibleProblema.estadoHttp, impossibleProblema.codigo]).toEqual([409, 'transicion_invalida'])
    await api.guias.reenviarSolicitud(guia)
    const fallida = await api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' })
    expect(fallida.ubicacion.solicitud).toMatchObject({ estado: 'fallido', numero: 2 })
    expect(await api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' })).toEqual(fallida)
    expect((await catchProblema(api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' }))).codigo).toBe(
      'transicion_invalida',
    )
    await api.guias.reenviarSolicitud(guia)
    expect((await api.simulador.confirmarUbicacion(guia)).ubicacion.estado).toBe('confirmada')
    expect(await readEventoTypes(comercio, guia)).toEqual([
      'guia.aceptado',
      ...['solicitada', 'vencida', 'solicitada', 'fallida', 'solicitada', 'confirmada'].map(
        (kind) => `ubicacion.${kind}`,
      ),
    ])
  })

  it.each([{ lat: 14.6, lng: -90.5 }, { referencia: 'Portón verde' }])(
    'takes no place from somebody who didn’t answer',
    async (place) => {
      const { api } = await environment.createComercio()
      const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
      const error = await catchProblema(api.simulador.confirmarUbicacion(guia, { resultado: 'vencida', ...place }))
      expect(error).toMatchObject({
        estadoHttp: 422,
        errores: Object.keys(place).map((field) => ({ campo: `/${field}`, codigo: 'incompatible' })),
      })
    },
  )

  it('is closed where nobody is asked: confirmed from the start, or over', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (const resultado of ['confirmada', 'vencida', 'fallida'] as const)
      expect((await catchProblema(api.simulador.confirmarUbicacion(guia, { resultado }))).codigo).toBe(
        'ubicacion_ya_confirmada',
      )
    const other = await api.guias.crear(buildGuiaWithoutDestino())
    await api.guias.cancelar(other.guia)
    expect((await catchProblema(api.simulador.confirmarUbicacion(other.guia))).codigo).toBe('ubicacion_cerrada')
  })
})
