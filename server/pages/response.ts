import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

/** Content type of HTML documents. */
export const HTML = 'text/html; charset=utf-8'

/**
 * Headers of responses that anyone with the address may read. Caches must not store them, and search engines must not
 * list them.
 */
export const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' }
/** Headers of files whose name changes with their content. Caches may keep them for a year. */
export const IMMUTABLE_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Robots-Tag': 'noindex' }
/** Headers of public responses. Search engines may list them, and caches may keep them for 5 minutes. */
export const PUBLIC_HEADERS = { 'Cache-Control': 'public, max-age=300' }

/** Response body, in the encodings in which it may be sent. */
export interface ResponseBody {
  identity(): Buffer
  gzip?: () => Buffer
  br?: () => Buffer
}

/**
 * Brotli for texts that are compressed each time, or large. Quality 5 makes them a tenth smaller than gzip in the same time; the
 * default, 11, takes fifty times as long.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Size in bytes above which {@link BROTLI} compresses a text that is sent more than once. */
const LARGE = 50_000

/** Returns a text as a response body. The text is compressed each time it is sent. */
export const bodyOf = (text: string): ResponseBody => ({
  identity: () => Buffer.from(text),
  gzip: () => gzipSync(text),
  br: () => brotliCompressSync(text, BROTLI),
})

/**
 * Returns a text that is the same for every client as a response body. The text is read and compressed once, when it is
 * first sent.
 */
export function fixedBody(read: () => string): ResponseBody {
  const once = (make: () => Buffer) => {
    let made: Buffer | undefined
    return () => {
      made ??= make()
      return made
    }
  }
  const identity = once(() => Buffer.from(read()))
  return {
    identity,
    gzip: once(() => gzipSync(identity())),
    br: once(() => brotliCompressSync(identity(), identity().length > LARGE ? BROTLI : {})),
  }
}

/**
 * Wraps a function of the day so that its result is kept until the day changes.
 * @param today returns the present day, such as «2026-11-25»
 */
export function oncePerDay<T>(today: () => string, make: (day: string) => T): () => T {
  let made: { day: string; value: T } | undefined
  return () => {
    const day = today()
    if (made?.day !== day) made = { day, value: make(day) }
    return made.value
  }
}

/** Returns a text that changes with the day as a response body. It is read and compressed once a day. */
export const dailyBody = (today: () => string, read: (day: string) => string): (() => ResponseBody) =>
  oncePerDay(today, (day) => fixedBody(() => read(day)))

/** Response of a page or of one of its files. Redirects and 304 responses have no body. */
export interface PageResponse {
  status: number
  tipo?: string
  body?: ResponseBody
  headers: Readonly<Record<string, string | readonly string[]>>
}

/** Writes a response of a page or of one of its files. No other code writes them. */
export function sendPage(req: Request, res: Response, { status, tipo = HTML, body, headers }: PageResponse) {
  // Each encoding is asked for separately, because with several Express would take the first one that the browser
  // names.
  const encoding = (['br', 'gzip'] as const).find((candidate) => body?.[candidate] && req.acceptsEncodings(candidate))
  const bytes = body?.[encoding ?? 'identity']?.() ?? Buffer.alloc(0)
  res.statusCode = status
  const todas = {
    // RFC 9110, 15.4.5: a 304 response leaves out headers that would be wrong for the copy that the client has.
    ...(status === 304 ? {} : { 'Content-Type': tipo, 'Content-Length': bytes.length }),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...(encoding ? { 'Content-Encoding': encoding } : {}),
    // The rest of a refused body is not read. The connection must therefore be closed.
    ...(req.method === 'POST' && !req.complete ? { Connection: 'close' } : {}),
    ...headers,
  }
  for (const [name, value] of Object.entries(todas)) res.setHeader(name, value)
  res.end(bytes)
}

/** Methods that only read, as `Allow` lists them. */
export const READING_POLICY = ['GET', 'HEAD']

type Directive = `${'script' | 'style' | 'img' | 'font' | 'connect' | 'manifest' | 'worker'}-src` | 'form-action'
type DeviceFeature = 'camera' | 'geolocation'

/**
 * Returns the headers Content-Security-Policy and Permissions-Policy of a page. The page may load, run and send only
 * what `allowedSources` names, and no site may frame it. It may use only the device features in `deviceFeatures`, such as the
 * camera.
 */
export function contentPolicy(
  allowedSources: Readonly<Partial<Record<Directive, string>>>,
  deviceFeatures: readonly DeviceFeature[] = [],
) {
  const { 'form-action': formActions = "'none'", ...otherSources } = allowedSources
  const policy = {
    'default-src': "'none'",
    ...otherSources,
    'form-action': formActions,
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }
  const sourceFor = (feature: string) => ((deviceFeatures as readonly string[]).includes(feature) ? 'self' : '')
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map((rule) => rule.join(' '))
      .join('; '),
    'Permissions-Policy': ['camera', 'geolocation', 'microphone']
      .map((feature) => `${feature}=(${sourceFor(feature)})`)
      .join(', '),
  }
}

/**
 * Returns the source expression for the Content-Security-Policy that allows this inline style or script: its SHA-256
 * digest.
 */
export const byDigest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
