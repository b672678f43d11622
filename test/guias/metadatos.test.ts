import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { apiFault } from '../webhooks/webhooks.ts'

const environment = shareEnvironment()
const METADATOS = { tienda: 'Miraflores', canal: 'web', 'campaña 🎄': 'Nochebuena\nzona 1' }

/** Faults of a creation with these metadata, by field. */
async function faultsOf(metadatos: unknown) {
  const { llave } = await environment.createComercio()
  const { status, body } = await environment.request('POST', '/api/v1/guias', {
    llave,
    body: { ...buildGuia(), metadatos },
  })
  expect([status, body.codigo]).toEqual([422, 'validacion'])
  return Object.fromEntries(body.errores.map((e: { campo: string; mensaje: string }) => [e.campo, e.mensaje]))
}

const buildMetadatos = (count: number, key: (i: number) => string, text: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [key(i), text]))

describe('metadata of a guide', () => {
  it('are in the answer, the detail, the list and the operators’ view, and empty without any', async () => {
    const { api } = await environment.createComercio()
    const created = await api.guias.crear(buildGuia({ metadatos: METADATOS }))
    const [{ resultados }, bareEntry] = [
      await api.guias.crearLote({ guias: [buildGuia({ metadatos: { canal: 'lote' } })] }),
      await api.guias.crear(buildGuia({ metadatos: {} })),
    ]
    expect(created.metadatos).toEqual(METADATOS)
    expect((await api.guias.obtener(created.guia)).metadatos).toEqual(METADATOS)
    expect((await api.guias.listar()).datos.map(({ metadatos }) => metadatos)).toEqual([
      {},
      { canal: 'lote' },
      METADATOS,
    ])
    expect((await environment.asOperador('GET', `/guias/${created.guia}`)).body.metadatos).toEqual(METADATOS)
    expect([resultados[0]!.ok, bareEntry.metadatos]).toEqual([true, {}])
  })

  it('have keys and texts in NFC', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(
      buildGuia({ metadatos: { ['campaña'.normalize('NFD')]: 'Cobán'.normalize('NFD') } }),
    )
    expect((await api.guias.obtener(guia)).metadatos).toEqual({
      ['campaña'.normalize('NFC')]: 'Cobán'.normalize('NFC'),
    })
  })

  it('may be 20 keys of 40 characters with texts of 500', async () => {
    const { api } = await environment.createComercio()
    const metadatos = buildMetadatos(20, (i) => `${'🌽'.repeat(38)}${10 + i}`, '🌮'.repeat(500))
    expect((await api.guias.crear(buildGuia({ metadatos }))).metadatos).toEqual(metadatos)
  })

  it('are refused beyond that, key by key, with the remedy', async () => {
    expect(await faultsOf(buildMetadatos(21, (i) => `k${i}`, 'v'))).toEqual({
      '/metadatos': 'debe ser un objeto con 20 claves o menos, y un texto en cada una',
    })
    expect(await faultsOf(['web'])).toEqual({
      '/metadatos': 'debe ser un objeto con 20 claves o menos, y un texto en cada una',
    })
    const key = 'la clave debe tener de 1 a 40 caracteres visibles, en una sola línea: acórtela o quítela'
    const text = 'debe ser un texto de 1 a 500 caracteres visibles; si no tiene valor, omita la clave'
    const longOne = 'k'.repeat(41)
    expect(
      await faultsOf({ [longOne]: 'v', '': 'v', 'a/b\n': 'v', vacia: '', largo: 'v'.repeat(501), numero: 5 }),
    ).toEqual({
      [`/metadatos/${longOne}`]: key,
      '/metadatos/': key,
      '/metadatos/a~1b\n': key,
      '/metadatos/vacia': text,
      '/metadatos/largo': text,
      '/metadatos/numero': 'es un número y debe ser un texto: escríbalo entre comillas, "5"',
    })
  })

  it('cannot be corrected', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia({ metadatos: METADATOS }))
    expect(await apiFault(api.guias.corregir(guia, { metadatos: {} } as never))).toMatchObject({
      errores: [{ campo: '/metadatos', codigo: 'desconocido' }],
    })
  })
})

