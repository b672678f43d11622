import { ErrorValidacion, type ResultadoFallido } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, lote100, RECOGIDA } from '../factories.ts'

const environment = shareEnvironment()

const guiaWithoutRecogida = () => {
  const { recogida, ...rest } = buildGuia()
  return rest
}

describe('POST /api/v1/guias/bulk', () => {
  it('creates the hundred real guides; the same batch again finds them all and doubles nothing', async () => {
    const { api, id } = await environment.createComercio()
    const first = await api.guias.crearLote(lote100())
    expect(first).toMatchObject({ ok: true, creadas: 100, repetidas: 0, fallidas: 0, advertencias: [] })
    expect(first.resultados.map(({ indice }) => indice)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(first.resultados.every((r) => r.ok && r.estado === 'aceptado' && !r.repetida)).toBe(true)
    const second = await api.guias.crearLote(lote100())
    expect(second).toMatchObject({ ok: true, creadas: 0, repetidas: 100, fallidas: 0, advertencias: [] })
    expect(second.resultados).toEqual(first.resultados.map((r) => ({ ...r, repetida: true })))
    const { rows } = await environment.db.pool.query(
      'select count(*)::int as guias, (select count(*)::int from mensaje where comercio_id = $1) as mensajes from guia where comercio_id = $1',
      [id],
    )
    expect(rows).toEqual([{ guias: 100, mensajes: 20 }])
  })

  it('gives each guide its own pickup or the batch’s, and fails the one that has neither', async () => {
    const { api } = await environment.createComercio()
    const ownRecogida = { nombre: 'Tienda Antigua', lat: 14.556111, lng: -90.733611 }
    const { resultados } = await api.guias.crearLote({
      recogida: RECOGIDA,
      guias: [guiaWithoutRecogida(), { ...guiaWithoutRecogida(), recogida: ownRecogida }],
    })
    const names = await Promise.all(
      resultados.map(async (r) => r.ok && (await api.guias.obtener(r.guia)).recogida.nombre),
    )
    expect(names).toEqual(['Bodega Zona 12', 'Tienda Antigua'])

    const loteWithoutRecogida = await api.guias.crearLote({ guias: [guiaWithoutRecogida(), buildGuia()] })
    expect(loteWithoutRecogida).toMatchObject({ ok: false, creadas: 1, fallidas: 1 })
    expect((loteWithoutRecogida.resultados[0] as ResultadoFallido).error.errores).toMatchObject([
      { campo: '/recogida', codigo: 'requerido' },
    ])
  })

  it('answers 200 for elements of any form, with each fault at its index and with its reason', async () => {
    const { llave } = await environment.createComercio()
    const faltas: [unknown, string][] = [
      [null, ''],
      [42, ''],
      ['guia', ''],
      [[], ''],
      [{}, '/telefono'],
      [{ ...buildGuia(), telefono: '5555123' }, '/telefono'],
      [{ ...buildGuia(), lat: 91 }, '/lat'],
      [{ ...buildGuia(), externalRef: 'X' }, '/externalRef'],
      [{ ...buildGuia(), recogida: {} }, '/recogida'],
      [{ ...buildGuia(), maps_url: 'ftp://x' }, '/maps_url'],
      [{ ...buildGuia(), municipio: '   ' }, '/municipio'],
    ]
    const guias = faltas.flatMap(([bad]) => [buildGuia(), bad])
    const { status, body } = await environment.request('POST', '/api/v1/guias/bulk', { llave, body: { guias } })
    expect([status, body.ok, body.creadas, body.fallidas, body.resultados.length]).toEqual([200, false, 11, 11, 22])
    for (const [i, [, field]] of faltas.entries()) {
      const [good, bad] = body.resultados.slice(2 * i, 2 * i + 2)
      expect(good).toMatchObject({ indice: 2 * i, ok: true })
      expect(bad).toMatchObject({ indice: 2 * i + 1, ok: false, error: { estado_http: 422, codigo: 'validacion' } })
      expect(bad).not.toHaveProperty('guia')
      expect(bad.error.errores.map((e: { campo: string }) => e.campo)).toContain(field)
    }
  })

  it('gives an element the error that the single creation would have answered', async () => {
    const { llave } = await environment.createComercio()
    const bad = { ...buildGuia(), telefono: 'x', departamento: 7 }
    const sola = await environment.request('POST', '/api/v1/guias', { llave, body: bad })
    const lote = await environment.request('POST', '/api/v1/guias/bulk', { llave, body: { guias: [bad] } })
    expect(lote.body.resultados[0].error).toEqual({ ...sola.body, id_solicitud: expect.any(String) })
  })

  it('tells new, repeated, conflicting and doubled entries apart; the lower index goes first', async () => {
    const { api } = await environment.createComercio()
    const existingGuia = buildGuia()
    const { guia } = await api.guias.crear(existingGuia)
    const fresh = buildGuia()
    const { resultados, ...cuentas } = await api.guias.crearLote({
      guias: [
        existingGuia,
        { ...existingGuia, municipio: 'Mixco' },
        fresh,
        fresh,
        { ...fresh, lat: 1, lng: fresh.lng },
      ],
    })
    expect(resultados).toMatchObject([
      { ok: true, guia, repetida: true },
      { ok: false, error: { estado_http: 409, codigo: 'external_ref_en_conflicto', guia } },
      { ok: true, repetida: false },
      { ok: true, repetida: true },
      { ok: false, error: { codigo: 'external_ref_en_conflicto', errores: [{ campo: '/lat' }] } },
    ])
    expect(cuentas).toMatchObject({ ok: false, creadas: 1, repetidas: 2, fallidas: 2 })
    expect((resultados[2] as { guia: string }).guia).toBe((resultados[3] as { guia: string }).guia)
  })

  it.each<[string, unknown, string]>([
    ['no guides', {}, '/guias'],
    ['an empty list', { guias: [] }, '/guias'],
    ['101 guides', { guias: Array.from({ length: 101 }, () => ({})) }, '/guias'],
    ['guides that are no list', { guias: {} }, '/guias'],
    ['nothing that is known', { lote: [buildGuia()] }, '/guias'],
    ['a list', [], ''],
    ['a text', 'guias', ''],
  ])('refuses a body with %s, and creates nothing', async (_description, body, field) => {
    const { llave, api } = await environment.createComercio()
    const response = await environment.request('POST', '/api/v1/guias/bulk', { llave, body })
    expect(response.status).toBe(422)
    expect(response.body.errores.map((e: { campo: string }) => e.campo)).toContain(field)
    expect((await api.guias.listar()).datos).toEqual([])
  })

  describe('a pickup of the batch that isn’t valid', () => {
    const lote = (body: object) =>
      environment
        .createComercio()
        .then(({ llave }) => environment.request('POST', '/api/v1/guias/bulk', { llave, body }))

    it.each<[string, unknown, string, RegExp]>([
      ['lacks half of its point', { lat: 1 }, '/recogida/lng', /^en la recogida del lote, falta/],
      ['is out of range', { lat: 91, lng: 0 }, '/recogida/lat', /^en la recogida del lote, debe ser/],
      ['is empty', {}, '/recogida', /^en la recogida del lote, debe llevar lat y lng, o maps_url$/],
      ['has a member too many', { lat: 1, lng: 1, x: 1 }, '/recogida/x', /^en la recogida del lote, no existe/],
      ['is a list', [], '/recogida', /^en la recogida del lote, debe llevar/],
      ['is a text', 'bodega', '/recogida', /^en la recogida del lote, debe llevar/],
    ])('fails exactly the guides that need it: it %s', async (_description, recogida, field, mensaje) => {
      const guias = [buildGuia(), guiaWithoutRecogida(), { ...guiaWithoutRecogida(), recogida: null }, buildGuia()]
      const { status, body } = await lote({ guias, recogida })
      expect(status).toBe(200)
      const { resultados, ...cuentas } = body
      expect(cuentas).toEqual({ ok: false, creadas: 2, repetidas: 0, fallidas: 2, advertencias: [] })
      expect(resultados.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false, false, true])
      for (const { error } of resultados.slice(1, 3)) {
        expect(error).toMatchObject({ codigo: 'validacion', estado_http: 422 })
        expect(error.errores).toContainEqual(
          expect.objectContaining({ campo: field, mensaje: expect.stringMatching(mensaje) }),
        )
      }
    })

    it('is none when it is null', async () => {
      const { body } = await lote({ guias: [buildGuia(), guiaWithoutRecogida()], recogida: null })
      expect(body).toMatchObject({ creadas: 1, fallidas: 1 })
      const [fault] = body.resultados[1].error.errores
      expect(fault).toMatchObject({ campo: '/recogida', codigo: 'requerido' })
      expect(fault.mensaje).not.toMatch(/recogida del lote/)
    })

    it('does not hide what else is wrong with a guide, nor is blamed for a guide’s own pickup', async () => {
      const guias = [
        { ...guiaWithoutRecogida(), telefono: 'x' },
        { ...buildGuia(), recogida: { lat: 1 } },
      ]
      const { body } = await lote({ guias, recogida: { lng: 1 } })
      const [one, other] = body.resultados.map(({ error }: ResultadoFallido) =>
        error.errores.map(({ campo: field, mensaje }) => [field, mensaje.includes('en la recogida del lote')]),
      )
      expect(one).toEqual([
        ['/telefono', false],
        ['/recogida', true],
        ['/recogida/lat', true],
      ])
      expect(other).toEqual([
        ['/recogida', false],
        ['/recogida/lng', false],
      ])
    })
  })

  it('takes a null pickup of a guide for the batch’s', async () => {
    const { llave, api } = await environment.createComercio()
    const guias = [{ ...guiaWithoutRecogida(), recogida: null }]
    const withKey = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias, recogida: RECOGIDA },
    })
    expect(withKey.body).toMatchObject({ ok: true, creadas: 1 })
    expect((await api.guias.obtener(withKey.body.resultados[0].guia)).recogida).toMatchObject(RECOGIDA)
    const caseWithout = await environment.request('POST', '/api/v1/guias/bulk', { llave, body: { guias } })
    expect(caseWithout.body.resultados[0].error.errores).toMatchObject([{ campo: '/recogida', codigo: 'requerido' }])
    const sola = await environment.request('POST', '/api/v1/guias', { llave, body: guias[0] })
    expect([sola.status, sola.body.errores[0].campo]).toEqual([422, '/recogida'])
  })

  it('tells an unknown member of the batch as a warning, and creates its guides', async () => {
    const { llave } = await environment.createComercio()
    const body = { recojida: RECOGIDA, guias: [buildGuia(), guiaWithoutRecogida()], 'a/b~c': 1 }
    const response = await environment.request('POST', '/api/v1/guias/bulk', { llave, body })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ ok: false, creadas: 1, fallidas: 1 })
    expect(response.body.advertencias).toEqual([
      {
        codigo: 'campo_desconocido',
        campo: '/recojida',
        mensaje: 'no existe y no se tomó en cuenta; ¿quiso decir recogida?',
        sugerencia: 'recogida',
      },
      {
        codigo: 'campo_desconocido',
        campo: '/a~1b~0c',
        mensaje: 'no existe y no se tomó en cuenta; los campos son: guias, recogida, estricto',
        sugerencia: null,
      },
    ])
  })

  it('tells fifty warnings and no more', async () => {
    const { llave } = await environment.createComercio()
    const others = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`otro${i}`, i]))
    const { status, body } = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias: [buildGuia()], ...others },
    })
    expect([status, body.ok, body.advertencias.length]).toEqual([200, true, 50])
  })

  it('returns the error of a guide in Spanish for any Accept header', async () => {
    const { llave } = await environment.createComercio()
    const { headers, body } = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias: [{}] },
      headers: { Accept: 'application/problem+json' },
    })
    expect(headers.get('content-type')).toBe('application/json')
    expect(Object.keys(body.resultados[0].error).join()).toBe(
      'codigo,titulo,mensaje,estado_http,errores,id_solicitud,documentacion',
    )
  })

  it('is an ErrorValidacion in the SDK', async () => {
    const { api } = await environment.createComercio()
    await expect(api.guias.crearLote({ guias: [] })).rejects.toBeInstanceOf(ErrorValidacion)
  })

  it('caps the faults of a batch, but tells at least one of each guide', async () => {
    const { llave } = await environment.createComercio()
    const bad = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x${i}`, i]))
    const { body } = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias: Array.from({ length: 100 }, () => bad) },
    })
    const cuentas = body.resultados.map((r: ResultadoFallido) => r.error.errores.length)
    expect(Math.max(...cuentas)).toBe(50)
    expect(Math.min(...cuentas)).toBe(1)
    expect(cuentas.reduce((a: number, b: number) => a + b)).toBeLessThanOrEqual(500)
    const omittedCount = body.resultados.reduce(
      (sum: number, r: ResultadoFallido) => sum + (r.error.errores_omitidos ?? 0),
      0,
    )
    expect(omittedCount + cuentas.reduce((a: number, b: number) => a + b)).toBe(100 * 64)
  })

  it('takes concurrent equal batches without doubling or deadlock', async () => {
    const { api, id } = await environment.createComercio()
    const guias = Array.from({ length: 50 }, () => buildGuiaWithoutDestino())
    const reversedOrder = [...guias].reverse()
    const lotes = await Promise.all(
      [guias, reversedOrder, guias, reversedOrder, guias].map((g) => api.guias.crearLote({ guias: g })),
    )
    expect(lotes.every(({ creadas, repetidas, fallidas }) => creadas + repetidas === 50 && fallidas === 0)).toBe(true)
    expect(lotes.reduce((sum, { creadas }) => sum + creadas, 0)).toBe(50)
    expect(lotes.flatMap((lote) => lote.resultados).filter((r) => r.ok && !r.repetida)).toHaveLength(50)
    const { rows } = await environment.db.pool.query('select count(*)::int as n from guia where comercio_id = $1', [id])
    expect(rows).toEqual([{ n: 50 }])
  })

  it('takes a batch of 2 MB and refuses more', async () => {
    const { llave } = await environment.createComercio()
    const grande = (bytes: number) => ({
      headers: { 'Content-Type': 'application/json' },
      raw: `{"guias":[{}]${' '.repeat(bytes - 14)}}`,
    })
    expect(
      (await environment.request('POST', '/api/v1/guias/bulk', { llave, ...grande(2 * 1024 * 1024) })).status,
    ).toBe(200)
    expect(
      (await environment.request('POST', '/api/v1/guias/bulk', { llave, ...grande(2 * 1024 * 1024 + 1) })).status,
    ).toBe(413)
  })
})
