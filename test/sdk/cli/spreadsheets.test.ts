/** A shop whose orders are in a spreadsheet: what each program writes, and what is wrong in it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { leerTabla, normalizarColumna } from '@guias/sdk/hoja'
import { describe, expect, it } from 'vitest'
import { buildGuia, lote100 } from '../../factories.ts'
import { createRef, RECOGIDA_ARGS, useCli } from './run.ts'

const cli = useCli()
const { environment, write: escribir, guias } = cli

interface Writer {
  separator: string
  lineEnd: string
  decimal: string
  /** The text before the titles, and the empty columns after the last one. */
  before: string
  emptyColumns: number
  quotesAll?: boolean
  encode: (text: string) => Uint8Array
  args?: string[]
}

const WRITERS: Record<string, Writer> = {
  'Excel, as CSV': {
    separator: ';',
    lineEnd: '\r\n',
    decimal: ',',
    before: 'sep=;\r\n',
    emptyColumns: 3,
    encode: (text) => Buffer.from(text, 'latin1'),
    args: ['--codificacion', 'windows-1252'],
  },
  'Excel, as Unicode text': {
    separator: '\t',
    lineEnd: '\r\n',
    decimal: ',',
    before: '',
    emptyColumns: 0,
    encode: (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  },
  'LibreOffice, with quotes around all texts': {
    separator: ',',
    lineEnd: '\n',
    decimal: '.',
    before: ',,,,,,,,\n',
    emptyColumns: 0,
    quotesAll: true,
    encode: (text) => Buffer.from(text),
  },
  'Google Sheets': {
    separator: ',',
    lineEnd: '\r\n',
    decimal: '.',
    before: '',
    emptyColumns: 1,
    encode: (text) => Buffer.from(text),
  },
}

const TITLES = [
  'N.º de pedido',
  'Nombre',
  'Teléfono',
  'Departamento',
  'Municipio',
  'Dirección',
  'Latitud',
  'Longitud',
  'Notas',
]
const [REFERENCE, NAME, TELEPHONE, , TOWN, ADDRESS, LATITUDE, LONGITUDE] = TITLES.keys()

/** Cells that are wrong: their column, what stands there, and what the program says. `raw` stands there without quotes. */
const DAMAGES: { column: number; cell: string; raw?: true; says: RegExp }[] = [
  { column: REFERENCE!, cell: '1.23457E+12', says: /external_ref: es un número abreviado/ },
  { column: REFERENCE!, cell: '1,23457E+12', says: /external_ref: es un número abreviado/ },
  { column: REFERENCE!, cell: '#REF!', says: /external_ref: es «#REF!», un error/ },
  { column: REFERENCE!, cell: '5/05/0026', says: /external_ref: es una fecha/ },
  { column: REFERENCE!, cell: '5-may', says: /external_ref: es una fecha/ },
  { column: REFERENCE!, cell: '1001.0', says: /external_ref: es un número con decimales/ },
  { column: REFERENCE!, cell: 'W-0', says: /external_ref: es la de la fila \d+:/ },
  { column: REFERENCE!, cell: '', says: /falta external_ref/ },
  { column: TELEPHONE!, cell: '5512345.0', says: /telefono: es un número con decimales/ },
  { column: TELEPHONE!, cell: '5,5123E+7', says: /telefono: es un número abreviado/ },
  { column: TELEPHONE!, cell: '########', says: /telefono: es «########», un error/ },
  { column: TELEPHONE!, cell: '', says: /falta telefono/ },
  { column: TELEPHONE!, cell: '3148 167', says: /telefono: le faltan dígitos/ },
  { column: NAME!, cell: '=B2&" "&C2', says: /destinatario: es una fórmula/ },
  { column: NAME!, cell: '#¿NOMBRE?', says: /destinatario: es «#¿NOMBRE\?», un error/ },
  { column: TOWN!, cell: '#N/D', says: /municipio: es «#N\/D», un error/ },
  { column: TOWN!, cell: '', says: /falta municipio/ },
  { column: ADDRESS!, cell: '21-mar', says: /direccion: es una fecha/ },
  {
    column: ADDRESS!,
    cell: '5a avenida#zona 1#Mixco#casa#2#3',
    raw: true,
    says: /^trae \d+ campos y la primera línea/,
  },
  { column: LATITUDE!, cell: '14.630.700', says: /lat: / },
  { column: LONGITUDE!, cell: '', says: /lng/ },
]
const ROWS = 500
/** Rows of the sheet that stand between the damaged ones. */
const EVERY = 20
const damageAt = (i: number) => (i % EVERY === 7 ? DAMAGES[Math.floor(i / EVERY)] : undefined)

/** The shop's orders: real towns, names that a spreadsheet could run, texts with separators, quotes and lines. */
function ordersOf({ decimal }: Writer): string[][] {
  const { guias: places } = lote100()
  return Array.from({ length: ROWS }, (_, i) => {
    const { departamento, municipio } = places[i % places.length]!
    const name = ['Ana "la Güicha" Pérez', '@sum Ltda', '- José', "O'Neil; hijos, y cía"][i % 4]!
    const telephone = [`3148 ${1000 + i}`, `3148${1000 + i}`, `502 3148-${1000 + i}`, `3148\u00a0${1000 + i}`][i % 4]!
    const address = [`${i}a avenida 3-21, zona 1`, 'Tubo 5" azul', `Calle ${i}; casa 2`][i % 3]!
    const point = ['14.6349', '-90.5069'].map((degrees) => degrees.replace('.', decimal))
    return [
      `W-${i}`,
      name,
      telephone,
      departamento,
      municipio,
      address,
      ...point,
      'Portón "verde"\nal fondo, a la derecha; tocar',
    ]
  })
}

function write(rows: readonly (string | { raw: string })[][], writer: Writer): Uint8Array {
  const { separator, lineEnd, before, emptyColumns, quotesAll = false, encode } = writer
  const quoted = (cell: string) =>
    (quotesAll && cell !== '') || cell.includes(separator) || /["\r\n]/.test(cell)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell
  const line = (row: readonly (string | { raw: string })[]) =>
    [...row, ...Array(emptyColumns).fill('')]
      .map((cell) => (typeof cell === 'string' ? quoted(cell) : cell.raw.replaceAll('#', separator)))
      .join(separator)
  const lines = [TITLES, ...rows].map(line)
  // Blank rows stand where the shop left them.
  lines.splice(100, 0, separator.repeat(TITLES.length - 1 + emptyColumns), '')
  return encode(before + lines.join(lineEnd) + lineEnd)
}

const resultsOf = async (name: string) => {
  const { campos: fields, filas: readTableRows } = await leerTabla(await readFile(join(cli.folder, name)))
  return (await Array.fromAsync(readTableRows)).map(({ valores }) => ({
    values: valores,
    ...Object.fromEntries(fields.map((field, i) => [field, valores[i]!])),
  })) as ({ values: string[] } & Record<'fila' | 'ok' | 'detalle' | 'guia', string>)[]
}

describe('a shop with a spreadsheet of 500 rows and 21 kinds of damage', () => {
  it.each(Object.keys(WRITERS))(
    '%s: creates nothing twice, loses nothing, tells each fault with its row',
    async (key) => {
      const writer = WRITERS[key]!
      const { llave, api } = await environment.createComercio()
      const name = `tienda-${Object.keys(WRITERS).indexOf(key)}`
      const run = async (rows: Parameters<typeof write>[0]) => {
        await escribir(`${name}.csv`, write(rows, writer))
        return guias(['lote', `${name}.csv`, ...RECOGIDA_ARGS, ...(writer.args ?? [])], {
          env: { GUIAS_LLAVE: llave },
        })
      }
      const created = async () =>
        (await Array.fromAsync(api.guias.listar({ limite: 100 }))).map(({ external_ref }) => external_ref)
      const good = ordersOf(writer)
      const damaged = good.map((row, i) => {
        const { column, cell, raw } = damageAt(i) ?? {}
        return column === undefined ? row : row.with(column, (raw ? { raw: cell! } : cell!) as string)
      })
      const bad = good.flatMap((_, i) => (damageAt(i) ? [i] : []))
      expect(bad).toHaveLength(DAMAGES.length)

      // A quote that is never closed swallows orders, so that the file is refused before its first guide.
      const open = good.with(450, good[450]!.with(ADDRESS!, { raw: '"5a avenida' } as never))
      const closed = open.with(460, good[460]!.with(ADDRESS!, { raw: '5a avenida"' } as never))
      const before = writer.before.startsWith('sep=') || writer.before === '' ? 0 : 1
      for (const rows of [open, closed]) {
        const { codigo, errores } = await run(rows)
        expect([codigo, errores]).toEqual([2, expect.stringMatching(new RegExp(`fila ${454 + before}: .*comillas`))])
      }
      expect(await created()).toEqual([])

      const first = await run(damaged)
      const sane = ROWS - bad.length
      expect([first.codigo, first.output]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^${ROWS} leídas: ${sane} creadas, ${bad.length} fallidas`)),
      ])
      const results = await resultsOf(`${name}.resultados.csv`)
      expect(results).toHaveLength(ROWS)
      for (const [i, { fila: tableRow, ok, detalle, values, guia }] of results.entries()) {
        expect(Number(tableRow)).toBe(i + 2 + before + (i < 99 ? 0 : 2))
        const says = damageAt(i)?.says
        expect([i, ok, detalle, guia.length]).toEqual(
          says ? [i, 'no', expect.stringMatching(says), 0] : [i, 'sí', '', 12],
        )
        if (!says) expect(values.slice(0, TITLES.length)).toEqual(good[i])
      }

      const again = await run(damaged)
      expect(again.output).toMatch(
        new RegExp(`^${ROWS} leídas: 0 creadas, ${sane} ya existían, ${bad.length} fallidas`),
      )
      const corrected = await run(good)
      expect([corrected.codigo, corrected.output]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^${ROWS} leídas: ${bad.length} creadas, ${sane} ya existían, 0 fallidas`)),
      ])
      expect((await created()).sort()).toEqual(good.map(([reference]) => reference).sort())
    },
  )
})

const TABLE = 'telefono,departamento,municipio,external_ref'
const order = (reference: string) => `31481676,Guatemala,Mixco,${reference}`

describe('guias lote, of a file with a fault', () => {
  it.each([
    ['late.csv', `${TABLE}\n${order('L-1')}\n${order('L-2')}\n"x\n`, /late\.csv, fila 4: unas comillas/],
    ['late.jsonl', `${JSON.stringify({ external_ref: 'L-1' })}\n{`, /late\.jsonl, línea 2: no es JSON/],
    ['nul.csv', `${TABLE}\n${order('L-1')}\n\0\n`, /nul\.csv no está en utf-8: guárdelo como «CSV UTF-8»/],
    ['book.csv', 'PK\x03\x04\0', /book\.csv es un libro de cálculo y no un CSV: ábralo/],
    ['long.jsonl', `{"a":"${'a'.repeat(2_200_000)}"}`, /long\.jsonl, línea 1: pasa de/],
  ])('asks nothing of the service before it has read all of %s', async (name, content, says) => {
    const { llave, api } = await environment.createComercio()
    const { codigo, errores } = await guias(['lote', await escribir(name, content), ...RECOGIDA_ARGS], {
      env: { GUIAS_LLAVE: llave },
    })
    expect([codigo, errores]).toEqual([2, expect.stringMatching(says)])
    expect((await api.guias.listar()).datos).toEqual([])
  })

  it('tells each kind of damage of one column with its rows', async () => {
    const damages = ['1.2E+12', '#REF!', '#N/D', '5-may', '1001.0', '=A1', '#REF!', 'K-0', 'K-0', '1.3E+12']
    const rows = damages.map((reference) => order(reference)).join('\n')
    const { errores } = await guias(['lote', await escribir('kinds.csv', `${TABLE}\n${rows}\n`), ...RECOGIDA_ARGS])
    const told = errores.split('\n').filter((line) => line.startsWith('Falla'))
    expect(
      told.map((line) =>
        line
          .match(/fila (\d+): |\(filas (.*)\)/)
          ?.slice(1)
          .find(Boolean),
      ),
    ).toEqual(['2, 11', '3, 8', '4', '5', '6', '7', '10'])
  })

  it('writes a row with too many fields into the results, and creates the others', async () => {
    const [one, other] = [createRef(), createRef()]
    const file = await escribir('larga.csv', `${TABLE}\n${order(one)}\n${order(`${other},zona 1`)}\n`)
    expect(await guias(['lote', file, ...RECOGIDA_ARGS])).toMatchObject({
      codigo: 1,
      output: expect.stringMatching(/^2 leídas: 1 creadas, 1 fallidas/),
      errores: expect.stringMatching(/^Falla {3}fila 3: trae 5 campos y la primera línea 4: ponga entre comillas/),
    })
    expect(await resultsOf('larga.resultados.csv')).toMatchObject([
      { ok: 'sí' },
      { ok: 'no', error: 'validacion', detalle: expect.stringMatching(/^trae 5 campos/) },
    ])
  })

  it('knows the columns that it is told', async () => {
    const reference = createRef()
    const text = `Compra,Tel casa,Departamento,Ciudad de envío,Color\n${reference},31481676,Guatemala,Mixco,azul\n`
    const file = await escribir('nombres.csv', text)
    const caseWithout = await guias(['lote', file, ...RECOGIDA_ARGS])
    expect([caseWithout.codigo, caseWithout.errores]).toEqual([
      2,
      expect.stringMatching(/«Compra», «Tel casa».*--columnas/),
    ])
    const names = 'tel casa=telefono,Compra=external_ref,Ciudad de envío=municipio,Color='
    const withColumns = await guias(['lote', file, ...RECOGIDA_ARGS, '--columnas', names])
    expect([withColumns.codigo, withColumns.output]).toEqual([0, expect.stringContaining('1 creadas, 0 fallidas')])
    expect((await cli.comercio.api.guias.listar({ external_ref: reference })).datos).toHaveLength(1)
    for (const [wrong, says] of [
      ['telefono', 'debe ser como'],
      ['Color=colour', 'no conoce el campo «colour»'],
      ['Talla=contenido', 'No hay ninguna columna «Talla»'],
    ] as const)
      expect(await guias(['lote', file, '--columnas', wrong])).toMatchObject({
        codigo: 2,
        errores: expect.stringContaining(says),
      })
  })
})

describe('the file to fill in, and its chapter', () => {
  it('creates guides as it is served', async () => {
    const response = await fetch(`${environment.url}/docs/pedidos.csv`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    const file = await escribir('pedidos.csv', new Uint8Array(await response.arrayBuffer()))
    const { codigo, output, errores } = await guias(['lote', file, ...RECOGIDA_ARGS])
    expect([codigo, output, errores]).toEqual([0, expect.stringMatching(/^2 leídas: 2 creadas, 0 fallidas/), ''])
  })

  it('names only columns that the reader knows', async () => {
    const chapter = await (await fetch(`${environment.url}/docs/guia/hoja-de-calculo.md`)).text()
    const rows = [...chapter.matchAll(/^\| (`[^|]+`) \| ([A-ZÁÉÍÓÚ][^|`]+) \|$/gm)]
    const known = rows.map(([, fields = '', names = '']) => {
      const found = names.split(', ').map(normalizarColumna)
      return [fields.replaceAll('`', '').split(', '), [...new Set(found)]]
    })
    expect(known).toHaveLength(10)
    for (const [fields, found] of known) expect(found).toEqual(fields)
  })
})

describe('a file that the command line writes for spreadsheets', () => {
  const NAMES = ['=HYPERLINK("http://a.example";"Ana")', '@SUM(A1:A9)', '- José', '+Ana']

  it('runs in none of them, and is read as it was', async () => {
    const { llave, api } = await environment.createComercio()
    const {
      guias: [place],
    } = lote100()
    const list = NAMES.map((destinatario, i) => ({
      ...place!,
      lat: 14.6349,
      lng: -90.5069,
      destinatario,
      external_ref: `F-${i}`,
      metadatos: { '=a': '1' },
    }))
    const env = { GUIAS_LLAVE: llave }
    const file = await escribir('nombres.json', JSON.stringify(list))
    expect((await guias(['lote', file, ...RECOGIDA_ARGS], { env })).codigo).toBe(0)
    const { output } = await guias(['listar', '--csv'], { env })
    const cells = output.split(/[,;\r\n]/).map((cell) => cell.replace(/^"/, ''))
    expect(cells.filter((cell) => /^[=@]|^[+-](?!\d)/.test(cell))).toEqual([])
    expect(output).toContain(',-90.5069,')
    expect(output).toMatch(/,\+502\d{8},/)
    const { campos: fields, filas: readTableRows } = await leerTabla(new TextEncoder().encode(output))
    const rows = await Array.fromAsync(readTableRows)
    expect(rows.map(({ valores }) => valores[fields.indexOf('destinatario')])).toEqual(NAMES.toReversed())
    expect(rows[0]!.valores[fields.indexOf('metadatos')]).toBe('=a=1')
    expect((await api.guias.listar()).datos.map(({ destinatario }) => destinatario)).toEqual(NAMES.toReversed())
  })

  it('runs in none of them either where a sheet’s own columns are written beside the results', async () => {
    const text = `${TABLE},Nota propia\n${order(createRef())},=1+1\n${order(createRef())},+502 3148 1676\n`
    const file = await escribir('propias.csv', text)
    expect(await guias(['lote', file, ...RECOGIDA_ARGS, '--ignorar-otras'])).toMatchObject({ codigo: 0 })
    const results = await readFile(join(cli.folder, 'propias.resultados.csv'), 'utf8')
    expect(results.split('\r\n').slice(1, 3)).toEqual([
      expect.stringContaining(",'=1+1,2,"),
      expect.stringContaining(',+502 3148 1676,3,'),
    ])
  })
})

describe('a table of guides', () => {
  const A = '7K3M9QX2A1B4'
  const B = '7K3M9QX2A1B5'
  const point = '14.7,-90.6'

  it.each<[string, string[], string | Uint8Array, RegExp]>([
    ['an open quote', ['ubicar'], `guia,lat,lng\n${A},"14.7,-90.6\n`, /tabla\.csv, fila 2: unas comillas/],
    ['swallowed rows', ['ubicar'], `guia,lat,lng,referencia\n${A},${point},"x\n${B},${point},y"\n`, /fila 2: unas com/],
    [
      'a guide twice',
      ['ubicar'],
      `guia,lat,lng\n${A},${point}\n${A.toLowerCase()},1,2\n`,
      /fila 3: .*ya está en la fila 2/,
    ],
    ['a workbook', ['etiquetas'], 'PK\x03\x04\0', /libro de cálculo/],
    ['NUL bytes', ['cancelar', '--si'], `guia\n${A}\0\n`, /no está en utf-8/],
    ['an open quote', ['etiquetas'], `guia,x\n${A},"\n`, /fila 2: unas comillas/],
  ])('is refused with its row: %s, %j', async (_, args, content, says) => {
    const { codigo, errores } = await guias([...args, '--archivo', await escribir('tabla.csv', content)])
    expect([codigo, errores]).toEqual([2, expect.stringMatching(says)])
  })

  it('is refused if it has no end', async () => {
    const file = await escribir('grande.txt', Buffer.alloc(67_108_865, `${A}\n`))
    const { codigo, errores } = await guias(['etiquetas', '--archivo', file])
    expect([codigo, errores]).toEqual([2, expect.stringContaining('grande.txt pasa de 64 MB')])
  })

  it.each<[string, (code: string) => Uint8Array]>([
    ['UTF-16, as PowerShell writes it', (code) => Buffer.from(`\ufeff${JSON.stringify([{ guia: code }])}`, 'utf16le')],
    ['windows-1252, as Excel saves it', (code) => Buffer.from(`nombre;guia\r\nPérez;${code}\r\n`, 'latin1')],
    ['UTF-16, as Excel saves it', (code) => Buffer.from(`\ufeffnombre\tGuía\r\nPérez\t${code}\r\n`, 'utf16le')],
    ['plain codes, one in a line', (code) => Buffer.from(`${code}\n`)],
  ])('is read in %s', async (_, contentOf) => {
    const { guia } = await cli.comercio.api.guias.crear(buildGuia())
    const file = await escribir('codigos.txt', contentOf(guia))
    expect(await guias(['cancelar', '--si', '--archivo', file])).toMatchObject({ codigo: 0, errores: '' })
    expect((await cli.comercio.api.guias.obtener(guia)).estado).toBe('cancelado')
  })
})
