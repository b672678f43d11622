import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { avisarSegundoFactor } from './avisar.ts'
import { bloquearFactores } from './factores.ts'
import { exigirPersona } from './persona.ts'

/** Deletes all of a person's factors besides the mail, and ends the person's sessions. */
const RESTABLECER = statement<{ id: string }>(
  'equipo.restablecerSegundoFactor',
  `with f as (
     delete from segundo_factor where persona_id = :id
   ), c as (
     delete from codigo_de_recuperacion where persona_id = :id
   ), e as (
     delete from entrada_a_medias where persona_id = :id
   ), k as (
     delete from passkey where persona_id = :id
   ), r as (
     delete from reto_de_passkey where persona_id = :id
   )
   delete from sesion_persona where persona_id = :id`,
)

export const restablecerSegundoFactor: Handler<'restablecerSegundoFactor'> = async ({ path, ...quien }, deps) => {
  const { db, bitacora, avisarTrabajo } = deps
  const { id, persona, nombre, correo } = await exigirPersona(db, path.persona)
  await inTransaction(db.central, async (consultar) => {
    await bloquearFactores(consultar, id)
    await consultar(RESTABLECER, { id })
    const campos = ['totp', 'passkeys', 'codigos', 'sesion']
    await bitacora.anotar(consultar, quien, { accion: 'restablecerSegundoFactor', sobre: ['persona', persona], campos })
    await avisarSegundoFactor(consultar, deps, { nombre, correo }, { que: 'restablecido', quedan: 0 })
  })
  avisarTrabajo()
  return { status: 204, body: undefined }
}
