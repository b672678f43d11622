import { createIdGenerator, randomBase32 } from '../../server/platform/codes/codes.ts'
import { newToken, tokenHash } from '../../server/platform/codes/token.ts'
import type { Base } from './entorno.ts'

// People with one session each, as signing in leaves them. The seed spares the mail codes and their limits.

const ids = (cuantos: number): string[] => {
  const nuevoId = createIdGenerator(() => new Date())
  return Array.from({ length: cuantos }, () => nuevoId().id)
}
const codigos = (cuantos: number) => Array.from({ length: cuantos }, () => randomBase32(12))
const nuevosTokens = (cuantos: number) => Array.from({ length: cuantos }, newToken)

/**
 * Creates persons of the courier company with the scopes `ver` and `operar`, and a second factor in their sessions.
 * @returns the header `Cookie` of each person
 */
export async function crearPersonas({ db }: Base, cuantas: number): Promise<string[]> {
  const tokens = nuevosTokens(cuantas)
  await db.pool.query(
    `with de as (
       select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bytea[], $6::text[])
         as t (persona_id, persona, membresia_id, membresia, hash, sesion)
     ), p as (
       insert into persona (id, persona, correo, nombre, creado_en)
       select persona_id, 'per_' || persona, persona || '@ejemplo.com', 'Ana', now() from de returning id
     ), m as (
       insert into membresia (id, membresia, persona_id, ambito, alcances, creado_en)
       select membresia_id, 'mem_' || membresia, persona_id, 'empresa', '{ver,operar}', now()
       from de join p on p.id = persona_id returning id
     )
     insert into sesion_persona (hash, sesion, persona_id, membresia_id, modo, dispositivo, red, segundo_factor,
       presencia_en, creado_en, vence_en, inactiva_en)
     select hash, 'ses_' || sesion, persona_id, membresia_id, 'live', 'Chrome en Linux', '127.0.0.0/24', true, now(), now(),
       now() + interval '12 hours', now() + interval '12 hours' from de join m on m.id = membresia_id`,
    [ids(cuantas), codigos(cuantas), ids(cuantas), codigos(cuantas), tokens.map(tokenHash), codigos(cuantas)],
  )
  await db.pool.query('analyze persona, membresia, sesion_persona')
  return tokens.map((token) => `guias_sesion=${token}`)
}

/**
 * Creates couriers who are signed in on one phone each.
 * @returns the header `Cookie` of each phone
 */
export async function crearRepartidores({ db }: Base, cuantos: number): Promise<string[]> {
  const tokens = nuevosTokens(cuantos)
  await db.pool.query(
    `with de as (
       select * from unnest($1::uuid[], $2::text[], $3::bytea[]) with ordinality as t (id, repartidor, hash, n)
     ), r as (
       insert into repartidor (id, repartidor, nombre, codigo_hash, creado_en)
       select id, 'rep_' || repartidor, 'Repartidor ' || n, hash, now() from de returning id
     )
     insert into sesion_repartidor (hash, repartidor_id, version, creado_en, vence_en)
     select hash, r.id, 1, now(), now() + interval '12 hours' from de join r on r.id = de.id`,
    [ids(cuantos), codigos(cuantos), tokens.map(tokenHash)],
  )
  await db.pool.query('analyze repartidor, sesion_repartidor')
  return tokens.map((token) => `guias_repartidor=${token}`)
}
