import { readFileSync } from 'node:fs'
import type { GuiaIndividual, LoteParaCrear } from '@guias/sdk'
import type { ServiceSettings } from '../server/domain/deps.ts'
import { Front } from '../server/pages/front.ts'
import { readConfig } from '../server/platform/config/config.ts'
import { settingsOf } from '../server/startup/buildDeps.ts'
import { listOpenTransactions } from './postgres.ts'

/** Options of a test of how PostgreSQL itself does it; `test/citus/` has what Citus does instead. */
export const EN_POSTGRES = { tags: ['postgres'] }
/** Options of a test that needs minutes or a browser's whole journey: only `npm run test:slow` runs it. */
export const FULL_RUN_ONLY = { tags: ['slow'] }

export const RECOGIDA = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
/** {@link RECOGIDA} as answers show it. */
export const RECOGIDA_VIEW = {
  ...RECOGIDA,
  maps_url: null,
  contacto: null,
  telefono: null,
  direccion: null,
  indicaciones: null,
}

/** An operator's report of a state. A delivery in a test that is not about proofs has none, so it is forced. */
export const buildEstadoReport = (estado: string) =>
  estado === 'entregado' ? { estado, forzar: { razon: 'Entregado en papel' } } : { estado }

let guiaSerial = 0

/** A valid guide with coordinates and a reference of its own. */
export const buildGuia = (cambios: Partial<GuiaIndividual> = {}): GuiaIndividual & { recogida: typeof RECOGIDA } =>
  ({
    telefono: '+50231481676',
    departamento: 'Guatemala',
    municipio: 'San Juan Sacatepéquez',
    lat: 14.71889,
    lng: -90.64417,
    external_ref: `PRUEBA-${process.pid}-${++guiaSerial}`,
    recogida: RECOGIDA,
    ...cambios,
  }) as GuiaIndividual & { recogida: typeof RECOGIDA }

/** A valid guide that names no place. */
export function buildGuiaWithoutDestino(cambios: Partial<GuiaIndividual> = {}) {
  const { lat, lng, ...guiaFields } = buildGuia(cambios)
  return guiaFields
}

/** What a service reads of its configuration: of none, or of that. */
export const readTestSettings = (env: Record<string, string> = {}): ServiceSettings =>
  settingsOf(readConfig(env, '/'), 'https://guias.example.gt')

/** The frame of pages, in the brand of whoever configures none. */
export const DEFAULT_FRONT = new Front(readTestSettings().brand, 'https://guias.example.gt')

/** The source that the frame's own style adds to every page's policy, and the element that it stands in. */
export const [BRAND_STYLE_HASH = ''] =
  /'sha256-[^']+'/.exec(DEFAULT_FRONT.policyHeaders({})['Content-Security-Policy']) ?? []
export const stripBrandStyle = (html: string) => html.replace(/<style>:root\{--marca-dia:[^<]*<\/style>/, '')

/** The hundred real guides (data/README.md says where they come from). */
export const lote100 = (): LoteParaCrear =>
  JSON.parse(readFileSync(new URL('data/lote-100.json', import.meta.url), 'utf8'))

/**
 * Waits for it. The deadline is generous: a slow machine waits, it doesn't fail. The error names the transactions that
 * have been open for long, because one of them holds back the feeds of all databases of its server.
 */
export async function waitUntil<T>(read: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 120_000; ; ) {
    const value = await read()
    if (value) return value
    if (Date.now() > end)
      throw new Error(`it did not happen in time; open transactions: ${await listOpenTransactions()}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
