import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CallToolResult,
  Client,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import type { BridgeOptions } from './options.ts'

/** Maximum times that a call is repeated if no answer arrives. */
const MAX_RETRIES = 2
/** Pause before a call is repeated, in milliseconds. */
const RETRY_PAUSE_MS = 1_000

/** Argument that tools take for `Idempotency-Key`. */
const CLAVE = 'clave_de_idempotencia'

type ToolArguments = Record<string, unknown>

/** Connects to the service, which provides the tools, their rules and the chapters of the guide. */
export async function connectToService({ llave, url, escribir }: BridgeOptions, version: string): Promise<Client> {
  const service = new Client({ name: 'guias-mcp', version }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { Authorization: `Bearer ${llave}` } }
  await service.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp${escribir ? '?escribir=1' : ''}`), { requestInit }),
  )
  return service
}

/** Creates the MCP server for an assistant. It passes each request on to the service. */
export function createMcpBridge(service: Client, version: string): Server {
  const instructions = service.getInstructions()
  const bridge = new Server(
    { name: 'guias', title: 'Guías de envío', version },
    { capabilities: { tools: {}, resources: {} }, ...(instructions === undefined ? {} : { instructions }) },
  )
  let knownTools: readonly Tool[] | undefined
  const listTools = async () => {
    const { tools } = await service.listTools()
    knownTools = tools
    return tools
  }
  bridge.setRequestHandler('tools/list', async () => ({ tools: await listTools() }))
  bridge.setRequestHandler('tools/call', async ({ params: { name, arguments: toolArguments = {} } }) => {
    const tools = knownTools ?? (await listTools())
    return callTool(
      service,
      tools.find((listedTool) => listedTool.name === name),
      name,
      toolArguments,
    )
  })
  bridge.setRequestHandler('resources/list', async () => ({ resources: (await service.listResources()).resources }))
  bridge.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  bridge.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
    contents: (await service.readResource({ uri })).contents,
  }))
  return bridge
}

/**
 * Calls a tool. A call without an answer is repeated only if that is safe: it has an idempotency key, or the tool can be
 * repeated by itself.
 */
async function callTool(
  service: Client,
  tool: Tool | undefined,
  name: string,
  givenArguments: ToolArguments,
): Promise<CallToolResult> {
  const conClave = tool !== undefined && CLAVE in (tool.inputSchema.properties ?? {})
  const toolArguments = conClave ? { [CLAVE]: randomUUID(), ...givenArguments } : givenArguments
  const isRepeatable = conClave || tool?.annotations?.idempotentHint === true
  for (let retriesLeft = isRepeatable ? MAX_RETRIES : 0; ; retriesLeft--) {
    try {
      return await service.callTool({ name, arguments: toolArguments })
    } catch (error) {
      if (!isTransient(error)) throw error
      if (retriesLeft === 0)
        return { content: [{ type: 'text', text: isRepeatable ? NO_ANSWER : UNKNOWN_OUTCOME }], isError: true }
      await sleep(RETRY_PAUSE_MS)
    }
  }
}
const NO_ANSWER = 'El servicio no respondió, tras varios intentos. Espere y repita la llamada tal cual.'
const UNKNOWN_OUTCOME =
  'El servicio no respondió, y no se sabe si el cambio se hizo. Léalo antes de repetir la llamada.'

/** Reports whether a failure may be temporary: the connection failed, or the service reports that it is not ready. */
const isTransient = (error: unknown) =>
  error instanceof SdkHttpError ? [429, 502, 503, 504].includes(error.status ?? 0) : error instanceof TypeError
