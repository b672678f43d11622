/** Null in a request: absent where the member is optional and its schema knows no null. */
import type { GuiaIndividual } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { createNullRemover } from '../../server/api/contract/nulls.ts'
import { forInput } from '../../server/api/contract/schemas.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { readSchema } from './schema.ts'

const environment = useEnvironment()
const removeNulls = createNullRemover(forInput(readDocument()))
const strip = (value: unknown) => removeNulls('/components/schemas/GuiaIndividual', value)

describe('nulls of a request', () => {
  it('count as absent where the schema admits none, also inside an object of any names', () => {
    const guide = buildGuia()
    const { value, nulls } = strip({
      ...guide,
      direccion: null,
      maps_url: null,
      recogida: { ...guide.recogida, contacto: null },
      metadatos: { canal: 'web', tienda: null },
    })
    expect(value).toEqual({ ...guide, metadatos: { canal: 'web' } })
    expect(nulls.toSorted()).toEqual(['/direccion', '/maps_url', '/metadatos/tienda', '/recogida/contacto'])
  })

  it('stay where a value is required, where the contract knows no such member, and in a list', () => {
    const value = { telefono: null, tel: null, recogida: null }
    expect(strip(value)).toEqual({ value, nulls: [] })
    expect(strip({ metadatos: [null], recogida: { maps_url: [null] } }).nulls).toEqual([])
  })

  it('name a member by its JSON Pointer, even one that looks like none', () => {
    expect(strip({ metadatos: { 'a/b~c': null, __proto__x: null } }).nulls).toEqual([
      '/metadatos/a~1b~0c',
      '/metadatos/__proto__x',
    ])
  })
})

/** Null for each optional member of a schema, except some. */
const optionalNulls = (schema: string, except: readonly string[] = []) => {
  const { properties, required = [] } = readSchema(schema)
  const optional = Object.keys(properties).filter((name) => ![...required, ...except].includes(name))
  return Object.fromEntries(optional.map((name) => [name, null]))
}

/** What a client sends that writes null where it has no value. */
const withNulls = (guide: Partial<GuiaIndividual>) => ({
  ...optionalNulls('GuiaParaCrear'),
  ...guide,
  recogida: { ...optionalNulls('Recogida', ['nombre', 'lat', 'lng']), ...guide.recogida },
})

const post = async (path: string, body: object) =>
  environment.request('POST', path, { llave: (await environment.createComercio()).llave, body })

describe('a guide whose absent members are null', () => {
  it('is created as without them, with no warning, if it has a place and a reference', async () => {
    const { llave, api } = await environment.createComercio()
    const guide = buildGuia()
    const { status, body } = await environment.request('POST', '/api/v1/guias', { llave, body: withNulls(guide) })
    expect([status, body.advertencias]).toEqual([201, []])
    const { datos, repetida } = await api.guias.crear(guide).conRespuesta()
    expect([repetida, datos.guia]).toEqual([true, body.guia])
  })

  it('warns of the place and the reference that it does not have, as long as they matter', async () => {
    const { llave, api } = await environment.createComercio()
    const { external_ref: _, ...guide } = buildGuiaWithoutDestino()
    const { status, body } = await environment.request('POST', '/api/v1/guias', { llave, body: withNulls(guide) })
    expect([status, body.ubicacion.estado, body.external_ref]).toEqual([201, 'solicitada', null])
    const codes = (warnings: { codigo: string; campo: string | null }[]) =>
      warnings.map(({ codigo, campo: field }) => `${codigo} ${field}`).filter((one) => one.includes('nul'))
    expect(codes(body.advertencias)).toEqual(['referencia_nula /external_ref', 'lugar_nulo /lat'])
    await api.guias.corregir(body.guia, { contenido: 'Zapatos' })
    expect(codes((await api.guias.obtener(body.guia)).advertencias)).toHaveLength(2)
    await api.guias.confirmarUbicacion(body.guia, { lat: 14.71889, lng: -90.64417 })
    expect(codes((await api.guias.obtener(body.guia)).advertencias)).toEqual(['referencia_nula /external_ref'])
  })

  it('is refused for the same with `estricto`, alone and in a batch, and the others of the batch are created', async () => {
    const { external_ref: _, ...guide } = buildGuiaWithoutDestino()
    const faults = ['/external_ref requerido', '/lat requerido']
    const say = (errors: { campo: string; codigo: string }[]) =>
      errors.map(({ campo: field, codigo }) => `${field} ${codigo}`)
    const alone = await post('/api/v1/guias', { ...withNulls(guide), estricto: true })
    expect([alone.status, say(alone.body.errores)]).toEqual([422, faults])
    const { body } = await post('/api/v1/guias/bulk', {
      guias: [withNulls(guide), withNulls(buildGuia()), buildGuia()],
      estricto: true,
    })
    expect([body.creadas, body.fallidas, say(body.resultados[0].error.errores)]).toEqual([2, 1, faults])
  })

  it('tells half a point, and a required member that is null', async () => {
    const { body } = await post('/api/v1/guias', { ...withNulls(buildGuia()), lat: null, municipio: null })
    expect(body.errores).toMatchObject([
      { campo: '/municipio', codigo: 'tipo_invalido', mensaje: expect.stringContaining('no puede ser null') },
      { campo: '/lat', mensaje: expect.stringContaining('lng y lat van juntas') },
    ])
  })
})
