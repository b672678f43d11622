import type {
  AvisoDeWebhook,
  AvisoDeWebhookConIntentos,
  FiltrosDeAvisosDeWebhook,
  Guias,
  IntentoDeWebhook,
} from '@guias/sdk'
import { EVENT_TYPES } from '../src/generado/eventTypes.ts'
import { type Contexto, dormirSinError, ErrorDeUso, instante, type Orden, SALIDA } from './orden.ts'
import { type Lista, mostrarLista, OPCIONES_DE_LISTA } from './tabla.ts'
import { avisar, decir, hora, limpio, pintar, type Tono } from './terminal.ts'

const TONOS: Record<string, Tono> = { entregado: 'verde', fallido: 'rojo', pendiente: 'amarillo' }

const contesto = (status: number | null, error: string | null) => (status === null ? (error ?? '') : String(status))

const LISTA: Lista<AvisoDeWebhook> = {
  columnas: [
    { titulo: 'AVISO', de: ({ aviso }) => aviso },
    { titulo: 'ESTADO', de: ({ estado }) => estado, tono: ({ estado }) => TONOS[estado] },
    {
      titulo: 'CONTESTÓ',
      de: ({ ultimo_estado_http, ultimo_error }) => contesto(ultimo_estado_http, ultimo_error),
      cede: true,
    },
    { titulo: 'TIPO', de: ({ tipo }) => tipo, cede: true },
    { titulo: 'CREADA', de: ({ creado_en }) => hora(creado_en, undefined, 'corta') },
  ],
  nombres: [
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
  vacia: 'No hay avisos así: nada se envió a este webhook.',
}

export const avisos: Orden = {
  resumen: 'lista lo que se envió, o muestra un envío con sus intentos',
  uso: ['webhooks avisos <webhook> [opciones]', 'webhooks avisos <webhook> <aviso>'],
  explica: `Lista lo que se envió o se va a enviar al webhook, de lo más reciente a lo más
antiguo. De un solo aviso muestra cada intento y qué contestó su servidor.`,
  opciones: {
    estado: { valor: '<estado>', dice: 'solo en ese estado', valores: Object.keys(TONOS) },
    tipo: {
      valor: '<tipo>',
      dice: 'solo de ese tipo de evento',
      valores: EVENT_TYPES.filter((tipo) => !tipo.endsWith('*')),
    },
    guia: { valor: '<código>', dice: 'solo de esa guía' },
    'creado-desde': { valor: '<fecha>', dice: 'creadas ese día o instante, o después' },
    'creado-hasta': { valor: '<fecha>', dice: 'creadas antes de ese día o instante' },
    ...OPCIONES_DE_LISTA,
  },
  posicionales: [1, 2],
  muestra: true,
  ejemplos: ['webhooks avisos wh_4T8WQ2ZK7NHB --estado fallido'],
  async ejecutar(contexto) {
    const [webhook = '', aviso] = contexto.posicionales
    const { texto, signal } = contexto
    const api = contexto.api()
    if (aviso !== undefined) {
      mostrar(await api.webhooks.obtenerAviso(webhook, aviso, { signal }), contexto)
      return SALIDA.bien
    }
    const [desde, hasta] = [texto('creado-desde'), texto('creado-hasta')]
    const filtros: FiltrosDeAvisosDeWebhook = {
      estado: texto('estado'),
      tipo: texto('tipo'),
      guia: texto('guia'),
      creado_desde: desde === undefined ? desde : instante('creado-desde', desde),
      creado_hasta: hasta === undefined ? hasta : instante('creado-hasta', hasta),
    }
    await mostrarLista(contexto, LISTA, (pagina) => api.webhooks.avisos(webhook, { ...filtros, ...pagina }, { signal }))
    return SALIDA.bien
  },
}

function mostrar(aviso: AvisoDeWebhookConIntentos, { json }: Contexto) {
  if (json) {
    decir(JSON.stringify(aviso))
    return
  }
  const { estado, tipo, proximo_intento_en, historial } = aviso
  const proximo = proximo_intento_en ? `  próximo intento ${hora(proximo_intento_en)}` : ''
  decir(
    `${pintar('fuerte', limpio(aviso.aviso))}  ${pintar(TONOS[estado] ?? 'fuerte', limpio(estado))}  ${limpio(tipo)}${proximo}`,
  )
  for (const intento of historial) decir(`  ${intento.numero}  ${hora(intento.iniciado_en)}  ${decirIntento(intento)}`)
  decir(`\n${limpio(aviso.cuerpo)}`)
}

const decirIntento = ({ estado_http, error, detalle, latencia }: IntentoDeWebhook) =>
  limpio(`${contesto(estado_http, error)} en ${latencia.total_ms} ms${detalle ? `: ${detalle}` : ''}`)

/**
 * Number of polls and milliseconds between polls: 30 s in total. The service sends a test or a resend at once, but the
 * merchant's server may use its whole timeout.
 */
const ESPERAS = 60
const ENTRE_ESPERAS = 500

/**
 * Waits for the attempt after `anterior`, and prints the answer of the merchant's server.
 *
 * @param anterior start time of the last known attempt; undefined if the delivery has none
 * @returns exit code: 0 if the server answered 2xx, else 1; also 1 if no attempt appears in time
 */
async function contarIntento(api: Guias, enviada: AvisoDeWebhook, anterior: string | undefined, contexto: Contexto) {
  const { webhook, aviso } = enviada
  for (let vez = 0; vez < ESPERAS; vez++) {
    const leida = await api.webhooks.obtenerAviso(webhook, aviso, { signal: contexto.signal })
    const [ultimo] = leida.historial
    if (ultimo && ultimo.iniciado_en !== anterior) {
      const bien = ultimo.estado_http !== null && ultimo.estado_http >= 200 && ultimo.estado_http < 300
      const dicho = pintar(bien ? 'verde' : 'rojo', decirIntento(ultimo))
      decir(contexto.json ? JSON.stringify(leida) : `${pintar('fuerte', limpio(aviso))}  ${dicho}`)
      return bien ? SALIDA.bien : SALIDA.rechazo
    }
    await dormirSinError(ENTRE_ESPERAS, contexto.signal)
  }
  avisar(`Todavía no sale: mírelo después con guias webhooks avisos ${webhook} ${aviso}`)
  return SALIDA.rechazo
}

export const probar: Orden = {
  resumen: 'le envía un aviso de prueba, y dice qué contestó su servidor',
  uso: ['webhooks probar <webhook>'],
  explica: `Envía un webhook.prueba firmado, también a uno pausado, y espera a ver qué
contesta su servidor. Termina con 1 si no lo aceptó.`,
  opciones: {},
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [webhook = ''] = contexto.posicionales
    const api = contexto.api()
    return contarIntento(api, await api.webhooks.probar(webhook, { signal: contexto.signal }), undefined, contexto)
  },
}

