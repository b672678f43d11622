import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import { letterHtml, letterText } from '../../platform/mail/letter.ts'
import type { MailResult } from '../../platform/mail/smtp.ts'
import { HANDOVER_WAITS } from '../../platform/time/backoff.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { type FilaCorreo, leerCorreo } from './correo.ts'
import { redactar } from './plantillas.ts'

type DepsDeCorreos = Pick<
  DepsDeTrabajo,
  'db' | 'log' | 'reloj' | 'secretos' | 'ajustes' | 'metricas' | 'clienteDeCorreo'
>

/** Maximum mails that are sent at the same time. */
const A_LA_VEZ = 4
/** Delay of a mail, in milliseconds, while no mail server or mailbox is configured, or while the mail account fails. */
const ESPERA_DE_LA_CUENTA = 600_000
/** Days for which the row of a mail is kept, for operators and for the local mailbox. */
const DIAS = 30

const PENDIENTES = statement<{ ahora: Date; cuantas: number }, Pick<FilaCorreo, 'id'> & { correo: FilaCorreo['id'] }>(
  'correos.pendientes',
  `select id as correo, md5(id::text || ':' || estado || proximo_en)::uuid as id from correo
   where estado in ('pendiente', 'enviando') and proximo_en <= :ahora order by proximo_en limit :cuantas`,
)

