import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { ErrorAbortado, ErrorParametro, type Evento, type FiltrosDelFlujo, firmarWebhook, type Guias } from '@guias/sdk'
import { esErrorPasajero } from './errores.ts'
import { type Contexto, dormirSinError, ErrorDeUso, instante, numero, type Orden, SALIDA } from './orden.ts'
import { Patience } from './patience.ts'
import { porque } from './porque.ts'
import { avisar, decir, limpio, pintar } from './terminal.ts'

const PLAZO = 15_000

export const escuchar: Orden = {
  resumen: 'recibe sus eventos y los reenvía a un servidor local, como un webhook',
  uso: ['escuchar --reenviar http://localhost:4000/webhooks [opciones]'],
  explica: `Sigue los eventos de todas sus guías y envía cada uno a esa dirección, firmado y
con el mismo cuerpo que un webhook, sin abrir su máquina a nadie. Sin --reenviar
solo los muestra. Ctrl-C termina; la próxima vez sigue donde quedó. Si el servicio
no contesta, lo dice y lo intenta otra vez cada 5 s.

La guía de cada aviso es la de ahora, con el estado y la secuencia del evento;
en un webhook es la de entonces.`,
  opciones: {
    reenviar: { valor: '<url>', dice: 'adónde enviarlos' },
    secreto: {
      valor: '<whsec_…>',
      dice: 'con qué firmar; si falta, el de la variable GUIAS_SECRETO, y si tampoco está, uno nuevo que se muestra',
    },
    desde: {
      valor: '<cuándo>',
      dice: 'principio, ahora o una fecha; si falta, donde quedó o ahora',
      valores: ['principio', 'ahora'],
    },
    tipos: { valor: '<tipos>', dice: 'solo esos, separados por comas: guia.entregado,ubicacion.*', varias: true },
    cursor: { valor: '<ruta>', dice: 'dónde guardar por dónde va' },
    reintentos: { valor: '<n>', dice: 'cuántas veces más si su servidor falla; 4 si falta' },
    intervalo: { valor: '<segundos>', dice: 'cada cuánto mira; 1 si falta' },
  },
  posicionales: [0, 0],
  muestra: true,
  async ejecutar(contexto) {
    const { signal } = contexto
    const destino = leerDestino(contexto.texto('reenviar'))
    const intervalo = numero(contexto, 'intervalo', 1, 0.05) * 1000
    const reintentos = numero(contexto, 'reintentos', 4, 0)
    const desde = leerDesde(contexto.texto('desde'))
    const tipo: FiltrosDelFlujo['tipo'] = contexto.textos('tipos')
    const api = contexto.api()
    const archivo = contexto.texto('cursor') ?? porOmision(contexto.cuenta())
    const secreto = destino ? await leerSecreto(contexto) : ''

    // If both are given, the cursor takes precedence over `desde`.
    const filtros = { limite: 50, ...(tipo && { tipo }), ...(desde && desde !== 'principio' && { desde }) }
    let cursor = desde === undefined ? leerCursor(archivo) : undefined
    let fromEnd = desde === 'ahora' || (desde === undefined && cursor === undefined)
    const patience = new Patience(contexto)
    // Printed after the position is known, because people create guides as soon as they read it.
    let notice = `Escuchando${destino ? ` y reenviando a ${destino}` : ''}. Ctrl-C para terminar.`
    while (!signal.aborted) {
      try {
        if (fromEnd) {
          cursor = await alFinal(api, signal)
          patience.end()
        }
        fromEnd = false
        if (notice !== '') avisar(notice)
        notice = ''
        const pagina = await api.eventos.listar({ ...filtros, cursor }, { signal })
        patience.end()
        for (const evento of pagina.datos) await atender(evento, { api, destino, secreto, reintentos, contexto })
        // The cursor is saved after the delivery. A process killed in between sends some events again and loses none.
        if (pagina.cursor_siguiente && pagina.cursor_siguiente !== cursor) {
          cursor = pagina.cursor_siguiente
          guardarCursor(archivo, cursor)
        }
        if (pagina.datos.length === 0) await dormirSinError(intervalo, signal)
      } catch (error) {
        if (error instanceof ErrorAbortado) break
        if (error instanceof ErrorParametro && error.codigo === 'cursor_invalido' && cursor !== undefined) {
          fromEnd = true
          notice = 'El cursor guardado ya no vale: sigo desde ahora. Con --desde principio los vería todos.'
        } else if (esErrorPasajero(error)) await patience.wait(error)
        else throw error
      }
    }
    return SALIDA.bien
  },
}

interface Envio {
  api: Guias
  destino: string | undefined
  secreto: string
  reintentos: number
  contexto: Contexto
}

