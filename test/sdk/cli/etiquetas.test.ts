import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import { CLI, hasTerminal, inTerminal, NO_PAUSE_COMMAND, RECOGIDA_ARGS, serveRequests, useCli } from './run.ts'

const cli = useCli()
const { write, guias, launch } = cli
const read = (name: string) => readFile(join(cli.folder, name), 'latin1')
const sheets = async (name: string) => (await read(name)).match(/\/Type \/Page\b/g)?.length

describe('guias etiquetas', () => {
  const created: string[] = []
  beforeAll(async () => {
    for (let n = 0; n < 3; n++) created.push((await cli.comercio.api.guias.crear(buildGuia())).guia)
  })

  it('downloads one PDF, and writes over none unless it is told to', async () => {
    const [one = '', other = ''] = created
    expect(await guias(['etiquetas', one, other.toLowerCase(), one])).toEqual({
      codigo: 0,
      output: 'etiquetas.pdf  2 etiquetas\n',
      errores: '',
    })
    expect([(await read('etiquetas.pdf')).slice(0, 5), await sheets('etiquetas.pdf')]).toEqual(['%PDF-', 2])
    // Nobody is asked for what could not be kept.
    const nobody = { env: { GUIAS_URL: 'http://127.0.0.1:1' } }
    const second = await guias(['etiquetas', one], nobody)
    expect([second.codigo, second.errores]).toEqual([
      2,
      expect.stringMatching(/etiquetas\.pdf ya existe: .*--salida.*--forzar/),
    ])
    expect(await sheets('etiquetas.pdf')).toBe(2)
    const forcedOne = await guias(['etiquetas', one, '--forzar', '--json'])
    expect(JSON.parse(forcedOne.output)).toEqual({ archivo: 'etiquetas.pdf', guias: [one] })
    expect(await sheets('etiquetas.pdf')).toBe(1)
  })

  it('takes codes from the results of a batch, from JSON lines and from lines, and writes to the output', async () => {
    const csv = ['31481676', '1', '31481677'].map((telefono, i) => `${telefono},Guatemala,Mixco,E-${i}`).join('\n')
    await guias([
      'lote',
      await write('tres.csv', `telefono,departamento,municipio,external_ref\n${csv}\n`),
      ...RECOGIDA_ARGS,
    ])
    const ofLote = await guias(['etiquetas', '--archivo', 'tres.resultados.csv', '--salida', 'lote.pdf'])
    expect([ofLote.codigo, ofLote.output]).toEqual([0, 'lote.pdf  2 etiquetas\n'])
    const input = (await guias(['listar', '--limite', '2', '--json'])).output
    const pipedRun = await guias(['etiquetas', '--archivo', '-', '--salida', '-'], { input })
    expect([pipedRun.codigo, pipedRun.output.slice(0, 5), pipedRun.errores]).toEqual([0, '%PDF-', ''])
    const lines = await guias(['etiquetas', '--archivo', '-', '--salida', 'a/b/l.pdf'], {
      input: created.join('\r\n'),
    })
    expect(lines.output).toBe('a/b/l.pdf  3 etiquetas\n')
    expect(await guias(['etiquetas', '--archivo', '-'], { input: '{"guia":' })).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('no son JSON'),
    })
  })

  it('puts four on a letter sheet, and names the formats that there are', async () => {
    const { codigo, output } = await guias(['etiquetas', ...created, '--formato', 'carta', '--salida', 'carta.pdf'])
    expect([codigo, output]).toEqual([0, 'carta.pdf  3 etiquetas\n'])
    expect([await sheets('carta.pdf'), (await read('carta.pdf')).includes('/MediaBox [0 0 612 792]')]).toEqual([
      1,
      true,
    ])
    expect(await guias(['etiquetas', ...created, '--formato', 'a4', '--salida', 'a4.pdf'])).toMatchObject({
      codigo: 2,
      errores: expect.stringMatching(/--formato debe ser uno de: 10x15, carta, zpl, y llegó «a4»/),
    })
  })

  it('writes ZPL of the density that is asked for, also to the output', async () => {
    const ofZpl = (ppp: 203 | 300) => cli.comercio.api.guias.etiquetaZpl(created, { ppp })
    expect(await guias(['etiquetas', ...created, '--formato', 'zpl'])).toEqual({
      codigo: 0,
      output: 'etiquetas.zpl  3 etiquetas\n',
      errores: '',
    })
    expect(await read('etiquetas.zpl')).toBe(Buffer.from(await ofZpl(203)).toString('latin1'))
    const fineEtiquetas = await guias(['etiquetas', ...created, '--formato', 'zpl', '--ppp', '300', '--salida', '-'])
    expect([fineEtiquetas.codigo, fineEtiquetas.output]).toEqual([0, Buffer.from(await ofZpl(300)).toString()])
    expect(fineEtiquetas.output).not.toBe(Buffer.from(await ofZpl(203)).toString())
    for (const [options, message] of [
      [['--formato', 'zpl', '--ppp', '600'], /--ppp debe ser 203 o 300, y llegó «600»/],
      [['--ppp', '300'], /--ppp es de las etiquetas en ZPL: va con --formato zpl/],
    ] as const)
      expect(await guias(['etiquetas', ...created, ...options, '--salida', 'no.zpl'])).toMatchObject({
        codigo: 2,
        errores: expect.stringMatching(message),
      })
  })

  it('makes a file of each hundred', async () => {
    const rows = Array.from({ length: 101 }, (_, i) => `31481676,Guatemala,Mixco,C-${i}`)
    await guias([
      'lote',
      await write('cien.csv', `telefono,departamento,municipio,external_ref\n${rows.join('\n')}\n`),
      ...RECOGIDA_ARGS,
    ])
    const { codigo, output } = await guias(['etiquetas', '--archivo', 'cien.resultados.csv', '--salida', 'cien.PDF'])
    expect([codigo, output]).toEqual([0, 'cien-1.PDF  100 etiquetas\ncien-2.PDF  1 etiqueta\n'])
    expect([await sheets('cien-1.PDF'), await sheets('cien-2.PDF')]).toEqual([100, 1])
    expect(await guias(['etiquetas', '--archivo', 'cien.resultados.csv', '--salida', '-'])).toMatchObject({ codigo: 2 })
  })

  it('downloads none if one can’t be made, and names them all', async () => {
    const [one = ''] = created
    const { guia: cancelled } = await cli.comercio.api.guias.crear(buildGuia())
    await cli.comercio.api.guias.cancelar(cancelled)
    const { codigo, output, errores } = await guias(['etiquetas', one, cancelled, '7K3M9QX2A1B4', '--salida', 'no.pdf'])
    expect([codigo, output]).toEqual([1, ''])
    expect(errores).toMatch(
      new RegExp(
        `^${cancelled} {2}está cancelada: se deja fuera\\n7K3M9QX2A1B4 {2}no es una guía suya.*\\nNo se descargó ninguna etiqueta: quite esa guía`,
      ),
    )
    expect(await readdir(cli.folder)).not.toContain('no.pdf')
  })

  it('takes references, in their order, and names texts that are neither', async () => {
    const [one = ''] = created
    const external_ref = 'Pedido-O1'
    const { guia } = await cli.comercio.api.guias.crear(buildGuia({ external_ref }))
    const printed = await guias(['etiquetas', external_ref, one, '--salida', 'ref.pdf', '--json'])
    expect([printed.codigo, JSON.parse(printed.output).guias, printed.errores]).toEqual([0, [guia, one], ''])
    const { codigo, errores } = await guias(['etiquetas', one, 'Pedido-O2', '--salida', 'no.pdf'])
    expect([codigo, errores]).toEqual([
      1,
      expect.stringMatching(/^Pedido-O2 {2}no es el código ni la referencia de ninguna guía suya\nNo se descargó/),
    ])
  })

  it('leaves cancelled guides out with a notice, before anything is drawn', async () => {
    const { api } = cli.comercio
    const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: 100 }, buildGuia) })
    const codigos = resultados.map((one) => (one.ok ? one.guia : ''))
    const [first = '', second = ''] = codigos
    for (const one of [first, second]) await api.guias.cancelar(one)
    const file = await write('canceladas.txt', [...codigos, ...created].join('\n'))
    const printed = await guias(['etiquetas', '--archivo', file, '--salida', 'vivas.pdf'])
    const message = [first, second].map((one) => `${one}  está cancelada: se deja fuera\n`).join('')
    expect(printed).toEqual({
      codigo: 0,
      output: 'vivas-1.pdf  98 etiquetas\nvivas-2.pdf  3 etiquetas\n',
      errores: message,
    })
    expect([await sheets('vivas-1.pdf'), await sheets('vivas-2.pdf')]).toEqual([98, 3])
    const toJson = await guias(['etiquetas', first, created[0]!, '--salida', 'una.pdf', '--json'])
    expect([toJson.codigo, JSON.parse(toJson.output).guias, JSON.parse(toJson.errores)]).toEqual([
      0,
      [created[0]],
      { guia: first, codigo: 'guia_cancelada', mensaje: 'está cancelada: se deja fuera' },
    ])
    const ninguna = await guias(['etiquetas', first, second, '--salida', 'ninguna.pdf'])
    expect([ninguna.codigo, ninguna.errores]).toEqual([
      1,
      `${message}No se descargó ninguna etiqueta: todas están canceladas.\n`,
    ])
    expect(await readdir(cli.folder)).not.toContain('ninguna.pdf')
  })

  it('interrupted or cut off in the middle of a download, it leaves nothing', FULL_RUN_ONLY, async () => {
    let hasArrived = false
    let cut = false
    const slow = await serveRequests(async (req, res) => {
      if (req.url!.startsWith('/archivo')) {
        res.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': '1000' }).write('%PDF-')
        hasArrived = true
        if (cut) res.destroy()
        return
      }
      req.resume().on('end', () => {
        const [here, vence_en] = [`http://${req.headers.host}/archivo`, new Date().toISOString()]
        res.setHeader('Content-Type', 'application/json').end(JSON.stringify({ url: here, vence_en, guias: created }))
      })
    })
    const command = ['etiquetas', created[0]!, '--salida', 'media.pdf', '--url', slow]
    const child = launch(command)
    await waitUntil(async () => hasArrived)
    child.child.kill('SIGINT')
    expect([await child.fin, child.errores]).toEqual([130, 'Error: Interrumpido.\n'])
    cut = true
    const cortada = await guias(command)
    expect([cortada.codigo, cortada.errores]).toEqual([
      1,
      expect.stringMatching(/No se pudo descargar las etiquetas .*Repita la orden/),
    ])
    expect((await readdir(cli.folder)).filter((name) => name.startsWith('media'))).toEqual([])
  })

  it('waits as long as a busy service asks, and tells of a link that is none any more', async () => {
    const estados = [429, 503, 200, 403]
    const ocupado = await serveRequests((req, res) => {
      if (req.url!.startsWith('/archivo'))
        return void res.writeHead(estados.shift()!, { 'Retry-After': '1' }).end('%PDF-')
      req.resume().on('end', () => {
        const link = { url: `http://${req.headers.host}/archivo`, vence_en: '', guias: created }
        res.setHeader('Content-Type', 'application/json').end(JSON.stringify(link))
      })
    })
    const command = ['etiquetas', created[0]!, '--salida', 'paciente.pdf', '--forzar', '--url', ocupado]
    expect(await guias(command, { program: NO_PAUSE_COMMAND })).toMatchObject({ codigo: 0, errores: '' })
    const expiredCase = await guias(command, { program: NO_PAUSE_COMMAND })
    expect([expiredCase.codigo, expiredCase.errores]).toEqual([
      1,
      expect.stringMatching(/: contestó 403\. Repita la orden/),
    ])
    expect(await read('paciente.pdf')).toBe('%PDF-')
  })

  it.skipIf(!hasTerminal)('writes no PDF on a terminal', async () => {
    const { codigo, output } = await guias([], {
      program: inTerminal(['etiquetas', created[0]!, '--salida', '-']),
    })
    expect([codigo, output]).toEqual([2, expect.stringContaining('no se ve en la terminal')])
  })

  it('removes nothing that it did not make', async () => {
    const command = `mkdir -p mia && touch mia/x && '${process.execPath}' '${CLI}' etiquetas ${created[0]} --salida mia --forzar; e=$?; ls mia; exit $e`
    const { codigo, output, errores } = await guias([], { program: ['/bin/sh', '-c', command] })
    expect([codigo, output, errores]).toEqual([
      2,
      'x\n',
      expect.stringContaining('No se pudo escribir mia: es una carpeta'),
    ])
  })
})
