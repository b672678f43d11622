import type { KeyObject } from 'node:crypto'
import { statement } from '../../data/db.ts'
import { askByMerchant } from '../../data/spread.ts'
import { readDestination } from '../../platform/outbound/destination.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { decryptSecret, type FilaSecreto } from './secret.ts'
import { signingKeyOf } from './signature.ts'
import { type ClaveDeWebhook, type FilaWebhook, politicaDe } from './webhook.ts'

/** Row of an endpoint with its valid secrets, newest first. */
type FilaReceptor = ClaveDeWebhook &
  Pick<FilaWebhook, 'url' | 'estado' | 'comprobado_en' | 'fallas' | 'freno_vence_en'> & {
    versiones: FilaSecreto['version'][]
    cifrados: FilaSecreto['cifrado'][]
    vencen_en: FilaSecreto['vence_en'][]
  }

/** Endpoint in the form that the sender needs. */
export interface Receptor extends Omit<FilaReceptor, 'url'> {
  url: string
  /** Parsed and checked address; undefined if requests to the address are not allowed, or no longer allowed. */
  direccion: URL | undefined
  /** Keys of the secrets; undefined if the keys are not available, and then no request can be sent. */
  claves: KeyObject[] | undefined
}

const RECEPTORES = statement<{ claves: string; ahora: Date }, FilaReceptor>(
  'webhooks.receptores',
  `select w.comercio_id, w.modo, w.webhook, w.url, w.estado, w.comprobado_en, w.fallas, w.freno_vence_en,
     array_agg(s.version order by s.version desc) as versiones, array_agg(s.cifrado order by s.version desc) as cifrados,
     array_agg(s.vence_en order by s.version desc) as vencen_en
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
   join webhook_secreto s on s.comercio_id = w.comercio_id and s.modo = w.modo and s.webhook = w.webhook
     and (s.vence_en is null or s.vence_en > :ahora)
   where w.estado <> 'eliminado' group by w.comercio_id, w.modo, w.webhook, w.url, w.estado, w.comprobado_en, w.fallas, w.freno_vence_en`,
  { alcance: 'parte' },
)

/** Dependencies of {@link leerReceptores}. */
export type DepsDeReceptor = Pick<DepsDeTrabajo, 'db' | 'log' | 'reloj' | 'secretos' | 'destinos'>

/**
 * Reads endpoints by their code, except deleted ones.
 * @param conocido returns the previous data of an endpoint, whose keys and address are reused if they are unchanged
 */
export async function leerReceptores(
  deps: DepsDeReceptor,
  claves: readonly ClaveDeWebhook[],
  conocido: (webhook: string) => Receptor | undefined,
): Promise<Map<string, Receptor>> {
  const { db } = deps
  const filas = await askByMerchant(db, claves, ({ consultar }, suyas) =>
    consultar(RECEPTORES, { claves: JSON.stringify(suyas), ahora: deps.reloj() }),
  )
  return new Map(filas.map((fila) => [fila.webhook, aReceptor(deps, fila, conocido(fila.webhook))]))
}

function aReceptor(deps: DepsDeReceptor, fila: FilaReceptor, antes: Receptor | undefined): Receptor {
  const url = fila.url!
  return {
    ...fila,
    url,
    direccion: antes?.url === url ? antes.direccion : leerDireccion(deps, url, fila.modo),
    claves: antes?.claves && mismosSecretos(antes, fila) ? antes.claves : leerClaves(deps, fila),
  }
}

function leerDireccion({ destinos }: DepsDeReceptor, url: string, modo: Receptor['modo']): URL | undefined {
  try {
    return readDestination(url, politicaDe(destinos, modo))
  } catch {
    return undefined
  }
}

function leerClaves({ secretos, log }: DepsDeReceptor, { webhook, versiones, cifrados }: FilaReceptor) {
  try {
    return versiones.map((version, i) => signingKeyOf(decryptSecret(secretos, { webhook, version }, cifrados[i]!)))
  } catch (err) {
    log.error({ err, webhook }, 'decrypting a webhook signing secret failed')
    return undefined
  }
}

/** Returns the secrets of an endpoint that are valid at a time, newest first. */
export function validSecrets({ versiones, vencen_en, claves = [] }: Receptor, cuando: Date) {
  const cuales = [...versiones.keys()].filter((i) => vencen_en[i] === null || vencen_en[i]! > cuando)
  return { secretos: cuales.map((i) => versiones[i]!), claves: cuales.map((i) => claves[i]!) }
}

const mismosSecretos = (antes: FilaReceptor | Receptor, ahora: FilaReceptor) =>
  antes.versiones.length === ahora.versiones.length &&
  antes.versiones.every(
    (version, i) => version === ahora.versiones[i] && Buffer.compare(antes.cifrados[i]!, ahora.cifrados[i]!) === 0,
  )
