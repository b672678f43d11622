import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { paginar } from '../listas/pagina.ts'
import { columnasDeWebhook, type FilaWebhook, presentarWebhook } from './webhook.ts'

const LISTAR = sentencia(
  'webhooks.listar',
  `select ${columnasDeWebhook('$6')} from webhook w
   where w.comercio_id = $1 and w.modo = $2 and w.estado <> 'eliminado' and (w.creado_en, w.webhook) > ($3, $4)
   order by w.creado_en, w.webhook limit $5`,
)

export const listarWebhooks: Handler<'listarWebhooks'> = async ({ query, identidad }, { db, cursores, reloj }) => {
  const { comercioId, modo } = identidad
  const ambito = { operacion: 'listarWebhooks', dueno: `${comercioId}:${modo}` }
  const pagina = await paginar(cursores, ambito, query ?? {}, {
    leer: (despues, cuantas) =>
      db.consultar<FilaWebhook>(LISTAR, [
        comercioId,
        modo,
        new Date(despues?.[0] ?? 0),
        despues?.[1] ?? '',
        cuantas,
        reloj(),
      ]),
    posicion: ({ creado_en, webhook }) => [creado_en.getTime(), webhook],
    presentar: presentarWebhook,
  })
  return { status: 200, body: pagina }
}
