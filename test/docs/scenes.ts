import { createDeliveredGuia, createGuiaOnRoute, fallida } from '../archivos/images.ts'
import type { Comercio, TestEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { conDias } from './days.ts'

/** What the documentation's examples name, and what stands for it in a scene. */
interface Escena {
  comercio: Comercio
  /** A text of the documentation with what it names replaced by what there is. */
  add(texto: string): string
}

/**
 * The guide with which an operation, or one of its request examples (`operation.example`), goes well; the others take one
 * with a confirmed place that nobody has touched. A new operation that needs something else has its line here.
 */
const GUIAS: Record<string, (entorno: TestEnvironment, comercio: Comercio) => Promise<string>> = {
  confirmarUbicacion: createWithoutPlace,
  simularUbicacion: createWithoutPlace,
  reintentarGuia: fallida,
  devolverGuia: fallida,
  simularDecision: fallida,
  async reenviarSolicitud(entorno, comercio) {
    const guia = await createWithoutPlace(entorno, comercio)
    await comercio.api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    return guia
  },
  'simularAvance.intento': createGuiaOnRoute,
  'simularAvance.sinFirma': createGuiaOnRoute,
  obtenerPruebaDeEntrega: async (entorno, comercio) => (await createDeliveredGuia(entorno, comercio)).guia,
}

let telefonos = 0
/** Of a phone of its own: one phone is asked a few times a day. */
async function createWithoutPlace(_: TestEnvironment, { api }: Comercio) {
  return (await api.guias.crear(buildGuiaWithoutDestino({ telefono: `+502${50_000_000 + ++telefonos}` }))).guia
}
async function intacta(_: TestEnvironment, { api }: Comercio) {
  return (await api.guias.crear(buildGuia())).guia
}

const hoursAgo = (entorno: TestEnvironment, horas: number) =>
  new Date(entorno.clock().getTime() - horas * 3_600_000).toISOString()

/**
 * A merchant of its own with all that the operation's path names, and something to find in every list. `receptor`: where
 * webhooks may go.
 * @param exampleName the request example that is going to be sent
 */
export async function setUpScene(
  entorno: TestEnvironment,
  receptor: string,
  { id, path: ruta, method: metodo }: { id: string; path: string; method: string },
  exampleName = '',
): Promise<Escena> {
  const comercio = await entorno.nuevoComercio()
  const { api } = comercio
  // The longer name before those that are parts of it.
  const vivos: [escrito: string, vivo: string][] = []
  if (ruta.includes('{webhook}') || metodo === 'get') {
    const { webhook } = await api.webhooks.crear({ url: `${receptor}/escena` })
    if (ruta.includes('{aviso}')) {
      vivos.push(['avi_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1', (await api.webhooks.probar(webhook)).aviso])
    }
    if (ruta.includes('{recuperacion}')) {
      const { recuperacion } = await api.webhooks.recuperar(webhook, { desde: hoursAgo(entorno, 1) })
      vivos.push(['rec_9W2KQ8WZ1MTA', recuperacion])
    }
    vivos.push(['wh_4T8WQ2ZK7NHB', webhook])
  }
  const deVarias = id === 'crearEtiquetas'
  if (deVarias || ruta.includes('{guia}') || metodo === 'get') {
    const guia = await (GUIAS[`${id}.${exampleName}`] ?? GUIAS[id] ?? intacta)(entorno, comercio)
    vivos.push(['7K3M9QX2A1B4', guia], ['2Q9ZT4C7XK0Y', deVarias ? await intacta(entorno, comercio) : guia])
  }
  vivos.push(
    ['https://tienda.ejemplo.com/guias/eventos', `${receptor}/eventos`],
    ['https://tienda.ejemplo.com:8443/guias', `${receptor}/guias`],
    ['https://nueva.ejemplo.com/guias', `${receptor}/nueva`],
    ['http://127.0.0.1:3000', entorno.url],
    ['guia_test_…', comercio.llave],
  )
  return {
    comercio,
    add: (texto) =>
      vivos.reduce((filled, [escrito, vivo]) => filled.replaceAll(escrito, vivo), conDias(texto, entorno)),
  }
}
