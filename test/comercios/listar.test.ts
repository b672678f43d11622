import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { administrar } from '../llaves/manage.ts'

const environment = useEnvironment()
const { crearComercio } = administrar(environment)
const createNamedComercio = async (nombre: string) =>
  (await environment.asOperador('POST', '/comercios', { nombre })).body
const listar = async (query: string) => (await environment.asOperador('GET', `/comercios?${query}`)).body

describe('GET /operaciones/v1/comercios', () => {
  it('lists merchants newest first, in pages', async () => {
    const creados = [await crearComercio(), await crearComercio(), await crearComercio()]
    const first = (await environment.asOperador('GET', '/comercios?limite=2')).body
    expect(first.datos).toEqual([creados[2], creados[1]])
    const second = (await environment.asOperador('GET', `/comercios?limite=1&cursor=${first.cursor_siguiente}`)).body
    expect(second.datos).toEqual([creados[0]])
  })

  it('finds a name by its words, without accents and capitals, page by page', async () => {
    const [pan, , cafe] = [
      await createNamedComercio('Panadería Ñandú'),
      await createNamedComercio('Pan y Más'),
      await createNamedComercio('CAFÉ Panadero'),
    ]
    const first = await listar('texto=panader&limite=1')
    expect(first.datos).toEqual([cafe])
    const second = await listar(`texto=panader&limite=1&cursor=${first.cursor_siguiente}`)
    expect([second.datos, second.cursor_siguiente]).toEqual([[pan], null])
    expect((await listar(`texto=${encodeURIComponent('PANADERIA ñandu')}`)).datos).toEqual([pan])
    expect((await listar('texto=nandu+panaderia')).datos).toEqual([])
    const foreign = await environment.asOperador('GET', `/comercios?texto=pan&cursor=${first.cursor_siguiente}`)
    expect([foreign.status, foreign.body.codigo]).toEqual([400, 'cursor_invalido'])
  })

  it('reads letters and digits of the text alone, and refuses a text without them', async () => {
    const creados = [await createNamedComercio('Sol 100%_Luna'), await createNamedComercio('Sol 100 Luna')].toReversed()
    for (const text of ['l 100%_l', 'luna\\', "sol' luna", 'SOL-LUNA'])
      expect((await listar(`texto=${encodeURIComponent(text)}`)).datos).toEqual(creados)
    for (const text of ['%', '', 'x'.repeat(101)])
      expect((await environment.asOperador('GET', `/comercios?texto=${encodeURIComponent(text)}`)).status).toBe(400)
  })

  it('returns those that it names, and leaves out the unknown', async () => {
    const [one, , tres] = [await crearComercio(), await crearComercio(), await crearComercio()]
    const cuales = [one.comercio, 'com_000000000000', tres.comercio].map((codigo) => `comercio=${codigo}`).join('&')
    expect((await listar(cuales)).datos).toEqual([tres, one])
    expect((await listar(`${cuales}&texto=nadie`)).datos).toEqual([])
  })
})
