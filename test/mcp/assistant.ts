import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { afterEach } from 'vitest'

/** One call of a tool, as a transcript shows it. */
export interface ToolCall {
  herramienta: string
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
  callUrl(herramienta: string, args?: Record<string, unknown>): Promise<ToolCall>
}

export const readTexts = ({ content }: CallToolResult) => content.map((item) => (item.type === 'text' ? item.text : ''))

/** Connects a client of the official library, in the era that the server offers or in the one that is named. */
export async function connectAssistant(transporte: Transport, mode: 'auto' | 'legacy' = 'auto'): Promise<Assistant> {
  const client = new Client({ name: 'prueba', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transporte)
  const turnos: ToolCall[] = []
  return {
    client,
    turns: turnos,
    async callUrl(herramienta, args = {}) {
      const [, json = '{}'] = readTexts(await client.callTool({ name: herramienta, arguments: args }))
      const { estado_http: estado, datos } = JSON.parse(json)
      const turno = { herramienta, args, estado, datos }
      turnos.push(turno)
      return turno
    },
  }
}

interface Opciones {
  write?: boolean
  mode?: 'auto' | 'legacy'
}

/** Opens connections to `/mcp`, which end with their test. */
export function useAssistants(entorno: { url: string }) {
  const abiertos: Client[] = []
  afterEach(() => Promise.all(abiertos.splice(0).map((client) => client.close())))
  return async (llave: string, { write: escribir = false, mode = 'auto' }: Opciones = {}) => {
    const url = new URL(`${entorno.url}/mcp${escribir ? '?escribir=1' : ''}`)
    const requestInit = { headers: { Authorization: `Bearer ${llave}` } }
    const asistente = await connectAssistant(new StreamableHTTPClientTransport(url, { requestInit }), mode)
    abiertos.push(asistente.client)
    return asistente
  }
}
