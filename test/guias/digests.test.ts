import { describe, expect, it } from 'vitest'
import { digestsOf, findDifferences } from '../../server/domain/guias/digests.ts'
import { DIGESTED_COLUMNS } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

type DigestedData = Parameters<typeof digestsOf>[0]

const secrets = createSecrets([Buffer.alloc(32, 7)])
const NO_DATA = Object.fromEntries(DIGESTED_COLUMNS.map((column) => [column, null])) as DigestedData
const RECOGIDA = { nombre: 'Bodega Zona 12', lat: 14.58, lng: null, maps_url: null }
const BASE_DATA: DigestedData = {
  ...NO_DATA,
  telefono: '+50231481676',
  destinatario: 'María José',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  contenido: 'Zapatos',
  lat: 14.63,
  lng: -90.6,
  recogida: RECOGIDA,
}
const OTHER_DATA = {
  ...BASE_DATA,
  destinatario: null,
  contenido: null,
  lat: null,
  lng: null,
  recogida: { nombre: null, lat: 14.58, lng: -90.5, maps_url: null },
}
const ONE_DIGESTS = digestsOf(BASE_DATA, secrets)
const OTHER_DIGESTS = digestsOf(OTHER_DATA, secrets)
const fields = (...faults: Parameters<typeof findDifferences>) =>
  findDifferences(...faults).map(({ campo: field }) => field)

describe('digests of a request', () => {
  it('recognise the same request', () => {
    expect(fields(ONE_DIGESTS, BASE_DATA, secrets)).toEqual([])
    expect(fields(OTHER_DIGESTS, OTHER_DATA, secrets)).toEqual([])
  })

  it('tell which fields differ, also where one of the two is absent', () => {
    for (const field of DIGESTED_COLUMNS) {
      const value = BASE_DATA[field]
      const afterChange = { ...BASE_DATA, [field]: typeof value === 'number' ? value + 1 : 'otro' }
      expect(
        fields(
          ONE_DIGESTS,
          field === 'recogida' ? { ...BASE_DATA, recogida: OTHER_DATA.recogida } : afterChange,
          secrets,
        ),
      ).toEqual([`/${field}`])
    }
    expect(fields(ONE_DIGESTS, OTHER_DATA, secrets)).toEqual([
      '/destinatario',
      '/contenido',
      '/lat',
      '/lng',
      '/recogida',
    ])
    expect(fields(OTHER_DIGESTS, BASE_DATA, secrets)).toEqual([
      '/destinatario',
      '/contenido',
      '/lat',
      '/lng',
      '/recogida',
    ])
  })

  it('recognise an older request after the contract has got a field', () => {
    const columnsWithNotas = [...DIGESTED_COLUMNS, 'notas']
    expect(fields(ONE_DIGESTS, { ...BASE_DATA, notas: null }, secrets, columnsWithNotas)).toEqual([])
    expect(fields(ONE_DIGESTS, { ...BASE_DATA, notas: 'Frágil' }, secrets, columnsWithNotas)).toEqual(['/notas'])
  })

  it('recognise an older request after the pickup has got a member', () => {
    const buildWithMember = (telefono: string | null) => ({
      ...BASE_DATA,
      recogida: { ...RECOGIDA, telefono },
    })
    expect(fields(ONE_DIGESTS, buildWithMember(null), secrets)).toEqual([])
    expect(fields(ONE_DIGESTS, buildWithMember('+50222222222'), secrets)).toEqual(['/recogida'])
  })

  it('count every field as different without the master key', () => {
    const others = createSecrets([Buffer.alloc(32, 8)])
    expect(fields(ONE_DIGESTS, BASE_DATA, others)).toEqual(
      DIGESTED_COLUMNS.filter((field) => BASE_DATA[field] !== null).map((field) => `/${field}`),
    )
  })
})

it('digests a field that was added like any other', () => {
  const columnsWithNotas = [...DIGESTED_COLUMNS, 'notas']
  const first = digestsOf({ ...BASE_DATA, notas: 'Frágil' }, secrets, columnsWithNotas)
  expect(fields(first, { ...BASE_DATA, notas: 'Frágil' }, secrets, columnsWithNotas)).toEqual([])
  expect(fields(first, { ...BASE_DATA, notas: null }, secrets, columnsWithNotas)).toEqual(['/notas'])
})
