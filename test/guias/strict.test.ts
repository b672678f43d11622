import { ErrorValidacion, type GuiaIndividual, type LoteParaCrear } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA } from '../factories.ts'

const environment = shareEnvironment()

const POINT_WITHOUT_SIGN = { lat: 14.71889, lng: 90.64417 }
const inAfrica = (cambios: Partial<GuiaIndividual> = {}) => buildGuia({ ...POINT_WITHOUT_SIGN, ...cambios })

/** What a creation is refused for, as [field, code, sentence]. */
const refusal = async (creation: PromiseLike<unknown>) => {
  const error = await Promise.resolve(creation).then(
    () => undefined,
    (fault: unknown) => fault,
  )
  expect(error).toBeInstanceOf(ErrorValidacion)
  return (error as ErrorValidacion).errores.map(({ campo: field, codigo, mensaje }) => [field, codigo, mensaje])
}

async function comercioEstricto() {
  const comercio = await environment.createComercio()
  await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { estricto: true } })
  return comercio
}

const DECLARED_TEXTS = expect.stringMatching(/¿falta el signo − en lng\? Quizá quiso decir 14\.71889, -90\.64417\.$/)
const FALLA = ['/lng', 'lugar_inverosimil', DECLARED_TEXTS]

describe('estricto', () => {
  it('refuses an implausible place, of the guide that says so, and creates nothing', async () => {
    const { api } = await environment.createComercio()
    expect(await refusal(api.guias.crear(inAfrica({ estricto: true })))).toEqual([FALLA])
    expect((await api.guias.listar()).datos).toEqual([])
    expect((await api.guias.crear(inAfrica({ estricto: false }))).advertencias).toHaveLength(1)
    expect((await api.guias.crear(buildGuia({ estricto: true }))).advertencias).toEqual([])
  })

  it.each<[Partial<GuiaIndividual>, string]>([
    [{ lat: 0, lng: 0 }, '/lat'],
    [{ lat: -14.71889, lng: -90.64417 }, '/lat'],
    [{ lat: 16.93, lng: -89.89 }, '/lat'],
    [{ maps_url: 'https://www.google.com/maps?q=14.71889,90.64417' }, '/maps_url'],
    [{ lat: -89.14, lng: 13.71, departamento: 'San Salvador', municipio: 'Soyapango' }, '/lat'],
  ])('names where the place of %o was said', async (place, field) => {
    const { api } = await environment.createComercio()
    const guia = { ...buildGuiaWithoutDestino(), ...place, estricto: true } as GuiaIndividual
    expect(await refusal(api.guias.crear(guia))).toEqual([[field, 'lugar_inverosimil', expect.any(String)]])
  })

  it('refuses nothing else that a guide is warned of', async () => {
    const { api } = await comercioEstricto()
    const doubtfulGuia = buildGuiaWithoutDestino({ telefono: '1111 1111', municipio: 'Vila Nueva' })
    expect((await api.guias.crear(doubtfulGuia)).advertencias).toHaveLength(2)
    // Far from the municipality and still in Petén.
    const lejana = buildGuia({ departamento: 'Petén', municipio: 'Flores', lat: 17.755, lng: -89.92 })
    expect((await api.guias.crear(lejana)).advertencias).toMatchObject([{ codigo: 'ubicacion_lejana' }])
  })

  it('is the account’s where the guide doesn’t say, and the guide’s where it does', async () => {
    const { api } = await comercioEstricto()
    expect(await refusal(api.guias.crear(inAfrica()))).toEqual([FALLA])
    expect((await api.guias.crear(inAfrica({ estricto: false }))).ubicacion.estado).toBe('confirmada')
  })

  it('is in a batch the entry’s, else the batch’s, else the account’s, and fails that entry alone', async () => {
    const guias = [inAfrica(), inAfrica({ estricto: false }), inAfrica({ estricto: true }), buildGuia()]
    const create = async (api: Awaited<ReturnType<typeof comercioEstricto>>['api'], lote: Partial<LoteParaCrear>) => {
      const { resultados } = await api.guias.crearLote({ guias: guias.map((one) => ({ ...one })), ...lote })
      return resultados.map(({ ok }) => ok)
    }
    const flexible = await environment.createComercio()
    expect(await create((await environment.createComercio()).api, {})).toEqual([true, true, false, true])
    expect(await create(flexible.api, { estricto: true })).toEqual([false, true, false, true])
    expect(await create((await comercioEstricto()).api, {})).toEqual([false, true, false, true])
    expect(await create((await comercioEstricto()).api, { estricto: false })).toEqual([true, true, false, true])
    const { resultados } = await flexible.api.guias.crearLote({ guias: [inAfrica()], estricto: true })
    expect(resultados).toMatchObject([
      {
        ok: false,
        error: {
          codigo: 'validacion',
          errores: [{ campo: '/lng', codigo: 'lugar_inverosimil', mensaje: DECLARED_TEXTS }],
        },
      },
    ])
  })

  it('in a batch, when neither true nor false, is a fault of the entries that need it', async () => {
    const { llave } = await environment.createComercio()
    const { recogida: _, ...guiaWithoutRecogida } = buildGuia()
    const body = {
      recogida: RECOGIDA,
      estricto: 'si',
      guias: [guiaWithoutRecogida, { ...buildGuia(), estricto: true }],
    }
    const lote = await environment.request('POST', '/api/v1/guias/bulk', { llave, body })
    expect([lote.status, lote.body.resultados]).toMatchObject([
      200,
      [
        {
          ok: false,
          error: { errores: [{ campo: '/estricto', mensaje: 'en el estricto del lote, debe ser true o false' }] },
        },
        { ok: true },
      ],
    ])
  })

  it('from the account also holds for a place that is confirmed later', async () => {
    const { api } = await comercioEstricto()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    expect(await refusal(api.guias.confirmarUbicacion(guia, POINT_WITHOUT_SIGN))).toEqual([FALLA])
    const maps_url = 'https://www.google.com/maps?q=14.71889,90.64417'
    expect(await refusal(api.guias.confirmarUbicacion(guia, { maps_url }))).toMatchObject([
      ['/maps_url', 'lugar_inverosimil', DECLARED_TEXTS],
    ])
    expect((await api.guias.obtener(guia)).ubicacion.estado).toBe('solicitada')
    expect((await api.guias.confirmarUbicacion(guia, { lat: 14.71889, lng: -90.64417 })).advertencias).toEqual([])
  })

  it('doesn’t undo what was created before: the same guide comes back', async () => {
    const { api } = await environment.createComercio()
    const guia = inAfrica()
    const { guia: codigo } = await api.guias.crear(guia)
    const { datos, repetida } = await api.guias.crear({ ...guia, estricto: true }).conRespuesta()
    expect([datos.guia, repetida]).toEqual([codigo, true])
    const { resultados } = await api.guias.crearLote({ guias: [guia, inAfrica()], estricto: true })
    expect(resultados).toMatchObject([{ ok: true, guia: codigo, repetida: true }, { ok: false }])
  })
})
