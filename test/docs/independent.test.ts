/** Tools that others made read our contract and judge our server by it. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ErrorApi, Guias } from '@guias/sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { runProgram } from './run.ts'

const environment = shareEnvironment()
const open = useReceivers()
const pathOf = (path: string) => fileURLToPath(new URL(path, ROOT))
const node = (program: string, ...args: string[]) => [process.execPath, pathOf(program), ...args]

describe('redocly respect', () => {
  it('goes the whole way of a guide (openapi/comercios/recorrido.arazzo.yaml)', async () => {
    const { llave } = await environment.createComercio()
    const { url: receptor } = await open()
    const { codigo, output, errores } = await runProgram(
      node(
        'node_modules/@redocly/cli/bin/cli.js',
        'respect',
        'openapi/comercios/recorrido.arazzo.yaml',
        ...['--input', JSON.stringify({ llave, receptor })],
        ...['--server', `comercios=${environment.url}`],
      ),
      { env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    )
    expect(codigo, output + errores).toBe(0)
    expect(output).toMatch(/Workflows: 1 passed, 1 total/)
  })
})

describe('prism', FULL_RUN_ONLY, () => {
  let prism: ReturnType<typeof spawn> | undefined
  let message = ''
  afterAll(() => void prism?.kill('SIGKILL'))

  it('finds no request of the SDK and no answer of the server that breaks the contract', async () => {
    const port = await findFreePort()
    const [program = '', ...args] = node(
      'node_modules/@stoplight/prism-cli/dist/index.js',
      ...['proxy', pathOf('server/generated/contract/openapi.json'), environment.url],
      ...['--errors', '--port', String(port)],
    )
    prism = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [prism.stdout, prism.stderr])
      stream?.on('data', (chunk) => {
        message += chunk
      })
    await waitUntil(async () => message.includes('is listening'))

    const { url } = await open()
    const comercio = await environment.createComercio()
    const api = new Guias({ llave: comercio.llave, baseUrl: `http://127.0.0.1:${port}` })
    const { webhook } = await api.webhooks.crear({ url })
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    await api.guias.crearLote({ guias: [buildGuia(), { ...buildGuia(), telefono: '1' }] })
    await api.simulador.confirmarUbicacion(guia)
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido', 'en_ruta', 'entregado'] as const)
      await api.simulador.avanzar(guia, { estado, ...(estado === 'intento_fallido' && { motivo: 'otro' as const }) })
    await api.guias.obtener(guia)
    await Array.fromAsync(api.guias.listar({ estado: ['entregado', 'aceptado'], limite: 1 }))
    await api.guias.listar({ metadatos: { canal: 'web' }, ubicacion: ['confirmada'], telefono: '3148 1676' })
    await Array.fromAsync(api.guias.eventos(guia))
    await Array.fromAsync(api.eventos.listar())
    await api.guias.pruebaEntrega((await createDeliveredGuia(environment, comercio)).guia)
    expect((await api.guias.clavesPublicas()).keys).not.toEqual([])
    await api.guias.cancelar((await api.guias.crear(buildGuia())).guia)
    await api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'santa' })
    const { aviso } = await api.webhooks.probar(webhook)
    await waitUntil(async () => (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado')
    await api.webhooks.avisos(webhook)
    await api.webhooks.reenviar(webhook, aviso)
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await api.webhooks.rotarSecreto(webhook)
    await api.webhooks.eliminar(webhook)
    // An error of the server is one that the contract declares, too.
    const lost = await api.guias.obtener(guia.slice(1)).then(
      () => undefined,
      (error) => error,
    )
    expect(lost).toBeInstanceOf(ErrorApi)
    expect(lost).toMatchObject({ estadoHttp: 404, codigo: 'guia_desconocida' })
    expect(message.match(/violation|✖|✘/gi), message).toBeNull()
  })

  it('would have said so', async () => {
    const before = message
    const port = /127\.0\.0\.1:(\d+)/.exec(before)?.[1]
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/guias?limite=muchas`, {
      headers: { Authorization: 'Bearer guia_test_x' },
    })
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('UNPROCESSABLE_ENTITY')
  })
})
