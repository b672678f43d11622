import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Db, dynamicStatement, openDb } from '../../server/data/db.ts'
import { explainDatabase, translateError } from '../../server/platform/errors.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'errores'
let db: Db

beforeAll(async () => {
  await createTestDatabase(BASE)
  db = openDb(Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href)
  // Every deletion of sessions fails as the setting says.
  await db.pool.query(`create function fallar() returns trigger language plpgsql as $$
    begin raise exception using errcode = (select codigo from falla); end $$`)
  await db.pool.query('create table falla (codigo text)')
  await db.pool.query(`create trigger falla before delete on sesion_repartidor
    for each statement execute function fallar()`)
})
afterAll(async () => {
  await db.close()
  await dropTestDatabase(BASE)
})

const DELETE_SESIONES = dynamicStatement('central', 'delete from sesion_repartidor', false)

describe('several errors at once', () => {
  const fullCase = Object.assign(new Error('could not extend file'), { code: '53100' })

  it('are told as the worst of them', () => {
    expect(translateError(new AggregateError([fullCase, fullCase])).codigo).toBe('no_disponible')
    expect(translateError(new AggregateError([fullCase, new Error('x is not a function')])).codigo).toBe(
      'error_interno',
    )
    expect(translateError(new AggregateError([])).codigo).toBe('error_interno')
  })
})

describe('the explanation for the operator', () => {
  const explainCode = (code: string) => explainDatabase(Object.assign(new Error('no'), { code }))

  it.each(['25006', '53100', '58030'])(
    'for the error %s names the page about a database that takes no writes',
    (code) => {
      expect(explainCode(code)).toContain('docs/operacion/alertas/no-lista.md')
      expect(explainCode(code)).not.toContain('clave')
    },
  )

  it('for a refused password asks for address, user and password', () => {
    expect(explainCode('28P01')).toContain('Revise la dirección, el usuario, la clave')
  })
})

describe('errors of PostgreSQL', () => {
  it.each([
    ['a deadlock', '40P01', 'no_disponible'],
    ['a write conflict', '40001', 'no_disponible'],
    ['a full disk', '53100', 'no_disponible'],
    ['too little memory', '53200', 'no_disponible'],
    ['too many connections', '53300', 'no_disponible'],
    ['a limit of the server', '53400', 'no_disponible'],
    ['a database that is read-only', '25006', 'no_disponible'],
    ['a disk that fails', '58030', 'no_disponible'],
    ['a lock that nobody gives', '55P03', 'no_disponible'],
    ['a statement that takes too long', '57014', 'no_disponible'],
    ['a server that stops', '57P01', 'no_disponible'],
    ['a lost connection', '08006', 'no_disponible'],
    ['a value that is none', '22P02', 'error_interno'],
    ['a value that there is already', '23505', 'error_interno'],
  ])('%s (%s) is %s, whether a statement or Prisma asked', async (_description, sqlstate, codigo) => {
    await db.pool.query('truncate falla')
    await db.pool.query('insert into falla values ($1)', [sqlstate])
    const errores = await Promise.all([
      db.query(DELETE_SESIONES).then(() => undefined, translateError),
      db.prisma.sesion_repartidor.deleteMany().then(() => undefined, translateError),
    ])
    expect(errores.map((error) => error?.codigo)).toEqual([codigo, codigo])
    const cannotSave = ['53100', '25006', '58030'].includes(sqlstate)
    for (const error of errores) {
      expect(error!.message.startsWith('El servicio no puede guardar cambios')).toBe(cannotSave)
      expect(error!.details.headers?.['Retry-After']).toBe(codigo === 'no_disponible' ? '2' : undefined)
    }
  })
})
