import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** One request that a merchant's server got. */
export interface ReceivedWebhook {
  id: string
  headers: IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  json: any
  receivedAt: number
}

/** A merchant's server: a real one, that keeps a ledger and answers as it is told. */
export interface TestReceiver {
  url: string
  receivedWebhooks: ReceivedWebhook[]
  /** The status to answer with, or a whole answer; called after the body was read. */
  responder: (received: ReceivedWebhook, res: ServerResponse, req: IncomingMessage) => void
  close(): Promise<void>
}

const bodyOf = async (req: IncomingMessage) => {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export const answerWith = (status: number, headers: Record<string, string> = {}, body = '') =>
  ((_received, res) => {
    res.writeHead(status, headers).end(body)
  }) satisfies TestReceiver['responder']

/** Answers of a receiver that takes everything and answers nothing until it is let go. */
export function holdAnswers() {
  const heldResponses: ServerResponse[] = []
  let status: number | undefined
  const answerHolder = {
    /** How many senders hung up before. */
    abandonedCount: 0,
    responder: ((_received, res) => {
      if (status !== undefined) return void res.writeHead(status).end()
      heldResponses.push(res)
      res.once('close', () => {
        if (!res.writableEnded) answerHolder.abandonedCount++
      })
    }) satisfies TestReceiver['responder'],
    release(con = 204) {
      status = con
      for (const res of heldResponses.splice(0)) res.writeHead(con).end()
    },
  }
  return answerHolder
}

export async function openReceiver(responder: TestReceiver['responder'] = answerWith(204)): Promise<TestReceiver> {
  const receptor = { receivedWebhooks: [], responder } as unknown as TestReceiver
  const server = createServer(async (req, res) => {
    try {
      const body = await bodyOf(req)
      const received: ReceivedWebhook = {
        id: String(req.headers['webhook-id']),
        headers: req.headers,
        body,
        json: JSON.parse(body),
        receivedAt: Date.now(),
      }
      receptor.receivedWebhooks.push(received)
      receptor.responder(received, res, req)
    } catch {
      res.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receptor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/avisos`
  receptor.close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => void server.close(() => resolve()))
  }
  return receptor
}

/** Receivers that close with their test file. */
export function useReceivers() {
  const openReceivers: TestReceiver[] = []
  afterAll(async () => {
    await Promise.all(openReceivers.map((receptor) => receptor.close()))
  })
  return async (responder?: TestReceiver['responder']) => {
    const receptor = await openReceiver(responder)
    openReceivers.push(receptor)
    return receptor
  }
}
