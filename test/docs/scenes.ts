import { createDeliveredGuia, createFailedGuia, createGuiaOnRoute } from '../archivos/images.ts'
import type { Comercio, TestEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { fillRelativeDays } from './days.ts'

/** What the documentation's examples name, and what stands for it in a scene. */
interface Scene {
  comercio: Comercio
  /** A text of the documentation with what it names replaced by what there is. */
  add(text: string): string
}

/**
 * The guide with which an operation, or one of its request examples (`operation.example`), goes well; the others take one
 * with a confirmed place that nobody has touched. A new operation that needs something else has its line here.
 */
const GUIAS: Record<string, (environment: TestEnvironment, comercio: Comercio) => Promise<string>> = {
  confirmarUbicacion: createWithoutPlace,
  simularUbicacion: createWithoutPlace,
  reintentarGuia: createFailedGuia,
  devolverGuia: createFailedGuia,
  simularDecision: createFailedGuia,
  async reenviarSolicitud(environment, comercio) {
    const guia = await createWithoutPlace(environment, comercio)
    await comercio.api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    return guia
  },
  'simularAvance.intento': createGuiaOnRoute,
  'simularAvance.sinFirma': createGuiaOnRoute,
  obtenerPruebaDeEntrega: async (environment, comercio) => (await createDeliveredGuia(environment, comercio)).guia,
}

let telefonoCount = 0
/** Of a phone of its own: one phone is asked a few times a day. */
async function createWithoutPlace(_: TestEnvironment, { api }: Comercio) {
  return (await api.guias.crear(buildGuiaWithoutDestino({ telefono: `+502${50_000_000 + ++telefonoCount}` }))).guia
}
async function createUntouchedGuia(_: TestEnvironment, { api }: Comercio) {
  return (await api.guias.crear(buildGuia())).guia
}

const hoursAgo = (environment: TestEnvironment, horas: number) =>
  new Date(environment.clock().getTime() - horas * 3_600_000).toISOString()

/**
 * A merchant of its own with all that the operation's path names, and something to find in every list. `receptor`: where
 * webhooks may go.
 * @param exampleName the request example that is going to be sent
 */
export async function setUpScene(
  environment: TestEnvironment,
  receptor: string,
  { id, path, method }: { id: string; path: string; method: string },
  exampleName = '',
): Promise<Scene> {
  const comercio = await environment.createComercio()
  const { api } = comercio
  // The longer name before those that are parts of it.
  const replacements: [documentedText: string, liveText: string][] = []
  if (path.includes('{webhook}') || method === 'get') {
    const { webhook } = await api.webhooks.crear({ url: `${receptor}/escena` })
    if (path.includes('{aviso}')) {
      replacements.push(['avi_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1', (await api.webhooks.probar(webhook)).aviso])
    }
    if (path.includes('{recuperacion}')) {
      const { recuperacion } = await api.webhooks.recuperar(webhook, { desde: hoursAgo(environment, 1) })
      replacements.push(['rec_9W2KQ8WZ1MTA', recuperacion])
    }
    replacements.push(['wh_4T8WQ2ZK7NHB', webhook])
  }
  const takesTwoGuias = id === 'crearEtiquetas'
  if (takesTwoGuias || path.includes('{guia}') || method === 'get') {
    const guia = await (GUIAS[`${id}.${exampleName}`] ?? GUIAS[id] ?? createUntouchedGuia)(environment, comercio)
    replacements.push(
      ['7K3M9QX2A1B4', guia],
      ['2Q9ZT4C7XK0Y', takesTwoGuias ? await createUntouchedGuia(environment, comercio) : guia],
    )
  }
  replacements.push(
    ['https://tienda.ejemplo.com/guias/eventos', `${receptor}/eventos`],
    ['https://tienda.ejemplo.com:8443/guias', `${receptor}/guias`],
    ['https://nueva.ejemplo.com/guias', `${receptor}/nueva`],
    ['http://127.0.0.1:3000', environment.url],
    ['guia_test_…', comercio.llave],
  )
  return {
    comercio,
    add: (text) =>
      replacements.reduce(
        (filled, [documentedText, liveText]) => filled.replaceAll(documentedText, liveText),
        fillRelativeDays(text, environment),
      ),
  }
}
