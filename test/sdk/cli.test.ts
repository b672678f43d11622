import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AvisoDeGuia, Guias, VERSION, verificarWebhook } from '@guias/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAQUINA_DE_ESTADOS } from '../../server/contrato/generado/vocabulario.ts'
import { type Comercio, compartirEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { puertoLibre } from '../puertos.ts'

const entorno = compartirEntorno()
const CLI = fileURLToPath(new URL('../../sdk/dist/cli.js', import.meta.url))
const SECRETO = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
let carpeta = ''
let comercio: Comercio
let serie = 0

beforeAll(async () => {
  carpeta = await mkdtemp(join(tmpdir(), 'guias-cli-'))
  comercio = await entorno.nuevoComercio()
})
const hijos: ChildProcess[] = []
afterAll(async () => {
  for (const hijo of hijos) hijo.kill('SIGKILL')
  await rm(carpeta, { recursive: true, force: true, maxRetries: 10 })
})

interface Opciones {
  env?: Record<string, string>
  entrada?: string
  programa?: [string, ...string[]]
}
function lanzar(args: string[], { env = {}, entrada, programa = [process.execPath, CLI] }: Opciones = {}) {
  const [orden, ...previos] = programa
  const hijo = spawn(orden, [...previos, ...args], {
    cwd: carpeta,
    env: {
      PATH: process.env.PATH,
      HOME: carpeta,
      GUIAS_LLAVE: comercio.llave,
      GUIAS_BASE_URL: entorno.url,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  hijos.push(hijo)
  const proceso = { hijo, salida: '', errores: '' }
  hijo.stdout.setEncoding('utf8').on('data', (texto: string) => {
    proceso.salida += texto
  })
  hijo.stderr.setEncoding('utf8').on('data', (texto: string) => {
    proceso.errores += texto
  })
  hijo.stdin.end(entrada)
  const fin = new Promise<number | null>((listo) => hijo.once('close', listo))
  return Object.assign(proceso, { fin })
}
const guias = async (args: string[], opciones?: Opciones) => {
  const proceso = lanzar(args, opciones)
  const codigo = await proceso.fin
  return { codigo, salida: proceso.salida, errores: proceso.errores }
}
const escribir = async (nombre: string, contenido: string | Uint8Array) => {
  await writeFile(join(carpeta, nombre), contenido)
  return nombre
}
const nuevaRef = () => `CLI-${process.pid}-${++serie}`
const RECOGIDA = ['--recogida-nombre', 'Bodega', '--recogida-lat', '14.58', '--recogida-lng', '-90.54']
const DESTINO = ['--telefono', '+50231481676', '--departamento', 'Guatemala', '--municipio', 'Mixco']

describe('guias', () => {
  it('explains itself and each of its orders', async () => {
    const todo = await guias(['--help'])
    expect([todo.codigo, todo.errores]).toEqual([0, ''])
    const ordenes = [...todo.salida.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, orden]) => orden!)
    expect(ordenes).toEqual(['crear', 'lote', 'rastrear', 'escuchar', 'disparar'])
    for (const orden of ordenes) {
      const { codigo, salida } = await guias([orden, '--help'])
      expect([codigo, salida.startsWith(`Uso: guias ${orden}`)]).toEqual([0, true])
      expect(salida).toContain('Termina con: 0')
    }
    expect(await guias(['--version'])).toMatchObject({ codigo: 0, salida: `${VERSION}\n` })
    expect(await guias([])).toMatchObject({ codigo: 2, salida: '', errores: expect.stringContaining('Uso:') })
  })

  it.each<[string, string[], string, Record<string, string>?]>([
    ['an unknown order', ['borrar'], 'No conozco la orden «borrar»'],
    ['one that every object has', ['toString'], 'No conozco la orden'],
    ['an unknown option', ['crear', '--telefonos', 'x'], '--telefonos'],
    ['an option without its value', ['crear', '--telefono'], '--telefono'],
    ['too few arguments', ['rastrear'], 'Falta un argumento'],
    ['too many', ['rastrear', 'A', 'B'], 'Sobra «B»'],
    ['the key as an argument', ['rastrear', 'A', '--llave', 'guia_test_secreto'], 'GUIAS_LLAVE'],
    ['no key', ['rastrear', 'A'], 'Falta su llave', { GUIAS_LLAVE: '' }],
    ['no file with the key', ['rastrear', 'A', '--llave-archivo', 'no-hay'], 'no-hay'],
    ['no address', ['rastrear', 'A', '--base-url', 'nada'], 'baseUrl'],
    ['no number', ['rastrear', 'A', '--intervalo', 'mucho'], '--intervalo'],
    ['no file', ['lote', 'no-hay.csv'], 'no-hay.csv'],
    ['no destination', ['escuchar', '--reenviar', 'ftp://x'], '--reenviar'],
    ['no date', ['escuchar', '--desde', 'ayer'], '--desde'],
    ['no secret', ['escuchar', '--reenviar', 'http://x.test', '--secreto', 'corto'], 'whsec_'],
    ['an event that nobody can provoke', ['disparar', 'guia.nota'], 'guias disparar --help'],
    ['whom to try', ['disparar', 'webhook.prueba'], '--webhook'],
  ])('ends with 2 for %s', async (_, args, dice, env = {}) => {
    const { codigo, salida, errores } = await guias(args, { env })
    expect([codigo, salida]).toEqual([2, ''])
    expect(errores).toContain(dice)
    expect(errores).not.toMatch(/test_secreto|\n\s+at /)
  })

  it('ends with 1 when the service refuses, with 3 when nobody answers; in JSON if asked', async () => {
    const { codigo, errores } = await guias(['rastrear', 'NADA', '--json'])
    expect(codigo).toBe(1)
    expect(JSON.parse(errores)).toMatchObject({ error: 'ErrorNoEncontrado', codigo: 'guia_desconocida', status: 404 })
    expect(await guias(['rastrear', 'NADA', '--base-url', `http://127.0.0.1:${await puertoLibre()}`])).toMatchObject({
      codigo: 3,
      errores: expect.stringContaining('ECONNREFUSED'),
    })
    const mala = await guias(['rastrear', 'NADA'], { env: { GUIAS_LLAVE: `${comercio.llave}x` } })
    expect(mala.codigo).toBe(1)
    expect(mala.errores).not.toContain(comercio.llave)
  })

  it('takes the key from a file too', async () => {
    const archivo = await escribir('llave.txt', `${comercio.llave}\n`)
    const { codigo } = await guias(['disparar', 'aceptado', '--llave-archivo', archivo], { env: { GUIAS_LLAVE: '' } })
    expect(codigo).toBe(0)
  })
})

describe('guias crear', () => {
  it('creates with options, once for one reference', async () => {
    const ref = nuevaRef()
    const args = ['crear', ...DESTINO, ...RECOGIDA, '--external-ref', ref, '--lat', '14.63', '--lng', '-90.6']
    const una = await guias(args)
    expect([una.codigo, una.errores]).toEqual([0, ''])
    const [, codigo = ''] = /^(\w{12}) {2}aceptado, ubicación confirmada\n$/.exec(una.salida) ?? []
    expect(await comercio.api.guias.obtener(codigo)).toMatchObject({ external_ref: ref, lat: 14.63, lng: -90.6 })
    expect((await guias(args)).salida).toBe(`${codigo}  aceptado, ubicación confirmada  (ya existía)\n`)
    expect(JSON.parse((await guias([...args, '--json'])).salida)).toMatchObject({ guia: codigo })
  })

  it('says what to look at again, apart from what was asked for', async () => {
    const guia = { ...unaGuia(), municipio: 'San Juan Sacatepeques y algo' }
    const { codigo, salida, errores } = await guias(['crear', await escribir('rara.json', JSON.stringify(guia))])
    expect([codigo, salida]).toEqual([0, expect.stringMatching(/^\w{12} {2}aceptado, ubicación confirmada\n$/)])
    expect(errores).toMatch(/^Revise \/municipio «San Juan Sacatepeques y algo» no está en el catálogo.*\n$/)
  })

  it('creates from a file or from what is piped into it', async () => {
    const guia = unaGuia()
    const archivo = await escribir('guia.json', `\uFEFF${JSON.stringify(guia)}`)
    const una = await guias(['crear', archivo, '--json'])
    const otra = await guias(['crear', '-', '--json'], { entrada: JSON.stringify(guia) })
    expect(JSON.parse(otra.salida).guia).toBe(JSON.parse(una.salida).guia)
    expect(await guias(['crear', '-'], { entrada: '{' })).toMatchObject({ codigo: 2 })
    expect(await guias(['crear', archivo, '--telefono', '1'])).toMatchObject({ codigo: 2 })
  })

  it('tells field by field what is wrong', async () => {
    const { codigo, errores } = await guias(['crear', '--telefono', '12'])
    expect(codigo).toBe(1)
    for (const campo of ['/telefono', '/departamento', '/recogida']) expect(errores).toContain(campo)
  })
})

describe('guias lote', () => {
  const leerResultados = async (archivo: string) => {
    const texto = await readFile(join(carpeta, archivo), 'utf8')
    expect(texto.startsWith('\uFEFFfila,external_ref,ok,')).toBe(true)
    return texto
      .trim()
      .split('\r\n')
      .slice(1)
      .map((linea) => linea.split(','))
  }

  it('reads a CSV as spreadsheets write them, and says of each row what became of it', async () => {
    const [a, b, c] = [nuevaRef(), nuevaRef(), nuevaRef()]
    const csv = await escribir(
      'pedidos.csv',
      `\uFEFFTeléfono;Departamento;Municipio;External Ref;Indicaciones;lat;lng;Recogida.Lat;recogida lng\r\n${[
        `+50231481676;Guatemala;Mixco;${a};"Portón ""verde""; al fondo\r\na la derecha";14,63;-90,6;14.5;-90.5`,
        `12;Guatemala;Mixco;${b};;;;14.5;-90.5`,
        ';;;;;;;;',
        `+50231481676;Guatemala;Mixco;${c};;;;14.5;-90.5;;`,
      ].join('\r\n')}`,
    )
    const primera = await guias(['lote', csv])
    expect(primera.codigo).toBe(1)
    expect(primera.salida).toMatch(/^4 leídas: 2 creadas, 2 fallidas/)
    expect(primera.errores).toContain('fila 3')
    expect(primera.errores).not.toContain('█')
    const filas = await leerResultados('pedidos.resultados.csv')
    expect(filas.map(([fila, ref, ok]) => [fila, ref, ok])).toEqual([
      ['2', a, 'sí'],
      ['3', b, 'no'],
      ['4', '', 'no'],
      ['5', c, 'sí'],
    ])
    expect(filas[1]!.join()).toContain('/telefono')
    expect(filas[2]!.join()).toContain('external_ref')
    const texto = await readFile(join(carpeta, csv), 'utf8')
    await escribir(csv, texto.replace('\r\n12;', '\r\n+50231481677;').replace(';;;;;;;;\r\n', ''))
    expect(await guias(['lote', csv])).toMatchObject({
      codigo: 0,
      salida: expect.stringMatching(/^3 leídas: 1 creadas, 2 ya existían, 0 fallidas/),
      errores: '',
    })
    const [guia] = (await comercio.api.guias.listar({ external_ref: a })).datos
    expect(guia).toMatchObject({
      indicaciones: expect.stringMatching(/^Portón "verde"; al fondo\r?\na la derecha$/),
      lat: 14.63,
      lng: -90.6,
    })
  })

  it('reads JSON and JSON lines, with a pickup for all, and reports in JSON', async () => {
    const { recogida, ...guia } = unaGuia()
    const json = await escribir(
      'lote.json',
      JSON.stringify({ recogida, guias: [guia, { ...guia, external_ref: nuevaRef() }] }),
    )
    expect(await guias(['lote', json])).toMatchObject({ codigo: 0, salida: expect.stringContaining('2 creadas') })
    const jsonl = await escribir(
      'lote.jsonl',
      `${JSON.stringify(guia)}\n\n${JSON.stringify({ ...guia, telefono: '1' })}\n7`,
    )
    const { codigo, salida } = await guias(['lote', jsonl, '--json', ...RECOGIDA, '--resultados', 'otro.csv'])
    expect(codigo).toBe(1)
    expect(
      salida
        .trim()
        .split('\n')
        .map((linea) => JSON.parse(linea)),
    ).toMatchObject([
      { fila: 1, ok: false, error: 'external_ref_en_conflicto' },
      { fila: 3, ok: false, error: 'validacion' },
      { fila: 4, ok: false, error: 'ErrorGuias' },
      { leidas: 3, creadas: 0, fallidas: 3, resultados: 'otro.csv' },
    ])
  })

  it('gives references by row, under a prefix', async () => {
    const prefijo = nuevaRef()
    const csv = await escribir(
      'sin.csv',
      'telefono,departamento,municipio\n+50231481676,Guatemala,Mixco\n+50231481676,Guatemala,Mixco\n',
    )
    expect(await guias(['lote', csv, ...RECOGIDA])).toMatchObject({ codigo: 1 })
    expect((await guias(['lote', csv, ...RECOGIDA, '--referencias', prefijo])).salida).toContain('2 creadas, 0')
    expect((await guias(['lote', csv, ...RECOGIDA, '--referencias', prefijo])).salida).toContain(
      '0 creadas, 2 ya existían, 0',
    )
    expect((await leerResultados('sin.resultados.csv')).map(([, ref]) => ref)).toEqual([`${prefijo}-2`, `${prefijo}-3`])
  })

  it.each<[string, string | Uint8Array, string[], string]>([
    ['columnas.csv', 'telefono,color,talla\n', [], '«color», «talla»'],
    ['doble.csv', 'telefono,Teléfono\n', [], 'dos veces'],
    ['vacio.csv', '', [], 'vacío'],
    ['larga.csv', 'telefono,municipio\n1,2,3\n', [], 'fila 2: trae 3 campos'],
    ['comillas.csv', 'telefono\n"1\n', [], 'comillas'],
    ['excel.csv', Buffer.from('telefono;direcci\xf3n\n', 'latin1'), [], '--codificacion windows-1252'],
    ['rara.csv', 'telefono\n', ['--codificacion', 'klingon'], 'klingon'],
    ['malo.json', '{"a": 1}', [], 'lista de guías'],
    ['malo.jsonl', '{"a": 1}\n{', [], 'línea 2'],
    ['hoja.xlsx', 'PK', [], 'CSV'],
    ['propio.csv', 'telefono\n', ['--resultados', 'propio.csv'], 'borraría'],
  ])('refuses %s and says what to do', async (nombre, contenido, args, dice) => {
    const { codigo, errores } = await guias(['lote', await escribir(nombre, contenido), ...args])
    expect([codigo, errores]).toEqual([2, expect.stringContaining(dice)])
  })

  it('takes other columns and encodings when it is told to', async () => {
    const ref = nuevaRef()
    const texto = `telefono;departamento;municipio;external_ref;color;dirección\n+50231481676;Guatemala;Mixco;${ref};azul;Vía 5\n`
    const csv = await escribir('excel2.csv', Buffer.from(texto, 'latin1'))
    const args = ['lote', csv, ...RECOGIDA, '--ignorar-otras', '--codificacion', 'windows-1252']
    expect(await guias(args)).toMatchObject({ codigo: 0 })
    expect((await comercio.api.guias.listar({ external_ref: ref })).datos[0]).toMatchObject({ direccion: 'Vía 5' })
  })

  it('interrupted or killed, it is run again and nothing is doubled', async () => {
    const otro = await entorno.nuevoComercio()
    const env = { GUIAS_LLAVE: otro.llave }
    const filas = Array.from({ length: 3_000 }, (_, i) => `+50231481676,Guatemala,Mixco,K-${i},14.6,-90.6`)
    const csv = await escribir(
      'grande.csv',
      `telefono,departamento,municipio,external_ref,lat,lng\n${filas.join('\n')}\n`,
    )
    const orden = ['lote', csv, ...RECOGIDA, '--concurrencia', '1']
    const escritas = async () =>
      (await readFile(join(carpeta, 'grande.resultados.csv'), 'utf8').catch(() => '')).split('\n').length
    const cuantas = async () => {
      let total = 0
      for await (const _ of otro.api.guias.listar({ limite: 100 })) total++
      return total
    }

    const muerta = lanzar(orden, { env })
    await hasta(async () => (await escritas()) > 300)
    muerta.hijo.kill('SIGKILL')
    await muerta.fin
    await rm(join(carpeta, 'grande.resultados.csv'))

    const interrumpida = lanzar(orden, { env })
    await hasta(async () => (await escritas()) > 300)
    interrumpida.hijo.kill('SIGINT')
    expect(await interrumpida.fin).toBe(130)
    expect(interrumpida.errores).toContain('nada se duplica')

    const entera = await guias(orden, { env })
    expect([entera.codigo, entera.errores]).toEqual([0, ''])
    expect(entera.salida).toMatch(/^3000 leídas: \d+ creadas, \d+ ya existían, 0 fallidas/)
    expect(await cuantas()).toBe(3_000)
    expect(await leerResultados('grande.resultados.csv')).toHaveLength(3_000)
  })

  it('does not go on for ever where nobody answers, nor with a key that is none', async () => {
    const filas = Array.from({ length: 1_000 }, (_, i) => `1,A,B,M-${i}`)
    const csv = await escribir('mil.csv', `telefono,departamento,municipio,external_ref\n${filas.join('\n')}\n`)
    let status = 503
    const caido = createServer((req, res) =>
      // Nobody waits for an hour: each request is answered for at once.
      req.resume().on('end', () => res.writeHead(status, { 'Retry-After': '3600' }).end('<html>')),
    )
    await new Promise<void>((listo) => caido.listen(0, '127.0.0.1', listo))
    const url = ['--base-url', `http://127.0.0.1:${(caido.address() as AddressInfo).port}`]
    try {
      const dejado = await guias(['lote', csv, ...RECOGIDA, ...url, '--concurrencia', '1'])
      expect([dejado.codigo, dejado.errores]).toEqual([3, expect.stringContaining('no contesta')])
      expect(await leerResultados('mil.resultados.csv')).toHaveLength(300)
      await escribir('pocas.csv', `telefono,external_ref\n1,A\n2,B\n`)
      expect((await guias(['lote', 'pocas.csv', ...url])).codigo).toBe(3)
      status = 400
      expect((await guias(['lote', csv, ...RECOGIDA, ...url])).codigo).toBe(1)
      expect(await leerResultados('mil.resultados.csv')).toHaveLength(1_000)
    } finally {
      caido.closeAllConnections()
      caido.close()
    }
    const { codigo, errores } = await guias(['lote', csv, ...RECOGIDA], { env: { GUIAS_LLAVE: `${comercio.llave}x` } })
    expect([codigo, errores]).toEqual([1, expect.stringContaining('no_autenticado')])
    expect(await leerResultados('mil.resultados.csv')).toHaveLength(1)
  })

  const hayScript = existsSync('/usr/bin/script')
  it.skipIf(!hayScript)('shows its progress and colours on a terminal, unless NO_COLOR', async () => {
    const csv = await escribir(
      'terminal.csv',
      `telefono,departamento,municipio,external_ref\n+50231481676,Guatemala,Mixco,${nuevaRef()}\n1,Guatemala,Mixco,${nuevaRef()}\n`,
    )
    const orden = `'${process.execPath}' '${CLI}' lote ${csv} ${RECOGIDA.join(' ')}`
    const programa: [string, ...string[]] = ['/usr/bin/script', '-qec', orden, '/dev/null']
    const env = { TERM: 'xterm-256color' }
    const conColor = await guias([], { programa, env })
    expect(conColor.codigo).toBe(1)
    expect(conColor.salida).toMatch(/█/)
    expect(conColor.salida).toContain('\x1b[31mfila 3\x1b[0m')
    const sin = await guias([], { programa, env: { ...env, NO_COLOR: '1' } })
    expect(sin.salida).toContain('█')
    expect(sin.salida).not.toContain('\x1b[3')
  })
})

describe('guias disparar y rastrear', () => {
  it.each(Object.keys(MAQUINA_DE_ESTADOS.transiciones))('takes a test guide to %s', async (estado) => {
    const { codigo, salida, errores } = await guias(['disparar', `guia.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(salida).estado).toBe(estado)
  })

  it.each(['solicitada', 'confirmada', 'vencida', 'fallida'])('and its location to %s', async (estado) => {
    const { codigo, salida, errores } = await guias(['disparar', `ubicacion.${estado}`, '--json'])
    expect([codigo, errores]).toEqual([0, ''])
    expect(JSON.parse(salida).ubicacion.estado).toBe(estado)
  })

  it('goes on from where a guide stands, and tells what it may go to', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await guias(['disparar', 'recolectado', '--guia', guia])
    expect((await guias(['disparar', 'entregado', '--guia', guia])).salida).toBe(
      `${guia}  entregado, ubicación confirmada\n`,
    )
    const tarde = await guias(['disparar', 'en_ruta', '--guia', guia])
    expect([tarde.codigo, tarde.errores]).toEqual([1, expect.stringContaining('transicion_invalida')])
    const viva = await entorno.nuevaLlave(comercio, { modo: 'live' })
    const { codigo, errores } = await guias(['disparar', 'recolectado', '--guia', guia], { env: { GUIAS_LLAVE: viva } })
    expect([codigo, errores]).toEqual([1, expect.stringMatching(/guia_desconocida/)])
  })

  it('shows a history, and follows it to its end', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia({ destinatario: 'Marisol\u200b' }))
    const una = await guias(['rastrear', guia.toLowerCase()])
    expect([una.codigo, una.errores]).toEqual([0, ''])
    expect(una.salida).toMatch(
      new RegExp(`^${guia} {2}aceptado {2}Marisol.*, San Juan.*\\n {2}\\S+ \\S+ {2}guia.aceptado `),
    )
    const siguiendo = lanzar(['rastrear', guia, '--seguir', '--intervalo', '0.1', '--json'])
    await hasta(async () => siguiendo.salida.includes('guia.aceptado'))
    for (const estado of ['recolectado', 'en_ruta', 'entregado']) await comercio.api.simulador.avanzar(guia, { estado })
    expect(await siguiendo.fin).toBe(0)
    expect(
      siguiendo.salida
        .trim()
        .split('\n')
        .map((linea) => JSON.parse(linea).tipo),
    ).toEqual(['guia.aceptado', 'guia.recolectado', 'guia.en_ruta', 'guia.entregado'])
    const { guia: otra } = await comercio.api.guias.crear(unaGuia())
    const cortada = lanzar(['rastrear', otra, '--seguir', '--intervalo', '30'])
    await hasta(async () => cortada.salida.includes('guia.aceptado'))
    cortada.hijo.kill('SIGINT')
    expect([await cortada.fin, cortada.errores]).toEqual([0, ''])
  })
})

describe('guias escuchar', () => {
  interface Llegada {
    ruta: string
    cabeceras: Record<string, string>
    cuerpo: string
  }
  const llegadas: Llegada[] = []
  let contestar = () => 204
  let destino = ''
  const receptor = createServer(async (req, res) => {
    const trozos: Buffer[] = []
    for await (const trozo of req) trozos.push(trozo)
    llegadas.push({
      ruta: req.url!,
      cabeceras: req.headers as Record<string, string>,
      cuerpo: Buffer.concat(trozos).toString(),
    })
    res.writeHead(contestar()).end('gracias')
  })
  beforeAll(async () => {
    await new Promise<void>((listo) => receptor.listen(0, '127.0.0.1', listo))
    destino = `http://127.0.0.1:${(receptor.address() as AddressInfo).port}`
  })
  afterAll(() => {
    receptor.closeAllConnections()
    receptor.close()
  })
  const avisos = (ruta: string) =>
    llegadas.filter((una) => una.ruta === ruta).map(({ cuerpo }) => JSON.parse(cuerpo) as AvisoDeGuia)
  const escuchar = async (suyo: Comercio, args: string[], mas: Record<string, string> = {}) => {
    const proceso = lanzar(['escuchar', '--intervalo', '0.1', ...args], { env: { GUIAS_LLAVE: suyo.llave, ...mas } })
    await hasta(async () => proceso.errores.includes('Escuchando'))
    const cerrar = async () => {
      proceso.hijo.kill('SIGINT')
      return proceso.fin
    }
    return Object.assign(proceso, { cerrar })
  }

  it('sends what a webhook would, signed the same', async () => {
    const suyo = await entorno.nuevoComercio()
    await suyo.api.guias.crear(unaGuia())
    await suyo.api.webhooks.crear({ url: `${destino}/real` })
    const proceso = await escuchar(suyo, ['--reenviar', `${destino}/local`, '--secreto', SECRETO])
    const { guia } = await suyo.api.guias.crear(unaGuia())
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido']) {
      await suyo.api.simulador.avanzar(guia, {
        estado,
        ...(estado === 'intento_fallido' ? { motivo: 'sin_pago' } : {}),
      })
    }
    await hasta(async () => avisos('/local').length === 4 && avisos('/real').length === 4)
    // Only what came after it began, in order.
    expect(avisos('/local').map(({ tipo, datos }) => [tipo, datos.guia.guia, datos.guia.estado])).toEqual(
      ['aceptado', 'recolectado', 'en_ruta', 'intento_fallido'].map((estado) => [`guia.${estado}`, guia, estado]),
    )
    const ultimo = (ruta: string) => avisos(ruta).find(({ tipo }) => tipo === 'guia.intento_fallido')
    expect(ultimo('/local')).toEqual(ultimo('/real'))
    const [una] = llegadas.filter(({ ruta }) => ruta === '/local')
    expect(await verificarWebhook(una!.cuerpo, una!.cabeceras, SECRETO)).toMatchObject({
      id: una!.cabeceras['webhook-id'],
    })
    expect(una!.cabeceras['content-type']).toBe('application/json')
    expect(proceso.salida).toMatch(new RegExp(`guia.intento_fallido +${guia} {2}→ 204 \\(\\d+ ms\\)`))

    // The next time it goes on from there, and sends what happened in between.
    expect(await proceso.cerrar()).toBe(0)
    await suyo.api.guias.cancelar((await suyo.api.guias.crear(unaGuia())).guia)
    const otra = await escuchar(suyo, ['--reenviar', `${destino}/luego`], { GUIAS_SECRETO: SECRETO })
    await hasta(async () => avisos('/luego').length === 2)
    expect(avisos('/luego').map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'guia.cancelado'])
    expect(await otra.cerrar()).toBe(0)
    expect(otra.errores).not.toContain('whsec_')
  })

  it('replays from the beginning or a date, of some types, and signs with a secret of its own', async () => {
    const suyo = await entorno.nuevoComercio()
    const { guia } = await suyo.api.guias.crear(unaGuia())
    await suyo.api.simulador.avanzar(guia, { estado: 'recolectado' })
    const todo = await escuchar(suyo, ['--reenviar', `${destino}/todo`, '--desde', 'principio'])
    await hasta(async () => avisos('/todo').length === 2)
    const [, secreto = ''] = /(whsec_\S+)/.exec(todo.errores) ?? []
    const [una] = llegadas.filter(({ ruta }) => ruta === '/todo')
    await verificarWebhook(una!.cuerpo, una!.cabeceras, secreto)
    await todo.cerrar()

    const desde = new Date(Date.now() + 3_600_000).toISOString()
    const nada = await escuchar(suyo, ['--reenviar', `${destino}/nada`, '--desde', desde])
    const algunos = await escuchar(suyo, [
      ...['--reenviar', `${destino}/algunos`, '--desde', '2026-01-01', '--tipos', 'ubicacion.*, guia.recolectado'],
      ...['--cursor', join(carpeta, 'aparte', 'cursor')],
    ])
    await hasta(async () => avisos('/algunos').length === 1)
    expect(avisos('/algunos').map(({ tipo }) => tipo)).toEqual(['guia.recolectado'])
    // The cursor is written after the notice was taken.
    await hasta(async () => /^\S+\n$/.test(await readFile(join(carpeta, 'aparte', 'cursor'), 'utf8').catch(() => '')))
    expect(avisos('/nada')).toEqual([])
    expect([await nada.cerrar(), await algunos.cerrar()]).toEqual([0, 0])
  })

  it('insists while the local server fails, and goes on when it will not have it', async () => {
    const suyo = await entorno.nuevoComercio()
    await suyo.api.guias.crear(unaGuia())
    let veces = 0
    contestar = () => (++veces < 2 ? 500 : 204)
    const proceso = await escuchar(suyo, ['--reenviar', `${destino}/terco`, '--desde', 'principio', '--json'])
    await hasta(async () => avisos('/terco').length === 2)
    await hasta(async () => proceso.salida.trim().split('\n').length === 2)
    expect(
      proceso.salida
        .trim()
        .split('\n')
        .map((linea) => JSON.parse(linea)),
    ).toMatchObject([
      { intento: 1, status: 500, ok: false },
      { intento: 2, status: 204, ok: true },
    ])
    await proceso.cerrar()
    contestar = () => 500
    const rendido = await escuchar(suyo, ['--reenviar', `${destino}/no`, '--desde', 'principio', '--reintentos', '0'])
    await hasta(async () => rendido.errores.includes('no aceptó'))
    await rendido.cerrar()
    const nadie = await escuchar(suyo, [
      '--reenviar',
      `http://127.0.0.1:${await puertoLibre()}`,
      '--desde',
      'principio',
      '--reintentos',
      '0',
    ])
    await hasta(async () => nadie.salida.includes('ECONNREFUSED'))
    expect(await nadie.cerrar()).toBe(0)
    contestar = () => 204
  })

  it('only shows them without a destination, and begins anew where the cursor is of another', async () => {
    const suyo = await entorno.nuevoComercio()
    const cursor = join(carpeta, 'ajeno')
    const ajeno = await comercio.api.eventos.listar({ limite: 1 })
    await writeFile(cursor, `${ajeno.cursor_siguiente}\n`)
    const proceso = await escuchar(suyo, ['--cursor', cursor, '--json'])
    await hasta(async () => proceso.errores.includes('ya no vale'))
    const { guia } = await new Guias({ llave: suyo.llave, baseUrl: entorno.url }).guias.crear(unaGuia())
    await hasta(async () => proceso.salida.includes(guia))
    expect(JSON.parse(proceso.salida)).toMatchObject({ tipo: 'guia.aceptado', guia })
    expect(await proceso.cerrar()).toBe(0)
  })

  it('waits out a service that is away, but not a key that is none', async () => {
    const paginas = [
      { status: 503, cuerpo: '<html>' },
      {
        status: 200,
        cuerpo: { datos: [{ id: 'evt_1', tipo: 'guia.nota', guia: 'G', registrado_en: '' }], cursor_siguiente: 'a' },
      },
      { status: 200, cuerpo: { datos: [], cursor_siguiente: 'a' } },
      { status: 401, cuerpo: { codigo: 'no_autenticado', mensaje: 'No.' } },
    ]
    const caido = createServer((_req, res) => {
      const { status, cuerpo } = paginas.shift()!
      res.writeHead(status, { 'Retry-After': '3600' }).end(typeof cuerpo === 'string' ? cuerpo : JSON.stringify(cuerpo))
    })
    await new Promise<void>((listo) => caido.listen(0, '127.0.0.1', listo))
    const baseUrl = `http://127.0.0.1:${(caido.address() as AddressInfo).port}`
    try {
      const args = ['escuchar', '--desde', 'principio', '--base-url', baseUrl, '--intervalo', '0.1']
      const { codigo, salida, errores } = await guias(args)
      expect([codigo, salida]).toEqual([1, expect.stringMatching(/guia\.nota +G\n$/)])
      expect(errores).toMatch(/Sigo intentando\..*no_autenticado/s)
    } finally {
      caido.closeAllConnections()
      caido.close()
    }
  })
})
