import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escribirCsv, leerCsv } from '../../../sdk/src/csv.ts'

const readCsv = (...chunks: string[]) =>
  Array.fromAsync(
    leerCsv(
      (async function* () {
        yield* chunks
      })(),
    ),
  )

/** The texts of a row as a program sees them that knows quotes and nothing of apostrophes. */
const cellsOf = (row: string) =>
  row
    .replace(/\r\n$/, '')
    .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell))

const FORMULAS = [
  '=HYPERLINK("http://a.example","x")',
  '@SUM(A1)',
  '+cmd|A0',
  '-A1',
  '=1+1',
  ' =1+1',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  "'=1",
  "''@x",
  '- Portón verde',
  '-',
  '+',
]
const NUMBERS = ['+50231481676', '+502 3148-1676', '-90.5', '-90,5', '-1', '14.6', '+1 (212) 555.0100']

describe('CSV', () => {
  it('knows the separator by a first line that goes on within quotes', async () => {
    const text = 'uno,"dos;;;\ntres",cuatro\n1,2,3\n'
    const rows = [
      ['uno', 'dos;;;\ntres', 'cuatro'],
      ['1', '2', '3'],
    ]
    expect(await readCsv(text)).toEqual(rows)
    expect(await readCsv(...text)).toEqual(rows)
  })

  it('has one mark at its beginning, in pieces of any size', async () => {
    for (const chunks of [['\ufeff\ufeffa\n'], ['\ufeff', '\ufeffa\n'], ['', '\ufeff', '', '\ufeff', 'a\n']])
      expect(await readCsv(...chunks)).toEqual([['\ufeffa']])
  })

  it('knows the separator after a mark and blank lines, in pieces of any size', async () => {
    const text = '\ufeff\n\r\na;b\n'
    const rows = [[''], [''], ['a', 'b']]
    expect(await readCsv(text)).toEqual(rows)
    expect(await readCsv(...text)).toEqual(rows)
  })

  it.each([',', ';', '\t', '|'])('reads columns between %j, also as the line of Excel names it', async (separator) => {
    const row = ['a', 'b', 'c']
    const line = `${row.join(separator)}\n`
    for (const first of ['', `sep=${separator}\r\n`, `\ufeffsep=${separator}\r`, `SEP=${separator}\n`]) {
      expect(await readCsv(first + line)).toEqual([row])
      expect(await readCsv(...(first + line))).toEqual([row])
    }
  })

  it('takes the separator from the next line if another program added its own to the line of Excel', async () => {
    expect(await readCsv('sep=;,,\na,b;c,d\n')).toEqual([['a', 'b;c', 'd']])
    expect(await readCsv('sep=;;;\na;b;c\n')).toEqual([['a', 'b', 'c']])
  })

  it.each([
    [['a\tb']],
    [['\ufeffa']],
    [['a;b', 'c,d', '"e"', 'f\r\ng', 'h|i']],
    [[' ', '']],
    [['sep=', '']],
    [['sep=;']],
  ])('%j is read as it is written', async (row) => expect(await readCsv(escribirCsv(row))).toEqual([row]))

  it('reads every table as it is written, with any texts', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...`'"=+-@,;|\t\r\n\ufeff  a1éE.`) }),
      fc.constantFrom(...FORMULAS, ...NUMBERS, 'sep=;'),
    )
    const rows = fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t', '|'), async (table, separator) => {
        const written = table.map((row) => escribirCsv(row, separator)).join('')
        expect(await readCsv(`sep=${separator}\r\n${written}`)).toEqual(table)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(FORMULAS)('writes %j so that no spreadsheet runs it', (text) => {
    const cells = cellsOf(escribirCsv(['a', text, 'b']))
    expect([cells.length, cells[1]]).toEqual([3, `'${text}`])
  })

  it('leaves no cell that runs, also after a separator or a quote within a text', () => {
    const text = fc.string({ unit: fc.constantFrom(...`"',;|\t\r\n =+-@a1`), minLength: 1 })
    fc.assert(
      fc.property(text, (one) => {
        const line = escribirCsv([one]).replace(/\r\n$/, '')
        const [cell = ''] = cellsOf(line)
        if (!/^[+-]\d[\d\s.,()-]*$/.test(one)) expect(cell).not.toMatch(/^(?:[\t\r\n]|\s*[=+@-])/)
        if (/[,;|\t\r\n"]/.test(one)) expect(line).toMatch(/^"(?:[^"]|"")*"$/)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(NUMBERS)('writes %j as it is', (text) => {
    expect(cellsOf(escribirCsv([text]))).toEqual([text])
  })

  it('reads a text that a person marked with an apostrophe', async () => {
    expect(await readCsv("'+50231481676,'=1,'uno,O'Neil\n")).toEqual([['+50231481676', '=1', "'uno", "O'Neil"]])
  })

  it('reads quotes that have blanks around them', async () => {
    expect(await readCsv('E1, "5a avenida 3-21, zona 1" ,\u00a0"b"\n')).toEqual([
      ['E1', '5a avenida 3-21, zona 1', 'b'],
    ])
  })

  it('reads a quote within a text as a letter, such as an inch', async () => {
    expect(await readCsv('a,b\nTubo 5" azul,c\n')).toEqual([
      ['a', 'b'],
      ['Tubo 5" azul', 'c'],
    ])
  })

  it.each([
    ['a,b\n"c', ',d\n'],
    ['a,b\n"c"d,e\n'],
    ['a,b\n"c" "d",e\n'],
    ['a,b\nx "c, d",e\n'],
    ['a,b,c\nx "d\nzona 1",e,f\n'],
    [`a,b\n"${'c'.repeat(600_000)}`, 'd'.repeat(600_000), '",e\n'],
  ])('gives up on quotes in a wrong place, in their row: %j', async (...chunks) => {
    const rows: string[][] = []
    const read = async () => {
      for await (const row of leerCsv(ReadableStream.from(chunks))) rows.push(row)
    }
    await expect(read()).rejects.toThrow(/comillas/)
    expect(rows).toHaveLength(1)
  })

  it('bounds a row of any content', async () => {
    const pieces = async function* (piece: string) {
      for (;;) yield piece
    }
    for (const piece of ['a'.repeat(9_999), ','.repeat(9_999), `"${'a,'.repeat(9_999)}`])
      await expect(Array.fromAsync(leerCsv(pieces(piece)))).rejects.toThrow(/letras|comillas/)
  })
})
