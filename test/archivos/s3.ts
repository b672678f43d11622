import { spawn } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as crearTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { S3Config } from '../../server/platform/files/s3Store.ts'

/** s3rver knows one account. */
export const S3_CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const REGION = 'us-east-1'

/**
 * What becomes of a request: served; never answered; refused with a 500; cut off when half of its body is there; served,
 * and the answer lost, or kept back; its answer begun and never finished.
 */
export type S3Fate = 'bien' | 'cuelga' | 'falla' | 'corta' | 'pierde' | 'calla' | 'gotea'

export interface S3Server {
  url: string
  bucket: string
  config: S3Config
  /** The configuration of a service that keeps its files there. */
  env: Record<string, string>
  /** Decides what becomes of each request; serves all of them until told otherwise. */
  decideFate: (req: IncomingMessage) => S3Fate
  /** Methods and paths of the requests that it has done. */
  servedRequests: string[]
  /** Nobody listens on its port any more, or again. */
  stopListening(): Promise<void>
  listenAgain(): Promise<void>
  close(): Promise<void>
}

/**
 * s3rver keeps objects as S3 does, but lets every V4 signature pass: so a gate stands before it that checks signatures,
 * their dates and the bodies they cover as Amazon's documents describe it, and refuses whoever comes without one.
 */
export async function createS3Server(bucket = 'guias-pruebas'): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'guias-s3-'))
  const { port: innerPort, stop: stopS3rver } = await startS3rver(directory, bucket)
  const s3Server: S3Server = {
    url: '',
    bucket,
    config: {} as S3Config,
    env: {},
    decideFate: () => 'bien',
    servedRequests: [],
    async stopListening() {
      gate.closeAllConnections()
      await new Promise((resolve) => gate.close(resolve))
    },
    listenAgain: () => listen(gate, Number(new URL(s3Server.url).port)).then(() => {}),
    async close() {
      await s3Server.stopListening()
      await stopS3rver()
      await rm(directory, { recursive: true, force: true })
    },
  }
  const gate = createServer((req, res) => {
    handleRequest(s3Server, innerPort, req, res).catch((error) => res.destroy(error))
  })
  s3Server.url = `http://127.0.0.1:${await listen(gate, 0)}`
  s3Server.config = {
    bucket,
    region: REGION,
    endpoint: s3Server.url,
    pathStyle: true,
    ...S3_CREDENTIALS,
    prefix: '',
  }
  s3Server.env = {
    STORAGE: 's3',
    S3_BUCKET: bucket,
    S3_ENDPOINT: s3Server.url,
    S3_PATH_STYLE: '1',
    S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  }
  return s3Server
}

/** A process of its own: its page tokens need a cipher that OpenSSL keeps among the old ones. */
async function startS3rver(directory: string, bucket: string) {
  const programPath = fileURLToPath(import.meta.resolve('s3rver/bin/s3rver.js'))
  const options = ['-a', '127.0.0.1', '-p', '0', '-d', directory, '-s', '--configure-bucket', bucket]
  const child = spawn(process.execPath, ['--openssl-legacy-provider', programPath, ...options], { stdio: 'pipe' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const port = await new Promise<number>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk
      const [, number] = /listening on [\d.]+:(\d+)/.exec(output) ?? []
      if (number) resolve(Number(number))
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`s3rver didn't start: ${output}`)))
  })
  return {
    port,
    async stop() {
      process.removeListener('exit', kill)
      kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

const listen = (server: Server, port: number) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

async function handleRequest(s3Server: S3Server, innerPort: number, req: IncomingMessage, res: ServerResponse) {
  const fate = s3Server.decideFate(req)
  if (fate === 'cuelga') return
  if (fate === 'corta') return void req.once('data', () => req.destroy())
  const body = Buffer.concat(await Array.fromAsync(req as AsyncIterable<Buffer>))
  if (fate === 'falla') return void refuse(res, 500, 'InternalError')
  const missing = verificar(req, body)
  if (missing) return void refuse(res, 403, missing)
  const { method, url, headers } = req
  const innerRequest = request({ port: innerPort, host: '127.0.0.1', method, path: url, headers }, async (body) => {
    s3Server.servedRequests.push(`${method} ${url?.split('?')[0]}`)
    if (fate === 'calla') return void body.resume()
    if (fate === 'pierde') return void body.resume().once('end', () => req.socket.destroy())
    res.writeHead(body.statusCode ?? 500, body.headers)
    if (fate !== 'gotea') return void body.pipe(res)
    res.write(Buffer.concat(await Array.fromAsync(body as AsyncIterable<Buffer>)).subarray(0, 10))
  })
  innerRequest.on('error', () => res.destroy())
  innerRequest.end(body)
}

const refuse = (res: ServerResponse, status: number, codigo: string) =>
  res
    .writeHead(status, { 'Content-Type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${codigo}</Code><Message>${codigo}</Message></Error>`)

const sha256 = (datos: string | Buffer) => createHash('sha256').update(datos).digest('hex')
const hmac = (key: string | Buffer, datos: string) => createHmac('sha256', key).update(datos).digest()
const percentEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** Signature version 4, in the header or in the query. The code of what is wrong; undefined: nothing. */
function verificar({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | undefined {
  const { pathname, searchParams } = new URL(url, 'http://x')
  const isPresigned = searchParams.has('X-Amz-Signature')
  const [, credencial = '', signedHeaders = '', firma = ''] = isPresigned
    ? ['', ...['Credential', 'SignedHeaders', 'Signature'].map((n) => searchParams.get(`X-Amz-${n}`) ?? '')]
    : (/^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(headers.authorization ?? '') ??
      [])
  if (!firma) return 'AccessDenied'
  const [llave, day = '', region = '', service = '', end = ''] = credencial.split('/')
  if (llave !== S3_CREDENTIALS.accessKeyId) return 'InvalidAccessKeyId'
  if (region !== REGION) return 'AuthorizationHeaderMalformed'
  const date = (isPresigned ? searchParams.get('X-Amz-Date') : (headers['x-amz-date'] as string)) ?? ''
  const from = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const hasta = from + Number(searchParams.get('X-Amz-Expires') ?? 900) * 1_000
  if (!(Date.now() <= hasta)) return isPresigned ? 'AccessDenied' : 'RequestTimeTooSkewed'
  const digest = isPresigned ? 'UNSIGNED-PAYLOAD' : String(headers['x-amz-content-sha256'])
  if (!isPresigned && digest !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const canonicalQuery = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(percentEncode).join('='))
    .sort()
    .join('&')
  const cabeceras = signedHeaders.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
  const canonicalRequest = [method, pathname, canonicalQuery, cabeceras.join(''), signedHeaders, digest].join('\n')
  const scope = [day, region, service, end].join('/')
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest)].join('\n')
  const key = [day, region, service, end].reduce<string | Buffer>(hmac, `AWS4${S3_CREDENTIALS.secretAccessKey}`)
  return hmac(key, text).toString('hex') === firma ? undefined : 'SignatureDoesNotMatch'
}

/** Takes connections and never says a word. */
export async function createSilentServer(): Promise<{ url: string; close(): void }> {
  const sockets = new Set<{ destroy(): void }>()
  const server = crearTcp((socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
