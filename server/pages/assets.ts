import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Express, Request, Response } from 'express'
import { etagMatches, etagOf } from '../api/http/conditional.ts'
import { ROOT } from '../platform/root.ts'
import {
  bodyOf,
  IMMUTABLE_HEADERS,
  type PageResponse,
  PRIVATE_HEADERS,
  READING_POLICY,
  type ResponseBody,
  sendPage,
} from './response.ts'

const CONTENT_TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  wasm: 'application/wasm',
  json: 'application/json',
} as const

/** Static file. A body that changes with the day is a function. */
export interface Asset extends Omit<PageResponse, 'status' | 'body'> {
  body?: ResponseBody | (() => ResponseBody)
}

/** Static files by their path from the service root, such as `/docs`. */
export type AssetFiles = ReadonlyMap<string, Asset>

/** Reads a file that `scripts/generate.ts` wrote, such as `pages/tracking/estilo.css`. */
export const readGenerated = (archivo: string) => readFileSync(new URL(`server/generated/contract/${archivo}`, ROOT))

/** Lists the files below a folder that `scripts/generate.ts` wrote, with paths relative to that folder. */
export const listGenerated = (folder: string) =>
  readdirSync(new URL(`server/generated/contract/${folder}`, ROOT), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.\w+$/.test(path))

/**
 * Returns a generated file as a response body: uncompressed, gzip and Brotli. Each encoding is read from disk when it
 * is first sent, and then kept in memory.
 */
export function generatedBody(archivo: string): ResponseBody {
  const bytesByName = new Map<string, Buffer>()
  const read = (name: string) => () => {
    const readBytes = bytesByName.get(name) ?? readGenerated(name)
    bytesByName.set(name, readBytes)
    return readBytes
  }
  return { identity: read(archivo), gzip: read(`${archivo}.gz`), br: read(`${archivo}.br`) }
}

/**
 * Returns the path of a file under a name that changes with its content, such as `estilo.0123456789ab.css`.
 * @param base path below which the file is served, such as `repartidor/recursos/`
 */
export function assetPath(base: string, name: string, content: Buffer) {
  const [before, extension] = name.split('.')
  return `${base}${before}.${fingerprintOf([content])}.${extension}`
}

function fingerprintOf(contents: readonly Buffer[]) {
  const hash = createHash('sha256')
  for (const content of contents) hash.update(content)
  return hash.digest('hex').slice(0, 12)
}

/**
 * Reads a page's own files. Each file gets a name that changes with its content, so that clients may keep it forever.
 * All files are read when the server starts: a page cannot work without its files.
 * @param folder folder of the generated files, such as `pages/courier/`
 * @param base path below which the files are served, such as `repartidor/recursos/`
 * @param replacements images that replace the generated files of the same name
 * @param jointNames files that import each other by their own names. They are served from a folder whose name changes with
 *   the contents of all of them.
 * @returns `path`, which gives the path of a file, and the files for {@link serveAssets}
 */
export function readAssets<Nombre extends string>(
  folder: string,
  base: string,
  names: readonly Nombre[],
  replacements: ReadonlyMap<string, Buffer> = new Map(),
  jointNames: readonly Nombre[] = [],
) {
  const jointFolder = `${base}${fingerprintOf(jointNames.map((name) => readGenerated(`${folder}${name}`)))}/`
  const assets = names.map((nombre) => {
    const archivo = `${folder}${nombre}`
    const bytes = replacements.get(nombre) ?? readGenerated(archivo)
    const extension = nombre.split('.')[1] as keyof typeof CONTENT_TYPES
    const body = extension === 'png' ? { identity: () => bytes } : generatedBody(archivo)
    const path = jointNames.includes(nombre) ? `${jointFolder}${nombre}` : assetPath(base, nombre, bytes)
    return { nombre, path, tipo: CONTENT_TYPES[extension], body }
  })
  const paths = new Map(assets.map(({ nombre, path }) => [nombre, path]))
  return {
    path: (name: Nombre) => paths.get(name)!,
    archivos: new Map(assets.map(({ path, tipo, body }) => [`/${path}`, { tipo, body, headers: IMMUTABLE_HEADERS }])),
  }
}

/**
 * Serves files that are the same for every client. Redirects (308) a path with a final slash to the path without it;
 * refuses (405) every method but GET and HEAD.
 */
export function serveAssets(app: Express, archivos: AssetFiles) {
  app.use((req, res, next) => {
    const pathWithoutSlash = req.path.replace(/\/$/, '')
    const archivo = archivos.get(pathWithoutSlash)
    if (!archivo) return next()
    if (!READING_POLICY.includes(req.method)) {
      const headers = { ...PRIVATE_HEADERS, Allow: READING_POLICY.join(', ') }
      const body = bodyOf('Use GET o HEAD.')
      return sendPage(req, res, { status: 405, tipo: 'text/plain; charset=utf-8', body, headers })
    }
    if (req.path === pathWithoutSlash) return sendAsset(req, res, archivo)
    // A relative redirect is also right when a proxy serves the service below a path prefix.
    const Location = `../${pathWithoutSlash.split('/').at(-1)}`
    sendPage(req, res, { status: 308, headers: { ...PRIVATE_HEADERS, Location } })
  })
}

const etags = new WeakMap<ResponseBody, string>()

/**
 * Returns the entity tag of a body, computed from its uncompressed bytes. Callers send it as a weak tag, because it is
 * the same for every encoding.
 */
function etagOfBody(body: ResponseBody): string {
  const etag = etags.get(body) ?? etagOf(body.identity())
  etags.set(body, etag)
  return etag
}

function sendAsset(req: Request, res: Response, { body: todayBody, ...archivo }: Asset) {
  const body = typeof todayBody === 'function' ? todayBody() : todayBody
  if (!body || archivo.headers['Cache-Control'] === PRIVATE_HEADERS['Cache-Control']) {
    return sendPage(req, res, { status: 200, ...archivo, ...(body ? { body } : {}) })
  }
  const etag = etagOfBody(body)
  const headers = { ...archivo.headers, ETag: `W/${etag}` }
  if (etagMatches(req.headers['if-none-match'], etag)) return sendPage(req, res, { status: 304, headers })
  sendPage(req, res, { status: 200, ...archivo, body, headers })
}