async function atender(evento: Evento, { api, destino, secreto, reintentos, contexto }: Envio) {
  const { signal, json } = contexto
  const titulo = `${new Date().toLocaleTimeString('sv-SE')}  ${limpio(evento.tipo).padEnd(24)}  ${limpio(evento.guia)}`
  if (!destino) {
    decir(json ? JSON.stringify(evento) : titulo)
    return
  }
  // Leaves out the members that depend on the service's settings, because webhook bodies do not have them either.
  const leida = await api.guias.obtener(evento.guia, { limite: 1, signal })
  const { eventos: _, url_rastreo: __, zona_horaria: ___, ...guia } = leida
  const cuerpo = JSON.stringify({
    id: evento.id,
    tipo: evento.tipo,
    creado_en: evento.registrado_en,
    datos: { guia: { ...guia, estado: evento.estado, secuencia: evento.secuencia }, evento },
  })
  for (let intento = 1; ; intento++) {
    const inicio = performance.now()
    const { status, que } = await enviar(destino, cuerpo, evento.id, secreto, signal)
    if (signal.aborted) throw new ErrorAbortado('abortada')
    const ms = Math.round(performance.now() - inicio)
    const bien = status >= 200 && status < 300
    if (json)
      decir(JSON.stringify({ id: evento.id, tipo: evento.tipo, guia: evento.guia, intento, status, ok: bien, ms }))
    else decir(`${titulo}  → ${pintar(bien ? 'verde' : 'rojo', status ? String(status) : limpio(que))} (${ms} ms)`)
    if (bien) return
    if (intento > reintentos) {
      avisar(
        `Su servidor no aceptó ${evento.id}; sigo con los demás. Con --desde ${evento.registrado_en} llega otra vez.`,
      )
      return
    }
    await dormirSinError(1000 * 2 ** (intento - 1), signal)
  }
}

/**
 * Sends an event as the service sends a webhook: a new signature each time, no redirects, a timeout of 15 s. `status`
 * is 0 if the server does not answer, and `que` says why.
 */
async function enviar(destino: string, cuerpo: string, id: string, secreto: string, signal: AbortSignal) {
  try {
    const respuesta = await fetch(destino, {
      method: 'POST',
      body: cuerpo,
      headers: { 'Content-Type': 'application/json', ...(await firmarWebhook(cuerpo, { id, secreto })) },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(PLAZO)]),
    })
    await respuesta.arrayBuffer()
    return { status: respuesta.status, que: '' }
  } catch (error) {
    const { message, cause } = error as Error
    return {
      status: 0,
      que: cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : message,
    }
  }
}

function leerDestino(texto: string | undefined): string | undefined {
  if (texto === undefined) return undefined
  const url = URL.canParse(texto) ? new URL(texto) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url.href
  throw new ErrorDeUso(`--reenviar debe ser una dirección como http://localhost:4000/webhooks y llegó «${texto}».`)
}

/**
 * Reads `--desde`: `principio`, `ahora` or an instant that the service accepts.
 *
 * @throws ErrorDeUso for any other text
 */
function leerDesde(texto: string | undefined): string | undefined {
  if (texto === undefined || texto === 'principio' || texto === 'ahora') return texto
  return instante('desde', texto, 'principio, ahora o ')
}

async function leerSecreto(contexto: Contexto): Promise<string> {
  const dado = contexto.texto('secreto') ?? process.env.GUIAS_SECRETO
  if (dado === undefined) {
    const nuevo = `whsec_${randomBytes(32).toString('base64')}`
    avisar(`Se firma con ${nuevo}\nPóngalo en su servidor como secreto (GUIAS_SECRETO).`)
    return nuevo
  }
  try {
    await firmarWebhook('', { id: 'prueba', secreto: dado })
    return dado
  } catch {
    throw new ErrorDeUso('El secreto debe ser whsec_ y base64 de 24 a 64 bytes; si no tiene uno, quite la opción.')
  }
}

const porOmision = (cuenta: string) =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'guias', `${cuenta}.cursor`)

function leerCursor(archivo: string): string | undefined {
  try {
    return readFileSync(archivo, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/**
 * Saves the cursor atomically: writes a temporary file, then renames it.
 *
 * @throws ErrorDeUso if the file cannot be written
 */
function guardarCursor(archivo: string, cursor: string) {
  try {
    mkdirSync(dirname(archivo), { recursive: true })
    writeFileSync(`${archivo}.${process.pid}`, `${cursor}\n`)
    renameSync(`${archivo}.${process.pid}`, archivo)
  } catch (error) {
    throw new ErrorDeUso(`No se pudo guardar el cursor en ${archivo}: ${porque(error)}.`)
  }
}

const alFinal = async (api: Guias, signal: AbortSignal) =>
  (await api.eventos.listar({ desde: 'ahora', limite: 1 }, { signal })).cursor_siguiente
