import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COLUMNAS, ErrorDeHoja, guiaDeFila, leerHoja } from '@guias/sdk/hoja'
import { describe, expect, it } from 'vitest'
import { GUIA_OPTIONS, optionNameOf } from '../../../sdk/cli/fields.ts'
import { fault } from '../server.ts'
import { createRef, RECOGIDA_ARGS, useCli } from './run.ts'

const cli = useCli()
const { write, guias } = cli

const utf8 = (text: string) => new TextEncoder().encode(text)
const utf16 = (text: string, grande: boolean) => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
  return grande ? bytes.swap16() : bytes
}
async function read(origen: Parameters<typeof leerHoja>[0], options?: Parameters<typeof leerHoja>[1]) {
  const { filas: readTableRows, ...sheet } = await leerHoja(origen, options)
  return { ...sheet, rows: await Array.fromAsync(readTableRows) }
}

const SHOP_SHEET = `sep=;\r\nPedido;Nombre;Celular;Departamento;Ciudad;Latitud;Longitud\r\n;;;;;;\r\n\r\nA-1;"Ana; María";3148 1676;Guatemala;Mixco;14,63;-90,6\r\n`
const GUIA = {
  external_ref: 'A-1',
  destinatario: 'Ana; María',
  telefono: '3148 1676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  lat: 14.63,
  lng: -90.6,
}

describe('@guias/sdk/hoja', () => {
  it.each<[string, Parameters<typeof leerHoja>[0]]>([
    ['bytes', utf8(SHOP_SHEET)],
    ['a file of a page', new Blob([utf8(SHOP_SHEET)])],
    ['UTF-16, little endian', utf16(SHOP_SHEET, false)],
    ['UTF-16, big endian', utf16(SHOP_SHEET, true)],
    [
      'single bytes',
      (async function* () {
        for (const byte of utf16(SHOP_SHEET, true)) yield Uint8Array.of(byte)
      })(),
    ],
  ])('reads what Excel writes for a shop, from %s', async (_, origen) => {
    const { separador, columnas: columns, rows } = await read(origen)
    expect([separador, columns[0], columns.length]).toEqual([';', 'Pedido', 7])
    expect(rows).toEqual([
      {
        ok: true,
        fila: 4,
        guia: GUIA,
        valores: ['A-1', 'Ana; María', '3148 1676', 'Guatemala', 'Mixco', '14,63', '-90,6'],
      },
    ])
  })

  it.each([
    ['N.º de pedido', 'external_ref'],
    ['No. Pedido', 'external_ref'],
    ['# Pedido', 'external_ref'],
    ['NOMBRE DEL CLIENTE', 'destinatario'],
    ['Teléfono', 'telefono'],
    ['Dirección de entrega', 'direccion'],
    ['Observaciones', 'indicaciones'],
    ['Producto', 'contenido'],
    ['Link', 'maps_url'],
    ['Núm. de\u00a0pedido', 'external_ref'],
    ['Order ID', 'external_ref'],
    [' TELÉFONO: *', 'telefono'],
    ['Teléfono (con código)', 'telefono'],
    ['No. de teléfono', 'telefono'],
    ['\u200bDirección completa', 'direccion'],
  ])('knows the column «%s»', async (title, field) => {
    const { rows } = await read(utf8(`${title},Municipio\nx,Mixco\n`))
    expect(rows.map(guiaDeFila)).toEqual([{ [field]: 'x', municipio: 'Mixco' }])
  })

  it.each(['14.63077, -90.60711', '(14.63077 -90.60711)', '14,63077; −90,60711', '14,63077, -90,60711'])(
    'takes coordinates in a column of links for the place: %s',
    async (point) => {
      const place = { lat: 14.63077, lng: -90.60711 }
      const { rows } = await read(utf8(`Ubicación;recogida.maps_url;Municipio\n"${point}";"${point}";Mixco\n`))
      expect(rows.map(guiaDeFila)).toEqual([{ ...place, municipio: 'Mixco', recogida: place }])
    },
  )

  it('leaves coordinates beside columns of coordinates, and other texts, for the service to refuse', async () => {
    const { rows } = await read(utf8('Latitud;Longitud;Mapa\n14.6;-90.6;14.7, -90.7\n;;14, -90\n;;14.6, -90.6, 17\n'))
    expect(rows.map((row) => guiaDeFila(row).maps_url)).toEqual(['14.7, -90.7', '14, -90', '14.6, -90.6, 17'])
  })

  it('has a column for each option of a guide', () => {
    const columns = COLUMNAS.filter((one) => one !== 'pais').map(optionNameOf)
    expect(columns.sort()).toEqual(Object.keys(GUIA_OPTIONS).sort())
  })

  it.each<[string, string, ErrorDeHoja['motivo'], RegExp]>([
    ['nothing', '', 'vacia', /vacía/],
    ['an unknown column', 'telefono,Color\n', 'columnas', /«Color».*Las que conozco: telefono/],
    ['two columns that are one', 'telefono,Celular\n', 'columna_repetida', /«telefono» y «Celular» son la misma/],
    ['quotes that are never closed', '"telefono\n', 'fila', /^fila 1: .*no se cierran/],
    ['many unknown columns', `a${',b'.repeat(20)}\n`, 'columnas', /«b» y otras 11\. Las que/],
    ['NUL bytes', 't\0e\0l\0\n\0', 'codificacion', /no está en utf-8/],
    ['a workbook', 'PK\x03\x04\0', 'libro', /libro de cálculo/],
  ])('says why it does not read %s', async (_, text, motivo, mensaje) => {
    const error = await fault<ErrorDeHoja>(read(utf8(text)))
    expect([error instanceof ErrorDeHoja, error.motivo, error.message]).toEqual([
      true,
      motivo,
      expect.stringMatching(mensaje),
    ])
  })

  it('reads another encoding only when it is told to', async () => {
    const latina = Uint8Array.of(...utf8('municipio\nPet'), 0xe9, ...utf8('n\n'))
    expect(await fault<ErrorDeHoja>(read(latina))).toMatchObject({ motivo: 'codificacion' })
    const { rows } = await read(latina, { codificacion: 'windows-1252' })
    expect(rows.map(guiaDeFila)).toEqual([{ municipio: 'Petén' }])
    const markedEntry = await read(utf8('\ufeffmunicipio\nPetén\n'), { codificacion: 'windows-1252' })
    expect(markedEntry.rows.map(guiaDeFila)).toEqual([{ municipio: 'Petén' }])
    expect((await fault<ErrorDeHoja>(read(latina, { codificacion: 'nada' }))).message).toContain('pruebe utf-8')
  })
})

