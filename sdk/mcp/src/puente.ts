import { randomUUID } from 'node:crypto'
import { setTimeout as esperar } from 'node:timers/promises'
import {
  type CallToolResult,
  Client,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import type { Opciones } from './opciones.ts'

/** Maximum times that a call is repeated if no answer arrives. */
const REINTENTOS = 2
/** Pause before a call is repeated, in milliseconds. */
const PAUSA = 1_000

/** Argument that tools take for `Idempotency-Key`. */
const CLAVE = 'clave_de_idempotencia'

type Argumentos = Record<string, unknown>

/** Connects to the service, which provides the tools, their rules and the chapters of the guide. */
export async function conectar({ llave, url, escribir }: Opciones, version: string): Promise<Client> {
  const servicio = new Client({ name: 'guias-mcp', version }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { Authorization: `Bearer ${llave}` } }
  await servicio.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp${escribir ? '?escribir=1' : ''}`), { requestInit }),
  )
  return servicio
}

/** Creates the MCP server for an assistant. It passes each request on to the service. */
export function crearPuente(servicio: Client, version: string): Server {
  const instructions = servicio.getInstructions()
  const puente = new Server(
    { name: 'guias', title: 'Guías de envío', version },
    { capabilities: { tools: {}, resources: {} }, ...(instructions === undefined ? {} : { instructions }) },
  )
  let conocidas: readonly Tool[] | undefined
  const listar = async () => {
    const { tools } = await servicio.listTools()
    conocidas = tools
    return tools
  }
  puente.setRequestHandler('tools/list', async () => ({ tools: await listar() }))
  puente.setRequestHandler('tools/call', async ({ params: { name, arguments: argumentos = {} } }) => {
    const tools = conocidas ?? (await listar())
    return llamar(
      servicio,
      tools.find((una) => una.name === name),
      name,
      argumentos,
    )
  })
  puente.setRequestHandler('resources/list', async () => ({ resources: (await servicio.listResources()).resources }))
  puente.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  puente.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
    contents: (await servicio.readResource({ uri })).contents,
  }))
  return puente
}

/**
 * Calls a tool. A call without an answer is repeated only if that is safe: it has an idempotency key, or the tool can be
 * repeated by itself.
 */
async function llamar(
  servicio: Client,
  tool: Tool | undefined,
  name: string,
  dados: Argumentos,
): Promise<CallToolResult> {
  const conClave = tool !== undefined && CLAVE in (tool.inputSchema.properties ?? {})
  const argumentos = conClave ? { [CLAVE]: randomUUID(), ...dados } : dados
  const segura = conClave || tool?.annotations?.idempotentHint === true
  for (let falta = segura ? REINTENTOS : 0; ; falta--) {
    try {
      return await servicio.callTool({ name, arguments: argumentos })
    } catch (error) {
      if (!esPasajero(error)) throw error
      if (falta === 0) return { content: [{ type: 'text', text: segura ? SIN_RESPUESTA : SIN_SABER }], isError: true }
      await esperar(PAUSA)
    }
  }
}
const SIN_RESPUESTA = 'El servicio no respondió, tras varios intentos. Espere y repita la llamada tal cual.'
const SIN_SABER = 'El servicio no respondió, y no se sabe si el cambio se hizo. Léalo antes de repetir la llamada.'

/** Reports whether a failure may be temporary: the connection failed, or the service reports that it is not ready. */
const esPasajero = (error: unknown) =>
  error instanceof SdkHttpError ? [429, 502, 503, 504].includes(error.status ?? 0) : error instanceof TypeError
