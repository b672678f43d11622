import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { afterEach } from 'vitest'

/** One call of a tool, as a transcript shows it. */
export interface ToolCall {
  toolName: string
  args: Record<string, unknown>
  /** Status of the operation; undefined if the tool was refused before it called anything. */
  estado: number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  datos: any
}

/** An assistant's connection. */
export interface Assistant {
  client: Client
  /** All calls so far. */
  turns: ToolCall[]
  callUrl(toolName: string, args?: Record<string, unknown>): Promise<ToolCall>
}

export const readTexts = ({ content }: CallToolResult) => content.map((item) => (item.type === 'text' ? item.text : ''))

/** Connects a client of the official library, in the era that the server offers or in the one that is named. */
export async function connectAssistant(transport: Transport, mode: 'auto' | 'legacy' = 'auto'): Promise<Assistant> {
  const client = new Client({ name: 'prueba', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const turns: ToolCall[] = []
  return {
    client,
    turns,
    async callUrl(toolName, args = {}) {
      const [, json = '{}'] = readTexts(await client.callTool({ name: toolName, arguments: args }))
      const { estado_http: estado, datos } = JSON.parse(json)
      const turno = { toolName, args, estado, datos }
      turns.push(turno)
      return turno
    },
  }
}

interface Opciones {
  write?: boolean
  mode?: 'auto' | 'legacy'
}

/** Opens connections to `/mcp`, which end with their test. */
export function useAssistants(environment: { url: string }) {
  const openClients: Client[] = []
  afterEach(() => Promise.all(openClients.splice(0).map((client) => client.close())))
  return async (llave: string, { write = false, mode = 'auto' }: Opciones = {}) => {
    const url = new URL(`${environment.url}/mcp${write ? '?escribir=1' : ''}`)
    const requestInit = { headers: { Authorization: `Bearer ${llave}` } }
    const assistant = await connectAssistant(new StreamableHTTPClientTransport(url, { requestInit }), mode)
    openClients.push(assistant.client)
    return assistant
  }
}