const HEAD = 'Pedido,Teléfono,Departamento,Municipio,Dirección,Indicaciones'
const row = (n: number, direccion = `${n}a avenida`) => `E${n},5551234${n},Guatemala,Mixco,${direccion},`

describe('quotes in a wrong place', () => {
  it.each<[string, string[], number]>([
    ['opened in two of four rows', [row(1), row(2, '"2a avenida'), row(3), row(4, '"4a avenida')], 3],
    ['opened in the first and the last row', [row(1, '"1a avenida'), row(2), row(3, '"3a avenida')], 2],
    ['opened in one row', [row(1), row(2, '"2a avenida'), row(3)], 3],
    ['opened in one row, closed at the end of another', [row(1, '"1a'), row(2), row(3), row(4, '4a"')], 2],
    ['opened in one row, closed in the next', [row(1, '"1a'), row(2, '2a"'), row(3)], 2],
    ['opened in the last column', [`${row(1)}"junto`, row(2), row(3), `${row(4)}a la casa"`], 2],
    ['opened before the telephone, closed in the next row', ['"E1,55512341,G,M,D,x', 'E2",55512342,G,M,D,x'], 2],
    ['closed in another column than opened', ['E1,55512341,G,M,"D,x', 'E2,55512342,G,M,D,x"', row(3)], 2],
    ['closed before the column where they open', ['E1,55512341,G,M,"D,x', 'E2,55512342,G,M",D,x', row(3)], 2],
    ['closed before the telephone of the next row', ['E1,55512341,G,M,"D,x', 'E2",55512342,G,M,D,x', row(3)], 2],
    ['around rows with telephones of any writing', [row(1, '"1a'), 'E2,tel:5551 2342 / 43,G,M,2a",', row(3)], 2],
    ['around a row without a telephone', [row(1, '"1a'), 'E2,,G,M,2a",', row(3)], 2],
    ['a text after them', [row(1), row(2, '"2a avenida" zona 1')], 3],
    ['a separator in a text that they begin within', [row(1, 'x "2a, zona 1"')], 2],
    ['a line end in a text that they begin within', [row(1), `E2,5551,G,M,x "2a\nzona 1",`], 3],
  ])('are told with the row where they open: %s', async (_, rows, row) => {
    const error = await fault<ErrorDeHoja>(read(utf8(`${HEAD}\n${rows.join('\n')}\n`)))
    expect([error.motivo, error.message]).toEqual([
      'fila',
      expect.stringMatching(new RegExp(`^fila ${row}: .*comillas`)),
    ])
  })

  it('do not include quotes around several lines of one text, with any content', async () => {
    const texts = [
      'Casa verde\n5551 2345, llamar',
      '"5a avenida, zona 1\nMixco, Guatemala, junto a 55512345"',
      'a\n\nb',
    ]
    const rows = texts.map((text, i) => row(i + 1, `"${text.replaceAll('"', '""')}"`))
    const { rows: readTableRows } = await read(utf8(`${HEAD}\n${rows.join('\n')}\n`))
    expect(readTableRows.map((one) => guiaDeFila(one).direccion)).toEqual(texts)
  })
})

