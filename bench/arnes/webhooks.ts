import { get } from 'node:http'
import { setTimeout as dormir } from 'node:timers/promises'
import { eventoDeCreacion } from '../../server/domain/eventos/evento.ts'
import { guiaNueva } from '../../server/domain/guias/campos.ts'
import { normalizar } from '../../server/domain/guias/datos.ts'
import { cuerpoDeWebhook, entregasDe } from '../../server/domain/webhooks/entrega.ts'
import { encryptSecret } from '../../server/domain/webhooks/secret.ts'
import { newSecret, secretBytes } from '../../server/domain/webhooks/signature.ts'
import { nuevoCodigoDeWebhook } from '../../server/domain/webhooks/webhook.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { nuevaGuia } from './datos.ts'
import type { DestinoDeEntregas } from './encargo.ts'
import type { Banco, Base, ComercioDeBench } from './entorno.ts'

interface Resumen {
  distintas: number
  repetidas: number
  /** Requests that the receiver never answers. */
  colgadas: number
  /** First arrival, in milliseconds of the clock of `ahora`. */
  primera?: number
  ultima?: number
}

/** Running receiver (`bench/receptor.ts`). */
export interface ReceptorDeBench {
  url: string
  pid: number
  /** Forgets all arrivals. */
  reiniciar(): Promise<void>
  resumen(): Promise<Resumen>
  /**
   * Resolves with the arrivals when at least `cuantas` distinct ids have arrived.
   * @throws if they do not arrive within `ms` milliseconds
   */
  esperar(cuantas: number, ms: number): Promise<Resumen>
  /** First arrival of each id, in milliseconds of the clock of `ahora`. */
  llegadas(): Promise<Map<string, number>>
}

function pedir<T>(url: string): Promise<T> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, async (respuesta) => {
      const trozos = await respuesta.setEncoding('utf8').toArray()
      resolve(JSON.parse(trozos.join('')))
    }).once('error', reject)
  })
}

/** Starts a receiver. */
export async function lanzarReceptor(base: Pick<Base, 'programa'>): Promise<ReceptorDeBench> {
  const { url, pid } = await base.programa('receptor.ts')
  return {
    url,
    pid,
    reiniciar: () => pedir(`${url}/reiniciar`),
    resumen: () => pedir(`${url}/resumen`),
    async esperar(cuantas, ms) {
      const resumen = await pedir<Resumen>(`${url}/resumen?cuantas=${cuantas}&ms=${ms}`)
      if (resumen.distintas < cuantas)
        throw new Error(`llegaron ${resumen.distintas} de ${cuantas} webhooks en ${ms / 1000} s`)
      return resumen
    },
    llegadas: async () => new Map(await pedir<[string, number][]>(`${url}/llegadas`)),
  }
}

/**
 * Sends a POST without a body; resolves when the answer is 200.
 * @throws if the status is another
 */
export async function mandar(url: string): Promise<void> {
  const respuesta = await fetch(url, { method: 'POST' })
  if (respuesta.status !== 200) throw new Error(await respuesta.text())
}

/** Registers one active endpoint for each merchant, subscribed to all event types. */
export async function registrarEndpoints(
  { masterKeys }: Banco,
  { db }: Base,
  comercios: readonly ComercioDeBench[],
  urlDe: (i: number) => string,
): Promise<DestinoDeEntregas[]> {
  const secretos = createSecrets(masterKeys)
  const destinos: DestinoDeEntregas[] = []
  for (const [i, comercio] of comercios.entries()) {
    const webhook = nuevoCodigoDeWebhook()
    const url = urlDe(i)
    const clave = secretBytes(newSecret())
    await db.pool.query(
      `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
       values ($1, $2, $3, $4, '{*}', 'activo', now(), now(), now(), now())`,
      [comercio.id, comercio.modo, webhook, url],
    )
    await db.pool.query(
      `insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
       values ($1, $2, $3, 1, $4, now())`,
      [comercio.id, comercio.modo, webhook, encryptSecret(secretos, { webhook, version: 1 }, clave)],
    )
    destinos.push({ comercio, webhook, url, clave, ejemplo: cuerpoDeEjemplo(comercio) })
  }
  await db.pool.query('analyze webhook, webhook_secreto, comercio')
  return destinos
}

/** Returns the body that the service sends for a new guide with the code `GUIA_EJEMPLO`. */
function cuerpoDeEjemplo({ id: comercio_id, modo }: ComercioDeBench): string {
  const datos = normalizar(JSON.parse(nuevaGuia()), { pais: null })
  const creado_en = new Date()
  const guia = guiaNueva(datos, { comercio_id, modo, id: '', guia: 'GUIA_EJEMPLO', huellas: null, creado_en })
  const [contenido] = entregasDe({ guia, evento: eventoDeCreacion(guia, null), webhooks: [''], desde: 0 })
  return cuerpoDeWebhook(contenido!)
}

/**
 * Starts `hacer` at a steady pace, without waiting for earlier calls. Resolves when all calls have ended.
 * @throws the first error of a call, after which no call starts
 */
export async function alRitmo(porSegundo: number, segundos: number, hacer: (i: number) => Promise<void>) {
  const inicio = performance.now()
  const hechas: Promise<void>[] = []
  let falla: unknown
  for (let i = 0; i < porSegundo * segundos && falla === undefined; i++) {
    const espera = inicio + (i * 1000) / porSegundo - performance.now()
    if (espera > 0) await dormir(espera)
    hechas.push(
      hacer(i).catch((error) => {
        falla ??= error
      }),
    )
  }
  await Promise.all(hechas)
  if (falla !== undefined) throw falla
}

/**
 * Waits until a table is empty.
 * @param tabla table, optionally with a WHERE clause
 * @throws if rows remain after 60 s
 */
export async function vaciar({ db }: Base, tabla: string): Promise<void> {
  for (const limite = performance.now() + 60_000; performance.now() < limite; await dormir(20)) {
    const { rows } = await db.pool.query<{ quedan: boolean }>(`select exists (select 1 from ${tabla}) as quedan`)
    if (!rows[0]!.quedan) return
  }
  throw new Error(`siguen quedando filas en ${tabla}`)
}
