import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it } from 'vitest'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { shareEnvironment } from '../environment.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { connectAssistant, useAssistants } from './assistant.ts'
import { runAssistantDay } from './workday.ts'

const environment = shareEnvironment()
const openReceiver = useReceivers()
const createAssistant = useAssistants(environment)

it.each(['auto', 'legacy'] as const)('a whole day over HTTP works in the protocol’s %s era', async (mode) => {
  const { llave, api } = await environment.createComercio()
  const receptor = await openReceiver()
  const assistant = await createAssistant(llave, { write: true, mode })
  expect(assistant.client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  const guia = await runAssistantDay(assistant, receptor.url)
  expect(await api.guias.obtener(guia)).toMatchObject({
    estado: 'entregado',
    direccion: '4a calle 12-30, zona 4, Mixco',
  })
  expect(receptor.receivedWebhooks.map(({ json }) => json.tipo)).toContain('guia.entregado')
})

it('a whole day over stdio works with the package’s program', async () => {
  const { llave, api } = await environment.createComercio()
  const receptor = await openReceiver()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [new URL('../../sdk/mcp/bin/guias-mcp.js', import.meta.url).pathname, '--escribir'],
    env: { GUIAS_LLAVE: llave, GUIAS_URL: environment.url, PATH: process.env.PATH ?? '', ...CHILD_ENVIRONMENT },
    stderr: 'pipe',
  })
  const assistant = await connectAssistant(transport)
  try {
    const guia = await runAssistantDay(assistant, receptor.url)
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'entregado' })
  } finally {
    await assistant.client.close()
  }
})
