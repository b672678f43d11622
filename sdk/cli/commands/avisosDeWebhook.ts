import type {
  AvisoDeWebhook,
  AvisoDeWebhookConIntentos,
  FiltrosDeAvisosDeWebhook,
  Guias,
  IntentoDeWebhook,
} from '@guias/sdk'
import { EVENT_TYPES } from '../../src/generated/eventTypes.ts'
import {
  type CliCommand,
  type Context,
  EXIT_CODE,
  readInstantOption,
  sleepUntilAborted,
  UsageError,
} from '../command.ts'
import { LIST_OPTIONS, type ListDescription, showList } from '../table.ts'
import { hora, notify, paint, printLine, sanitize, type TextTone } from '../terminal.ts'

const STATE_TONES: Record<string, TextTone> = { entregado: 'green', fallido: 'red', pendiente: 'yellow' }

const formatAnswer = (status: number | null, error: string | null) => (status === null ? (error ?? '') : String(status))

const AVISOS_LIST: ListDescription<AvisoDeWebhook> = {
  columns: [
    { title: 'AVISO', text: ({ aviso }) => aviso },
    { title: 'ESTADO', text: ({ estado }) => estado, tone: ({ estado }) => STATE_TONES[estado] },
    {
      title: 'CONTESTÓ',
      text: ({ ultimo_estado_http, ultimo_error }) => formatAnswer(ultimo_estado_http, ultimo_error),
      canShrink: true,
    },
    { title: 'TIPO', text: ({ tipo }) => tipo, canShrink: true },
    { title: 'CREADA', text: ({ creado_en }) => hora(creado_en, undefined, 'corta') },
  ],
  names: [
    'aviso',
    'webhook',
    'evento',
    'tipo',
    'guia',
    'estado',
    'causa',
    'intentos',
    'proximo_intento_en',
    'ultimo_estado_http',
    'ultimo_error',
    'creado_en',
    'terminado_en',
  ],
  campos: (aviso) => ({ ...aviso }),
  emptyMessage: 'No hay avisos así: nada se envió a este webhook.',
}

export const avisos: CliCommand = {
  summary: 'lista lo que se envió, o muestra un envío con sus intentos',
  usage: ['webhooks avisos <webhook> [opciones]', 'webhooks avisos <webhook> <aviso>'],
  explanation: `Lista lo que se envió o se va a enviar al webhook, de lo más reciente a lo más
antiguo. De un solo aviso muestra cada intento y qué contestó su servidor.`,
  options: {
    estado: { placeholder: '<estado>', description: 'solo en ese estado', values: Object.keys(STATE_TONES) },
    tipo: {
      placeholder: '<tipo>',
      description: 'solo de ese tipo de evento',
      values: EVENT_TYPES.filter((type) => !type.endsWith('*')),
    },
    guia: { placeholder: '<código>', description: 'solo de esa guía' },
    'creado-desde': { placeholder: '<fecha>', description: 'creadas ese día o instante, o después' },
    'creado-hasta': { placeholder: '<fecha>', description: 'creadas antes de ese día o instante' },
    ...LIST_OPTIONS,
  },
  positionals: [1, 2],
  readOnly: true,
  examples: ['webhooks avisos wh_4T8WQ2ZK7NHB --estado fallido'],
  async run(context) {
    const [webhook = '', aviso] = context.positionals
    const { texto, signal } = context
    const api = context.api()
    if (aviso !== undefined) {
      printAviso(await api.webhooks.obtenerAviso(webhook, aviso, { signal }), context)
      return EXIT_CODE.ok
    }
    const [from, until] = [texto('creado-desde'), texto('creado-hasta')]
    const filters: FiltrosDeAvisosDeWebhook = {
      estado: texto('estado'),
      tipo: texto('tipo'),
      guia: texto('guia'),
      creado_desde: from === undefined ? from : readInstantOption('creado-desde', from),
      creado_hasta: until === undefined ? until : readInstantOption('creado-hasta', until),
    }
    await showList(context, AVISOS_LIST, (page) => api.webhooks.avisos(webhook, { ...filters, ...page }, { signal }))
    return EXIT_CODE.ok
  },
}

function printAviso(aviso: AvisoDeWebhookConIntentos, { json }: Context) {
  if (json) {
    printLine(JSON.stringify(aviso))
    return
  }
  const { estado, tipo, proximo_intento_en, historial } = aviso
  const proximo = proximo_intento_en ? `  próximo intento ${hora(proximo_intento_en)}` : ''
  printLine(
    `${paint('strong', sanitize(aviso.aviso))}  ${paint(STATE_TONES[estado] ?? 'strong', sanitize(estado))}  ${sanitize(tipo)}${proximo}`,
  )
  for (const intento of historial)
    printLine(`  ${intento.numero}  ${hora(intento.iniciado_en)}  ${formatIntento(intento)}`)
  printLine(`\n${sanitize(aviso.cuerpo)}`)
}

