import { ErrorGuias, Guias } from '@guias/sdk'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import packageJson from '../package.json' with { type: 'json' }
import { connectToService, createMcpBridge } from './bridge.ts'
import { HELP_TEXT, readBridgeOptions, UsageError } from './options.ts'

/** Writes a message for the person to standard error, because standard output carries the protocol. */
const printMessage = (text: string) => process.stderr.write(`guias-mcp: ${text}\n`)

try {
  const opciones = readBridgeOptions(process.argv.slice(2), process.env)
  if (!opciones) process.stdout.write(HELP_TEXT)
  else {
    const { llave, url, escribir } = opciones
    const { nombre, modo } = await new Guias({ llave, baseUrl: url }).cuenta.obtener()
    const { version } = packageJson
    const service = await connectToService(opciones, version)
    serveStdio(() => createMcpBridge(service, version), { onerror: ({ message }) => printMessage(message) })
    printMessage(
      `${nombre}, ${modo === 'test' ? 'llave de prueba' : 'llave real'}, ${escribir ? 'escribe' : 'solo lee'}`,
    )
  }
} catch (error) {
  printMessage(error instanceof UsageError || error instanceof ErrorGuias ? error.message : String(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}
