import { paginate } from '../../api/lists/page.ts'
import { statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { COLUMNAS_DE_WEBHOOK, type FilaWebhook, presentarWebhook } from './webhook.ts'

const LISTAR = statement<
  Pick<FilaWebhook, 'comercio_id' | 'modo' | 'creado_en' | 'webhook'> & { limite: number; ahora: Date },
  FilaWebhook
>(
  'webhooks.listar',
  `select ${COLUMNAS_DE_WEBHOOK} from webhook w
   where w.comercio_id = :comercio_id and w.modo = :modo and w.estado <> 'eliminado'
     and (w.creado_en, w.webhook) > (:creado_en, :webhook)
   order by w.creado_en, w.webhook limit :limite`,
)

export const listarWebhooks: Handler<'listarWebhooks'> = async ({ query, identidad }, { db, cursores, reloj }) => {
  const { comercioId, modo } = identidad
  const ambito = { operacion: 'listarWebhooks', dueno: `${comercioId}:${modo}` }
  const pagina = await paginate(cursores, ambito, query ?? {}, {
    leer: (despues, limite) =>
      db.consultar(LISTAR, {
        comercio_id: comercioId,
        modo,
        creado_en: new Date(despues?.[0] ?? 0),
        webhook: String(despues?.[1] ?? ''),
        limite,
        ahora: reloj(),
      }),
    posicion: ({ creado_en, webhook }) => [creado_en.getTime(), webhook],
    presentar: presentarWebhook,
  })
  return { status: 200, body: pagina }
}