describe('a repeated creation with other metadata', () => {
  it('returns the guide with its own metadata and a warning, which is not stored', async () => {
    const { api } = await environment.createComercio()
    const sentRequest = buildGuia({ metadatos: METADATOS })
    const { guia } = await api.guias.crear(sentRequest)
    const { datos, repetida } = await api.guias.crear({ ...sentRequest, metadatos: { canal: 'tienda' } }).conRespuesta()
    expect([repetida, datos.guia, datos.metadatos]).toEqual([true, guia, METADATOS])
    expect(datos.advertencias).toEqual([
      {
        codigo: 'metadatos_distintos',
        campo: '/metadatos',
        mensaje: 'la guía ya existía con otros metadatos y conserva los suyos, que no cambian después de crearla',
        sugerencia: null,
      },
    ])
    expect(await api.guias.obtener(guia)).toMatchObject({ metadatos: METADATOS, advertencias: [], secuencia: 1 })
    const { resultados } = await api.guias.crearLote({ guias: [{ ...sentRequest, metadatos: { canal: 'tienda' } }] })
    expect(resultados).toMatchObject([{ repetida: true, guia, advertencias: [{ codigo: 'metadatos_distintos' }] }])
  })

  it('has no warning if they are the same in another order, or if the request has none', async () => {
    const { api } = await environment.createComercio()
    const sentRequest = buildGuia({ metadatos: METADATOS })
    const { guia } = await api.guias.crear(sentRequest)
    const reversedOrder = Object.fromEntries(Object.entries(METADATOS).reverse())
    for (const metadatos of [reversedOrder, {}, undefined]) {
      const { metadatos: _, ...caseWithout } = sentRequest
      const repeated = await api.guias.crear({ ...caseWithout, ...(metadatos && { metadatos }) })
      expect(repeated).toMatchObject({ guia, metadatos: METADATOS, advertencias: [] })
    }
  })
})

describe('zona_horaria', () => {
  it('is the clock of the destination, in each answer with a guide, also after a correction', async () => {
    const { api } = await environment.createComercio()
    const toPanama = { departamento: 'Panamá', municipio: 'Panamá', pais: 'PA' as const, telefono: '+50761234567' }
    const { guia, zona_horaria } = await api.guias.crear({ ...buildGuia(toPanama), lat: 8.98, lng: -79.52 })
    expect(zona_horaria).toBe('America/Panama')
    expect((await environment.asOperador('GET', `/guias/${guia}`)).body.zona_horaria).toBe('America/Panama')
    expect((await api.guias.listar()).datos.map((one) => one.zona_horaria)).toEqual(['America/Panama'])
    const cambios = { departamento: 'Jalisco', municipio: 'Guadalajara' }
    expect((await api.guias.corregir(guia, cambios)).zona_horaria).toBe('America/Mexico_City')
    expect((await api.guias.obtener(guia)).zona_horaria).toBe('America/Mexico_City')
  })
})

describe('url_rastreo', () => {
  it('is the address of the guide’s tracking page, in each answer with a guide', async () => {
    const { api } = await environment.createComercio()
    const { guia, url_rastreo } = await api.guias.crear(buildGuia())
    expect(url_rastreo).toBe(`${environment.url}/r/${guia}`)
    expect(await (await fetch(url_rastreo)).text()).toContain(guia.slice(0, 4))
    const seenByOperador = (await environment.asOperador('GET', `/guias/${guia}`)).body
    const seen = [
      await api.guias.obtener(guia),
      (await api.guias.listar()).datos[0]!,
      await api.guias.corregir(guia, { contenido: 'Zapatos' }),
      await api.guias.confirmarUbicacion(guia, { lat: 14.72, lng: -90.64 }),
      await api.simulador.avanzar(guia, { tipo: 'guia.nota', descripcion: 'Una nota' }),
      await api.guias.cancelar(guia),
      seenByOperador,
    ]
    expect(seen.map((one) => one.url_rastreo)).toEqual(seen.map(() => url_rastreo))
  })
})
