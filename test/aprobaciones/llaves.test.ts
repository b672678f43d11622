import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, type TestPersona } from '../equipo/persona.ts'
import { administrar } from '../llaves/manage.ts'

const environment = useEnvironment()
const { crearOperador, crearLlaveDeOperador, buscar: find } = administrar(environment)
const OPERACIONES = '/operaciones/v1'
const aprobar = ({ request }: TestPersona, aprobacion: string) =>
  request('POST', `${OPERACIONES}/aprobaciones/${aprobacion}/aprobar`)
const dos = async () => [await createTestPersona(environment), await createTestPersona(environment)] as const
const pedirLlave = ({ request }: TestPersona, operador: string, body: object = {}) =>
  request('POST', `${OPERACIONES}/operadores/${operador}/llaves`, body)
const llavesOf = async (operador: string) =>
  (await environment.asOperador('GET', `/operadores/${operador}/llaves`)).body.datos

describe('an operator’s key with scope «administrar» for which a person asks', () => {
  it('is shown to the person and unknown until another one approves it', async () => {
    const [ana, bea] = await dos()
    const operador = await crearOperador()
    const redes = ['127.0.0.0/8']
    const vence_en = new Date(environment.clock().getTime() + 96 * HOUR_MS).toISOString()
    const sentRequest = await pedirLlave(ana, operador, { redes, vence_en })
    const { aprobacion, llave } = sentRequest.body
    expect([sentRequest.status, sentRequest.body]).toMatchObject([
      202,
      {
        tipo: 'crear_llave',
        estado: 'pendiente',
        contenido: {
          correo: null,
          persona: null,
          membresia: null,
          alcances: ['ver', 'operar', 'caja', 'administrar'],
          llave: { id: expect.stringMatching(/^llave_/), operador, redes, vence_en, rota: null },
        },
        pide: ana.persona,
        llave: expect.stringMatching(/^guia_oper_/),
      },
    ])
    expect([await find(llave), await llavesOf(operador)]).toEqual([401, []])
    expect((await findPendingCorreo(environment, 'aprobacion', bea.correo)).que).toContain(operador)
    const view = (await bea.request('GET', `${OPERACIONES}/aprobaciones/${aprobacion}`)).body
    expect(JSON.stringify(view)).not.toMatch(/secreto|hash|guia_oper_/)
    expect((await aprobar(ana, aprobacion)).body.codigo).toBe('aprobacion_propia')
    const approval = await aprobar(bea, aprobacion)
    expect([approval.status, JSON.stringify(approval.body)]).toEqual([200, expect.not.stringContaining('guia_oper_')])
    await expect.poll(() => find(llave)).toBe(200)
    const [row] = await llavesOf(operador)
    expect(row).toMatchObject({ id: view.contenido.llave.id, redes, vence_en, alcances: view.contenido.alcances })
    expect(environment.log.join()).not.toContain(llave.slice(22, 40))
  })

  it('is refused for ever by a refusal', async () => {
    const [ana, bea] = await dos()
    const operador = await crearOperador()
    const { aprobacion, llave } = (await pedirLlave(ana, operador)).body
    const path = `${OPERACIONES}/aprobaciones/${aprobacion}/rechazar`
    expect((await bea.request('POST', path, { razon: 'No hace falta' })).status).toBe(200)
    expect([await find(llave), await llavesOf(operador)]).toEqual([401, []])
  })

  it('needs nobody without that scope, by a key, and with one person who administers', async () => {
    const [ana, bea] = await dos()
    const operador = await crearOperador()
    expect((await pedirLlave(ana, operador, { alcances: ['ver', 'operar'] })).status).toBe(201)
    expect((await environment.asOperador('POST', `/operadores/${operador}/llaves`, {})).status).toBe(201)
    await environment.db.pool.query(
      `update membresia set alcances = '{ver}' where ambito = 'empresa' and membresia <> $1`,
      [ana.membresia],
    )
    expect((await pedirLlave(ana, operador, {})).status).toBe(201)
    expect((await bea.request('GET', `${OPERACIONES}/sesion`)).status).toBe(200)
  })

  it('is not created for a revoked operator, after its end, or by who lacks a scope', async () => {
    const [ana, bea] = await dos()
    const operador = await crearOperador()
    const vence_en = new Date(environment.clock().getTime() + HOUR_MS).toISOString()
    const pronto = (await pedirLlave(ana, operador, { vence_en })).body
    const other = (await pedirLlave(ana, operador)).body
    const personaWithoutCaja = await createTestPersona(environment, { alcances: ['administrar'] })
    expect((await aprobar(personaWithoutCaja, other.aprobacion)).body.codigo).toBe('alcance_insuficiente')
    await environment.asOperador('POST', `/operadores/${operador}/revocar`)
    const revocado = await aprobar(bea, other.aprobacion)
    expect([revocado.status, revocado.body.mensaje]).toEqual([409, expect.stringContaining('fue revocado')])
    const free = (await pedirLlave(ana, await crearOperador(), { vence_en })).body
    environment.advance(HOUR_MS + 1_000)
    const cata = await createTestPersona(environment)
    for (const [target, reason] of [
      [pronto, 'fue revocado'],
      [free, 'ya habría vencido'],
    ]) {
      const { status, body } = await aprobar(cata, target.aprobacion)
      expect([status, body.mensaje]).toEqual([409, expect.stringContaining(reason)])
    }
    environment.advance(-HOUR_MS - 1_000)
  })
})

describe('rotating an operator’s key with scope «administrar»', () => {
  it('waits for another person, and the overlap starts with the approval', async () => {
    const [ana, bea] = await dos()
    const operador = await crearOperador()
    const old = await crearLlaveDeOperador(operador)
    const rotar = () => ana.request('POST', `${OPERACIONES}/llaves/${old.id}/rotar`, { solapamiento_horas: 0 })
    const sentRequest = await rotar()
    expect([sentRequest.status, sentRequest.body]).toMatchObject([
      202,
      { tipo: 'rotar_llave', contenido: { llave: { operador, rota: old.id } } },
    ])
    const { aprobacion, llave } = sentRequest.body
    expect([await find(old.llave), await find(llave)]).toEqual([200, 401])
    const other = (await rotar()).body
    expect((await aprobar(bea, aprobacion)).status).toBe(200)
    await expect.poll(async () => [await find(old.llave), await find(llave)]).toEqual([401, 200])
    const late = await aprobar(bea, other.aprobacion)
    expect([late.status, late.body.mensaje]).toEqual([409, expect.stringContaining('ya no vale')])
    expect(await find(other.llave)).toBe(401)
  })

  it('differs from the rotation of a key with other scopes, which needs no approval', async () => {
    const [ana] = await dos()
    const old = await crearLlaveDeOperador(await crearOperador(), { alcances: ['ver'] })
    expect((await ana.request('POST', `${OPERACIONES}/llaves/${old.id}/rotar`)).status).toBe(201)
  })
})
