import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { CLI, hasTerminal, inTerminal, useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
const lines = (text: string) => text.trimEnd().split('\n')

describe('guias listar', () => {
  /** Newest first. */
  const created: string[] = []
  beforeAll(async () => {
    for (let n = 0; n < 4; n++) {
      const destinatario = n === 3 ? 'José María de los Ángeles Xiloj Ajcalón de la Cruz y Cruz' : 'Ana'
      created.unshift((await cli.comercio.api.guias.crear(buildGuia({ destinatario }))).guia)
    }
    await cli.comercio.api.guias.cancelar(created[3]!)
  })

  it('shows people a table, newest first, and says when there is more', async () => {
    const wholeList = await guias(['listar'])
    expect([wholeList.codigo, wholeList.errores]).toEqual([0, ''])
    const [titles, ...rows] = lines(wholeList.output)
    expect(titles).toMatch(/^GUÍA {10}ESTADO {5}CREADA {18}REFERENCIA +DESTINO$/)
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual(
      created.map((guia, n) => [guia, n === 3 ? 'cancelado' : 'aceptado']),
    )
    // Nothing is cut where there is no terminal.
    expect(rows[0]).toContain('Xiloj Ajcalón de la Cruz y Cruz, San Juan Sacatepéquez')
    const part = await guias(['listar', '--limite', '3'])
    const [, cursor = ''] = /^Hay más: pida --todas, o siga con --cursor (\S+)\n$/.exec(part.errores) ?? []
    expect(lines(part.output)).toHaveLength(4)
    const rest = await guias(['listar', '--cursor', cursor, '--json'])
    expect([JSON.parse(rest.output).guia, rest.errores]).toEqual([created[3], ''])
  })

  it('writes JSON lines and CSV for machines', async () => {
    const json = lines((await guias(['listar', '--json'])).output).map((line) => JSON.parse(line))
    expect(json).toEqual((await cli.comercio.api.guias.listar()).datos)
    const csv = (await guias(['listar', '--csv', '--estado', 'cancelado'])).output
    const [header, row, end] = csv.split('\r\n')
    expect(header).toMatch(/^guia,estado,modo,external_ref,telefono,/)
    expect([row, end]).toEqual([expect.stringMatching(new RegExp(`^${created[3]},cancelado,test,`)), ''])
  })

  it('filters as the service does', async () => {
    const codigos = async (...args: string[]) =>
      lines((await guias(['listar', '--json', ...args])).output).flatMap((line) =>
        line ? [JSON.parse(line).guia] : [],
      )
    const [one] = (await cli.comercio.api.guias.listar({ limite: 1 })).datos
    expect(await codigos('--external-ref', one!.external_ref!)).toEqual([one!.guia])
    expect(await codigos('--estado', 'cancelado,entregado')).toEqual([created[3]])
    expect(await codigos('--estado', 'cancelado', '--estado', 'aceptado')).toEqual(created)
    expect(await codigos('--creado-desde', one!.creado_en)).toEqual([one!.guia])
    expect(await codigos('--creado-hasta', one!.creado_en)).toEqual(created.slice(1))
    expect(await codigos('--actualizado-desde', one!.creado_en)).toEqual([one!.guia, created[3]])
    expect(await codigos('--ubicacion', 'solicitada,fallida')).toEqual([])
    // A date alone begins at midnight here, not in Greenwich.
    const here = { env: { TZ: 'America/Guatemala' } }
    const { errores } = await guias(['listar', '--creado-hasta', '2020-01-01', '--creado-desde', '2019-12-31'], here)
    expect(errores).toBe('No hay guías así.\n')
  })

  it.each(['UTC', 'Asia/Tokyo', 'America/Guatemala'])('shows the clock of each destination (TZ=%s)', async (TZ) => {
    const other = await cli.environment.createComercio()
    const env = { GUIAS_LLAVE: other.llave, TZ }
    const here = await other.api.guias.crear(buildGuia())
    const toBogota = {
      departamento: 'Cundinamarca',
      municipio: 'Soacha',
      pais: 'CO' as const,
      telefono: '+573001234567',
    }
    const elsewhere = await other.api.guias.crear({ ...buildGuia(toBogota), lat: 4.58, lng: -74.22 })
    const formatMinute = (iso: string, horas: number) =>
      new Date(Date.parse(iso) - horas * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
    const { output } = await guias(['listar'], { env })
    expect(lines(output).slice(1)).toEqual([
      expect.stringContaining(`  ${formatMinute(elsewhere.creado_en, 5)} UTC-5  `),
      expect.stringContaining(`  ${formatMinute(here.creado_en, 6)} UTC-6  `),
    ])
    expect((await guias(['ver', elsewhere.guia], { env })).output).toContain(
      `  Creada        ${formatMinute(elsewhere.creado_en, 5)}${elsewhere.creado_en.slice(16, 19)} UTC-5\n`,
    )
  })

  it('filters by telephone and by metadata, and writes metadata as it reads them', async () => {
    const other = await cli.environment.createComercio()
    const env = { GUIAS_LLAVE: other.llave }
    await other.api.guias.crear(buildGuia())
    const metadatos = { canal: 'web', campaña: 'a, b' }
    const { guia, url_rastreo } = await other.api.guias.crear(buildGuia({ telefono: '+50232963352', metadatos }))
    const rows = async (...args: string[]) =>
      lines((await guias(['listar', '--csv', ...args], { env })).output).slice(1)
    const [row = '', ...more] = await rows('--telefono', '3296 3352')
    expect([row.slice(0, 12), more]).toEqual([guia, []])
    expect(row).toContain(',"campaña=a, b; canal=web",')
    expect(row.endsWith(`,America/Guatemala,${url_rastreo}`)).toBe(true)
    expect(await rows('--metadatos', 'canal=web;campaña=a, b')).toEqual([row])
    expect(await rows('--metadatos', 'canal=app')).toEqual([])
    const { codigo, errores } = await guias(['listar', '--metadatos', 'canal'], { env })
    expect([codigo, errores]).toEqual([2, expect.stringContaining('--metadatos debe ser como canal=web')])
  })

  it('says that there is nothing, and what is wrong with a filter', async () => {
    const other = await cli.environment.createComercio()
    const env = { GUIAS_LLAVE: other.llave }
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
    const foreign = await guias(['listar', '--cursor', 'basura'])
    expect([foreign.codigo, foreign.errores]).toEqual([
      2,
      expect.stringMatching(/^Error: El --cursor no es de esta lista/),
    ])
  })

  it('ends quietly when the reading program closes the pipe', async () => {
    const command = `'${process.execPath}' '${CLI}' listar --todas --json | head -1`
    const { codigo, errores, output } = await guias([], { program: ['/bin/bash', '-c', `set -o pipefail; ${command}`] })
    expect([codigo, errores, JSON.parse(output).guia]).toEqual([0, '', created[0]])
  })

  it.skipIf(!hasTerminal)('fits on a terminal, however long the names, with colours unless NO_COLOR', async () => {
    const env = { TERM: 'xterm-256color' }
    const { codigo, output } = await guias([], { program: inTerminal(['listar']), env })
    expect(codigo).toBe(0)
    expect(output).toContain('\x1b[90mcancelado')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what colours the screen is looked away
    const plainOutput = output.replace(/\x1b\[\d+m/g, '')
    for (const line of plainOutput.split('\r\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(plainOutput).toContain('…')
    expect(plainOutput).not.toContain('Ajcalón')
    expect((await guias([], { program: inTerminal(['listar']), env: { ...env, NO_COLOR: '1' } })).output).not.toContain(
      '\x1b',
    )
  })
})
