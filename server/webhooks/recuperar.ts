import { randomUUID } from 'node:crypto'
import { base32AlAzar } from '../codigos/codigos.ts'
import type { RecuperacionParaCrear } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { type Db, sentencia } from '../db.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { leerInstante } from '../formatos.ts'
import {
  buscarTramo,
  eventosPorRecuperar,
  type FilaRecuperacion,
  porEnviar,
  presentarRecuperacion,
  valoresDe,
} from './recuperacion.ts'
import { type Ambito, exigirWebhook, type FilaWebhook } from './webhook.ts'

/** A dry run looks at so many events at most: it is a request, and somebody waits for it. */
const ENSAYO = 50_000

const ENSAYAR = sentencia(
  'recuperacion.ensayar',
  `select count(*) filter (where suyo)::int as eventos, count(*)::int as mirados,
     count(*) filter (where suyo and ${porEnviar('e', '$11::boolean')})::int as entregas
   from (${eventosPorRecuperar(String(ENSAYO))}) v
   left join webhook_entrega e on v.suyo and e.comercio_id = v.comercio_id and e.modo = v.modo and e.webhook = $3
     and e.guia_id = v.guia_id and e.secuencia = v.secuencia`,
)

const CREAR = sentencia(
  'recuperacion.crear',
  `insert into recuperacion (comercio_id, modo, webhook, recuperacion, paso, desde, hasta, todas, posicion, estado, creado_en)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, 'en_curso', $10)
   on conflict (comercio_id, modo, webhook) where (estado = 'en_curso'::text) do nothing returning *`,
)

const EN_CURSO = sentencia(
  'recuperacion.enCurso',
  `select recuperacion from recuperacion where comercio_id = $1 and modo = $2 and webhook = $3 and estado = 'en_curso'`,
)

export const recuperarEntregasDeWebhook: Handler<'recuperarEntregasDeWebhook'> = async (
  { path, body, identidad },
  { db, reloj, avisarTrabajo, retencionDeWebhooks },
) => {
  const ahora = reloj()
  const webhook = await exigirWebhook(db, identidad, path.webhook, ahora)
  const { desde, hasta } = exigirTiempo(body, ahora, retencionDeWebhooks)
  const tramo = await buscarTramo(db, identidad, desde, hasta)
  if (body.ensayo) {
    const valores = [...valoresDe(identidad, webhook, desde, hasta, tramo), body.todas ?? false]
    const [cuenta] = await db.consultar<{ eventos: number; entregas: number; mirados: number }>(ENSAYAR, valores)
    const { eventos, entregas, mirados } = cuenta!
    return { status: 200, body: { eventos, entregas, exacto: mirados < ENSAYO } }
  }
  if (webhook.estado !== 'activo') {
    throw new Problema(
      'webhook_inactivo',
      `El webhook está ${webhook.estado}. Reactívelo con PATCH {"estado":"activo"} y repita.`,
    )
  }
  const [creada] = await db.consultar<FilaRecuperacion>(CREAR, [
    webhook.comercio_id,
    webhook.modo,
    webhook.webhook,
    `rec_${base32AlAzar(12)}`,
    randomUUID(),
    desde,
    hasta,
    body.todas ?? false,
    tramo,
    ahora,
  ])
  if (!creada) await rechazarOtra(db, identidad, webhook)
  avisarTrabajo()
  return {
    status: 202,
    headers: { Location: `/api/v1/webhooks/${webhook.webhook}/recuperaciones/${creada!.recuperacion}` },
    body: presentarRecuperacion(creada!),
  }
}

async function rechazarOtra(db: Db, { comercioId, modo }: Ambito, { webhook }: FilaWebhook): Promise<never> {
  const [otra] = await db.consultar<{ recuperacion: string }>(EN_CURSO, [comercioId, modo, webhook])
  throw new Problema(
    'recuperacion_en_curso',
    `La recuperación ${otra?.recuperacion ?? ''} sigue en curso. Espere a que termine.`,
  )
}

function exigirTiempo(cuerpo: RecuperacionParaCrear, ahora: Date, dias: number) {
  const desde = leerInstante(cuerpo.desde)!
  const hasta = cuerpo.hasta === undefined ? ahora : leerInstante(cuerpo.hasta)!
  const falla = (campo: string, mensaje: string) =>
    problemaDeFallas('validacion', [{ campo, codigo: 'fuera_de_rango', mensaje }])
  if (desde >= ahora) throw falla('/desde', 'debe estar en el pasado')
  // Of what is older nobody knows any more whether it arrived.
  if (desde.getTime() < ahora.getTime() - dias * 86_400_000)
    throw falla('/desde', `debe estar en los últimos ${dias} días; lo anterior está en GET /api/v1/eventos`)
  if (hasta <= desde) throw falla('/hasta', 'debe ser posterior a desde; omítalo para llegar hasta ahora')
  return { desde, hasta: hasta > ahora ? ahora : hasta }
}
