import { ErrorConflicto, ErrorValidacion } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { catchProblema } from '../problema.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { moveGuiaTo } from './simulate.ts'

const environment = shareEnvironment()
const openReceiver = useReceivers()
const { createComercio: shop, politica, linkOf, ver, send, mensajes } = useQuestions(environment)
const BY_DESTINATARIO = { estado: 'tomada', accion: 'reintentar', por: 'destinatario' }
const ROSA = { nombre: 'Rosa Caal', donde: 'casa verde de enfrente' }

/** A guide after a failed attempt; by default its recipient is not asked. */
async function fallida(givenComercio?: Awaited<ReturnType<typeof environment.createComercio>>) {
  const comercio = givenComercio ?? (await environment.createComercio())
  const { api } = comercio
  const { guia } = await api.guias.crear(buildGuia())
  await moveGuiaTo(comercio, guia, 'intento_fallido')
  return {
    comercio,
    api,
    guia,
    read: () => api.guias.obtener(guia, { limite: 100 }),
    /** The last events, as a courier's page or a webhook would tell them. */
    ultimos: async (count: number) => (await api.guias.eventos(guia)).datos.slice(-count),
  }
}
const problema = async (sentRequest: PromiseLike<unknown>) => {
  const error = await catchProblema(sentRequest)
  return [error.estadoHttp, error.codigo]
}

