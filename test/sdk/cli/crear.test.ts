import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { createRef, DESTINO, RECOGIDA_ARGS, useCli } from './run.ts'

const cli = useCli()
const { write: escribir, guias } = cli

describe('guias crear', () => {
  it('creates with options, once for one reference', async () => {
    const ref = createRef()
    const args = ['crear', ...DESTINO, ...RECOGIDA_ARGS, '--external-ref', ref, '--lat', '14.63', '--lng', '-90.6']
    const una = await guias(args)
    expect([una.codigo, una.errores]).toEqual([0, ''])
    const [, codigo = ''] = /^(\w{12}) {2}aceptado, ubicación confirmada\n$/.exec(una.output) ?? []
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
    const { output: salida } = await guias(['crear', ...DESTINO, ...RECOGIDA_ARGS, ...contacto, '--json'])
    expect(JSON.parse(salida).recogida).toMatchObject({
      contacto: 'Luis',
      telefono: '+50255551234',
      direccion: 'Zona 12',
      indicaciones: null,
    })
  })

  it('takes metadata, and lets the service refuse what is none', async () => {
    const conMetadatos = (texto: string) =>
      guias(['crear', ...DESTINO, ...RECOGIDA_ARGS, '--metadatos', texto, '--json'])
    const { output: salida } = await conMetadatos(' canal = web; campaña=a=b ;')
    expect(JSON.parse(salida).metadatos).toEqual({ canal: 'web', campaña: 'a=b' })
    for (const texto of ['canal', 'canal=web; canal=app']) {
      const { codigo, errores } = await conMetadatos(texto)
      expect([codigo, errores]).toEqual([1, expect.stringContaining('metadatos: debe ser un objeto con 20 claves')])
    }
  })

  it('says what to look at again, apart from what was asked for', async () => {
    const guia = { ...buildGuia(), municipio: 'San Juan Sacatepeques y algo' }
    const {
      codigo,
      output: salida,
      errores,
    } = await guias(['crear', await escribir('rara.json', JSON.stringify(guia))])
    expect([codigo, salida]).toEqual([0, expect.stringMatching(/^\w{12} {2}aceptado, ubicación confirmada\n$/)])
    expect(errores).toMatch(/^Revise municipio: «San Juan Sacatepeques y algo» no está en el catálogo.*\n$/)
  })

  it('reads a telephone without + with the country that it is told, offline, or else with that of the account', async () => {
    const telefono = async (...args: string[]) => {
      const { output: salida } = await guias(['crear', ...DESTINO.slice(2), ...RECOGIDA_ARGS, '--json', ...args])
      return JSON.parse(salida).telefono
    }
    expect(await telefono('--telefono', '3148 1676')).toBe('+50231481676')
    expect(await telefono('--telefono', '7723 4567', '--pais', 'SV')).toBe('+50377234567')
    const archivo = await escribir('sv.json', JSON.stringify({ ...buildGuia(), telefono: '7723 4567' }))
    expect(JSON.parse((await guias(['crear', archivo, '--pais', 'SV', '--json'])).output).telefono).toBe('+50377234567')
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
    const una = await guias(args)
    const dicha = /^Revise ubicacion: el lugar está a .* ¿falta el signo − en lng\? ¿14\.633, -90\.606\?\n$/
    expect([una.codigo, una.errores]).toEqual([0, expect.stringMatching(dicha)])
    const estricta = await guias([...args, '--estricto'])
    expect([estricta.codigo, estricta.output]).toEqual([1, ''])
    expect(estricta.errores).toContain('Quizá quiso decir 14.633, -90.606')
  })

  it('creates from a file or from what is piped into it', async () => {
    const guia = buildGuia()
    const archivo = await escribir('guia.json', `\uFEFF${JSON.stringify(guia)}`)
    const una = await guias(['crear', archivo, '--json'])
    const otra = await guias(['crear', '-', '--json'], { input: JSON.stringify(guia) })
    expect(JSON.parse(otra.output).guia).toBe(JSON.parse(una.output).guia)
    expect(await guias(['crear', '-'], { input: '{' })).toMatchObject({ codigo: 2 })
    expect(await guias(['crear', archivo, '--telefono', '1'])).toMatchObject({ codigo: 2 })
  })

  it('ends with 1 for a guide that exists and is cancelled', async () => {
    const pedido = buildGuia()
    const { guia } = await cli.comercio.api.guias.crear(pedido)
    await cli.comercio.api.guias.cancelar(guia)
    const archivo = await escribir('cancelada.json', JSON.stringify(pedido))
    const aviso = `${guia}: la guía de esta referencia ya existía y está cancelada: para otro envío use otra external_ref.`
    expect(await guias(['crear', archivo])).toMatchObject({ codigo: 1, errores: `${aviso}\n` })
    const enJson = await guias(['crear', archivo, '--json'])
    expect([enJson.codigo, JSON.parse(enJson.errores)]).toEqual([1, { aviso }])
  })

  it('asks for nothing that can be known to be missing, and tells the options', async () => {
    const nada = await guias(['crear', '--telefono', '12', '--lat', '14.6'], {
      env: { GUIAS_URL: 'http://127.0.0.1:1' },
    })
    expect([nada.codigo, nada.output]).toEqual([2, ''])
    expect(nada.errores).toContain(
      'Falta --departamento, --municipio, dónde se recoge (--recogida-lat y --recogida-lng',
    )
    expect(nada.errores).toContain('y --lng.')
  })

  it('tells by its options, or by the fields of a file, all that the service finds wrong', async () => {
    const opciones = await guias([
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
    expect([opciones.codigo, opciones.output]).toEqual([1, ''])
    expect(opciones.errores).toMatch(/^Error: Corrija y repita la orden .*\n( {2}--(telefono|lat): .*\n){2}$/)
    const { recogida, ...guia } = buildGuia({ telefono: '12' })
    const archivo = await escribir('mala.json', JSON.stringify({ ...guia, recogida: { ...recogida, lat: 91 } }))
    const { errores } = await guias(['crear', archivo])
    for (const campo of ['\n  telefono: ', '\n  recogida.lat: ']) expect(errores).toContain(campo)
  })
})
