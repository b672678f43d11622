import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { write, guias } = cli

const create = async (cambios: object = {}) => {
  const { lat: _lat, lng: _lng, ...caseWithout } = buildGuia() as object as Record<string, unknown>
  return (await cli.comercio.api.guias.crear({ ...caseWithout, ...cambios } as never)).guia
}
const ubicacionOf = async (guia: string) => (await cli.comercio.api.guias.obtener(guia)).ubicacion

describe('guias ubicar', () => {
  it('confirms the place of one guide, and of those of a table', async () => {
    const [one, other, third] = [await create(), await create(), await create()]
    const run = await guias(['ubicar', one, '--lat', '14.7189', '--lng', '-90.6442', '--referencia', 'Portón verde'])
    expect(run).toEqual({ codigo: 0, output: `${one}  ubicación confirmada  14.7189, -90.6442\n`, errores: '' })
    expect(await ubicacionOf(one)).toMatchObject({ origen: 'comercio', referencia: 'Portón verde' })
    const table = `Guía;Latitud;Longitud;Referencia\n${other};14,7189;-90,6442;Esquina\n;;;\n${third};14,72;-90,64;\n`
    const severalResults = await guias(['ubicar', '--archivo', await write('lugares.csv', table)])
    expect([severalResults.codigo, severalResults.errores]).toEqual([0, '2 ubicadas, 0 no.\n'])
    expect(await ubicacionOf(other)).toMatchObject({ estado: 'confirmada', lat: 14.7189, referencia: 'Esquina' })
  })

  it('takes references in the place of codes', async () => {
    const references = ['Pedido-O7', 'Pedido-07']
    const [one, other] = await Promise.all(references.map((external_ref) => create({ external_ref })))
    const run = await guias(['ubicar', references[0]!, '--lat', '14.7189', '--lng', '-90.6442'])
    expect(run).toEqual({ codigo: 0, output: `${one}  ubicación confirmada  14.7189, -90.6442\n`, errores: '' })
    const table = `guia,lat,lng\n${references[0]},14.72,-90.64\n${references[1]},14.73,-90.65\n`
    const severalResults = await guias(['ubicar', '--archivo', await write('referencias.csv', table)])
    expect([severalResults.codigo, severalResults.errores]).toEqual([0, '2 ubicadas, 0 no.\n'])
    expect([(await ubicacionOf(one!)).lat, (await ubicacionOf(other!)).lat]).toEqual([14.72, 14.73])
  })

  it('confirms the points that the warnings suggest, and leaves the other guides as they are', async () => {
    const caseWithoutSign = await create({ lat: 14.7189, lng: 90.6442 })
    const [placed, guiaWithoutPlace] = [await create({ lat: 14.7189, lng: -90.6442 }), await create()]
    const file = await write('codigos.txt', [caseWithoutSign, placed, guiaWithoutPlace].join('\n'))
    const { codigo, output, errores } = await guias(['ubicar', '--archivo', file, '--aceptar-sugerencias'])
    expect([codigo, output]).toEqual([0, `${caseWithoutSign}  ubicación confirmada  14.7189, -90.6442\n`])
    expect(errores).toBe(
      `${[placed, guiaWithoutPlace].map((one) => `${one}  no tiene ninguna sugerencia de lugar: queda como está\n`).join('')}1 ubicadas, 2 sin sugerencia, 0 no.\n`,
    )
    expect(await ubicacionOf(caseWithoutSign)).toMatchObject({ lat: 14.7189, lng: -90.6442 })
    expect((await ubicacionOf(guiaWithoutPlace)).estado).toBe('solicitada')
  })

  it('goes on after a guide that is on its way, and ends with 1', async () => {
    const [late, one] = [await create({ lat: 14.7189, lng: -90.6442 }), await create()]
    for (const estado of ['recolectado', 'en_ruta'] as const) await cli.comercio.api.simulador.avanzar(late, { estado })
    const table = `guia,lat,lng\n${late},14.72,-90.64\n${one},14.72,-90.64\n`
    const run = await guias(['ubicar', '--archivo', await write('tarde.csv', table)])
    expect([run.codigo, run.output.slice(0, 12), run.errores]).toEqual([
      1,
      one,
      expect.stringMatching(new RegExp(`^${late} {2}.*\\n1 ubicadas, 1 no\\.\\n$`, 's')),
    ])
  })

  it.each<[string, string[], string]>([
    ['no guide', ['ubicar', '--lat', '1', '--lng', '2'], 'Falta el código'],
    ['no place', ['ubicar', 'A', '--lat', '1'], 'Falta el lugar'],
    ['one place for two', ['ubicar', 'A', 'B', '--lat', '1', '--lng', '2'], '--archivo'],
    ['a table without guides', ['ubicar', '--archivo', 'sin.csv'], 'columnas guia, lat y lng'],
    ['a row without its place', ['ubicar', '--archivo', 'media.csv'], 'media.csv, fila 2: Falta el lugar'],
  ])('says what is missing: %s', async (_, args, dice) => {
    await write('sin.csv', 'lat,lng\n1,2\n')
    await write('media.csv', 'guia,lat,lng\nA,1,\n')
    const { codigo, errores } = await guias(args)
    expect([codigo, errores]).toEqual([2, expect.stringContaining(dice)])
  })
})

describe('guias reenviar-solicitud', () => {
  it('asks again for those that expired, and says which it could not', async () => {
    // A telephone of its own: one telephone gets five messages a day.
    const expired = await create({ telefono: '+50255501122' })
    const confirmed = await create({ lat: 14.7189, lng: -90.6442 })
    await cli.environment.waitForQuiet(cli.comercio)
    await cli.comercio.api.simulador.confirmarUbicacion(expired, { resultado: 'vencida' })
    const { codigo, output, errores } = await guias(['reenviar-solicitud', expired, confirmed])
    expect([codigo, output]).toEqual([1, `${expired}  se pidió otra vez (mensaje 2)\n`])
    expect(errores).toMatch(new RegExp(`^${confirmed} {2}.*\\n1 reenviadas, 1 no\\.\\n$`, 's'))
  })
})
