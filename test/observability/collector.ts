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
  let rawText = ''
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    rawText += text
    const { resourceSpans = [] } = JSON.parse(text) as {
      resourceSpans?: { scopeSpans: { spans: ReceivedSpan[] }[] }[]
    }
    for (const { scopeSpans } of resourceSpans) for (const scopeSpan of scopeSpans) spans.push(...scopeSpan.spans)
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** Everything that was received, as text. */
    raw: () => rawText,
    close() {
      server.closeAllConnections()
      return new Promise((onClosed) => server.close(onClosed))
    },
  }
}