describe('decidir', () => {
  it('asks for another day, whether or not the merchant lets recipients decide', async () => {
    const { api, guia, read, ultimos } = await fallida()
    const { fecha_desde, vence_en } = (await read()).decision!
    const fecha = addDays(fecha_desde!, 2)
    expect(await api.simulador.decidir(guia, { eleccion: 'otro_dia', fecha })).toMatchObject({
      estado: 'intento_fallido',
      decision: { ...BY_DESTINATARIO, fecha, franja: null, vence_en },
    })
    const [tomada] = await ultimos(1)
    expect(tomada).toMatchObject({
      tipo: 'guia.decision_tomada',
      descripcion: 'El destinatario pidió otro día',
      decision: BY_DESTINATARIO,
    })
    expect(await mensajes(guia)).toEqual([])
  })

  it('does what the page of the link does, and the link then shows it', async () => {
    const comercio = await shop()
    const [simulada, realOne] = [await fallida(comercio), await fallida(comercio)]
    await simulada.api.simulador.decidir(simulada.guia, { eleccion: 'vecino', vecino: ROSA })
    await environment.waitForQuiet(comercio)
    expect((await send(await linkOf(realOne.guia), { eleccion: 'vecino', ...ROSA })).status).toBe(303)
    const [one, other] = [await simulada.read(), await realOne.read()]
    const message = ({ datos }: typeof one.eventos) =>
      datos.map(({ tipo, descripcion, motivo, campos: fields, decision }) => [
        tipo,
        descripcion,
        motivo,
        fields,
        decision && { ...decision, vence_en: null },
      ])
    expect(message(one.eventos)).toEqual(message(other.eventos))
    expect([one.indicaciones, one.secuencia]).toEqual([other.indicaciones, other.secuencia])
    expect(one.indicaciones).toBe('Dejar con un vecino: Rosa Caal, casa verde de enfrente')
    // The message left before, so the mailbox has it.
    expect((await mensajes(simulada.guia)).map(({ estado }) => estado)).toEqual(['enviado'])
    expect((await ver(await linkOf(simulada.guia))).html).toContain('Lo dejamos con su vecino')
  })

  it.each([
    [
      { lat: 14.6301, lng: -90.6071, referencia: 'Portón  negro' },
      { lat: 14.6301, maps_url: null },
    ],
    [{ maps_url: 'https://www.google.com/maps?q=14.6301,-90.6071' }, { lat: 14.6301, lng: -90.6071 }],
    [{ referencia: 'Aldea El Carmen, casa azul' }, { lat: null, referencia: 'Aldea El Carmen, casa azul' }],
    [
      { lat: 16.93, lng: -89.89 },
      { lat: 16.93, lng: -89.89 },
    ],
  ])('takes it to another place: %o', async (place, ubicacion) => {
    const { api, guia, ultimos } = await fallida()
    const relocation = await api.simulador.decidir(guia, { eleccion: 'otro_lugar', lugar: place })
    expect(relocation).toMatchObject({
      decision: BY_DESTINATARIO,
      ubicacion: { estado: 'confirmada', origen: 'destinatario', ...ubicacion },
    })
    expect((await ultimos(2)).map(({ tipo }) => tipo)).toEqual(['ubicacion.confirmada', 'guia.decision_tomada'])
  })

  it('refuses the parcel, which returns, and the webhooks arrive', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['guia.decision_tomada', 'guia.en_devolucion'] })
    const { api, guia } = await fallida(comercio)
    expect(await api.simulador.decidir(guia, { eleccion: 'rechazo' })).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'destinatario' },
    })
    const avisos = await waitUntil(async () => receptor.receivedWebhooks.length >= 2 && receptor.receivedWebhooks)
    const eventos = avisos.map(({ json }) => json.datos.evento).sort((a, b) => a.secuencia - b.secuencia)
    expect(eventos).toMatchObject([
      { tipo: 'guia.decision_tomada', descripcion: 'El destinatario no lo quiere' },
      { tipo: 'guia.en_devolucion', motivo: 'destinatario_rechaza' },
    ])
  })

  it('takes the first decision alone', async () => {
    const { comercio, api, guia, read } = await fallida()
    await api.simulador.decidir(guia, { eleccion: 'otro_dia' })
    for (const eleccion of ['otro_dia', 'rechazo', 'ninguna'] as const) {
      const error = await catchProblema(api.simulador.decidir(guia, { eleccion }))
      expect(error).toBeInstanceOf(ErrorConflicto)
      expect([error.codigo, (error as ErrorConflicto).decision]).toMatchObject(['decision_tomada', BY_DESTINATARIO])
    }
    expect(await problema(api.guias.devolver(guia, { razon: 'x' }))).toEqual([409, 'decision_tomada'])
    const other = await fallida(comercio)
    await api.guias.reintentar(other.guia)
    expect(await problema(api.simulador.decidir(other.guia, { eleccion: 'rechazo' }))).toEqual([409, 'decision_tomada'])
    // What was carried out leaves nothing to decide.
    await api.simulador.avanzar(guia, { estado: 'en_ruta' })
    const { secuencia } = await read()
    expect(await problema(api.simulador.decidir(guia, { eleccion: 'rechazo' }))).toEqual([409, 'decision_no_admitida'])
    expect((await read()).secuencia).toBe(secuencia)
  })

  it.each(['recolectado', 'en_ruta', 'entregado', 'en_devolucion'] as const)(
    'returns 409 where nothing is to be decided: %s',
    async (estado) => {
      const comercio = await environment.createComercio()
      const { guia } = await comercio.api.guias.crear(buildGuia())
      await moveGuiaTo(comercio, guia, estado)
      const { secuencia } = await comercio.api.guias.obtener(guia)
      for (const eleccion of ['otro_dia', 'rechazo', 'ninguna'] as const)
        expect(await catchProblema(comercio.api.simulador.decidir(guia, { eleccion }))).toMatchObject({
          estadoHttp: 409,
          codigo: 'decision_no_admitida',
          estado,
          opciones: [],
        })
      expect((await comercio.api.guias.obtener(guia)).secuencia).toBe(secuencia)
    },
  )

  it('decides nothing about a lost parcel, and no attempt after the last one', async () => {
    const { api, guia, read } = await fallida()
    await api.simulador.avanzar(guia, { estado: 'extraviado', motivo: 'perdida' })
    expect(await problema(api.simulador.decidir(guia, { eleccion: 'otro_dia' }))).toEqual([409, 'decision_no_admitida'])
    expect((await read()).decision).toMatchObject({ estado: 'pendiente' })
    const comercio = await environment.createComercio()
    await politica(comercio, { maximos: 1, al_vencer: 'esperar' })
    const last = await fallida(comercio)
    const error = await catchProblema(comercio.api.simulador.decidir(last.guia, { eleccion: 'vecino', vecino: ROSA }))
    expect(error).toMatchObject({ codigo: 'decision_no_admitida', opciones: ['devolver'] })
    expect((await last.read()).indicaciones).toBeNull()
    const rechazada = await comercio.api.simulador.decidir(last.guia, { eleccion: 'rechazo' })
    expect(rechazada.estado).toBe('en_devolucion')
  })

  it.each<[object, string, string]>([
    [{}, '/eleccion', 'requerido'],
    [{ eleccion: 'devolver' }, '/eleccion', 'valor_no_admitido'],
    [{ eleccion: 'otro_lugar' }, '/lugar', 'requerido'],
    [{ eleccion: 'otro_lugar', lugar: {} }, '/lugar', 'incompatible'],
    [{ eleccion: 'otro_lugar', lugar: { lat: 14.6 } }, '/lugar/lng', 'incompatible'],
    [
      { eleccion: 'otro_lugar', lugar: { maps_url: 'https://tienda.ejemplo.com' } },
      '/lugar/maps_url',
      'formato_invalido',
    ],
    [{ eleccion: 'vecino' }, '/vecino', 'requerido'],
    [{ eleccion: 'vecino', vecino: { nombre: '7' } }, '/vecino/nombre', 'formato_invalido'],
    [{ eleccion: 'otro_dia', vecino: ROSA }, '/vecino', 'incompatible'],
    [{ eleccion: 'vecino', vecino: ROSA, lugar: { referencia: 'x' } }, '/lugar', 'incompatible'],
    [{ eleccion: 'rechazo', fecha: '2026-12-01' }, '/fecha', 'incompatible'],
    [{ eleccion: 'ninguna', fecha: '2026-12-01' }, '/fecha', 'incompatible'],
    [{ eleccion: 'otro_dia', fecha: '2026-02-30' }, '/fecha', 'formato_invalido'],
    [{ eleccion: 'otro_dia', fecha: '2020-01-01' }, '/fecha', 'fuera_de_rango'],
  ])('returns 422 for %o', async (decision, field, codigo) => {
    const { api, guia, read } = await fallida()
    const error = await catchProblema(api.simulador.decidir(guia, decision as never))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error).toMatchObject({
      errores: expect.arrayContaining([expect.objectContaining({ campo: field, codigo })]),
    })
    expect((await read()).decision).toMatchObject({ estado: 'pendiente' })
  })

  it('takes one of many decisions at once', async () => {
    const { api, guia, read } = await fallida()
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, () => api.simulador.decidir(guia, { eleccion: 'otro_dia' })),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const tipos = (await read()).eventos.datos.map(({ tipo }) => tipo)
    expect(tipos.filter((tipo) => tipo === 'guia.decision_tomada')).toHaveLength(1)
  })
})

