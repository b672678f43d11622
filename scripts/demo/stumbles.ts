import type { Estado, Guia, Guias } from '@guias/sdk'
import type { OperatorApi } from './operatorApi.ts'
import { readUntil } from './wait.ts'

/** Clients and helpers that this part of the demo needs. */
export interface Mishaps {
  api: Guias
  url: string
  operatorApi: OperatorApi
  /** Reports a state change of a guide, as the courier company's own system would. */
  operate: (guia: string, estado: Estado) => Promise<void>
  /** Creates a guide, with a known location or without one. */
  create: (referencia: string, hasPlace: boolean) => Promise<Guia>
}

/** Number of failed attempts after which the parcel returns automatically. */
const MAX_INTENTOS = 2

/**
 * Corrects the telephone of a guide whose recipient has been asked for the location. Returns the types of the guide's
 * events.
 */
export async function correctTelefono({ api, create }: Mishaps): Promise<{ guia: string; tipos: string[] }> {
  const { guia } = await create('TEL-1', false)
  const types = async () => (await api.guias.eventos(guia)).datos.map(({ tipo }) => tipo)
  await readUntil(types, (seenTypes) => seenTypes.includes('ubicacion.solicitada'))
  await api.guias.corregir(guia, { telefono: '+502 3148 1676' })
  return { guia, tipos: await readUntil(types, (seenTypes) => seenTypes.lastIndexOf('ubicacion.solicitada') === 3) }
}

/** Changes the merchant's settings: recipients may decide, and parcels return automatically after two attempts. */
export async function setIntentoPolicy({ api, operatorApi }: Mishaps): Promise<void> {
  const { comercio, politica_de_intentos } = await api.cuenta.obtener()
  await operatorApi('PATCH', `comercios/${comercio}`, {
    politica_de_intentos: {
      ...politica_de_intentos,
      maximos: MAX_INTENTOS,
      al_vencer: 'devolver',
      destinatario_decide: true,
    },
  })
}

/**
 * Makes a delivery fail. Then chooses another day with the link in the recipient's message, and delivers.
 * @returns the guide after the choice, and after the delivery
 */
export async function chooseOtherDay(mishaps: Mishaps): Promise<{ decidedGuia: Guia; deliveredGuia: Guia }> {
  const { api, url, operate, create } = mishaps
  const { guia } = await create('DIA-1', true)
  for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const) await operate(guia, estado)
  const buzon = async () => (await fetch(`${url}/buzon`)).text()
  const linkOf = (page: string) => /href="(d\/[^"]+)"/.exec(page)?.[1]
  const link = linkOf(await readUntil(buzon, (page) => linkOf(page) !== undefined))
  const body = new URLSearchParams({ eleccion: 'otro_dia' })
  await fetch(`${url}/${link}`, { method: 'POST', redirect: 'manual', body })
  const decidedGuia = await api.guias.obtener(guia)
  await operate(guia, 'en_ruta')
  await api.simulador.avanzar(guia, { estado: 'entregado' })
  return { decidedGuia, deliveredGuia: await api.guias.obtener(guia) }
}

/**
 * Makes the delivery of a guide fail as often as the policy permits. Returns the guide when its automatic return has
 * begun.
 */
export async function exhaustIntentos({ api, operate, create }: Mishaps): Promise<Guia & { motivo: unknown }> {
  const { guia } = await create('VUELVE-1', true)
  await operate(guia, 'recolectado')
  for (let intento = 0; intento < MAX_INTENTOS; intento++)
    for (const estado of ['en_ruta', 'intento_fallido'] as const) await operate(guia, estado)
  const returningGuia = await readUntil(
    () => api.guias.obtener(guia, { limite: 100 }),
    ({ estado }) => estado === 'en_devolucion',
  )
  return { ...returningGuia, motivo: returningGuia.eventos.datos.at(-1)?.motivo }
}
