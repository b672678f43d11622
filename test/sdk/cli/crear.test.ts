import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { createRef, DESTINO, RECOGIDA_ARGS, useCli } from './run.ts'

const cli = useCli()
const { write, guias } = cli

describe('guias crear', () => {
  it('creates with options, once for one reference', async () => {
    const ref = createRef()
    const args = ['crear', ...DESTINO, ...RECOGIDA_ARGS, '--external-ref', ref, '--lat', '14.63', '--lng', '-90.6']
    const one = await guias(args)
    expect([one.codigo, one.errores]).toEqual([0, ''])
    const [, codigo = ''] = /^(\w{12}) {2}aceptado, ubicación confirmada\n$/.exec(one.output) ?? []
    expect(await cli.comercio.api.guias.obtener(codigo)).toMatchObject({ external_ref: ref, lat: 14.63, lng: -90.6 })
    expect((await guias(args)).output).toBe(`${codigo}  aceptado, ubicación confirmada  (ya existía)\n`)
    expect(JSON.parse((await guias([...args, '--json'])).output)).toMatchObject({ guia: codigo })
  })

  it('takes the contact of the pickup', async () => {
    const contacto = [
      '--recogida-contacto',
      'Luis',
      '--recogida-telefono',
      '5555 1234',
      '--recogida-direccion',
      'Zona 12',
    ]
    const { output } = await guias(['crear', ...DESTINO, ...RECOGIDA_ARGS, ...contacto, '--json'])
    expect(JSON.parse(output).recogida).toMatchObject({
      contacto: 'Luis',
      telefono: '+50255551234',
      direccion: 'Zona 12',
      indicaciones: null,
    })
  })

  it('takes metadata, and lets the service refuse what is none', async () => {
    const withMetadatos = (text: string) =>
      guias(['crear', ...DESTINO, ...RECOGIDA_ARGS, '--metadatos', text, '--json'])
    const { output } = await withMetadatos(' canal = web; campaña=a=b ;')
    expect(JSON.parse(output).metadatos).toEqual({ canal: 'web', campaña: 'a=b' })
    for (const text of ['canal', 'canal=web; canal=app']) {
      const { codigo, errores } = await withMetadatos(text)
      expect([codigo, errores]).toEqual([1, expect.stringContaining('metadatos: debe ser un objeto con 20 claves')])
    }
  })

  it('says what to look at again, apart from what was asked for', async () => {
    const guia = { ...buildGuia(), municipio: 'San Juan Sacatepeques y algo' }
    const { codigo, output, errores } = await guias(['crear', await write('rara.json', JSON.stringify(guia))])
    expect([codigo, output]).toEqual([0, expect.stringMatching(/^\w{12} {2}aceptado, ubicación confirmada\n$/)])
    expect(errores).toMatch(/^Revise municipio: «San Juan Sacatepeques y algo» no está en el catálogo.*\n$/)
  })

  it('reads a telephone without + with the country that it is told, offline, or else with that of the account', async () => {
    const telefono = async (...args: string[]) => {
      const { output } = await guias(['crear', ...DESTINO.slice(2), ...RECOGIDA_ARGS, '--json', ...args])
      return JSON.parse(output).telefono
    }
    expect(await telefono('--telefono', '3148 1676')).toBe('+50231481676')
    expect(await telefono('--telefono', '7723 4567', '--pais', 'SV')).toBe('+50377234567')
    const file = await write('sv.json', JSON.stringify({ ...buildGuia(), telefono: '7723 4567' }))
    expect(JSON.parse((await guias(['crear', file, '--pais', 'SV', '--json'])).output).telefono).toBe('+50377234567')
    const { codigo, errores } = await guias([
      'crear',
      ...DESTINO.slice(2),
      ...RECOGIDA_ARGS,
      '--telefono',
      '77',
      '--pais',
      'SV',
    ])
    expect([codigo, errores]).toEqual([1, expect.stringContaining('un número de El Salvador tiene 8')])
  })

  it('tells an implausible place with the one that was perhaps meant, and with --estricto creates no such guide', async () => {
    const args = ['crear', ...DESTINO, ...RECOGIDA_ARGS, '--lat', '14.633', '--lng', '90.606']
    const one = await guias(args)
    const expectedLine = /^Revise ubicacion: el lugar está a .* ¿falta el signo − en lng\? ¿14\.633, -90\.606\?\n$/
    expect([one.codigo, one.errores]).toEqual([0, expect.stringMatching(expectedLine)])
    const strictOne = await guias([...args, '--estricto'])
    expect([strictOne.codigo, strictOne.output]).toEqual([1, ''])
    expect(strictOne.errores).toContain('Quizá quiso decir 14.633, -90.606')
  })

  it('creates from a file or from what is piped into it', async () => {
    const guia = buildGuia()
    const file = await write('guia.json', `\uFEFF${JSON.stringify(guia)}`)
    const one = await guias(['crear', file, '--json'])
    const other = await guias(['crear', '-', '--json'], { input: JSON.stringify(guia) })
    expect(JSON.parse(other.output).guia).toBe(JSON.parse(one.output).guia)
    expect(await guias(['crear', '-'], { input: '{' })).toMatchObject({ codigo: 2 })
    expect(await guias(['crear', file, '--telefono', '1'])).toMatchObject({ codigo: 2 })
  })

  it('ends with 1 for a guide that exists and is cancelled', async () => {
    const requestData = buildGuia()
    const { guia } = await cli.comercio.api.guias.crear(requestData)
    await cli.comercio.api.guias.cancelar(guia)
    const file = await write('cancelada.json', JSON.stringify(requestData))
    const aviso = `${guia}: la guía de esta referencia ya existía y está cancelada: para otro envío use otra external_ref.`
    expect(await guias(['crear', file])).toMatchObject({ codigo: 1, errores: `${aviso}\n` })
    const toJson = await guias(['crear', file, '--json'])
    expect([toJson.codigo, JSON.parse(toJson.errores)]).toEqual([1, { aviso }])
  })

  it('asks for nothing that can be known to be missing, and tells the options', async () => {
    const nothing = await guias(['crear', '--telefono', '12', '--lat', '14.6'], {
      env: { GUIAS_URL: 'http://127.0.0.1:1' },
    })
    expect([nothing.codigo, nothing.output]).toEqual([2, ''])
    expect(nothing.errores).toContain(
      'Falta --departamento, --municipio, dónde se recoge (--recogida-lat y --recogida-lng',
    )
    expect(nothing.errores).toContain('y --lng.')
  })

  it('tells by its options, or by the fields of a file, all that the service finds wrong', async () => {
    const options = await guias([
      'crear',
      '--telefono',
      '12',
      ...DESTINO.slice(2),
      ...RECOGIDA_ARGS,
      '--lat',
      '91',
      '--lng',
      '0',
    ])
    expect([options.codigo, options.output]).toEqual([1, ''])
    expect(options.errores).toMatch(/^Error: Corrija y repita la orden .*\n( {2}--(telefono|lat): .*\n){2}$/)
    const { recogida, ...guia } = buildGuia({ telefono: '12' })
    const file = await write('mala.json', JSON.stringify({ ...guia, recogida: { ...recogida, lat: 91 } }))
    const { errores } = await guias(['crear', file])
    for (const field of ['\n  telefono: ', '\n  recogida.lat: ']) expect(errores).toContain(field)
  })
})
