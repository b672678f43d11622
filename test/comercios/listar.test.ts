import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { administrar } from '../llaves/manage.ts'

const entorno = useEnvironment()
const { crearComercio } = administrar(entorno)
const llamado = async (nombre: string) => (await entorno.operar('POST', '/comercios', { nombre })).cuerpo
const listar = async (query: string) => (await entorno.operar('GET', `/comercios?${query}`)).cuerpo

describe('GET /operaciones/v1/comercios', () => {
  it('lists merchants newest first, in pages', async () => {
    const creados = [await crearComercio(), await crearComercio(), await crearComercio()]
    const primera = (await entorno.operar('GET', '/comercios?limite=2')).cuerpo
    expect(primera.datos).toEqual([creados[2], creados[1]])
    const segunda = (await entorno.operar('GET', `/comercios?limite=1&cursor=${primera.cursor_siguiente}`)).cuerpo
    expect(segunda.datos).toEqual([creados[0]])
  })

  it('finds a name by its words, without accents and capitals, page by page', async () => {
    const [pan, , cafe] = [await llamado('Panadería Ñandú'), await llamado('Pan y Más'), await llamado('CAFÉ Panadero')]
    const primera = await listar('texto=panader&limite=1')
    expect(primera.datos).toEqual([cafe])
    const segunda = await listar(`texto=panader&limite=1&cursor=${primera.cursor_siguiente}`)
    expect([segunda.datos, segunda.cursor_siguiente]).toEqual([[pan], null])
    expect((await listar(`texto=${encodeURIComponent('PANADERIA ñandu')}`)).datos).toEqual([pan])
    expect((await listar('texto=nandu+panaderia')).datos).toEqual([])
    const ajeno = await entorno.operar('GET', `/comercios?texto=pan&cursor=${primera.cursor_siguiente}`)
    expect([ajeno.status, ajeno.cuerpo.codigo]).toEqual([400, 'cursor_invalido'])
  })

  it('reads letters and digits of the text alone, and refuses a text without them', async () => {
    const creados = [await llamado('Sol 100%_Luna'), await llamado('Sol 100 Luna')].toReversed()
    for (const texto of ['l 100%_l', 'luna\\', "sol' luna", 'SOL-LUNA'])
      expect((await listar(`texto=${encodeURIComponent(texto)}`)).datos).toEqual(creados)
    for (const texto of ['%', '', 'x'.repeat(101)])
      expect((await entorno.operar('GET', `/comercios?texto=${encodeURIComponent(texto)}`)).status).toBe(400)
  })

  it('returns those that it names, and leaves out the unknown', async () => {
    const [uno, , tres] = [await crearComercio(), await crearComercio(), await crearComercio()]
    const cuales = [uno.comercio, 'com_000000000000', tres.comercio].map((codigo) => `comercio=${codigo}`).join('&')
    expect((await listar(cuales)).datos).toEqual([tres, uno])
    expect((await listar(`${cuales}&texto=nadie`)).datos).toEqual([])
  })
})
