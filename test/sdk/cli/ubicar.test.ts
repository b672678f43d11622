import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { write: escribir, guias } = cli

const crear = async (cambios: object = {}) => {
  const { lat: _lat, lng: _lng, ...sin } = buildGuia() as object as Record<string, unknown>
  return (await cli.comercio.api.guias.crear({ ...sin, ...cambios } as never)).guia
}
const ubicacionDe = async (guia: string) => (await cli.comercio.api.guias.obtener(guia)).ubicacion

describe('guias ubicar', () => {
  it('confirms the place of one guide, and of those of a table', async () => {
    const [una, otra, tercera] = [await crear(), await crear(), await crear()]
    const dada = await guias(['ubicar', una, '--lat', '14.7189', '--lng', '-90.6442', '--referencia', 'Portón verde'])
    expect(dada).toEqual({ codigo: 0, output: `${una}  ubicación confirmada  14.7189, -90.6442\n`, errores: '' })
    expect(await ubicacionDe(una)).toMatchObject({ origen: 'comercio', referencia: 'Portón verde' })
    const tabla = `Guía;Latitud;Longitud;Referencia\n${otra};14,7189;-90,6442;Esquina\n;;;\n${tercera};14,72;-90,64;\n`
    const varias = await guias(['ubicar', '--archivo', await escribir('lugares.csv', tabla)])
    expect([varias.codigo, varias.errores]).toEqual([0, '2 ubicadas, 0 no.\n'])
    expect(await ubicacionDe(otra)).toMatchObject({ estado: 'confirmada', lat: 14.7189, referencia: 'Esquina' })
  })

  it('takes references in the place of codes', async () => {
    const references = ['Pedido-O7', 'Pedido-07']
    const [una, otra] = await Promise.all(references.map((external_ref) => crear({ external_ref })))
    const dada = await guias(['ubicar', references[0]!, '--lat', '14.7189', '--lng', '-90.6442'])
    expect(dada).toEqual({ codigo: 0, output: `${una}  ubicación confirmada  14.7189, -90.6442\n`, errores: '' })
    const tabla = `guia,lat,lng\n${references[0]},14.72,-90.64\n${references[1]},14.73,-90.65\n`
    const varias = await guias(['ubicar', '--archivo', await escribir('referencias.csv', tabla)])
    expect([varias.codigo, varias.errores]).toEqual([0, '2 ubicadas, 0 no.\n'])
    expect([(await ubicacionDe(una!)).lat, (await ubicacionDe(otra!)).lat]).toEqual([14.72, 14.73])
  })

  it('confirms the points that the warnings suggest, and leaves the other guides as they are', async () => {
    const sinSigno = await crear({ lat: 14.7189, lng: 90.6442 })
    const [bien, sinLugar] = [await crear({ lat: 14.7189, lng: -90.6442 }), await crear()]
    const archivo = await escribir('codigos.txt', [sinSigno, bien, sinLugar].join('\n'))
    const { codigo, output: salida, errores } = await guias(['ubicar', '--archivo', archivo, '--aceptar-sugerencias'])
    expect([codigo, salida]).toEqual([0, `${sinSigno}  ubicación confirmada  14.7189, -90.6442\n`])
    expect(errores).toBe(
      `${[bien, sinLugar].map((una) => `${una}  no tiene ninguna sugerencia de lugar: queda como está\n`).join('')}1 ubicadas, 2 sin sugerencia, 0 no.\n`,
    )
    expect(await ubicacionDe(sinSigno)).toMatchObject({ lat: 14.7189, lng: -90.6442 })
    expect((await ubicacionDe(sinLugar)).estado).toBe('solicitada')
  })

  it('goes on after a guide that is on its way, and ends with 1', async () => {
    const [tarde, una] = [await crear({ lat: 14.7189, lng: -90.6442 }), await crear()]
    for (const estado of ['recolectado', 'en_ruta'] as const)
      await cli.comercio.api.simulador.avanzar(tarde, { estado })
    const tabla = `guia,lat,lng\n${tarde},14.72,-90.64\n${una},14.72,-90.64\n`
    const dadas = await guias(['ubicar', '--archivo', await escribir('tarde.csv', tabla)])
    expect([dadas.codigo, dadas.output.slice(0, 12), dadas.errores]).toEqual([
      1,
      una,
      expect.stringMatching(new RegExp(`^${tarde} {2}.*\\n1 ubicadas, 1 no\\.\\n$`, 's')),
    ])
  })

  it.each<[string, string[], string]>([
    ['no guide', ['ubicar', '--lat', '1', '--lng', '2'], 'Falta el código'],
    ['no place', ['ubicar', 'A', '--lat', '1'], 'Falta el lugar'],
    ['one place for two', ['ubicar', 'A', 'B', '--lat', '1', '--lng', '2'], '--archivo'],
    ['a table without guides', ['ubicar', '--archivo', 'sin.csv'], 'columnas guia, lat y lng'],
    ['a row without its place', ['ubicar', '--archivo', 'media.csv'], 'media.csv, fila 2: Falta el lugar'],
  ])('says what is missing: %s', async (_, args, dice) => {
    await escribir('sin.csv', 'lat,lng\n1,2\n')
    await escribir('media.csv', 'guia,lat,lng\nA,1,\n')
    const { codigo, errores } = await guias(args)
    expect([codigo, errores]).toEqual([2, expect.stringContaining(dice)])
  })
})

describe('guias reenviar-solicitud', () => {
  it('asks again for those that expired, and says which it could not', async () => {
    // A telephone of its own: one telephone gets five messages a day.
    const vencida = await crear({ telefono: '+50255501122' })
    const confirmada = await crear({ lat: 14.7189, lng: -90.6442 })
    await cli.environment.waitForQuiet(cli.comercio)
    await cli.comercio.api.simulador.confirmarUbicacion(vencida, { resultado: 'vencida' })
    const { codigo, output: salida, errores } = await guias(['reenviar-solicitud', vencida, confirmada])
    expect([codigo, salida]).toEqual([1, `${vencida}  se pidió otra vez (mensaje 2)\n`])
    expect(errores).toMatch(new RegExp(`^${confirmada} {2}.*\\n1 reenviadas, 1 no\\.\\n$`, 's'))
  })
})
