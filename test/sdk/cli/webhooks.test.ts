import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { verificarWebhook } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../../factories.ts'
import { serveRequests, useCli } from './run.ts'

const cli = useCli()
const { guias } = cli

describe('guias webhooks', () => {
  const arrivals: { body: string; headers: Record<string, string> }[] = []
  let status = 204
  let destino = ''
  let seriesId = 0
  const direccion = () => `${destino}/${++seriesId}`
  beforeAll(async () => {
    destino = await serveRequests(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      arrivals.push({ body: Buffer.concat(chunks).toString(), headers: req.headers as Record<string, string> })
      res.writeHead(status).end()
    })
  })
  const createWebhook = async (...args: string[]) =>
    JSON.parse((await guias(['webhooks', 'crear', direccion(), '--json', ...args])).output)

  it('says that there is none, creates one and gives its secret once', async () => {
    const other = await cli.environment.createComercio()
    const env = { GUIAS_LLAVE: other.llave }
    expect(await guias(['webhooks', 'listar'], { env })).toEqual({
      codigo: 0,
      output: '',
      errores: 'No hay webhooks: cree uno con guias webhooks crear <url>.\n',
    })
    const url = direccion()
    const created = await guias(
      ['webhooks', 'crear', url, '--tipos', 'guia.*,ubicacion.confirmada', '--descripcion', 'La mía'],
      { env },
    )
    const [, webhook = '', secret = ''] = /^(wh_\w+) {2}activo {2}\S+\n(whsec_\S+)\n$/.exec(created.output) ?? []
    expect([created.codigo, created.errores]).toEqual([0, expect.stringContaining('no se vuelve a mostrar')])
    const list = await guias(['webhooks', 'listar'], { env })
    expect(list.output).toMatch(new RegExp(`\\n${webhook} {2}activo  ${url}  guia\\.\\*,ubicacion\\.confirmada\\n$`))
    const seen = await guias(['webhooks', 'ver', webhook], { env })
    expect(seen.output).toMatch(/^wh_\w+ {2}activo.*\n {2}Tipos .*\n {2}Descripción {3}La mía\n/)
    for (const { output } of [list, seen, await guias(['webhooks', 'ver', webhook, '--json'], { env })]) {
      expect(output).not.toContain(secret)
    }
    expect((await guias(['webhooks', 'listar', '--csv'], { env })).output).toContain(
      `${webhook},activo,,test,${url},guia.* ubicacion.confirmada,La mía,`,
    )
  })

  it('keeps the secret in a file of one’s own instead of showing it', async () => {
    const command = ['webhooks', 'crear', direccion(), '--secreto-en', 'secreto.txt']
    const { codigo, output, errores } = await guias(command)
    expect([codigo, output + errores]).toEqual([0, expect.not.stringContaining('whsec_')])
    const file = join(cli.folder, 'secreto.txt')
    expect([(await stat(file)).mode & 0o777, await readFile(file, 'utf8')]).toEqual([
      0o600,
      expect.stringMatching(/^whsec_\S+\n$/),
    ])
    const guiaWithoutPlace = await guias(['webhooks', 'crear', direccion(), '--secreto-en', 'secreto.txt/x'])
    expect([guiaWithoutPlace.codigo, guiaWithoutPlace.output]).toEqual([0, expect.stringMatching(/\nwhsec_\S+\n$/)])
    expect(guiaWithoutPlace.errores).toContain('No se pudo escribir secreto.txt/x')
    // Before it is made: a secret that can't be kept would be lost.
    const before = await cli.comercio.api.webhooks.listar()
    const second = await guias(['webhooks', 'crear', direccion(), '--secreto-en', 'secreto.txt'])
    expect([second.codigo, second.errores]).toEqual([2, expect.stringContaining('--forzar')])
    expect((await cli.comercio.api.webhooks.listar()).datos).toHaveLength(before.datos.length)
  })

  it('tries one and says what the server answered', async () => {
    const { webhook, secreto } = await createWebhook()
    expect(await guias(['webhooks', 'probar', webhook])).toEqual({
      codigo: 0,
      output: expect.stringMatching(/^avi_\w+ {2}204 en [\d.]+ ms\n$/),
      errores: '',
    })
    const { body, headers } = arrivals.at(-1)!
    expect((await verificarWebhook(body, headers, secreto)).tipo).toBe('webhook.prueba')
    status = 500
    const bad = await guias(['webhooks', 'probar', webhook])
    expect([bad.codigo, bad.output]).toEqual([
      1,
      expect.stringMatching(/^avi_\w+ {2}500 en [\d.]+ ms: El receptor respondió 500/),
    ])
    status = 204
  })

  it('lists what was sent, shows one and sends it again', async () => {
    const { webhook } = await createWebhook('--tipos', 'guia.*')
    const { guia } = await cli.comercio.api.guias.crear(buildGuia())
    const [one] = await waitUntil(async () => {
      const { datos } = await cli.comercio.api.webhooks.avisos(webhook, { estado: 'entregado' })
      return datos.length > 0 && datos
    })
    const aviso = one!.aviso
    const list = await guias(['webhooks', 'avisos', webhook, '--guia', guia])
    expect([list.codigo, list.output]).toEqual([
      0,
      expect.stringMatching(new RegExp(`\\n${aviso} {2}entregado {2}204 +guia\\.aceptado +\\S+ \\S+ UTC\\S*\\n$`)),
    ])
    expect((await guias(['webhooks', 'avisos', webhook, '--estado', 'fallido'])).errores).toMatch(/^No hay avisos así/)
    const sola = await guias(['webhooks', 'avisos', webhook, aviso])
    expect(sola.output).toMatch(
      new RegExp(`^${aviso} {2}entregado {2}guia\\.aceptado\\n {2}1 {2}\\S+ \\S+ UTC\\S* {2}204 en .*\\n\\n\\{"id"`),
    )
    const times = () => arrivals.filter(({ headers }) => headers['webhook-id'] === one!.evento).length
    const before = times()
    expect(await guias(['webhooks', 'reenviar', webhook, aviso])).toMatchObject({
      codigo: 0,
      output: expect.stringMatching(/ {2}204 en /),
    })
    expect(times()).toBe(before + 1)
  })

  it('waits for the answer to what it sends again, and does not show the answer of before', async () => {
    const intento = (number: number, status: number) => ({
      numero: number,
      iniciado_en: `2026-11-21T14:0${number}:00Z`,
      estado_http: status,
      error: null,
      detalle: null,
      latencia: { total_ms: 7 },
    })
    const aviso = { webhook: 'wh_1', aviso: 'avi_1', evento: 'evt_1' }
    let lecturas = 0
    const service = await serveRequests((req, res) => {
      if (req.method === 'POST') return void res.writeHead(202).end(JSON.stringify(aviso))
      // Known before it is sent again, and still so when it is first asked afterwards.
      const historial = ++lecturas <= 2 ? [intento(1, 204)] : [intento(2, 500), intento(1, 204)]
      res.end(JSON.stringify({ ...aviso, historial }))
    })
    expect(await guias(['webhooks', 'reenviar', 'wh_1', 'avi_1', '--url', service])).toEqual({
      codigo: 1,
      output: 'avi_1  500 en 7 ms\n',
      errores: '',
    })
  })

  it('pauses, resumes, changes, rotates the secret and recovers', async () => {
    const { webhook, secreto } = await createWebhook()
    const estado = async () => (await cli.comercio.api.webhooks.obtener(webhook)).estado
    expect((await guias(['webhooks', 'pausar', webhook])).output).toMatch(/^wh_\w+ {2}pausado {2}/)
    expect(await estado()).toBe('pausado')
    await guias(['webhooks', 'reanudar', webhook])
    expect(await estado()).toBe('activo')
    await guias(['webhooks', 'cambiar', webhook, '--descripcion', 'Otra', '--tipos', 'guia.entregado'])
    expect(await cli.comercio.api.webhooks.obtener(webhook)).toMatchObject({
      descripcion: 'Otra',
      tipos: ['guia.entregado'],
    })
    expect(await guias(['webhooks', 'cambiar', webhook])).toMatchObject({ codigo: 2 })
    const rotationResult = await guias(['webhooks', 'rotar-secreto', webhook, '--solapamiento', '1'])
    expect([rotationResult.codigo, /(whsec_\S+)/.exec(rotationResult.output)?.[1]]).not.toEqual([0, secreto])
    expect((await cli.comercio.api.webhooks.obtener(webhook)).secretos).toHaveLength(2)
    const ensayo = await guias([
      'webhooks',
      'recuperar',
      webhook,
      '--desde',
      new Date(Date.now() - 3_600_000).toISOString(),
      '--ensayo',
    ])
    expect([ensayo.codigo, ensayo.output]).toEqual([
      0,
      expect.stringMatching(/^\d+ eventos, de los que enviaría \d+\n$/),
    ])
    const recovery = await guias([
      'webhooks',
      'recuperar',
      webhook,
      '--desde',
      new Date(Date.now() - 3_600_000).toISOString(),
    ])
    expect([recovery.codigo, recovery.output]).toEqual([0, expect.stringMatching(/^rec_\w+ {2}/)])
    expect(await guias(['webhooks', 'recuperar', webhook])).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('--desde'),
    })
  })

  it('eliminates one, only when it is sure', async () => {
    const { webhook } = await createWebhook()
    expect(await guias(['webhooks', 'eliminar', webhook])).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('--si'),
    })
    expect(await guias(['webhooks', 'eliminar', webhook, '--si'])).toEqual({
      codigo: 0,
      output: `${webhook}  eliminado\n`,
      errores: '',
    })
    expect(await guias(['webhooks', 'ver', webhook])).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('webhook_desconocido'),
    })
  })

  it('tells what the service will not have by the option that it was in', async () => {
    const { codigo, errores } = await guias(['webhooks', 'crear', direccion(), '--tipos', 'guia.nada'])
    expect([codigo, errores]).toEqual([1, expect.stringMatching(/\n {2}--tipos: debe ser un tipo de evento/)])
    const bad = await guias(['webhooks', 'crear', 'nada', '--url', cli.environment.url])
    expect([bad.codigo, bad.errores]).toEqual([1, expect.stringMatching(/\n {2}url: La dirección debe empezar/)])
  })
})
