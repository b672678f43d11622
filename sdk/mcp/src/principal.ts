import { ErrorGuias, Guias } from '@guias/sdk'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import paquete from '../package.json' with { type: 'json' }
import { AYUDA, ErrorDeUso, leerOpciones } from './opciones.ts'
import { conectar, crearPuente } from './puente.ts'

/** Writes a message for the person to standard error, because standard output carries the protocol. */
const decir = (texto: string) => process.stderr.write(`guias-mcp: ${texto}\n`)

try {
  const opciones = leerOpciones(process.argv.slice(2), process.env)
  if (!opciones) process.stdout.write(AYUDA)
  else {
    const { llave, url, escribir } = opciones
    const { nombre, modo } = await new Guias({ llave, baseUrl: url }).cuenta.obtener()
    const { version } = paquete
    const servicio = await conectar(opciones, version)
    serveStdio(() => crearPuente(servicio, version), { onerror: ({ message }) => decir(message) })
    decir(`${nombre}, ${modo === 'test' ? 'llave de prueba' : 'llave real'}, ${escribir ? 'escribe' : 'solo lee'}`)
  }
} catch (error) {
  decir(error instanceof ErrorDeUso || error instanceof ErrorGuias ? error.message : String(error))
  process.exitCode = error instanceof ErrorDeUso ? 2 : 1
}