/** Returns due mails as jobs: pending mails, and mails whose sending process died. */
export async function correosPendientes(
  { db, reloj }: Pick<DepsDeCorreos, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> {
  const filas = await db.consultar(PENDIENTES, { ahora: reloj(), cuantas })
  return filas.map(({ id, correo }) => ({ id, data: { correo } }))
}

const ADELANTAR = statement<{ ahora: Date }>(
  'correos.adelantar',
  `update correo set proximo_en = :ahora::timestamptz where estado = 'pendiente' and intentos = 0
     and proximo_en > :ahora and creado_en > :ahora`,
)

/** Corrects the due time of mails that were written before the clock was set back. */
export const adelantarCorreos = ({ db, reloj }: Pick<DepsDeCorreos, 'db' | 'reloj'>) =>
  db.consultar(ADELANTAR, { ahora: reloj() })

/** Claims due mails for two minutes. */
const RECLAMAR = statement<
  { correos: readonly string[]; ahora: Date },
  Pick<FilaCorreo, 'id' | 'tipo' | 'contenido' | 'intentos' | 'vence_en'>
>(
  'correos.reclamar',
  `update correo set estado = 'enviando', intentos = intentos + 1, proximo_en = :ahora::timestamptz + interval '2 minutes'
   where id = any(:correos::uuid[]) and estado in ('pendiente', 'enviando') and proximo_en <= :ahora
   returning id, tipo, contenido, intentos, vence_en`,
)

type Reclamado = Pick<FilaCorreo, 'id' | 'tipo' | 'contenido' | 'intentos' | 'vence_en'>

/** Sends the mails of these jobs. Repeating a job has no effect. */
export async function enviarCorreos(deps: DepsDeCorreos, trabajos: readonly { data: object }[]): Promise<void> {
  const ids = trabajos.map(({ data }) => (data as { correo: string }).correo)
  for (let i = 0; i < ids.length; i += A_LA_VEZ) {
    const correos = await deps.db.consultar(RECLAMAR, { correos: ids.slice(i, i + A_LA_VEZ), ahora: deps.reloj() })
    await Promise.all(correos.map((uno) => enviarUno(deps, uno)))
  }
}

async function enviarUno(deps: DepsDeCorreos, correo: Reclamado): Promise<void> {
  const { db, log, reloj, ajustes, metricas, clienteDeCorreo } = deps
  const { id, tipo, intentos, vence_en } = correo
  const leido = leerCorreo(deps.secretos, correo)
  if (!leido || vence_en <= reloj()) return terminar(db, correo, 'caducado', null)
  if (!clienteDeCorreo) {
    if (ajustes.buzon) return entregarAlBuzon(db, correo, reloj())
    return aplazar(db, correo, new Date(reloj().getTime() + ESPERA_DE_LA_CUENTA), 'sin_servidor')
  }
  const { marca } = ajustes
  const carta = redactar(tipo, leido.datos, marca.nombre)
  const envio = await clienteDeCorreo.send({
    id,
    para: leido.para,
    de: marca.nombre,
    asunto: carta.asunto,
    texto: letterText(carta, marca),
    html: letterHtml(carta, marca),
  })
  metricas.correo(envio.resultado)
  const nivel = envio.resultado === 'aceptado' ? 'info' : 'warn'
  log[nivel]({ correo: id, tipo, intentos, ...envio }, 'mail attempt')
  await asentar(deps, correo, envio)
}

async function asentar({ db, log, reloj }: DepsDeCorreos, correo: Reclamado, envio: MailResult): Promise<void> {
  switch (envio.resultado) {
    case 'aceptado':
      return void (await db.consultar(ACEPTADO, { ...claveDe(correo), ahora: reloj() }))
    case 'rebotado':
      return terminar(db, correo, 'rebotado', envio.codigo)
    case 'pasajero': {
      if (envio.cuenta) log.error({ codigo: envio.codigo, motivo: envio.motivo }, 'mail account error')
      const espera = HANDOVER_WAITS[correo.intentos - 1] ?? ESPERA_DE_LA_CUENTA
      return aplazar(db, correo, new Date(reloj().getTime() + espera), envio.codigo)
    }
  }
}

type Clave = Pick<FilaCorreo, 'id' | 'intentos'>
const claveDe = ({ id, intentos }: Clave): Clave => ({ id, intentos })

/** SQL condition that the attempt that stores its result still holds the mail. */
const RECLAMADO = `id = :id and estado = 'enviando' and intentos = :intentos`

/** The statement also erases the content, because it may contain a code or a link. */
const ACEPTADO = statement<Clave & { ahora: Date }>(
  'correos.aceptado',
  `update correo set estado = 'enviado', canal = 'smtp', enviado_en = :ahora::timestamptz, contenido = null, codigo = null
   where ${RECLAMADO}`,
)
const EN_BUZON = statement<Clave & { ahora: Date }>(
  'correos.enBuzon',
  `update correo set estado = 'enviado', canal = 'buzon', enviado_en = :ahora::timestamptz where ${RECLAMADO}`,
)
const TERMINAR = statement<Clave & Pick<FilaCorreo, 'estado' | 'codigo'>>(
  'correos.terminar',
  `update correo set estado = :estado, codigo = coalesce(:codigo, codigo), contenido = null where ${RECLAMADO}`,
)
const APLAZAR = statement<Clave & { proximo_en: Date; codigo: string }>(
  'correos.aplazar',
  `update correo set estado = 'pendiente', codigo = :codigo, proximo_en = least(:proximo_en::timestamptz, vence_en)
   where ${RECLAMADO}`,
)

const terminar = async (db: Db, correo: Clave, estado: FilaCorreo['estado'], codigo: string | null): Promise<void> =>
  void (await db.consultar(TERMINAR, { ...claveDe(correo), estado, codigo }))
const aplazar = async (db: Db, correo: Clave, proximo_en: Date, codigo: string): Promise<void> =>
  void (await db.consultar(APLAZAR, { ...claveDe(correo), proximo_en, codigo }))
const entregarAlBuzon = async (db: Db, correo: Clave, ahora: Date): Promise<void> =>
  void (await db.consultar(EN_BUZON, { ...claveDe(correo), ahora }))

const LIMPIAR = statement<{ antes: Date }>('correos.limpiar', 'delete from correo where creado_en < :antes')

/** Deletes mails that are older than 30 days. */
export const limpiarCorreos = ({ db, reloj }: Pick<DepsDeCorreos, 'db' | 'reloj'>) =>
  db.consultar(LIMPIAR, { antes: new Date(reloj().getTime() - DIAS * 86_400_000) })