const formatIntento = ({ estado_http, error, detalle, latencia }: IntentoDeWebhook) =>
  sanitize(`${formatAnswer(estado_http, error)} en ${latencia.total_ms} ms${detalle ? `: ${detalle}` : ''}`)

/**
 * Number of polls and milliseconds between polls: 30 s in total. The service sends a test or a resend at once, but the
 * merchant's server may use its whole timeout.
 */
const MAX_POLLS = 60
const POLL_INTERVAL_MS = 500

/**
 * Waits for the attempt after `previous`, and prints the answer of the merchant's server.
 *
 * @param previous start time of the last known attempt; undefined if the delivery has none
 * @returns exit code: 0 if the server answered 2xx, else 1; also 1 if no attempt appears in time
 */
async function reportIntento(api: Guias, sentAviso: AvisoDeWebhook, previous: string | undefined, context: Context) {
  const { webhook, aviso } = sentAviso
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const currentAviso = await api.webhooks.obtenerAviso(webhook, aviso, { signal: context.signal })
    const [last] = currentAviso.historial
    if (last && last.iniciado_en !== previous) {
      const bien = last.estado_http !== null && last.estado_http >= 200 && last.estado_http < 300
      const intentoText = paint(bien ? 'green' : 'red', formatIntento(last))
      printLine(context.json ? JSON.stringify(currentAviso) : `${paint('strong', sanitize(aviso))}  ${intentoText}`)
      return bien ? EXIT_CODE.ok : EXIT_CODE.refused
    }
    await sleepUntilAborted(POLL_INTERVAL_MS, context.signal)
  }
  notify(`Todavía no sale: mírelo después con guias webhooks avisos ${webhook} ${aviso}`)
  return EXIT_CODE.refused
}

export const probar: CliCommand = {
  summary: 'le envía un aviso de prueba, y dice qué contestó su servidor',
  usage: ['webhooks probar <webhook>'],
  explanation: `Envía un webhook.prueba firmado, también a uno pausado, y espera a ver qué
contesta su servidor. Termina con 1 si no lo aceptó.`,
  options: {},
  positionals: [1, 1],
  async run(context) {
    const [webhook = ''] = context.positionals
    const api = context.api()
    return reportIntento(api, await api.webhooks.probar(webhook, { signal: context.signal }), undefined, context)
  },
}

export const reenviar: CliCommand = {
  summary: 'envía otra vez un evento, ahora',
  usage: ['webhooks reenviar <webhook> <aviso>'],
  explanation: `Envía otra vez el mismo evento, con el mismo webhook-id, y espera a ver qué
contesta su servidor. Termina con 1 si no lo aceptó.`,
  options: {},
  positionals: [2, 2],
  async run(context) {
    const [webhook = '', aviso = ''] = context.positionals
    const [api, options] = [context.api(), { signal: context.signal }]
    const { historial } = await api.webhooks.obtenerAviso(webhook, aviso, options)
    const sentAviso = await api.webhooks.reenviar(webhook, aviso, options)
    return reportIntento(api, sentAviso, historial[0]?.iniciado_en, context)
  },
}

export const recuperar: CliCommand = {
  summary: 'envía otra vez lo que su servidor no recibió',
  usage: ['webhooks recuperar <webhook> --desde <fecha> [opciones]'],
  explanation: `Vuelve a enviar los eventos desde esa fecha que el webhook no recibió, lo más
antiguo primero. Es un trabajo del servicio, que sigue solo. Con --ensayo solo
cuenta cuántos serían.`,
  options: {
    desde: { placeholder: '<fecha>', description: 'eventos registrados ese día o instante, o después; obligatoria' },
    hasta: { placeholder: '<fecha>', description: 'eventos registrados antes; hasta ahora si falta' },
    todas: { description: 'también los que sí recibió' },
    ensayo: { description: 'solo cuenta, sin enviar nada' },
  },
  positionals: [1, 1],
  async run(context) {
    const [code = ''] = context.positionals
    const [from, until] = [context.texto('desde'), context.texto('hasta')]
    if (from === undefined)
      throw new UsageError('Diga desde cuándo: guias webhooks recuperar <webhook> --desde <fecha>.')
    const datos = {
      desde: readInstantOption('desde', from),
      ...(until !== undefined && { hasta: readInstantOption('hasta', until) }),
      ...(context.isSet('todas') && { todas: true }),
    }
    const [{ webhooks }, options] = [context.api(), { signal: context.signal }]
    if (context.isSet('ensayo')) {
      const ensayo = await webhooks.ensayarRecuperacion(code, datos, options)
      printLine(
        context.json ? JSON.stringify(ensayo) : `${ensayo.eventos} eventos, de los que enviaría ${ensayo.avisos}`,
      )
      return EXIT_CODE.ok
    }
    const recovery = await webhooks.recuperar(code, datos, options)
    printLine(
      context.json
        ? JSON.stringify(recovery)
        : `${paint('strong', sanitize(recovery.recuperacion))}  ${sanitize(recovery.estado)}`,
    )
    return EXIT_CODE.ok
  },
}
