import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { CLI, enTerminal, hasTerminal, useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
const lineas = (texto: string) => texto.trimEnd().split('\n')

describe('guias listar', () => {
  /** Newest first. */
  const creadas: string[] = []
  beforeAll(async () => {
    for (let n = 0; n < 4; n++) {
      const destinatario = n === 3 ? 'José María de los Ángeles Xiloj Ajcalón de la Cruz y Cruz' : 'Ana'
      creadas.unshift((await cli.comercio.api.guias.crear(buildGuia({ destinatario }))).guia)
    }
    await cli.comercio.api.guias.cancelar(creadas[3]!)
  })

  it('shows people a table, newest first, and says when there is more', async () => {
    const toda = await guias(['listar'])
    expect([toda.codigo, toda.errores]).toEqual([0, ''])
    const [titulos, ...filas] = lineas(toda.output)
    expect(titulos).toMatch(/^GUÍA {10}ESTADO {5}CREADA {18}REFERENCIA +DESTINO$/)
    expect(filas.map((fila) => fila.split(/ {2,}/).slice(0, 2))).toEqual(
      creadas.map((guia, n) => [guia, n === 3 ? 'cancelado' : 'aceptado']),
    )
    // Nothing is cut where there is no terminal.
    expect(filas[0]).toContain('Xiloj Ajcalón de la Cruz y Cruz, San Juan Sacatepéquez')
    const parte = await guias(['listar', '--limite', '3'])
    const [, cursor = ''] = /^Hay más: pida --todas, o siga con --cursor (\S+)\n$/.exec(parte.errores) ?? []
    expect(lineas(parte.output)).toHaveLength(4)
    const resto = await guias(['listar', '--cursor', cursor, '--json'])
    expect([JSON.parse(resto.output).guia, resto.errores]).toEqual([creadas[3], ''])
  })

  it('writes JSON lines and CSV for machines', async () => {
    const json = lineas((await guias(['listar', '--json'])).output).map((linea) => JSON.parse(linea))
    expect(json).toEqual((await cli.comercio.api.guias.listar()).datos)
    const csv = (await guias(['listar', '--csv', '--estado', 'cancelado'])).output
    const [cabecera, fila, fin] = csv.split('\r\n')
    expect(cabecera).toMatch(/^guia,estado,modo,external_ref,telefono,/)
    expect([fila, fin]).toEqual([expect.stringMatching(new RegExp(`^${creadas[3]},cancelado,test,`)), ''])
  })

  it('filters as the service does', async () => {
    const codigos = async (...args: string[]) =>
      lineas((await guias(['listar', '--json', ...args])).output).flatMap((linea) =>
        linea ? [JSON.parse(linea).guia] : [],
      )
    const [una] = (await cli.comercio.api.guias.listar({ limite: 1 })).datos
    expect(await codigos('--external-ref', una!.external_ref!)).toEqual([una!.guia])
    expect(await codigos('--estado', 'cancelado,entregado')).toEqual([creadas[3]])
    expect(await codigos('--estado', 'cancelado', '--estado', 'aceptado')).toEqual(creadas)
    expect(await codigos('--creado-desde', una!.creado_en)).toEqual([una!.guia])
    expect(await codigos('--creado-hasta', una!.creado_en)).toEqual(creadas.slice(1))
    expect(await codigos('--actualizado-desde', una!.creado_en)).toEqual([una!.guia, creadas[3]])
    expect(await codigos('--ubicacion', 'solicitada,fallida')).toEqual([])
    // A date alone begins at midnight here, not in Greenwich.
    const aqui = { env: { TZ: 'America/Guatemala' } }
    const { errores } = await guias(['listar', '--creado-hasta', '2020-01-01', '--creado-desde', '2019-12-31'], aqui)
    expect(errores).toBe('No hay guías así.\n')
  })

  it.each(['UTC', 'Asia/Tokyo', 'America/Guatemala'])('shows the clock of each destination (TZ=%s)', async (TZ) => {
    const otro = await cli.environment.nuevoComercio()
    const env = { GUIAS_LLAVE: otro.llave, TZ }
    const aqui = await otro.api.guias.crear(buildGuia())
    const aBogota = {
      departamento: 'Cundinamarca',
      municipio: 'Soacha',
      pais: 'CO' as const,
      telefono: '+573001234567',
    }
    const alla = await otro.api.guias.crear({ ...buildGuia(aBogota), lat: 4.58, lng: -74.22 })
    const minuto = (iso: string, horas: number) =>
      new Date(Date.parse(iso) - horas * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
    const { output: salida } = await guias(['listar'], { env })
    expect(lineas(salida).slice(1)).toEqual([
      expect.stringContaining(`  ${minuto(alla.creado_en, 5)} UTC-5  `),
      expect.stringContaining(`  ${minuto(aqui.creado_en, 6)} UTC-6  `),
    ])
    expect((await guias(['ver', alla.guia], { env })).output).toContain(
      `  Creada        ${minuto(alla.creado_en, 5)}${alla.creado_en.slice(16, 19)} UTC-5\n`,
    )
  })

  it('filters by telephone and by metadata, and writes metadata as it reads them', async () => {
    const otro = await cli.environment.nuevoComercio()
    const env = { GUIAS_LLAVE: otro.llave }
    await otro.api.guias.crear(buildGuia())
    const metadatos = { canal: 'web', campaña: 'a, b' }
    const { guia, url_rastreo } = await otro.api.guias.crear(buildGuia({ telefono: '+50232963352', metadatos }))
    const filas = async (...args: string[]) =>
      lineas((await guias(['listar', '--csv', ...args], { env })).output).slice(1)
    const [fila = '', ...mas] = await filas('--telefono', '3296 3352')
    expect([fila.slice(0, 12), mas]).toEqual([guia, []])
    expect(fila).toContain(`,"campaña=a, b; canal=web",America/Guatemala,${url_rastreo}`)
    expect(await filas('--metadatos', 'canal=web;campaña=a, b')).toEqual([fila])
    expect(await filas('--metadatos', 'canal=app')).toEqual([])
    const { codigo, errores } = await guias(['listar', '--metadatos', 'canal'], { env })
    expect([codigo, errores]).toEqual([2, expect.stringContaining('--metadatos debe ser como canal=web')])
  })

  it('says that there is nothing, and what is wrong with a filter', async () => {
    const otro = await cli.environment.nuevoComercio()
    const env = { GUIAS_LLAVE: otro.llave }
    expect(await guias(['listar'], { env })).toEqual({
      codigo: 0,
      output: '',
      errores: expect.stringMatching(/^No hay guías todavía/),
    })
    expect(await guias(['listar', '--json'], { env })).toMatchObject({ codigo: 0, output: '' })
    expect((await guias(['listar', '--csv'], { env })).output).toMatch(/^guia,.*\r\n$/)
    expect(await guias(['listar', '--estado', 'volando'])).toMatchObject({
      codigo: 2,
      errores: expect.stringMatching(/^Error: Corrija y repita la orden .*\n {2}--estado: debe ser uno de: aceptado/),
    })
    const ajeno = await guias(['listar', '--cursor', 'basura'])
    expect([ajeno.codigo, ajeno.errores]).toEqual([2, expect.stringMatching(/^Error: El --cursor no es de esta lista/)])
  })

  it('ends quietly when the reading program closes the pipe', async () => {
    const orden = `'${process.execPath}' '${CLI}' listar --todas --json | head -1`
    const {
      codigo,
      errores,
      output: salida,
    } = await guias([], { program: ['/bin/bash', '-c', `set -o pipefail; ${orden}`] })
    expect([codigo, errores, JSON.parse(salida).guia]).toEqual([0, '', creadas[0]])
  })

  it.skipIf(!hasTerminal)('fits on a terminal, however long the names, with colours unless NO_COLOR', async () => {
    const env = { TERM: 'xterm-256color' }
    const { codigo, output: salida } = await guias([], { program: enTerminal(['listar']), env })
    expect(codigo).toBe(0)
    expect(salida).toContain('\x1b[90mcancelado')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colours the screen is looked away
    const sinColor = salida.replace(/\x1b\[\d+m/g, '')
    for (const linea of sinColor.split('\r\n')) expect(linea.length).toBeLessThanOrEqual(80)
    expect(sinColor).toContain('…')
    expect(sinColor).not.toContain('Ajcalón')
    expect((await guias([], { program: enTerminal(['listar']), env: { ...env, NO_COLOR: '1' } })).output).not.toContain(
      '\x1b',
    )
  })
})
