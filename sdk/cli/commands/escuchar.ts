import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { ErrorAbortado, ErrorParametro, type Evento, type FiltrosDelFlujo, firmarWebhook, type Guias } from '@guias/sdk'
import { explainSystemError } from '../cause.ts'
import {
  type CliCommand,
  type Context,
  EXIT_CODE,
  numero,
  readInstantOption,
  sleepUntilAborted,
  UsageError,
} from '../command.ts'
import { isTransientError } from '../errors.ts'
import { notify, paint, printLine, sanitize } from '../terminal.ts'
import { Patience } from '../waiting.ts'

const DELIVERY_TIMEOUT_MS = 15_000

export const escuchar: CliCommand = {
  summary: 'recibe sus eventos y los reenvía a un servidor local, como un webhook',
  usage: ['escuchar --reenviar http://localhost:4000/webhooks [opciones]'],
  explanation: `Sigue los eventos de todas sus guías y envía cada uno a esa dirección, firmado y
con el mismo cuerpo que un webhook, sin abrir su máquina a nadie. Sin --reenviar
solo los muestra. Ctrl-C termina; la próxima vez sigue donde quedó. Si el servicio
no contesta, lo dice y lo intenta otra vez cada 5 s.

La guía de cada aviso es la de ahora, con el estado y la secuencia del evento;
en un webhook es la de entonces.`,
  options: {
    reenviar: { placeholder: '<url>', description: 'adónde enviarlos' },
    secreto: {
      placeholder: '<whsec_…>',
      description:
        'con qué firmar; si falta, el de la variable GUIAS_SECRETO, y si tampoco está, uno nuevo que se muestra',
    },
    desde: {
      placeholder: '<cuándo>',
      description: 'principio, ahora o una fecha; si falta, donde quedó o ahora',
      values: ['principio', 'ahora'],
    },
    tipos: {
      placeholder: '<tipos>',
      description: 'solo esos, separados por comas: guia.entregado,ubicacion.*',
      multiple: true,
    },
    cursor: { placeholder: '<ruta>', description: 'dónde guardar por dónde va' },
    reintentos: { placeholder: '<n>', description: 'cuántas veces más si su servidor falla; 4 si falta' },
    intervalo: { placeholder: '<segundos>', description: 'cada cuánto mira; 1 si falta' },
  },
  positionals: [0, 0],
  readOnly: true,
  async run(context) {
    const { signal } = context
    const destino = readDestino(context.texto('reenviar'))
    const intervalMs = numero(context, 'intervalo', 1, 0.05) * 1000
    const reintentos = numero(context, 'reintentos', 4, 0)
    const desde = parseFrom(context.texto('desde'))
    const tipo: FiltrosDelFlujo['tipo'] = context.texts('tipos')
    const api = context.api()
    const file = context.texto('cursor') ?? defaultCursorPath(context.cuenta())
    const secreto = destino ? await readSecreto(context) : ''

    // If both are given, the cursor takes precedence over `desde`.
    const filters = { limite: 50, ...(tipo && { tipo }), ...(desde && desde !== 'principio' && { desde }) }
    let cursor = desde === undefined ? readCursor(file) : undefined
    let fromEnd = desde === 'ahora' || (desde === undefined && cursor === undefined)
    const patience = new Patience(context)
    // Printed after the position is known, because people create guides as soon as they read it.
    let notice = `Escuchando${destino ? ` y reenviando a ${destino}` : ''}. Ctrl-C para terminar.`
    while (!signal.aborted) {
      try {
        if (fromEnd) {
          cursor = await readEndCursor(api, signal)
          patience.end()
        }
        fromEnd = false
        if (notice !== '') notify(notice)
        notice = ''
        const page = await api.eventos.listar({ ...filters, cursor }, { signal })
        patience.end()
        for (const evento of page.datos) await deliverEvento(evento, { api, destino, secreto, reintentos, context })
        // The cursor is saved after the delivery. A process killed in between sends some events again and loses none.
        if (page.cursor_siguiente && page.cursor_siguiente !== cursor) {
          cursor = page.cursor_siguiente
          saveCursor(file, cursor)
        }
        if (page.datos.length === 0) await sleepUntilAborted(intervalMs, signal)
      } catch (error) {
        if (error instanceof ErrorAbortado) break
        if (error instanceof ErrorParametro && error.codigo === 'cursor_invalido' && cursor !== undefined) {
          fromEnd = true
          notice = 'El cursor guardado ya no vale: sigo desde ahora. Con --desde principio los vería todos.'
        } else if (isTransientError(error)) await patience.wait(error)
        else throw error
      }
    }
    return EXIT_CODE.ok
  },
}