describe('decidir, if nobody does', () => {
  it('returns the parcel now, as the policy says, and once', async () => {
    const comercio = await shop()
    const { api, guia, read, ultimos } = await fallida(comercio)
    const returningGuia = await api.simulador.decidir(guia, { eleccion: 'ninguna' })
    expect(returningGuia).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'politica' },
    })
    expect(Date.parse(returningGuia.decision!.vence_en!)).toBeLessThanOrEqual(environment.clock().getTime())
    const [tomada, returnEvento] = await ultimos(2)
    expect([tomada!.descripcion, returnEvento!.tipo, returnEvento!.motivo]).toEqual([
      'Nadie decidió a tiempo qué hacer con el paquete',
      'guia.en_devolucion',
      'sin_decision',
    ])
    expect(await api.simulador.decidir(guia, { eleccion: 'ninguna' })).toEqual(returningGuia)
    await environment.waitForQuiet(comercio)
    expect((await read()).secuencia).toBe(returningGuia.secuencia)
    expect((await ver(await linkOf(guia))).html).toContain('Nadie decidió a tiempo')
  })

  it('waits with a policy that waits: the link ends, and the merchant may still decide', async () => {
    const comercio = await shop({ al_vencer: 'esperar' })
    const { api, guia, read } = await fallida(comercio)
    const expired = await api.simulador.decidir(guia, { eleccion: 'ninguna' })
    expect(expired).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente', por: null } })
    expect(await read()).toMatchObject({ decision: expired.decision })
    expect(await api.simulador.decidir(guia, { eleccion: 'ninguna' })).toEqual(expired)
    expect((await ver(await linkOf(guia))).status).toBe(410)
    const { rows } = await environment.db.pool.query(
      'select l.vence_en from enlace_ubicacion l join guia g on g.id = l.guia_id where g.guia = $1',
      [guia],
    )
    expect(rows).toEqual([{ vence_en: new Date(expired.decision!.vence_en!) }])
    expect(await problema(api.simulador.decidir(guia, { eleccion: 'otro_dia' }))).toEqual([409, 'decision_no_admitida'])
    expect((await api.guias.reintentar(guia)).decision).toMatchObject({ estado: 'tomada', por: 'comercio' })
  })

  it('ends the wait for a lost parcel, which returns when it is found', async () => {
    const { api, guia } = await fallida()
    await api.simulador.avanzar(guia, { estado: 'extraviado', motivo: 'perdida' })
    expect(await api.simulador.decidir(guia, { eleccion: 'ninguna' })).toMatchObject({
      estado: 'extraviado',
      decision: { estado: 'tomada', por: 'politica' },
    })
    expect(await api.simulador.avanzar(guia, { estado: 'en_bodega' })).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada' },
    })
  })
})
