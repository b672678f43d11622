import { hash } from 'node:crypto'
import { ErrorConflicto, ErrorValidacion } from '@guias/sdk'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { MOTIVOS } from '../../server/generated/contract/vocabulary.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { catchProblema } from '../problema.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import {
  ALL_ESTADOS,
  type Estado,
  findPathTo,
  findReason,
  moveGuiaTo,
  type SimulatorEstado,
  simulateStep,
  transiciones,
} from './simulate.ts'

const environment = shareEnvironment()
const openReceiver = useReceivers()
const DE_REPARTO = Object.entries(MOTIVOS).filter(([estado]) => estado !== 'cancelado')
const MOTIVO_CASES = DE_REPARTO.flatMap(([estado, motivos]) =>
  Object.entries<{ requiere_accion: boolean }>(motivos).map(
    ([motivo, { requiere_accion }]) => [estado as Estado, motivo as never, requiere_accion] as const,
  ),
)

describe('avanzar', () => {
  it.each(ALL_ESTADOS)('from %s: goes where the machine says, and nowhere else', async (estado) => {
    const comercio = await environment.createComercio()
    const fresh = async () => {
      const { guia } = await comercio.api.guias.crear(buildGuia())
      await moveGuiaTo(comercio, guia, estado)
      return guia
    }
    const quieta = await fresh()
    const { secuencia } = await comercio.api.guias.obtener(quieta)
    const admitidos = transiciones[estado]!.filter((other) => other !== 'cancelado')
    for (const other of ALL_ESTADOS) {
      if (admitidos.some((one) => one === other)) {
        const relocation = await comercio.api.simulador.avanzar(await fresh(), {
          estado: other as SimulatorEstado,
          motivo: findReason(other),
        })
        // A failed attempt also opens a decision, with an event of its own.
        const eventos = other === 'intento_fallido' ? 2 : 1
        expect(relocation).toMatchObject({ estado: other, secuencia: secuencia + eventos, modo: 'test' })
      } else {
        const error = await catchProblema(
          comercio.api.simulador.avanzar(quieta, { estado: other as SimulatorEstado, motivo: findReason(other) }),
        )
        expect(error).toBeInstanceOf(ErrorConflicto)
        expect([other, error.codigo, error.transiciones ?? []]).toEqual([other, 'transicion_invalida', admitidos])
      }
    }
    expect(await comercio.api.guias.obtener(quieta)).toMatchObject({ estado, secuencia })
  })

  it('writes what an operator’s scan would, and the webhooks arrive', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url })
    const { guia } = await comercio.api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta'] as const) await comercio.api.simulador.avanzar(guia, { estado })
    const descripcion = 'No había nadie; se dejó aviso'
    const afterStep = await comercio.api.simulador.avanzar(guia, {
      estado: 'intento_fallido',
      motivo: 'direccion_incorrecta',
      descripcion,
    })
    expect(afterStep).toMatchObject({ guia, estado: 'intento_fallido', intentos: 1, secuencia: 5 })
    await comercio.api.simulador.avanzar(guia, { estado: 'en_ruta' })
    await comercio.api.simulador.avanzar(guia, { estado: 'entregado' })
    const { datos } = await comercio.api.guias.eventos(guia)
    expect(datos[3]).toMatchObject({
      tipo: 'guia.intento_fallido',
      motivo: 'direccion_incorrecta',
      descripcion,
      numero_intento: 1,
      requiere_accion: true,
    })
    const tipos = [
      'aceptado',
      'recolectado',
      'en_ruta',
      'intento_fallido',
      'decision_pendiente',
      'en_ruta',
      'entregado',
    ].map((e) => `guia.${e}`)
    expect(datos.map(({ tipo }) => tipo)).toEqual(tipos)
    const recibidos = await waitUntil(async () => receptor.receivedWebhooks.length >= 7 && receptor.receivedWebhooks)
    const bySecuencia = recibidos.map(({ json }) => json.datos.evento).sort((a, b) => a.secuencia - b.secuencia)
    expect(bySecuencia).toEqual(datos)
  })

  it.each(MOTIVO_CASES)('%s for %s: with what the merchant has to do', async (estado, motivo, requiere_accion) => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const route = findPathTo(estado)
    for (const other of route.slice(0, -1)) await simulateStep(comercio, guia, other)
    expect(await comercio.api.simulador.avanzar(guia, { estado: estado as SimulatorEstado, motivo })).toMatchObject({
      estado,
    })
    const { datos } = await comercio.api.guias.eventos(guia)
    const evento = datos.findLast(({ tipo }) => tipo !== 'guia.decision_pendiente')!
    expect(evento).toMatchObject({ tipo: `guia.${estado}`, motivo })
    if (estado === 'intento_fallido') expect(evento.requiere_accion).toBe(requiere_accion)
  })

  it('delivers with a sample proof, which reads as a real one does', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    for (const place of [
      { lat: 14.71889, lng: -90.64417 },
      { lat: -33.45, lng: -70.66 },
      { lat: 90, lng: 0 },
    ]) {
      const { guia } = await api.guias.crear(buildGuia(place))
      await moveGuiaTo(comercio, guia, 'en_ruta')
      expect(await catchProblema(api.guias.pruebaEntrega(guia))).toMatchObject({ codigo: 'prueba_no_disponible' })
      await api.simulador.avanzar(guia, { estado: 'entregado', descripcion: 'Entregado en recepción' })
      const prueba = await api.guias.pruebaEntrega(guia)
      expect(prueba).toMatchObject({
        recibido_por: { nombre: 'Persona de prueba', documento: null, relacion: 'destinatario' },
        lat: expect.closeTo(place.lat, 3),
        lng: place.lng,
        precision_m: 8,
        distancia_m: 11,
        fotos: [{ tipo: 'foto', mime: 'image/jpeg', ancho: 1_280, alto: 960, capturado_en: prueba.entregado_en }],
        firma: { tipo: 'firma', mime: 'image/png', ancho: 800, alto: 300, capturado_en: null },
      })
      const evento = (await api.guias.eventos(guia)).datos.at(-1)
      expect(evento).toMatchObject({
        tipo: 'guia.entregado',
        descripcion: 'Entregado en recepción',
        ocurrido_en: prueba.entregado_en,
        lat: prueba.lat,
        lng: prueba.lng,
      })
      for (const { url, sha256, ancho, alto } of [...prueba.fotos, prueba.firma!]) {
        const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
        expect(hash('sha256', bytes)).toBe(sha256)
        // What an upload would have left, and no other size than is said.
        const read = await sharp(bytes).metadata()
        expect([read.width, read.height, read.exif, read.icc]).toEqual([ancho, alto, undefined, undefined])
      }
    }
  })

  it.each(['no_puede_firmar', 'se_nego', 'sin_contacto'] as const)(
    'delivers without a signature, and the proof says %s',
    async (noFirmaReason) => {
      const comercio = await environment.createComercio()
      await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, { evidencia: { firma: 'obligatoria' } })
      const { guia } = await comercio.api.guias.crear(buildGuia())
      await moveGuiaTo(comercio, guia, 'en_ruta')
      const fault = await catchProblema(
        comercio.api.simulador.avanzar(guia, { estado: 'intento_fallido', sin_firma: noFirmaReason }),
      )
      expect(fault).toMatchObject({ estadoHttp: 422, errores: [{ campo: '/sin_firma', codigo: 'incompatible' }] })
      await comercio.api.simulador.avanzar(guia, { estado: 'entregado', sin_firma: noFirmaReason })
      expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({
        firma: null,
        sin_firma: noFirmaReason,
        fotos: [{ tipo: 'foto' }],
        evidencia: { firma: 'obligatoria', faltas: [] },
      })
    },
  )

  it('gives no reason for a signature that the merchant does not admit', async () => {
    const comercio = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, { evidencia: { firma: 'no' } })
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await moveGuiaTo(comercio, guia, 'en_ruta')
    const fault = await catchProblema(
      comercio.api.simulador.avanzar(guia, { estado: 'entregado', sin_firma: 'se_nego' }),
    )
    expect(fault).toMatchObject({ estadoHttp: 422, errores: [{ campo: '/sin_firma', codigo: 'incompatible' }] })
    expect((await comercio.api.guias.obtener(guia)).estado).toBe('en_ruta')
  })

  it('delivers somewhere else without a place, and nowhere where there is none', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const linkWithoutCoordinates = { maps_url: 'https://www.google.com/maps/place/Mixco' }
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ municipio: 'Mixco', ...linkWithoutCoordinates }))
    await moveGuiaTo(comercio, guia, 'entregado')
    expect(await api.guias.pruebaEntrega(guia)).toMatchObject({ lat: expect.closeTo(14.63, 1), distancia_m: null })
    const other = await api.guias.crear(
      buildGuiaWithoutDestino({ municipio: 'Villa Inexistente del Monte', ...linkWithoutCoordinates }),
    )
    await moveGuiaTo(comercio, other.guia, 'entregado')
    expect(await api.guias.pruebaEntrega(other.guia)).toMatchObject({ lat: null, lng: null, precision_m: null })
  })

  it('fails with a sample photo', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await moveGuiaTo(comercio, guia, 'intento_fallido')
    const [intento, ...remainder] = (await comercio.api.guias.intentos(guia)).datos
    expect([remainder, intento]).toMatchObject([[], { numero_intento: 1, fotos: [{ ancho: 1_280, alto: 960 }] }])
    expect((await fetch(intento!.fotos[0]!.url)).status).toBe(200)
  })

  it('writes a note where the guide is, and its webhook arrives', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['guia.nota'] })
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const descripcion = 'El destinatario pide que llamen antes'
    expect(await comercio.api.simulador.avanzar(guia, { tipo: 'guia.nota', descripcion })).toMatchObject({
      estado: 'aceptado',
      secuencia: 2,
    })
    const [aviso] = await waitUntil(async () => receptor.receivedWebhooks.length > 0 && receptor.receivedWebhooks)
    expect(aviso!.json).toMatchObject({ tipo: 'guia.nota', datos: { evento: { descripcion } } })
  })

  it('notes a late scan and leaves the guide where it is', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const ocurrido_en = new Date(Date.now() - 3_600_000).toISOString()
    expect(await api.simulador.avanzar(guia, { estado: 'en_bodega', ocurrido_en })).toMatchObject({
      estado: 'recolectado',
      secuencia: 3,
    })
    expect((await api.guias.eventos(guia)).datos.at(-1)).toMatchObject({
      tipo: 'guia.escaneo_tardio',
      estado_reportado: 'en_bodega',
      ocurrido_en,
    })
  })

  it('sends nobody out to a place that isn’t confirmed, and says what to do', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const error = await catchProblema(api.simulador.avanzar(guia, { estado: 'en_ruta' }))
    expect(error).toMatchObject({
      codigo: 'ubicacion_sin_confirmar',
      message: expect.stringContaining('Confírmela antes con confirmar-ubicacion, del simulador.'),
    })
    await api.simulador.confirmarUbicacion(guia)
    expect((await api.simulador.avanzar(guia, { estado: 'en_ruta' })).estado).toBe('en_ruta')
  })

  it.each<[string, object, string]>([
    ['a reason of another state', { estado: 'recolectado', motivo: 'robo' }, '/motivo'],
    [
      'the future',
      { estado: 'recolectado', ocurrido_en: new Date(Date.now() + 3_600_000).toISOString() },
      '/ocurrido_en',
    ],
    ['neither a state nor a note', { descripcion: 'x' }, ''],
    ['both', { estado: 'recolectado', tipo: 'guia.nota', descripcion: 'x' }, ''],
    ['a note that says nothing', { tipo: 'guia.nota' }, '/descripcion'],
    ['a note with a reason', { tipo: 'guia.nota', descripcion: 'x', motivo: 'robo' }, '/motivo'],
    ['an operator’s force', { estado: 'en_ruta', forzar: { razon: 'porque sí' } }, '/forzar'],
    ['why a failed attempt has no signature', { estado: 'recolectado', sin_firma: 'se_nego' }, '/sin_firma'],
    ['why a note has none', { tipo: 'guia.nota', descripcion: 'x', sin_firma: 'se_nego' }, '/sin_firma'],
    ['a reason that nobody knows', { estado: 'entregado', sin_firma: 'prisa' }, '/sin_firma'],
    ['a state that doesn’t exist', { estado: 'volando' }, '/estado'],
  ])('refuses %s', async (_description, cambio, field) => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const error = await catchProblema(api.simulador.avanzar(guia, cambio as never))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error).toMatchObject({ errores: expect.arrayContaining([expect.objectContaining({ campo: field })]) })
    expect((await api.guias.obtener(guia)).secuencia).toBe(1)
  })

  it('writes every one of many at once, or says that it didn’t', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, () => api.simulador.avanzar(guia, { estado: 'recolectado' })),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await api.guias.obtener(guia)).secuencia).toBe(2)
  })
})