interface DeliverySettings {
  api: Guias
  destino: string | undefined
  secreto: string
  reintentos: number
  context: Context
}

async function deliverEvento(evento: Evento, { api, destino, secreto, reintentos, context }: DeliverySettings) {
  const { signal, json } = context
  const title = `${new Date().toLocaleTimeString('sv-SE')}  ${sanitize(evento.tipo).padEnd(24)}  ${sanitize(evento.guia)}`
  if (!destino) {
    printLine(json ? JSON.stringify(evento) : title)
    return
  }
  // Leaves out the members that depend on the service's settings, because webhook bodies do not have them either.
  const currentGuia = await api.guias.obtener(evento.guia, { limite: 1, signal })
  const { eventos: _, url_rastreo: __, zona_horaria: ___, ...guia } = currentGuia
  const body = JSON.stringify({
    id: evento.id,
    tipo: evento.tipo,
    creado_en: evento.registrado_en,
    datos: { guia: { ...guia, estado: evento.estado, secuencia: evento.secuencia }, evento },
  })
  for (let intento = 1; ; intento++) {
    const startedAt = performance.now()
    const { status, failureReason } = await send(destino, body, evento.id, secreto, signal)
    if (signal.aborted) throw new ErrorAbortado('abortada')
    const ms = Math.round(performance.now() - startedAt)
    const bien = status >= 200 && status < 300
    if (json)
      printLine(
        JSON.stringify({
          id: evento.id,
          tipo: evento.tipo,
          guia: evento.guia,
          intento,
          estado_http: status,
          ok: bien,
          ms,
        }),
      )
    else
      printLine(
        `${title}  → ${paint(bien ? 'green' : 'red', status ? String(status) : sanitize(failureReason))} (${ms} ms)`,
      )
    if (bien) return
    if (intento > reintentos) {
      notify(
        `Su servidor no aceptó ${evento.id}; sigo con los demás. Con --desde ${evento.registrado_en} llega otra vez.`,
      )
      return
    }
    await sleepUntilAborted(1000 * 2 ** (intento - 1), signal)
  }
}

/**
 * Sends an event as the service sends a webhook: a new signature each time, no redirects, a timeout of 15 s. `status`
 * is 0 if the server does not answer, and `failureReason` says why.
 */
async function send(destino: string, body: string, id: string, secreto: string, signal: AbortSignal) {
  try {
    const response = await fetch(destino, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', ...(await firmarWebhook(body, { id, secreto })) },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(DELIVERY_TIMEOUT_MS)]),
    })
    await response.arrayBuffer()
    return { status: response.status, failureReason: '' }
  } catch (error) {
    const { message, cause } = error as Error
    return {
      status: 0,
      failureReason: cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : message,
    }
  }
}

function readDestino(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url.href
  throw new UsageError(`--reenviar debe ser una dirección como http://localhost:4000/webhooks y llegó «${text}».`)
}

/**
 * Reads `--desde`: `principio`, `ahora` or an instant that the service accepts.
 *
 * @throws UsageError for any other text
 */
function parseFrom(text: string | undefined): string | undefined {
  if (text === undefined || text === 'principio' || text === 'ahora') return text
  return readInstantOption('desde', text, 'principio, ahora o ')
}

async function readSecreto(context: Context): Promise<string> {
  const givenSecreto = context.texto('secreto') ?? process.env.GUIAS_SECRETO
  if (givenSecreto === undefined) {
    const nuevo = `whsec_${randomBytes(32).toString('base64')}`
    notify(`Se firma con ${nuevo}\nPóngalo en su servidor como secreto (GUIAS_SECRETO).`)
    return nuevo
  }
  try {
    await firmarWebhook('', { id: 'prueba', secreto: givenSecreto })
    return givenSecreto
  } catch {
    throw new UsageError('El secreto debe ser whsec_ y base64 de 24 a 64 bytes; si no tiene uno, quite la opción.')
  }
}

const defaultCursorPath = (cuenta: string) =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'guias', `${cuenta}.cursor`)

function readCursor(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/**
 * Saves the cursor atomically: writes a temporary file, then renames it.
 *
 * @throws UsageError if the file cannot be written
 */
function saveCursor(file: string, cursor: string) {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.${process.pid}`, `${cursor}\n`)
    renameSync(`${file}.${process.pid}`, file)
  } catch (error) {
    throw new UsageError(`No se pudo guardar el cursor en ${file}: ${explainSystemError(error)}.`)
  }
}

const readEndCursor = async (api: Guias, signal: AbortSignal) =>
  (await api.eventos.listar({ desde: 'ahora', limite: 1 }, { signal })).cursor_siguiente
