import { randomUUID } from 'node:crypto'
import { inTransaction } from '../../server/data/db.ts'
import { saveCorreo } from '../../server/domain/correos/correo.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { MASTER_KEY, type OwnEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'

/** Fault of a promise: causes it, and returns the function that ends it. */
export type Falla = (environment: OwnEnvironment) => Promise<() => Promise<unknown>>

/** Starts a transaction that stays open until the returned function ends it. */
export async function startTransaction({ db }: Pick<OwnEnvironment, 'db'>, ...statements: string[]) {
  const client = await db.pool.connect()
  await client.query('begin')
  for (const statement of statements) await client.query(statement)
  return async () => {
    await client.query('rollback')
    client.release()
  }
}

/** Creates a merchant with an endpoint that no receiver answers, and a guide. */
async function createComercioWithWebhook(environment: OwnEnvironment, estado: 'activo' | 'pausado') {
  const comercio = await environment.createComercio()
  const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/nadie' })
  await comercio.api.webhooks.cambiar(webhook, { estado: 'pausado' })
  // Since long before the event.
  await environment.db.pool.query(
    `update webhook set estado = $2, comprobado_en = now(), creado_en = creado_en - interval '1 hour',
       estado_en = estado_en - interval '1 hour', actualizado_en = actualizado_en - interval '1 hour' where webhook = $1`,
    [webhook, estado],
  )
  return { ...comercio, webhook, guia: (await comercio.api.guias.crear(buildGuia())).guia }
}

/** Fault of each promise, by its gauge. */
export const PROMISE_FAULTS: Readonly<Record<string, Falla>> = {
  async guias_eventos_sin_avisos(environment) {
    const { webhook } = await createComercioWithWebhook(environment, 'pausado')
    await environment.db.pool.query('create table borradas as select * from webhook_aviso where webhook = $1', [
      webhook,
    ])
    await environment.db.pool.query('delete from webhook_aviso where webhook = $1', [webhook])
    return () => environment.db.pool.query('insert into webhook_aviso select * from borradas; drop table borradas')
  },

  async guias_webhook_avisos_sin_arriendo(environment) {
    // Meanwhile no process gets the lease of another endpoint.
    const endTransaction = await startTransaction(
      environment,
      'lock table webhook_arriendo in share row exclusive mode',
    )
    await createComercioWithWebhook(environment, 'activo')
    return endTransaction
  },

  async guias_webhook_avisos_atrasados(environment) {
    const { webhook } = await createComercioWithWebhook(environment, 'pausado')
    await environment.db.pool.query(
      `update webhook_aviso set proximo_en = now() - interval '1 hour' where webhook = $1`,
      [webhook],
    )
    // The process that has the lease can send, but not write down what it sent.
    const endTransaction = await startTransaction(
      environment,
      `select from webhook_aviso where webhook = '${webhook}' for update`,
    )
    await environment.db.pool.query(
      `update webhook set estado = 'activo', comprobado_en = comprobado_en - interval '1 hour' where webhook = $1`,
      [webhook],
    )
    return endTransaction
  },

  async guias_pruebas_atraso_segundos(environment) {
    const comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    const read = async () => {
      const { rows } = await environment.db.pool.query<{ pdf: string }>(
        'select pdf from prueba_entrega p join guia_indice i on i.id = p.guia_id where i.guia = $1 and pdf is not null',
        [guia],
      )
      return rows[0]?.pdf
    }
    const pdf = await waitUntil(read)
    const updatePrueba = (values: string, ...datos: string[]) =>
      environment.db.pool.query(
        `update prueba_entrega p set ${values} from guia_indice i where i.id = p.guia_id and i.guia = $1`,
        [guia, ...datos],
      )
    await updatePrueba("pdf = null, proximo_en = '9999-12-31', registrado_en = registrado_en - interval '1 hour'")
    return () => updatePrueba('pdf = $2', pdf)
  },

  async guias_mensajes_atascados(environment) {
    const { api, id } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    // A message of WhatsApp, in a service that has no WhatsApp any more.
    await environment.db.pool.query(
      `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, estado, proximo_en, creado_en)
       select comercio_id, modo, id, 9, $2, guia, 'whatsapp', 'acuse', 'pendiente', now() - interval '1 hour', now()
       from guia where guia = $1`,
      [guia, randomUUID()],
    )
    return () => environment.db.pool.query(`delete from mensaje where guia = $1 and comercio_id = $2`, [guia, id])
  },

  async guias_decisiones_vencidas(environment) {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    // A deadline without a decision is one that no job can apply.
    const setDeadline = (dueSql: string) =>
      environment.db.pool.query(`update guia set decision_vence = ${dueSql} where guia = $1`, [guia])
    await setDeadline("now() - interval '1 hour'")
    return () => setDeadline('null')
  },

  async guias_bitacora_sin_eslabon(environment) {
    // A link takes no line that is newer than the oldest open transaction.
    const endTransaction = await startTransaction(environment, 'select pg_current_xact_id()')
    await environment.db.pool.query(
      `insert into bitacora (id, linea, accion, quien_tipo, campos, creado_en)
       values ($1, $2, 'prueba', 'consola', '{}', now() - interval '1 hour')`,
      [randomUUID(), `bit_${randomUUID()}`],
    )
    return endTransaction
  },

  async guias_correos_atraso_segundos(environment) {
    const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])
    const newId = createIdGenerator(() => new Date(environment.clock().getTime() - 3_600_000))
    // Without a mail server a mail waits.
    await inTransaction(environment.db, (query) =>
      saveCorreo(
        query,
        { secretos, newId },
        { tipo: 'prueba', para: 'nadie@ejemplo.com', datos: {}, lifetimeMinutes: 1_440 },
      ),
    )
    return () => environment.db.pool.query('delete from correo')
  },

  async guias_cola_atraso_segundos(environment) {
    const { rows } = await environment.db.pool.query<{ id: string }>(
      `insert into pgboss.job (name, data, start_after) values ('recuperaciones', '{}', now() - interval '1 hour')
       returning id`,
    )
    // A worker skips a row that another transaction has locked.
    const endTransaction = await startTransaction(
      environment,
      `select from pgboss.job where id = '${rows[0]!.id}' for update`,
    )
    return async () => {
      await endTransaction()
      await environment.db.pool.query('delete from pgboss.job where id = $1', [rows[0]!.id])
    }
  },
}
