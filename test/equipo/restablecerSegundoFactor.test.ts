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
  type PersonaDePrueba,
  pedirCodigo,
  SESION,
  terminarCon,
} from './persona.ts'

const { entorno } = usarPasskeys()
const rutaDe = (persona: string) => `/operaciones/v1/personas/${persona}/segundo-factor`

const aprobar = ({ pedir }: PersonaDePrueba, aprobacion: string) =>
  pedir('POST', `/operaciones/v1/aprobaciones/${aprobacion}/aprobar`)

/** Persons of the company, who alone have the scope `administrar`. */
async function administran<N extends 1 | 2 | 3>(cuantas: N) {
  await entorno.db.pool.query(`update membresia set alcances = '{ver}' where ambito = 'empresa'`)
  const personas: PersonaDePrueba[] = []
  while (personas.length < cuantas) personas.push(await nuevaPersona(entorno))
  return personas as N extends 1 ? [PersonaDePrueba] : [PersonaDePrueba, PersonaDePrueba, PersonaDePrueba]
}

describe('an administrator', () => {
  it('takes all factors and sessions of a person who lost them once another one approves', async () => {
    const [admin, otraAdmin] = await administran(2)
    const ana = await nuevaPersona(entorno, { alcances: ['ver', 'operar'] })
    const { autenticador } = await agregarPasskey(entorno, ana)
    const [recuperacion] = await hacerCodigos(ana)
    const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
    const aMedias = galletas((await entrarCon(entorno, entrada, codigo)).cabeceras)
    const pedida = await admin.pedir('DELETE', rutaDe(ana.persona))
    expect([pedida.status, pedida.cuerpo]).toMatchObject([
      202,
      { tipo: 'restablecer_segundo_factor', contenido: { persona: ana.persona, alcances: ['ver', 'operar'] } },
    ])
    expect(await correoPendiente(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'por_restablecer' })
    expect((await ana.pedir('GET', SESION)).status).toBe(200)
    const { aprobacion } = pedida.cuerpo
    expect(dicho(await aprobar(admin, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect((await aprobar(otraAdmin, aprobacion)).status).toBe(200)
    await hasta(async () => (await ana.pedir('GET', SESION)).status === 401)
    expect(dicho(await entrarConPasskey(entorno, await firmar(entorno, autenticador)))).toEqual(INCORRECTA)
    for (const viejo of [ana.app!.codigo(), recuperacion])
      expect((await terminarCon(entorno, aMedias, viejo)).status).toBe(401)
    expect(await correoPendiente(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'restablecido' })
    const { rows } = await entorno.db.pool.query(
      `select accion, quien, sobre, campos, despues ->> 'pide' as pide from bitacora where despues ->> 'aprobacion' = $1`,
      [aprobacion],
    )
    const campos = ['totp', 'passkeys', 'codigos', 'sesion']
    const linea = { accion: 'darAprobacion', quien: otraAdmin.persona, sobre: ana.persona, pide: admin.persona }
    expect(rows).toEqual([{ ...linea, campos }])
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

describe('the reset of a second factor', () => {
  it('is never decided by the person concerned, and needs a third one who administers', async () => {
    const [ana, bea, cata] = await administran(3)
    const { aprobacion } = (await ana.pedir('DELETE', rutaDe(bea.persona))).cuerpo
    expect(dicho(await aprobar(bea, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect((await entorno.operar('DELETE', `/membresias/${cata.membresia}`)).status).toBe(204)
    expect(dicho(await aprobar(bea, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect(dicho(await ana.pedir('DELETE', rutaDe(bea.persona)))).toEqual([409, 'sin_quien_apruebe'])
    expect((await bea.pedir('GET', SESION)).status).toBe(200)
  })

  it('is not made by the only person who administers, about itself or a person of a merchant', async () => {
    const [ana] = await administran(1)
    const { comercio } = await entorno.nuevoComercio()
    const eva = await nuevaPersona(entorno, { comercio, alcances: ['lectura'], conApp: true })
    for (const { persona } of [ana, eva])
      expect(dicho(await ana.pedir('DELETE', rutaDe(persona)))).toEqual([409, 'sin_quien_apruebe'])
    expect((await eva.pedir('GET', SESION)).status).toBe(200)
  })

  it('waits for another person if somebody asks about itself', async () => {
    const [ana, bea] = await administran(2)
    const { status, cuerpo } = await ana.pedir('DELETE', rutaDe(ana.persona))
    expect(status).toBe(202)
    expect((await aprobar(bea, cuerpo.aprobacion)).status).toBe(200)
    await hasta(async () => (await ana.pedir('GET', SESION)).status === 401)
  })

  it('is made at once by an operator key, and for a person who works nowhere any more', async () => {
    const [admin, ana, bea] = await administran(3)
    expect((await entorno.operar('DELETE', rutaDe(ana.persona).replace('/operaciones/v1', ''))).status).toBe(204)
    expect((await entorno.operar('DELETE', `/membresias/${bea.membresia}`)).status).toBe(204)
    expect((await admin.pedir('DELETE', rutaDe(bea.persona))).status).toBe(204)
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
