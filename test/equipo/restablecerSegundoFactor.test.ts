import { describe, expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { hasta } from '../fabricas.ts'
import { agregarPasskey, dicho, entrarConPasskey, firmar, INCORRECTA, usarPasskeys } from './autenticador.ts'
import {
  correoPendiente,
  entrarCon,
  entrarDelTodo,
  galletas,
  hacerCodigos,
  nuevaPersona,
  pedirCodigo,
  SESION,
  terminarCon,
} from './persona.ts'

const { entorno } = usarPasskeys()
const rutaDe = (persona: string) => `/operaciones/v1/personas/${persona}/segundo-factor`

describe('an administrator', () => {
  it('takes all factors and sessions of a person who lost them, which is told and recorded', async () => {
    const [admin, ana] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    const { autenticador } = await agregarPasskey(entorno, ana)
    const [recuperacion] = await hacerCodigos(ana)
    const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
    const aMedias = galletas((await entrarCon(entorno, entrada, codigo)).cabeceras)
    expect((await admin.pedir('DELETE', rutaDe(ana.persona))).status).toBe(204)
    await hasta(async () => (await ana.pedir('GET', SESION)).status === 401)
    expect(dicho(await entrarConPasskey(entorno, await firmar(entorno, autenticador)))).toEqual(INCORRECTA)
    for (const viejo of [ana.app!.codigo(), recuperacion])
      expect((await terminarCon(entorno, aMedias, viejo)).status).toBe(401)
    expect(await correoPendiente(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'restablecido' })
    const { rows } = await entorno.db.pool.query(
      `select quien, sobre from bitacora where accion = 'restablecerSegundoFactor' and sobre = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ quien: admin.persona, sobre: ana.persona }])
    const otra = await entrarDelTodo(entorno, ana)
    expect([otra.status, otra.cuerpo.falta_segundo_factor]).toEqual([201, true])
  })

  it('has proved to be there, and names a person', async () => {
    const admin = await nuevaPersona(entorno)
    expect(dicho(await admin.pedir('DELETE', rutaDe('per_000000000000')))).toEqual([404, 'persona_desconocida'])
    entorno.adelantar(5 * MINUTO + 1)
    await hasta(async () => (await admin.pedir('DELETE', rutaDe(admin.persona))).status === 403)
    expect(dicho(await admin.pedir('DELETE', rutaDe(admin.persona)))).toEqual([403, 'presencia_requerida'])
  })
})

it('the erasure of a person takes its second factor', async () => {
  await nuevaPersona(entorno)
  const ana = await nuevaPersona(entorno)
  await hacerCodigos(ana)
  const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
  await entrarCon(entorno, entrada, codigo)
  expect((await entorno.operar('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  const { rows } = await entorno.db.pool.query(
    `select (select count(*) from segundo_factor f where f.persona_id = p.id)::int factores,
       (select count(*) from codigo_de_recuperacion c where c.persona_id = p.id)::int codigos,
       (select count(*) from entrada_a_medias e where e.persona_id = p.id)::int entradas
     from persona p where persona = $1`,
    [ana.persona],
  )
  expect(rows).toEqual([{ factores: 0, codigos: 0, entradas: 0 }])
})
