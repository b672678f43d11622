import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type AvisoDeGuia, Guias, verificarWebhook } from '@guias/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../../environment.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { findFreePort } from '../../ports.ts'
import { SECRETO } from '../signatures.ts'
import { NO_PAUSE_COMMAND, serveRequests, useCli } from './run.ts'

const cli = useCli()
const { environment, guias, launch } = cli

describe('guias escuchar', () => {
  interface Arrival {
    path: string
    headers: Record<string, string>
    body: string
  }
  const arrivals: Arrival[] = []
  let answer = () => 204
  let destino = ''
  const receptor = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    arrivals.push({
      path: req.url!,
      headers: req.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    })
    res.writeHead(answer()).end('gracias')
  })
  beforeAll(async () => {
    await new Promise<void>((listo) => receptor.listen(0, '127.0.0.1', listo))
    destino = `http://127.0.0.1:${(receptor.address() as AddressInfo).port}`
  })
  afterAll(() => {
    receptor.closeAllConnections()
    receptor.close()
  })
  const avisos = (path: string) =>
    arrivals.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as AvisoDeGuia)
  const listenForEvents = async (ownComercio: Comercio, args: string[], more: Record<string, string> = {}) => {
    const child = launch(['escuchar', '--intervalo', '0.1', ...args], {
      program: NO_PAUSE_COMMAND,
      env: { GUIAS_LLAVE: ownComercio.llave, ...more },
    })
    await waitUntil(async () => child.errores.includes('Escuchando'))
    const close = async () => {
      child.child.kill('SIGINT')
      return child.fin
    }
    return Object.assign(child, { close })
  }

  it('sends what a webhook would, signed the same', async () => {
    const ownComercio = await environment.createComercio()
    await ownComercio.api.guias.crear(buildGuia())
    await ownComercio.api.webhooks.crear({ url: `${destino}/real` })
    const child = await listenForEvents(ownComercio, ['--reenviar', `${destino}/local`, '--secreto', SECRETO])
    const { guia } = await ownComercio.api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const) {
      await ownComercio.api.simulador.avanzar(guia, {
        estado,
        ...(estado === 'intento_fallido' ? { motivo: 'sin_pago' } : {}),
      })
    }
    await waitUntil(async () => avisos('/local').length === 5 && avisos('/real').length === 5)
    // Only what came after it began, in order.
    expect(avisos('/local').map(({ tipo, datos }) => [tipo, datos.guia.guia, datos.guia.estado])).toEqual([
      ...['aceptado', 'recolectado', 'en_ruta', 'intento_fallido'].map((estado) => [`guia.${estado}`, guia, estado]),
      ['guia.decision_pendiente', guia, 'intento_fallido'],
    ])
    const last = (path: string) => avisos(path).find(({ tipo }) => tipo === 'guia.decision_pendiente')
    expect(last('/local')).toEqual(last('/real'))
    const [one] = arrivals.filter(({ path }) => path === '/local')
    expect(await verificarWebhook(one!.body, one!.headers, SECRETO)).toMatchObject({
      id: one!.headers['webhook-id'],
    })
    expect(one!.headers['content-type']).toBe('application/json')
    expect(child.output).toMatch(new RegExp(`guia.intento_fallido +${guia} {2}→ 204 \\(\\d+ ms\\)`))

    // The next time it goes on from there, and sends what happened in between.
    expect(await child.close()).toBe(0)
    await ownComercio.api.guias.cancelar((await ownComercio.api.guias.crear(buildGuia())).guia)
    const other = await listenForEvents(ownComercio, ['--reenviar', `${destino}/luego`], { GUIAS_SECRETO: SECRETO })
    await waitUntil(async () => avisos('/luego').length === 2)
    expect(avisos('/luego').map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'guia.cancelado'])
    expect(await other.close()).toBe(0)
    expect(other.errores).not.toContain('whsec_')
  })

  it('begins with one request, however long the feed is', async () => {
    const sentRequests: string[] = []
    const service = createServer((req, res) => {
      sentRequests.push(req.url!)
      const from = new URL(req.url!, 'http://x').searchParams.get('desde')
      if (!from) return void res.writeHead(401).end('{"codigo":"no_autenticado","mensaje":"No."}')
      res.end(JSON.stringify({ datos: [], cursor_siguiente: 'aqui' }))
    })
    await new Promise<void>((listo) => service.listen(0, '127.0.0.1', listo))
    const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    try {
      await guias(['escuchar', '--url', baseUrl, '--tipos', 'guia.*', '--cursor', join(cli.folder, 'nuevo')])
      expect(sentRequests).toEqual([
        '/api/v1/eventos?desde=ahora&limite=1',
        '/api/v1/eventos?limite=50&tipo=guia.*&cursor=aqui',
      ])
    } finally {
      service.closeAllConnections()
      service.close()
    }
  })

  it('replays from the beginning or a date, of some types, and signs with a secret of its own', async () => {
    const ownComercio = await environment.createComercio()
    const { guia } = await ownComercio.api.guias.crear(buildGuia())
    await ownComercio.api.simulador.avanzar(guia, { estado: 'recolectado' })
    const all = await listenForEvents(ownComercio, ['--reenviar', `${destino}/todo`, '--desde', 'principio'])
    await waitUntil(async () => avisos('/todo').length === 2)
    const [, secret = ''] = /(whsec_\S+)/.exec(all.errores) ?? []
    const [one] = arrivals.filter(({ path }) => path === '/todo')
    await verificarWebhook(one!.body, one!.headers, secret)
    await all.close()

    const from = new Date(Date.now() + 3_600_000).toISOString()
    const nothing = await listenForEvents(ownComercio, ['--reenviar', `${destino}/nada`, '--desde', from])
    const filteredListener = await listenForEvents(ownComercio, [
      '--reenviar',
      `${destino}/algunos`,
      '--desde',
      '2026-01-01',
      '--tipos',
      'ubicacion.*, guia.recolectado',
      '--cursor',
      join(cli.folder, 'aparte', 'cursor'),
    ])
    await waitUntil(async () => avisos('/algunos').length === 1)
    expect(avisos('/algunos').map(({ tipo }) => tipo)).toEqual(['guia.recolectado'])
    // The cursor is written after the notice was taken.
    await waitUntil(async () =>
      /^\S+\n$/.test(await readFile(join(cli.folder, 'aparte', 'cursor'), 'utf8').catch(() => '')),
    )
    expect(avisos('/nada')).toEqual([])
    expect([await nothing.close(), await filteredListener.close()]).toEqual([0, 0])
  })

  it('insists while the local server fails, and goes on when it will not have it', async () => {
    const ownComercio = await environment.createComercio()
    await ownComercio.api.guias.crear(buildGuia())
    let times = 0
    answer = () => (++times < 2 ? 500 : 204)
    const child = await listenForEvents(ownComercio, [
      '--reenviar',
      `${destino}/terco`,
      '--desde',
      'principio',
      '--json',
    ])
    await waitUntil(async () => avisos('/terco').length === 2)
    await waitUntil(async () => child.output.trim().split('\n').length === 2)
    expect(
      child.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { intento: 1, estado_http: 500, ok: false },
      { intento: 2, estado_http: 204, ok: true },
    ])
    await child.close()
    answer = () => 500
    const exhaustedRun = await listenForEvents(ownComercio, [
      '--reenviar',
      `${destino}/no`,
      '--desde',
      'principio',
      '--reintentos',
      '0',
    ])
    await waitUntil(async () => exhaustedRun.errores.includes('no aceptó'))
    await exhaustedRun.close()
    expect(avisos('/no')).toHaveLength(1)
    const repetition = ['--reenviar', `${destino}/dos`, '--desde', 'principio', '--reintentos', '1']
    const insistentListener = await listenForEvents(ownComercio, repetition)
    await waitUntil(async () => insistentListener.errores.includes('no aceptó'))
    await insistentListener.close()
    expect(avisos('/dos')).toHaveLength(2)
    const nobody = await listenForEvents(ownComercio, [
      '--reenviar',
      `http://127.0.0.1:${await findFreePort()}`,
      '--desde',
      'principio',
      '--reintentos',
      '0',
    ])
    await waitUntil(async () => nobody.output.includes('ECONNREFUSED'))
    expect(await nobody.close()).toBe(0)
    answer = () => 204
  })

  it('only shows them without a destination, and begins anew where the cursor is of another', async () => {
    const ownComercio = await environment.createComercio()
    const anterior = await ownComercio.api.guias.crear(buildGuia())
    const cursor = join(cli.folder, 'ajeno')
    const foreign = await cli.comercio.api.eventos.listar({ limite: 1 })
    await writeFile(cursor, `${foreign.cursor_siguiente}\n`)
    const child = await listenForEvents(ownComercio, ['--cursor', cursor, '--json'])
    await waitUntil(async () => child.errores.includes('ya no vale'))
    const { guia } = await new Guias({ llave: ownComercio.llave, baseUrl: environment.url }).guias.crear(buildGuia())
    await waitUntil(async () => child.output.includes(guia))
    // What happened before is not shown.
    expect(child.output).not.toContain(anterior.guia)
    expect(JSON.parse(child.output)).toMatchObject({ tipo: 'guia.aceptado', guia })
    expect(await child.close()).toBe(0)
  })

  it('says once of each outage why and when it tries again, also before the first answer', async () => {
    let calls = 0
    // The client repeats a 502 by itself, so an outage lasts for several requests.
    const failingServer = await serveRequests((_req, res) => {
      const [status, body] =
        ++calls <= 20
          ? [502, 'no']
          : calls <= 22
            ? [200, JSON.stringify({ datos: [], cursor_siguiente: 'a' })]
            : [401, '{"codigo":"no_autenticado","mensaje":"No."}']
      res.writeHead(status).end(body)
    })
    const args = [
      'escuchar',
      '--url',
      failingServer,
      '--intervalo',
      '0.1',
      '--cursor',
      join(cli.folder, 'nuevo.cursor'),
    ]
    const { codigo, errores } = await guias(args, { program: NO_PAUSE_COMMAND })
    expect(codigo).toBe(1)
    expect(errores.split('\n').slice(0, 3)).toEqual([
      `${failingServer} contestó 502. Lo intento otra vez cada 5 s.`,
      'El servicio contesta otra vez.',
      'Escuchando. Ctrl-C para terminar.',
    ])
    expect(errores.match(/cada 5 s/g)).toHaveLength(1)
  })

  it('waits out a service that is away, but not a key that is none', async () => {
    const pages = [
      { status: 503, body: '<html>' },
      {
        status: 200,
        body: { datos: [{ id: 'evt_1', tipo: 'guia.nota', guia: 'G', registrado_en: '' }], cursor_siguiente: 'a' },
      },
      { status: 200, body: { datos: [], cursor_siguiente: 'a' } },
      { status: 401, body: { codigo: 'no_autenticado', mensaje: 'No.' } },
    ]
    const failingServer = createServer((_req, res) => {
      const { status, body } = pages.shift()!
      res.writeHead(status, { 'Retry-After': '3600' }).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    await new Promise<void>((listo) => failingServer.listen(0, '127.0.0.1', listo))
    const baseUrl = `http://127.0.0.1:${(failingServer.address() as AddressInfo).port}`
    try {
      const args = ['escuchar', '--desde', 'principio', '--url', baseUrl, '--intervalo', '0.1']
      const { codigo, output, errores } = await guias(args, { program: NO_PAUSE_COMMAND })
      expect([codigo, output]).toEqual([1, expect.stringMatching(/guia\.nota +G\n$/)])
      expect(errores).toMatch(
        /\/\/127\.0\.0\.1:\d+ contestó 503\. Lo intento otra vez cada 5 s\.\nEl servicio contesta otra vez\.\n.*no_autenticado/s,
      )
    } finally {
      failingServer.closeAllConnections()
      failingServer.close()
    }
  })
})
