import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Span as the OTLP exporter sends it, as JSON. */
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Record<string, string | number> }[]
}

/** Server that receives OTLP traces over HTTP, as a collector does. */
export async function openCollector() {
  const spans: ReceivedSpan[] = []
  let crudo = ''
  const servidor = createServer(async (req, res) => {
    const trozos: Buffer[] = []
    for await (const trozo of req) trozos.push(trozo as Buffer)
    const texto = Buffer.concat(trozos).toString()
    crudo += texto
    const { resourceSpans = [] } = JSON.parse(texto) as {
      resourceSpans?: { scopeSpans: { spans: ReceivedSpan[] }[] }[]
    }
    for (const { scopeSpans } of resourceSpans) for (const uno of scopeSpans) spans.push(...uno.spans)
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  await new Promise<void>((listo) => servidor.listen(0, '127.0.0.1', listo))
  return {
    url: `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`,
    spans,
    /** Everything that was received, as text. */
    raw: () => crudo,
    close() {
      servidor.closeAllConnections()
      return new Promise((cerrado) => servidor.close(cerrado))
    },
  }
}
