import type { OperationId } from '../../api/contract/contract.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { statement } from '../../data/db.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { type AmbitoDeWebhooks, COLUMNAS_DE_WEBHOOK, type FilaWebhook, presentarWebhook } from './webhook.ts'

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

export const listarWebhooks: Handler<'listarWebhooks'> = async ({ query, identidad }, deps) => ({
  status: 200,
  body: await paginaDeWebhooks(deps, 'listarWebhooks', identidad, query),
})

/** Returns a page of a merchant's endpoints, for the merchant or for operators. */
export const paginaDeWebhooks = (
  { db, cursores, reloj }: Pick<Deps, 'db' | 'cursores' | 'reloj'>,
  operacion: OperationId,
  { comercioId, modo }: AmbitoDeWebhooks,
  query: Pagination | undefined,
) =>
  paginate(cursores, { operacion, dueno: `${comercioId}:${modo}` }, query ?? {}, {
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