export const reenviar: Orden = {
  resumen: 'envía otra vez un evento, ahora',
  uso: ['webhooks reenviar <webhook> <aviso>'],
  explica: `Envía otra vez el mismo evento, con el mismo webhook-id, y espera a ver qué
contesta su servidor. Termina con 1 si no lo aceptó.`,
  opciones: {},
  posicionales: [2, 2],
  async ejecutar(contexto) {
    const [webhook = '', aviso = ''] = contexto.posicionales
    const [api, opciones] = [contexto.api(), { signal: contexto.signal }]
    const { historial } = await api.webhooks.obtenerAviso(webhook, aviso, opciones)
    const enviada = await api.webhooks.reenviar(webhook, aviso, opciones)
    return contarIntento(api, enviada, historial[0]?.iniciado_en, contexto)
  },
}

export const recuperar: Orden = {
  resumen: 'envía otra vez lo que su servidor no recibió',
  uso: ['webhooks recuperar <webhook> --desde <fecha> [opciones]'],
  explica: `Vuelve a enviar los eventos desde esa fecha que el webhook no recibió, lo más
antiguo primero. Es un trabajo del servicio, que sigue solo. Con --ensayo solo
cuenta cuántos serían.`,
  opciones: {
    desde: { valor: '<fecha>', dice: 'eventos registrados ese día o instante, o después; obligatoria' },
    hasta: { valor: '<fecha>', dice: 'eventos registrados antes; hasta ahora si falta' },
    todas: { dice: 'también los que sí recibió' },
    ensayo: { dice: 'solo cuenta, sin enviar nada' },
  },
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const [desde, hasta] = [contexto.texto('desde'), contexto.texto('hasta')]
    if (desde === undefined)
      throw new ErrorDeUso('Diga desde cuándo: guias webhooks recuperar <webhook> --desde <fecha>.')
    const datos = {
      desde: instante('desde', desde),
      ...(hasta !== undefined && { hasta: instante('hasta', hasta) }),
      ...(contexto.si('todas') && { todas: true }),
    }
    const [{ webhooks }, opciones] = [contexto.api(), { signal: contexto.signal }]
    if (contexto.si('ensayo')) {
      const ensayo = await webhooks.ensayarRecuperacion(codigo, datos, opciones)
      decir(contexto.json ? JSON.stringify(ensayo) : `${ensayo.eventos} eventos, de los que enviaría ${ensayo.avisos}`)
      return SALIDA.bien
    }
    const hecha = await webhooks.recuperar(codigo, datos, opciones)
    decir(
      contexto.json
        ? JSON.stringify(hecha)
        : `${pintar('fuerte', limpio(hecha.recuperacion))}  ${limpio(hecha.estado)}`,
    )
    return SALIDA.bien
  },
}
