import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { leerCsv } from '@guias/sdk/hoja'
import { describe, expect, it } from 'vitest'
import { openLote, ROW_NUMBER, readFileSize } from '../../../sdk/cli/batchFile.ts'
import type { Context } from '../../../sdk/cli/command.ts'
import { buildGuia, FULL_RUN_ONLY, lote100, waitUntil } from '../../factories.ts'
import { CLI, createRef, hasTerminal, inTerminal, RECOGIDA_ARGS, serveRequests, useCli } from './run.ts'

const cli = useCli()
const { environment, write, guias, launch } = cli

/** Stands before the service and, after so many answers, keeps the others: what was asked for is done, and nobody hears of it. */
const startIntermediary = (responses: number) =>
  serveRequests(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const { authorization } = req.headers
    const { status, body } = await environment.request(req.method!, req.url!, {
      headers: { authorization: authorization!, 'content-type': 'application/json' },
      raw: Buffer.concat(chunks).toString(),
    })
    if (responses-- > 0) res.writeHead(status).end(JSON.stringify(body))
  })

describe('guias lote', () => {
  const readResultFile = async (file: string) => {
    const text = await readFile(join(cli.folder, file), 'utf8')
    const [header = [], ...rows] = await Array.fromAsync(
      leerCsv(
        (async function* () {
          yield text
        })(),
      ),
    )
    const rowColumn = header.indexOf('fila')
    expect([text[0], header.slice(rowColumn, rowColumn + 3)]).toEqual(['\uFEFF', ['fila', 'external_ref', 'ok']])
    return rows.map((row) => row.slice(rowColumn))
  }

  it('refuses none of 500 rows whose telephones are written as in a spreadsheet, without their country', async () => {
    // The hundred real towns, five times: what stands in a shop's own book.
    const escrituras = [
      (n: string) => `${n.slice(0, 4)} ${n.slice(4)}`,
      (n: string) => n,
      (n: string) => `${n.slice(0, 4)}-${n.slice(4)}`,
      (n: string) => `502 ${n}`,
      (n: string) => `(502) ${n.slice(0, 4)}-${n.slice(4)}`,
    ]
    const rows = escrituras.flatMap((writeTelefono) =>
      lote100().guias.map(({ telefono, departamento, municipio, lat = '', lng = '', maps_url = '' }) =>
        [
          writeTelefono(telefono.replace(/\D/g, '').slice(3)),
          departamento,
          municipio,
          lat,
          lng,
          `"${maps_url}"`,
          createRef(),
        ].join(),
      ),
    )
    await write('libro.csv', ['Teléfono,Departamento,Municipio,lat,lng,maps_url,external_ref', ...rows].join('\n'))
    const { codigo, output } = await guias(['lote', 'libro.csv', ...RECOGIDA_ARGS])
    expect([codigo, output]).toEqual([0, expect.stringMatching(/^500 leídas: 500 creadas, 0 fallidas\./)])
    const { datos } = await cli.comercio.api.guias.listar({ limite: 100 })
    expect(datos.map(({ telefono }) => telefono)).toEqual(Array(100).fill(expect.stringMatching(/^\+502\d{8}$/)))
  })

  it('reads telephones of a country that it is told, and of one that a row tells', async () => {
    const [one, other, bad] = [createRef(), createRef(), createRef()]
    const csv = `telefono;país;departamento;municipio;external_ref
7723 4567;;San Salvador;Soyapango;${one}
3148 1676;GT;Guatemala;Mixco;${other}
7723 456;;San Salvador;Soyapango;${bad}`
    const { codigo, errores } = await guias(['lote', await write('paises.csv', csv), '--pais', 'SV', ...RECOGIDA_ARGS])
    expect([codigo, errores]).toEqual([
      1,
      expect.stringMatching(/fila 4: telefono: .*un número de El Salvador tiene 8/),
    ])
    const telefonos = await Promise.all(
      [one, other].map(
        async (external_ref) => (await cli.comercio.api.guias.listar({ external_ref })).datos[0]?.telefono,
      ),
    )
    expect(telefonos).toEqual(['+50377234567', '+50231481676'])
  })

  it('shows every warning, on the screen and in the results', async () => {
    const csv = `telefono,departamento,municipio,external_ref\n1111 1111,Guatemala,Vila Nueva,${createRef()}`
    const { codigo, errores } = await guias(['lote', await write('dudosas.csv', csv), ...RECOGIDA_ARGS])
    expect(codigo).toBe(0)
    for (const expectedLine of [
      /^Revise {2}fila 2: telefono: .*plan de numeración/m,
      /^Revise {2}fila 2: municipio: «Vila Nueva».*¿Villa Nueva/m,
    ])
      expect(errores).toMatch(expectedLine)
    const [row] = await readResultFile('dudosas.resultados.csv')
    expect(row!.slice(8).join()).toMatch(/telefono: .*; municipio: «Vila Nueva».*¿Villa Nueva/)
  })

  it('tells an implausible place with the one that was perhaps meant, and with --estricto creates no such guide', async () => {
    const row = () => `3148 1676,Guatemala,Mixco,14.633,90.606,${createRef()}`
    const csv = `telefono,departamento,municipio,lat,lng,external_ref\n${row()}\n`
    const one = await guias(['lote', await write('signo.csv', csv), ...RECOGIDA_ARGS])
    const expectedLine = /fila 2: ubicacion: el lugar está a .* ¿falta el signo − en lng\? ¿14\.633, -90\.606\?/
    expect([one.codigo, one.errores]).toEqual([0, expect.stringMatching(expectedLine)])
    expect((await readResultFile('signo.resultados.csv'))[0]!.slice(8).join()).toContain('¿14.633, -90.606?')
    const strictOne = await write('estricta.csv', csv + row())
    expect(await guias(['lote', strictOne, '--estricto', ...RECOGIDA_ARGS])).toMatchObject({
      codigo: 1,
      output: expect.stringMatching(/^2 leídas: 0 creadas, 1 ya existían, 1 fallidas/),
      errores: expect.stringMatching(/fila 3: lng: .*Quizá quiso decir 14\.633, -90\.606/),
    })
  })

  it('counts guides that exist and are cancelled apart, and not as well', async () => {
    const [alive, deadEntry] = [createRef(), createRef()]
    const row = (ref: string) => `3148 1676,Guatemala,Mixco,${ref}`
    const csv = await write(
      'repetidas.csv',
      `telefono,departamento,municipio,external_ref\n${row(alive)}\n${row(deadEntry)}\n`,
    )
    await guias(['lote', csv, ...RECOGIDA_ARGS])
    const [guia] = (await cli.comercio.api.guias.listar({ external_ref: deadEntry })).datos
    await cli.comercio.api.guias.cancelar(guia!.guia)
    expect(await guias(['lote', csv, ...RECOGIDA_ARGS])).toMatchObject({
      codigo: 1,
      output: expect.stringMatching(
        /^2 leídas: 0 creadas, 1 ya existían, 1 ya existían y terminaron sin entrega, 0 fallidas/,
      ),
      errores:
        'Falla   fila 3: la guía de esta referencia ya existía y está cancelada: para otro envío use otra external_ref\n',
    })
    const rows = await readResultFile('repetidas.resultados-2.csv')
    expect(rows.map((one) => one.slice(1, 7))).toEqual([
      [alive, 'sí', expect.any(String), 'aceptado', 'sí', ''],
      [deadEntry, 'no', guia!.guia, 'cancelado', 'sí', 'ya_cancelada'],
    ])
    const { output } = await guias(['lote', csv, ...RECOGIDA_ARGS, '--json'])
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { ok: true, repetida: true },
      { ok: false, guia: guia!.guia, error: 'ya_cancelada' },
      { leidas: 2, creadas: 0, repetidas: 1, terminadas: 1, fallidas: 0 },
    ])
  })

  it('reads a CSV as spreadsheets write them, and says of each row what became of it', async () => {
    const [a, b, c] = [createRef(), createRef(), createRef()]
    const csv = await write(
      'pedidos.csv',
      `\uFEFFTeléfono;Departamento;Municipio;External Ref;Indicaciones;lat;lng;Recogida.Lat;recogida lng\r\n${[
        `+50231481676;Guatemala;Mixco;${a};"Portón ""verde""; al fondo\r\na la derecha";14,63;-90,6;14.5;-90.5`,
        `12;Guatemala;Mixco;${b};;;;14.5;-90.5`,
        ';;;;;;;;',
        `+50231481676;Guatemala;Mixco;${c};;;;14.5;-90.5;;`,
      ].join('\r\n')}`,
    )
    const first = await guias(['lote', csv])
    expect(first.codigo).toBe(1)
    expect(first.output).toMatch(/^3 leídas: 2 creadas, 1 fallidas/)
    expect(first.errores).toContain('fila 3: telefono')
    expect(first.errores).not.toContain('fila 4')
    expect(first.errores).not.toContain('█')
    const rows = await readResultFile('pedidos.resultados.csv')
    expect(rows.map(([row, ref, ok]) => [row, ref, ok])).toEqual([
      ['2', a, 'sí'],
      ['3', b, 'no'],
      ['5', c, 'sí'],
    ])
    expect(rows[1]!.join()).toContain('telefono: ')
    const text = await readFile(join(cli.folder, csv), 'utf8')
    await write(csv, text.replace('\r\n12;', '\r\n+50231481677;').replace(';;;;;;;;\r\n', ''))
    expect(await guias(['lote', csv])).toMatchObject({
      codigo: 0,
      output: expect.stringMatching(/^3 leídas: 1 creadas, 2 ya existían, 0 fallidas/),
      errores: '',
    })
    const [guia] = (await cli.comercio.api.guias.listar({ external_ref: a })).datos
    expect(guia).toMatchObject({
      indicaciones: expect.stringMatching(/^Portón "verde"; al fondo\r?\na la derecha$/),
      lat: 14.63,
      lng: -90.6,
    })
  })

  it('counts the bytes of a JSON file, also of letters that take several bytes', async () => {
    const file = join(cli.folder, 'bytes.json')
    await writeFile(file, JSON.stringify([{ nombre: 'Núñez' }, { nombre: 'Ñandú' }]))
    const { rows, countReadBytes: bytesRead } = await openLote(file, {} as Context)
    const parts: [fila: number, parte: number][] = []
    for await (const row of rows) parts.push([row[ROW_NUMBER], bytesRead() / readFileSize(file)])
    expect(parts).toEqual([
      [1, 0.5],
      [2, 1],
    ])
  })

  it('reads JSON and JSON lines, with a pickup for all, and reports in JSON', async () => {
    const { recogida, ...guia } = buildGuia()
    const json = await write(
      'lote.json',
      JSON.stringify({ recogida, guias: [guia, { ...guia, external_ref: createRef() }] }),
    )
    expect(await guias(['lote', json])).toMatchObject({ codigo: 0, output: expect.stringContaining('2 creadas') })
    const jsonl = await write(
      'lote.jsonl',
      `${JSON.stringify(guia)}\n\n${JSON.stringify({ ...guia, telefono: '1' })}\n7`,
    )
    const { codigo, output } = await guias(['lote', jsonl, '--json', ...RECOGIDA_ARGS, '--resultados', 'otro.csv'])
    expect(codigo).toBe(1)
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { fila: 1, ok: false, error: 'external_ref_en_conflicto' },
      { fila: 3, ok: false, error: 'validacion' },
      { fila: 4, ok: false, error: 'ErrorGuias' },
      { leidas: 3, creadas: 0, fallidas: 3, resultados: 'otro.csv' },
    ])
  })

  it('names reference, guide and fields of a conflict, on the screen, in the results and in JSON', async () => {
    const { external_ref, guia } = await cli.comercio.api.guias.crear(buildGuia({ direccion: 'Calle 1' }))
    const row = { ...buildGuia({ external_ref: external_ref!, direccion: 'Calle 2' }), telefono: '5987 1234' }
    const { telefono, departamento, municipio, direccion, lat, lng } = row
    const csv = await write(
      'conflicto.csv',
      `telefono,departamento,municipio,direccion,lat,lng,external_ref\n${[telefono, departamento, municipio, direccion, lat, lng, external_ref].join()}\n`,
    )
    const message = new RegExp(
      `${external_ref} ya es la referencia de la guía ${guia}, creada con otros datos \\(telefono, direccion(, recogida)?\\): `,
    )
    const { codigo, errores } = await guias(['lote', csv, ...RECOGIDA_ARGS])
    expect([codigo, errores]).toEqual([1, expect.stringMatching(message)])
    expect((await readResultFile('conflicto.resultados.csv'))[0]).toEqual([
      '2',
      external_ref,
      'no',
      '',
      '',
      '',
      'external_ref_en_conflicto',
      expect.stringMatching(message),
      '',
    ])
    const json = await write('conflicto.json', JSON.stringify([row]))
    const { output } = await guias(['lote', json, '--json', ...RECOGIDA_ARGS])
    expect(JSON.parse(output.split('\n')[0]!)).toEqual({
      fila: 1,
      external_ref,
      ok: false,
      error: 'external_ref_en_conflicto',
      detalle: expect.stringMatching(message),
      guia_existente: guia,
      campos: ['telefono', 'direccion'],
    })
  })

  it('gives its department to the rows that name none', async () => {
    const csv = await write(
      'sin-departamento.csv',
      `telefono;municipio;pedido\n31481676;Mixco;${createRef()}\n31481677;Villa Nueva;${createRef()}\n`,
    )
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS])).errores).toContain('departamento')
    const done = await guias(['lote', csv, ...RECOGIDA_ARGS, '--departamento', 'Guatemala'])
    expect(done.output).toContain('2 creadas, 0')
  })

  it('gives references by row, under a prefix', async () => {
    const prefix = createRef()
    const csv = await write(
      'sin.csv',
      'telefono,departamento,municipio\n+50231481676,Guatemala,Mixco\n+50231481676,Guatemala,Mixco\n',
    )
    expect(await guias(['lote', csv, ...RECOGIDA_ARGS])).toMatchObject({ codigo: 1 })
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS, '--referencias', prefix])).output).toContain('2 creadas, 0')
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS, '--referencias', prefix])).output).toContain(
      '0 creadas, 2 ya existían, 0',
    )
    expect((await readResultFile('sin.resultados-3.csv')).map(([, ref]) => ref)).toEqual([`${prefix}-2`, `${prefix}-3`])
  })

  it.each<[string, string | Uint8Array, string[], string]>([
    ['columnas.csv', 'telefono,color,talla\n', [], '«color», «talla»'],
    ['doble.csv', 'telefono,Teléfono\n', [], 'son la misma columna'],
    ['vacio.csv', '', [], 'vacío'],
    ['comillas.csv', 'telefono\n"1\n', [], 'comillas'],
    ['excel.csv', Buffer.from('telefono;direcci\xf3n\n', 'latin1'), [], '--codificacion windows-1252'],
    ['rara.csv', 'telefono\n', ['--codificacion', 'klingon'], 'klingon'],
    ['malo.json', '{"a": 1}', [], 'lista de guías'],
    ['malo.jsonl', '{"a": 1}\n{', [], 'línea 2'],
    ['hoja.xlsx', 'PK', [], 'CSV'],
    ['propio.csv', 'telefono\n', ['--resultados', 'propio.csv'], 'otro nombre a --resultados'],
  ])('refuses %s and says what to do', async (name, contenido, args, dice) => {
    const { codigo, errores } = await guias(['lote', await write(name, contenido), ...args])
    expect([codigo, errores]).toEqual([2, expect.stringContaining(dice)])
  })

  it('refuses a .json file too big to be read whole, unread, and says how to split it', async () => {
    const file = join(cli.folder, 'enorme.json')
    const fileHandle = await open(file, 'w')
    await fileHandle.truncate(64 * 1024 * 1024 + 1)
    await fileHandle.close()
    const { codigo, errores } = await guias(['lote', file])
    expect([codigo, errores]).toEqual([
      2,
      expect.stringMatching(/enorme\.json tiene 65 MB.*64 MB como mucho.*\.jsonl.*jq -c/),
    ])
  })

  it('takes other columns and encodings when it is told to', async () => {
    const ref = createRef()
    const text = `telefono;departamento;municipio;external_ref;color;dirección\n+50231481676;Guatemala;Mixco;${ref};azul;Vía 5\n`
    const csv = await write('excel2.csv', Buffer.from(text, 'latin1'))
    const args = ['lote', csv, ...RECOGIDA_ARGS, '--ignorar-otras', '--codificacion', 'windows-1252']
    expect(await guias(args)).toMatchObject({ codigo: 0 })
    expect((await cli.comercio.api.guias.listar({ external_ref: ref })).datos[0]).toMatchObject({ direccion: 'Vía 5' })
  })

  it('interrupted or killed, it is run again and nothing is doubled', FULL_RUN_ONLY, async () => {
    const other = await environment.createComercio()
    const env = { GUIAS_LLAVE: other.llave }
    const rows = Array.from({ length: 3_000 }, (_, i) => `+50231481676,Guatemala,Mixco,K-${i},14.6,-90.6`)
    const csv = await write('grande.csv', `telefono,departamento,municipio,external_ref,lat,lng\n${rows.join('\n')}\n`)
    const command = ['lote', csv, ...RECOGIDA_ARGS, '--concurrencia', '1']
    const countLines = async (file: string) =>
      (await readFile(join(cli.folder, file), 'utf8').catch(() => '')).split('\n').length
    const count = async () => {
      let total = 0
      for await (const _ of other.api.guias.listar({ limite: 100 })) total++
      return total
    }

    const cutOff = { env: { ...env, GUIAS_URL: await startIntermediary(4) } }
    const deadEntry = launch(command, cutOff)
    await waitUntil(async () => (await countLines('grande.resultados.csv')) > 300)
    deadEntry.child.kill('SIGKILL')
    await deadEntry.fin

    cutOff.env.GUIAS_URL = await startIntermediary(4)
    const interruptedRun = launch(command, cutOff)
    await waitUntil(async () => (await countLines('grande.resultados-2.csv')) > 300)
    interruptedRun.child.kill('SIGINT')
    expect(await interruptedRun.fin).toBe(130)
    expect(interruptedRun.errores).toContain('nada se duplica')

    const whole = await guias(command, { env })
    expect([whole.codigo, whole.errores]).toEqual([0, expect.stringMatching(/^(\d+ %: .*\n){3}$/)])
    expect(whole.output).toMatch(/^3000 leídas: \d+ creadas, \d+ ya existían, 0 fallidas/)
    expect(await count()).toBe(3_000)
    expect(await readResultFile('grande.resultados-3.csv')).toHaveLength(3_000)
  })

  it('does not go on for ever where nobody answers, nor with a key that is none', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => `1,A,B,M-${i}`)
    const csv = await write('mil.csv', `telefono,departamento,municipio,external_ref\n${rows.join('\n')}\n`)
    let status = 503
    const failingServer = await serveRequests((req, res) =>
      // Nobody waits for an hour: each request is answered for at once.
      req.resume().on('end', () => res.writeHead(status, { 'Retry-After': '3600' }).end('<html>')),
    )
    const url = ['--url', failingServer]
    const stoppedRun = await guias(['lote', csv, ...RECOGIDA_ARGS, ...url, '--concurrencia', '1'])
    expect([stoppedRun.codigo, stoppedRun.errores]).toEqual([1, expect.stringContaining('no contesta')])
    expect(await readResultFile('mil.resultados.csv')).toHaveLength(300)
    await write('pocas.csv', `telefono,external_ref\n1,A\n2,B\n`)
    expect((await guias(['lote', 'pocas.csv', ...url])).codigo).toBe(1)
    status = 400
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS, ...url])).codigo).toBe(1)
    expect(await readResultFile('mil.resultados-2.csv')).toHaveLength(1_000)
    const { codigo, errores } = await guias(['lote', csv, ...RECOGIDA_ARGS], {
      env: { GUIAS_LLAVE: `${cli.comercio.llave}x` },
    })
    expect([codigo, errores]).toEqual([1, expect.stringContaining('no_autenticado')])
    expect(await readResultFile('mil.resultados-3.csv')).toHaveLength(1)
  })

  it('goes on where every other request fails, however many rows have failed', async () => {
    let solicitudes = 0
    const unstableUrl = await serveRequests(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      if (solicitudes++ % 2 === 0) return void res.writeHead(503, { 'Retry-After': '3600' }).end('<html>')
      const { guias: sentRequests } = JSON.parse(Buffer.concat(chunks).toString()) as {
        guias: { external_ref: string }[]
      }
      const resultados = sentRequests.map(({ external_ref }, indice) => ({
        indice,
        ok: true,
        guia: `G${external_ref}`,
        estado: 'aceptado',
        external_ref,
        repetida: false,
        advertencias: [],
      }))
      const summary = { ok: true, creadas: resultados.length, repetidas: 0, fallidas: 0, advertencias: [] }
      res.end(JSON.stringify({ ...summary, resultados }))
    })
    const rows = Array.from({ length: 800 }, (_, i) => `1,A,B,I-${i}`)
    const csv = await write('inestable.csv', `telefono,departamento,municipio,external_ref\n${rows.join('\n')}\n`)
    const command = ['lote', csv, ...RECOGIDA_ARGS, '--url', unstableUrl, '--concurrencia', '1']
    const { codigo, output } = await guias(command)
    expect([codigo, output]).toEqual([1, expect.stringMatching(/^800 leídas: 400 creadas, 400 fallidas/)])
  })

  it('refuses a file that ends within a character', async () => {
    const text = `telefono,departamento,municipio,external_ref\n31481676,Guatemala,Mixco,${createRef()}`
    const csv = await write('cortada.csv', Buffer.concat([Buffer.from(text), Buffer.of(0xc3)]))
    const { codigo, errores } = await guias(['lote', csv, ...RECOGIDA_ARGS])
    expect([codigo, errores]).toEqual([2, expect.stringContaining('cortada.csv no está en utf-8')])
  })

  it('counts equal faults together, with their rows, and tells apart what differs in few ways', async () => {
    const bad = ['', '77', '1234567', '', '12', '', '']
    const rows = bad.map((telefono, i) => `${telefono},Guatemala,${i === 4 ? '' : 'Mixco'},${createRef()}`)
    const csv = `telefono,departamento,municipio,external_ref\n${rows.join('\n')}\n`
    const { codigo, errores } = await guias(['lote', await write('malas.csv', csv), ...RECOGIDA_ARGS])
    expect(codigo).toBe(1)
    const lines = errores.trim().split('\n')
    expect(lines).toEqual([
      'Falla   4 filas: falta telefono (filas 2, 5, 7…)',
      expect.stringMatching(/^Falla {3}3 filas: telefono: .* \(filas 3, 4, 6\)$/),
      'Falla   fila 6: falta municipio',
    ])
  })

  it('sums up what differs in many ways', async () => {
    const list = Array.from({ length: 30 }, (_, i) => ({ ...buildGuia(), municipio: `Lugar ${i}` }))
    const { errores } = await guias(['lote', await write('muchas.json', JSON.stringify(list))])
    expect(errores).toMatch(/^Revise {2}30 filas: municipio: «Lugar 0».*, y otras así \(filas 1, 2, 3…\)\n$/)
  })

  it('never writes over results of before: by itself it takes another name, told which it says what to do', async () => {
    const csv = await write(
      'otra.csv',
      `telefono,departamento,municipio,external_ref\n31481676,Guatemala,Mixco,${createRef()}\n`,
    )
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS])).output).toContain('Resultados: otra.resultados.csv')
    const before = await readFile(join(cli.folder, 'otra.resultados.csv'), 'utf8')
    expect((await guias(['lote', csv, ...RECOGIDA_ARGS])).output).toContain('Resultados: otra.resultados-2.csv')
    const { codigo, errores } = await guias(['lote', csv, ...RECOGIDA_ARGS, '--resultados', 'otra.resultados.csv'])
    expect([codigo, errores]).toEqual([
      2,
      expect.stringMatching(/otra\.resultados\.csv ya existe.*dé otro nombre a --resultados/),
    ])
    expect(await readFile(join(cli.folder, 'otra.resultados.csv'), 'utf8')).toBe(before)
    expect((await readdir(cli.folder)).filter((name) => name.startsWith('otra.res'))).toHaveLength(2)
  })

  it('goes on to its end when nobody reads what it says any more', async () => {
    const rows = Array.from({ length: 400 }, () => `31481676,Guatemala,Mixco,${createRef()}`)
    const csv = await write('tubo.csv', `telefono,departamento,municipio,external_ref\n${rows.join('\n')}\n`)
    const command = `'${process.execPath}' '${CLI}' lote ${csv} --json ${RECOGIDA_ARGS.join(' ')} | head -1`
    const { codigo, errores } = await guias([], { program: ['/bin/bash', '-c', `set -o pipefail; ${command}`] })
    expect([codigo, errores]).toEqual([0, ''])
    expect((await readResultFile('tubo.resultados.csv')).filter(([, , ok]) => ok === 'sí')).toHaveLength(400)
  })

  it.skipIf(!hasTerminal)('shows its progress and colours on a terminal, unless NO_COLOR', async () => {
    const csv = await write(
      'terminal.csv',
      `telefono,departamento,municipio,external_ref\n+50231481676,Guatemala,Mixco,${createRef()}\n1,Guatemala,Mixco,${createRef()}\n`,
    )
    const program = inTerminal(['lote', csv, ...RECOGIDA_ARGS])
    const env = { TERM: 'xterm-256color' }
    const withColor = await guias([], { program, env })
    expect(withColor.codigo).toBe(1)
    expect(withColor.output).toMatch(/█/)
    expect(withColor.output).toContain('\x1b[31mFalla\x1b[0m   fila 3: telefono')
    const caseWithout = await guias([], { program, env: { ...env, NO_COLOR: '1' } })
    expect(caseWithout.output).toContain('█')
    expect(caseWithout.output).not.toContain('\x1b[3')
  })
})
