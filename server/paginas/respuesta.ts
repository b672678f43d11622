import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

export const HTML = 'text/html; charset=utf-8'

/** The headers of what is whoever's who has its address: nobody keeps or finds it. */
export const PRIVADA = { 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex' }
/** The headers of files whose name changes with them. */
export const FIJA = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Robots-Tag': 'noindex' }
/** The headers of what anybody may find, and keep for a while. */
export const PUBLICA = { 'Cache-Control': 'public, max-age=300' }

/** A body in the encodings that it may be sent in. */
export interface Cuerpo {
  identity(): Buffer
  gzip?: () => Buffer
  br?: () => Buffer
}

/** A text as a body, packed when it is sent. */
export const cuerpoDe = (texto: string): Cuerpo => ({
  identity: () => Buffer.from(texto),
  gzip: () => gzipSync(texto),
})

/** A text that is the same for everybody as a body: made and packed when it is first sent. */
export function cuerpoFijo(leer: () => string): Cuerpo {
  const unaVez = (hacer: () => Buffer) => {
    let hecho: Buffer | undefined
    return () => {
      hecho ??= hacer()
      return hecho
    }
  }
  const identity = unaVez(() => Buffer.from(leer()))
  return {
    identity,
    gzip: unaVez(() => gzipSync(identity())),
    br: unaVez(() => brotliCompressSync(identity())),
  }
}

/** An answer of a page or of one of its files; without a body it says only where to go. */
export interface Respuesta {
  status: number
  tipo?: string
  cuerpo?: Cuerpo
  cabeceras: Readonly<Record<string, string>>
}

/** Writes an answer of a page or of one of its files: the only place that does. */
export function enviar(req: Request, res: Response, { status, tipo = HTML, cuerpo, cabeceras }: Respuesta) {
  // One by one: of several, Express takes the one that the browser happens to name first.
  const codificacion = (['br', 'gzip'] as const).find((una) => cuerpo?.[una] && req.acceptsEncodings(una))
  const bytes = cuerpo?.[codificacion ?? 'identity']?.() ?? Buffer.alloc(0)
  res.statusCode = status
  const todas = {
    // RFC 9110, 15.4.5: of what it has already, a client is told nothing that would be wrong of it.
    ...(status === 304 ? {} : { 'Content-Type': tipo, 'Content-Length': bytes.length }),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...(codificacion ? { 'Content-Encoding': codificacion } : {}),
    // What is left of a body that was refused is not read.
    ...(req.method === 'POST' && !req.complete ? { Connection: 'close' } : {}),
    ...cabeceras,
  }
  for (const [nombre, valor] of Object.entries(todas)) res.setHeader(nombre, valor)
  res.end(bytes)
}

/** The methods that only read, as `Allow` names them. */
export const DE_LECTURA = ['GET', 'HEAD']

type Directiva = `${'script' | 'style' | 'img' | 'font' | 'connect' | 'manifest' | 'worker'}-src` | 'form-action'
type Aparato = 'camera' | 'geolocation'

/**
 * The headers that say what a page may do: load, run and send what `permite` names and nothing else, stand in no frame, and
 * ask for no part of the device but `aparatos`.
 */
export function permisos(permite: Readonly<Partial<Record<Directiva, string>>>, aparatos: readonly Aparato[] = []) {
  const { 'form-action': formularios = "'none'", ...fuentes } = permite
  const politica = {
    'default-src': "'none'",
    ...fuentes,
    'form-action': formularios,
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  }
  const suyo = (aparato: string) => ((aparatos as readonly string[]).includes(aparato) ? 'self' : '')
  return {
    'Content-Security-Policy': Object.entries(politica)
      .map((regla) => regla.join(' '))
      .join('; '),
    'Permissions-Policy': ['camera', 'geolocation', 'microphone'].map((cual) => `${cual}=(${suyo(cual)})`).join(', '),
  }
}

/** A source of a policy: a style or a program that stands in the page itself, known by its digest. */
export const porHuella = (texto: string) => `'sha256-${createHash('sha256').update(texto).digest('base64')}'`
