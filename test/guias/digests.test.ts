import { describe, expect, it } from 'vitest'
import { digestsOf, findDifferences } from '../../server/domain/guias/digests.ts'
import { DIGESTED_COLUMNS } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

const secrets = createSecrets([Buffer.alloc(32, 7)])
const UNA = {
  telefono: '+50231481676',
  destinatario: 'María José',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: null,
  indicaciones: null,
  contenido: 'Zapatos',
  lat: 14.63,
  lng: -90.6,
  maps_url: null,
  recogida: { nombre: 'Bodega Zona 12', lat: 14.58, lng: null, maps_url: null },
}
const OTRA = {
  ...UNA,
  destinatario: null,
  contenido: null,
  lat: null,
  lng: null,
  recogida: { nombre: null, lat: 14.58, lng: -90.5, maps_url: null },
}
const DE_UNA = digestsOf(UNA, secrets)
const DE_OTRA = digestsOf(OTRA, secrets)
const campos = (...faults: Parameters<typeof findDifferences>) => findDifferences(...faults).map(({ campo }) => campo)

describe('digests of a request', () => {
  it('recognise the same request', () => {
    expect(campos(DE_UNA, UNA, secrets)).toEqual([])
    expect(campos(DE_OTRA, OTRA, secrets)).toEqual([])
  })

  it('tell which fields differ, also where one of the two is absent', () => {
    for (const campo of DIGESTED_COLUMNS) {
      const value = UNA[campo]
      const cambiada = { ...UNA, [campo]: typeof value === 'number' ? value + 1 : 'otro' }
      expect(campos(DE_UNA, campo === 'recogida' ? { ...UNA, recogida: OTRA.recogida } : cambiada, secrets)).toEqual([
        `/${campo}`,
      ])
    }
    expect(campos(DE_UNA, OTRA, secrets)).toEqual(['/destinatario', '/contenido', '/lat', '/lng', '/recogida'])
    expect(campos(DE_OTRA, UNA, secrets)).toEqual(['/destinatario', '/contenido', '/lat', '/lng', '/recogida'])
  })

  it('recognise an older request after the contract has got a field', () => {
    const conNotas = [...DIGESTED_COLUMNS, 'notas']
    expect(campos(DE_UNA, { ...UNA, notas: null }, secrets, conNotas)).toEqual([])
    expect(campos(DE_UNA, { ...UNA, notas: 'Frágil' }, secrets, conNotas)).toEqual(['/notas'])
  })

  it('recognise an older request after the pickup has got a member', () => {
    const conMiembro = (telefono: string | null) => ({ ...UNA, recogida: { ...UNA.recogida, telefono } })
    expect(campos(DE_UNA, conMiembro(null), secrets)).toEqual([])
    expect(campos(DE_UNA, conMiembro('+50222222222'), secrets)).toEqual(['/recogida'])
  })

  it('count every field as different without the master key', () => {
    const others = createSecrets([Buffer.alloc(32, 8)])
    expect(campos(DE_UNA, UNA, others)).toEqual(
      DIGESTED_COLUMNS.filter((campo) => UNA[campo] !== null).map((campo) => `/${campo}`),
    )
  })
})

it('digests a field that was added like any other', () => {
  const conNotas = [...DIGESTED_COLUMNS, 'notas']
  const first = digestsOf({ ...UNA, notas: 'Frágil' }, secrets, conNotas)
  expect(campos(first, { ...UNA, notas: 'Frágil' }, secrets, conNotas)).toEqual([])
  expect(campos(first, { ...UNA, notas: null }, secrets, conNotas)).toEqual(['/notas'])
})
