import { randomUUID } from 'node:crypto'
import { type Db, inTransaction, statement } from '../../data/db.ts'
import type { RecuperacionParaCrear } from '../../generado/contrato/tipos/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import type { Deps } from '../deps.ts'
import { type Recordar, unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { type FilaRecuperacion, findRange, leerRecuperacion, presentarRecuperacion } from './recuperacion.ts'
import { type ClaveDeWebhook, exigirWebhook } from './webhook.ts'

const CREAR = statement<
  ClaveDeWebhook &
    Pick<FilaRecuperacion, 'recuperacion' | 'paso' | 'desde' | 'hasta' | 'todas' | 'posicion' | 'creado_en'>,
  FilaRecuperacion
>(
  'recuperacion.crear',
  `insert into recuperacion (comercio_id, modo, webhook, recuperacion, paso, desde, hasta, todas, posicion, estado, creado_en)
   values (:comercio_id, :modo, :webhook, :recuperacion, :paso, :desde, :hasta, :todas, :posicion::jsonb, 'en_curso',
     :creado_en)
   on conflict (comercio_id, modo, webhook) where (estado = 'en_curso'::text) do nothing returning *`,
)

type Partes = Pick<Deps, 'db' | 'reloj' | 'avisarTrabajo' | 'ajustes' | 'bitacora'>
type Entrada = Parameters<Handler<'recuperarAvisosDeWebhook'>>[0]

export const recuperarAvisosDeWebhook: Handler<'recuperarAvisosDeWebhook'> = async (entrada, deps) => {
  const { path, body, identidad } = entrada
  // A dry run changes nothing, so it needs no idempotency key.
  if (body.ensayo) {
    const pedida = await leerPedida(entrada, deps, deps.reloj())
    return { status: 200, body: await deps.ensayar(pedida, entrada.alAbandonar()) }
  }
  const { hecho, headers } = await unaVez(deps, 'recuperarAvisosDeWebhook', entrada, {
    hacer: (recordar) => empezar(entrada, deps, recordar),
    releer: (recuperacion) => leerRecuperacion(deps.db, identidad, path.webhook, recuperacion),
  })
  const Location = `/api/v1/webhooks/${hecho.webhook}/recuperaciones/${hecho.recuperacion}`
  return { status: 202, headers: { ...headers, Location }, body: presentarRecuperacion(hecho) }
}

/** Reads the endpoint and the range of the requested recovery. @throws Problema 404, 422 */
async function leerPedida({ path, body, identidad }: Entrada, { db, ajustes }: Partes, ahora: Date) {
  const webhook = await exigirWebhook(db, identidad, path.webhook, ahora)
  const { desde, hasta } = exigirTiempo(body, ahora, ajustes.retencionDeWebhooks)
  return { ...webhook, desde, hasta, todas: body.todas ?? false }
}

/** Starts the recovery, and stores its request's key with it. */
async function empezar(entrada: Entrada, deps: Partes, recordar: Recordar): Promise<FilaRecuperacion> {
  const { path, identidad, idSolicitud, red } = entrada
  const { db, reloj, avisarTrabajo, bitacora } = deps
  const ahora = reloj()
  const pedida = await leerPedida(entrada, deps, ahora)
  const { desde, hasta, todas } = pedida
  if (pedida.estado !== 'activo') {
    throw new Problema(
      'webhook_inactivo',
      `El webhook está ${pedida.estado}. Reactívelo con PATCH {"estado":"activo"} y repita.`,
    )
  }
  const recuperacion = `rec_${randomBase32(12)}`
  const posicion = await findRange(db, identidad, desde, hasta)
  const creada = await inTransaction(db, async (consultar) => {
    const [fila] = await consultar(CREAR, { ...pedida, recuperacion, paso: randomUUID(), posicion, creado_en: ahora })
    if (!fila) return undefined
    await bitacora.anotar(
      consultar,
      { identidad, idSolicitud, red },
      {
        accion: 'recuperarAvisosDeWebhook',
        sobre: ['webhook', path.webhook],
        despues: { recuperacion, desde, hasta, todas },
      },
    )
    await recordar(consultar, recuperacion)
    return fila
  })
  if (!creada) return rechazarOtra(db, pedida)
  avisarTrabajo()
  return creada
}

async function rechazarOtra(db: Db, { comercio_id, modo, webhook }: ClaveDeWebhook): Promise<never> {
  const otra = await db.prisma.recuperacion.findFirst({ where: { comercio_id, modo, webhook, estado: 'en_curso' } })
  throw new Problema(
    'recuperacion_en_curso',
    `La recuperación ${otra?.recuperacion ?? ''} sigue en curso. Espere a que termine.`,
  )
}

function exigirTiempo(cuerpo: RecuperacionParaCrear, ahora: Date, dias: number) {
  const desde = readInstant(cuerpo.desde)!
  const hasta = cuerpo.hasta === undefined ? ahora : readInstant(cuerpo.hasta)!
  const falla = (campo: string, mensaje: string) =>
    problemOfFaults('validacion', [{ campo, codigo: 'fuera_de_rango', mensaje }])
  if (desde >= ahora) throw falla('/desde', 'debe estar en el pasado')
  // Older deliveries are no longer kept, so the service cannot know if they arrived.
  if (desde.getTime() < ahora.getTime() - dias * 86_400_000)
    throw falla('/desde', `debe estar en los últimos ${dias} días; lo anterior está en el flujo de eventos`)
  if (hasta <= desde) throw falla('/hasta', 'debe ser posterior a desde; omítalo para llegar hasta ahora')
  return { desde, hasta: hasta > ahora ? ahora : hasta }
}
