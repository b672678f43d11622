import type { Handler } from '../contrato/tipos.ts'
import { sentenciaDe } from '../db.ts'
import { leerInstante } from '../formatos.ts'
import { paginar } from '../listas/pagina.ts'
import { codigoDeFiltro, type FilaEntregaDeWebhook, presentarEntregaDeWebhook } from './entrega.ts'
import { exigirWebhook } from './webhook.ts'

export const listarEntregasDeWebhook: Handler<'listarEntregasDeWebhook'> = async (
  { path, query, identidad },
  { db, cursores, reloj },
) => {
  const { comercioId, modo } = identidad
  const { webhook } = await exigirWebhook(db, identidad, path.webhook, reloj())
  const { limite, cursor, ...filtros } = query ?? {}
  const ambito = { operacion: 'listarEntregasDeWebhook', dueno: `${comercioId}:${modo}:${webhook}`, filtros }
  const pagina = await paginar(cursores, ambito, query ?? {}, {
    async leer(despues, cuantas) {
      const valores: unknown[] = [comercioId, modo, webhook]
      const $ = (valor: unknown) => `$${valores.push(valor)}`
      const { estado, tipo, guia, creado_desde, creado_hasta } = filtros
      // Each state's own words, so that the planner knows the partial indexes that serve them.
      const condiciones = [
        ...(estado === undefined ? [] : [`e.estado = '${ESTADOS[estado] ?? ''}'`]),
        ...(tipo === undefined ? [] : [`e.tipo = ${$(tipo)}`]),
        ...(guia === undefined
          ? []
          : [
              `e.guia_id = (select id from guia_indice where guia = ${$(codigoDeFiltro(guia))} and comercio_id = $1 and modo = $2)`,
            ]),
        ...(creado_desde === undefined ? [] : [`e.creado_en >= ${$(leerInstante(creado_desde))}`]),
        ...(creado_hasta === undefined ? [] : [`e.creado_en < ${$(leerInstante(creado_hasta))}`]),
        ...(despues
          ? [
              `(e.creado_en, e.guia_id, e.secuencia) < (${$(new Date(despues[0]!))}, ${$(despues[1])}::uuid, ${$(despues[2])}::int)`,
            ]
          : []),
      ]
      return db.consultar<FilaEntregaDeWebhook>(
        sentenciaDe(`select e.* from webhook_entrega e where e.comercio_id = $1 and e.modo = $2 and e.webhook = $3
          ${condiciones.map((condicion) => `and ${condicion}`).join(' ')}
          order by e.creado_en desc, e.guia_id desc, e.secuencia desc limit ${$(cuantas)}`),
        valores,
      )
    },
    posicion: ({ creado_en, guia_id, secuencia }) => [creado_en.getTime(), guia_id, secuencia],
    presentar: presentarEntregaDeWebhook,
  })
  return { status: 200, body: pagina }
}

const ESTADOS: Readonly<Record<string, string>> = {
  pendiente: 'pendiente',
  entregada: 'entregada',
  fallida: 'fallida',
}