describe('damage by a spreadsheet', () => {
  const one = async (column: string, value: string) => {
    const { rows } = await read(utf8(`${column};Municipio\n"${value.replaceAll('"', '""')}";Mixco\n`))
    return rows[0]!
  }

  it.each<[string, string, RegExp]>([
    ['Pedido', '1.23457E+12', /número abreviado.*formato de texto/],
    ['Pedido', '1,23457E+12', /número abreviado/],
    ['Pedido', '1E+05', /número abreviado/],
    ['Pedido', '1001.0', /número con decimales/],
    ['Pedido', '12/05/0026', /fecha/],
    ['Pedido', '5-may', /fecha/],
    ['Pedido', 'Mar-24', /fecha/],
    ['Pedido', '1999-05-12 00:00:00', /fecha/],
    ['Pedido', '1.23457E12', /número abreviado/],
    ['Pedido', '12.05.1999', /fecha/],
    ['Pedido', 'miércoles, 12 de mayo de 1999', /fecha/],
    ['Pedido', '10:30:00', /hora/],
    ['Pedido', '#REF!', /«#REF!», un error/],
    ['Pedido', 'Cargando...', /«Cargando...», un error/],
    ['Pedido', '#¡REF!', /error/],
    ['Nombre', '#N/A', /error/],
    ['Nombre', '#N/D', /error/],
    ['Nombre', '#¿NOMBRE?', /error/],
    ['Dirección', '#DIV/0!', /error/],
    ['Dirección', '#########', /error/],
    ['Notas', 'Err:502', /error/],
    ['Nombre', 'JosÃ© NÃºÃ±ez', /otra codificación/],
    ['Nombre', 'MARÃ\u008dA Ã‘ANDÃš', /otra codificación/],
    ['Notas', 'Â¿Casa 3Âª?', /otra codificación/],
    ['Dirección', '5a avenida, N\ufffd\ufffdez', /otra codificación/],
    ['Nombre', '?? ???', /otra codificación/],
    ['Notas', '=A2&" "&B2', /fórmula/],
    ['Nombre', '=HYPERLINK("http://a.example")', /fórmula/],
    ['Nombre', '@SUM(A1)', /fórmula/],
    ['Dirección', '21-mar', /fecha/],
    ['Teléfono', '5512345.0', /número con decimales.*formato de texto/],
    ['Teléfono', '5512345,00', /número con decimales/],
    ['Teléfono', '5,5123E+7', /número abreviado/],
    ['Teléfono', '5.5123E+07', /número abreviado/],
    ['recogida_telefono', '55512345.0', /número con decimales/],
  ])('is refused in its row: %s «%s»', async (column, value, mensaje) => {
    const row = await one(column, value)
    expect(row).toMatchObject({ ok: false, fila: 2, fallas: [{ mensaje: expect.stringMatching(mensaje) }] })
    expect(() => guiaDeFila(row)).toThrow(mensaje)
  })

  it.each([
    ...[
      'E1',
      '12E4',
      '1E12',
      '12.5.101',
      '5 de mayo',
      '1234E-5',
      'MAR-24',
      'A-5-may',
      '12-05-1001',
      '2026-001',
      '#45',
      '1001.5',
      'NOV-1001',
    ].map((value) => ['Pedido', value] as const),
    ...['São Paulo', 'SÃO PAULO', '¿?', '?', 'PÂTÉ'].map((value) => ['Nombre', value] as const),
    ...['#5', '3-21', '5a avenida 3-21', '- Portón (verde)', '¡N/A!', '=)'].map((v) => ['Dirección', v] as const),
    ...['5551.2345', '5551 2345', '+50255512345', '3148.0000'].map((value) => ['Teléfono', value] as const),
    ...['12/05/0026', '5-may'].map((value) => ['Notas', value] as const),
  ])('is told from what only looks like it: %s «%s»', async (column, value) => {
    expect(await one(column, value)).toMatchObject({ ok: true, valores: [value, 'Mixco'] })
  })

  it('is a reference that two rows have', async () => {
    const { rows } = await read(
      utf8('Pedido,Municipio\nA1,Mixco\n\n A1 ,Mixco\nN\u0303,Mixco\n\u00d1,Mixco\n,Mixco\n,Mixco\n'),
    )
    expect(rows.map((row) => (row.ok ? row.fila : [row.fila, row.fallas]))).toEqual([
      2,
      [4, [{ campo: 'external_ref', mensaje: expect.stringMatching(/^es la de la fila 2: si es otro envío/) }]],
      5,
      [6, [{ campo: 'external_ref', mensaje: expect.stringContaining('fila 5') }]],
      7,
      8,
    ])
  })

  it('is a text outside the columns; empty columns of Excel are none', async () => {
    const { rows } = await read(utf8('telefono;municipio;;;\n1;A;;;\n2\n3;B;;x;\n4;C;;;;\n5;D;;;;;y\n'))
    expect(rows.map((row) => (row.ok ? row.guia : [row.fila, row.fallas]))).toEqual([
      { telefono: '1', municipio: 'A' },
      { telefono: '2' },
      [4, [{ campo: '', mensaje: expect.stringMatching(/«x» en la columna 4, que no tiene nombre/) }]],
      { telefono: '4', municipio: 'C' },
      [6, [{ campo: '', mensaje: expect.stringMatching(/^trae 7 campos y la primera línea 5/) }]],
    ])
  })

  it('is no blank row before the titles, lone CR, no-break space, typographic minus or separator `|`', async () => {
    const text = '\r|||\rTeléfono|Longitud|Latitud|\r3148\u00a01676|\u00a0−90,6|14.5\u00a0|\r|||\r'
    const { separador, rows } = await read(utf8(text))
    expect([separador, rows]).toEqual([
      '|',
      [expect.objectContaining({ fila: 4, guia: { telefono: '3148\u00a01676', lng: -90.6, lat: 14.5 } })],
    ])
  })

  it('takes other names of columns, and skips a column, as it is told', async () => {
    const text = utf8('Nombre,Comprador,Tel de casa,municipio\nCamisa,Ana,3148 1676,Mixco\n')
    const columns = { nombre: '', COMPRADOR: 'destinatario', 'Tel de casa': 'telefono' }
    const { rows } = await read(text, { columnas: columns })
    expect(rows.map(guiaDeFila)).toEqual([{ destinatario: 'Ana', telefono: '3148 1676', municipio: 'Mixco' }])
    const error = await fault<ErrorDeHoja>(read(text, { columnas: { ...columns, Otra: 'contenido' } }))
    expect([error.motivo, error.message]).toEqual(['columnas', 'No hay ninguna columna «Otra»'])
  })
})

describe('guias lote, of a shop’s own sheet', () => {
  // The sheet has a column «Guia» of its own.
  it('writes the results beside the sheet’s own columns, with its separator', async () => {
    const [one, other] = [createRef(), createRef()]
    const text = `sep=;\r\nPedido;Nombre;Teléfono;Departamento;Municipio;Guia\r\n${one};"Ana; hija";31481676;Guatemala;Mixco;"Luis ""Güicho"""\r\n;;;;;\r\n${other};Eva;5512345.0;Guatemala;Mixco;\r\n`
    const file = await write('tienda.csv', utf16(text, false))
    const run = await guias(['lote', file, '--ignorar-otras', ...RECOGIDA_ARGS])
    expect(run).toMatchObject({
      codigo: 1,
      output: expect.stringMatching(/^2 leídas: 1 creadas, 1 fallidas/),
      errores: expect.stringMatching(/fila 4: telefono: es un número con decimales/),
    })
    const [header, first, second] = (await readFile(join(cli.folder, 'tienda.resultados.csv'), 'utf8')).split('\r\n')
    expect(header).toBe(
      '\uFEFFPedido;Nombre;Teléfono;Departamento;Municipio;Guia;fila;external_ref;ok;guia;estado;repetida;error;detalle;advertencias',
    )
    const ownRow = `${one};"Ana; hija";31481676;Guatemala;Mixco;"Luis ""Güicho""";2;${one};sí;`
    expect(first!.startsWith(ownRow)).toBe(true)
    expect(second).toMatch(new RegExp(`^${other};Eva;5512345\\.0;Guatemala;Mixco;;4;${other};no;;;;validacion;`))
    const etiquetas = await guias(['etiquetas', '--archivo', 'tienda.resultados.csv'])
    expect(etiquetas).toMatchObject({ codigo: 0, output: 'etiquetas.pdf  1 etiqueta\n' })
  })
})
