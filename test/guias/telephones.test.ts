import type { GuiaIndividual } from '@guias/sdk'
import { guiaDeFila, leerHoja } from '@guias/sdk/hoja'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { COPIED_TELEFONOS } from '../telephones/spellings.ts'

const environment = shareEnvironment()

/** A merchant whose account has no country. */
async function createComercioWithoutCountry() {
  const comercio = await environment.createComercio()
  await environment.db.prisma.comercio.update({ where: { id: comercio.id }, data: { pais: null } })
  return comercio
}

const create = (llave: string, cambios: object) =>
  environment.request('POST', '/api/v1/guias', { llave, body: { ...buildGuia(), ...cambios } })

describe('a telephone as people write it', () => {
  it.each(['3148 1676', '502 31481676', '00502 3148-1676', '(502) 3148-1676', '+502 3148 1676'])(
    '%s is read with the country of the account',
    async (telefono) => {
      const { api } = await environment.createComercio()
      const { telefono: read, advertencias } = await api.guias.crear(buildGuia({ telefono }))
      expect([read, advertencias]).toEqual(['+50231481676', []])
    },
  )

  it('is read as programs copy it: in a batch, a pickup, a filter, a correction and a CSV file', async () => {
    const { api } = await environment.createComercio()
    const recogida = (telefono: string) => ({ nombre: 'Bodega', lat: 14.6, lng: -90.5, telefono })
    const { filas: readTableRows } = await leerHoja(new Blob([['telefono', ...COPIED_TELEFONOS].join('\n')]))
    const ofArchivo = (await Array.fromAsync(readTableRows)).map((row) => guiaDeFila(row).telefono)
    expect(ofArchivo).toHaveLength(COPIED_TELEFONOS.length)
    const guias = [...COPIED_TELEFONOS, ...ofArchivo].map((telefono) =>
      buildGuia({ telefono, recogida: recogida(telefono) }),
    )
    const { resultados } = await api.guias.crearLote({ guias })
    const created = resultados.flatMap((one) => (one.ok ? [one.guia] : []))
    expect(created).toHaveLength(guias.length)
    for (const telefono of COPIED_TELEFONOS) {
      const { datos } = await api.guias.listar({ telefono, limite: 100 })
      expect(datos.map((one) => [one.telefono, one.recogida.telefono])).toEqual(
        created.map(() => ['+50231481676', '+50231481676']),
      )
    }
    for (const telefono of COPIED_TELEFONOS) {
      const { guia } = await api.guias.crear(buildGuia({ telefono: '5987 1234' }))
      expect((await api.guias.corregir(guia, { telefono })).telefono).toBe('+50231481676')
    }
  })

  it('is read with the country of the guide before that of the account', async () => {
    const { api } = await environment.createComercio()
    expect((await api.guias.crear(buildGuia({ telefono: '7723 4567', pais: 'SV' }))).telefono).toBe('+50377234567')
    const { resultados } = await api.guias.crearLote({
      guias: [buildGuia({ telefono: '7723 4567' }), buildGuia({ telefono: '310 123 4567', pais: 'CO' })],
    })
    const guias = resultados.flatMap((one) => (one.ok ? [one.guia] : []))
    const telefonos = await Promise.all(guias.map(async (guia) => (await api.guias.obtener(guia)).telefono))
    expect(telefonos).toEqual(['+50277234567', '+573101234567'])
  })

  it('is read in a correction with its country before that of the account', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    expect((await api.guias.corregir(guia, { telefono: '7723 4567', pais: 'SV' })).telefono).toBe('+50377234567')
    expect((await api.guias.corregir(guia, { telefono: '7723 4567' })).telefono).toBe('+50277234567')
  })

  it('needs + or a country where the account has none', async () => {
    const { llave } = await createComercioWithoutCountry()
    const { status, body } = await create(llave, { telefono: '3148 1676' })
    expect([status, body.errores]).toEqual([
      422,
      [{ campo: '/telefono', codigo: 'formato_invalido', mensaje: expect.stringMatching(/con \+ .*o diga el pais/) }],
    ])
    expect((await create(llave, { telefono: '3148 1676', pais: 'GT' })).body.telefono).toBe('+50231481676')
  })

  it.each([
    ['', 'formato_invalido', /^está vacío: escriba el número de quien recibe/],
    ['  ', 'formato_invalido', /^está vacío/],
    ['3148 167', 'formato_invalido', /^le faltan dígitos: un número de Guatemala tiene 8/],
    ['503 7123 4567', 'formato_invalido', /^le sobran dígitos.*uno de otro país va con \+/],
    ['pendiente', 'formato_invalido', /^solo puede llevar/],
    ['1'.repeat(41), 'largo_invalido', /^debe ser un texto de 40 caracteres como mucho/],
    [31481676, 'tipo_invalido', /^es un número y debe ser un texto: escríbalo entre comillas, "31481676"$/],
    [null, 'tipo_invalido', /^no puede ser null; debe ser un texto/],
  ])('%o is one fault, the same alone and in a batch', async (telefono, codigo, mensaje) => {
    const { llave } = await environment.createComercio()
    const fault = { campo: '/telefono', codigo, mensaje: expect.stringMatching(mensaje) }
    const { status, body } = await create(llave, { telefono })
    expect([status, body.errores]).toEqual([422, [fault]])
    const lote = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias: [{ ...buildGuia(), telefono }] },
    })
    expect([lote.status, lote.body.resultados[0].error.errores]).toEqual([200, [fault]])
  })

  it('is told with the other faults of the guide, and alone has none where its country is the fault', async () => {
    const { llave } = await environment.createComercio()
    const fields = async (cambios: object) =>
      (await create(llave, cambios)).body.errores.map(({ campo: field }: { campo: string }) => field).sort()
    expect(await fields({ telefono: '3148 167', municipio: '' })).toEqual(['/municipio', '/telefono'])
    expect(await fields({ telefono: '3148 1676', pais: 'gt' })).toEqual(['/pais'])
  })

  it('is one number however it is written: the guide is there already, and no other', async () => {
    const { api, llave } = await environment.createComercio()
    const guia = buildGuia({ telefono: '3148 1676' }) as GuiaIndividual
    const { guia: codigo } = await api.guias.crear(guia)
    for (const cambios of [{ telefono: '+50231481676' }, { telefono: '(502) 3148-1676', pais: 'GT' as const }]) {
      const { datos, repetida } = await api.guias.crear({ ...guia, ...cambios }).conRespuesta()
      expect([datos.guia, repetida]).toEqual([codigo, true])
    }
    const { status, body } = await create(llave, { ...guia, telefono: '3148 1677' })
    expect([status, body.errores.map(({ campo: field }: { campo: string }) => field)]).toEqual([409, ['/telefono']])
  })
})
