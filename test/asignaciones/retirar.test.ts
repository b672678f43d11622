import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
let comercio: Comercio
let ownMobile: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ownMobile = await createMobile(environment)
  other = await createMobile(environment)
})

const fresh = async () => (await comercio.api.guias.crear(buildGuia())).guia
const asignar = (guias: string[], { repartidor }: Mobile) =>
  environment.asOperador('POST', '/asignaciones', { guias, repartidor })
const retirar = (body: object) => environment.asOperador('POST', '/asignaciones/retirar', body)
const view = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body

describe('POST /operaciones/v1/asignaciones/retirar', () => {
  it('takes assignments back, once, and writes who had them', EN_POSTGRES, async () => {
    const [guia, free] = [await fresh(), await fresh()]
    await asignar([guia], ownMobile)
    const guias = [guia, free, newGuideCode()]
    const { status, body } = await retirar({ guias })
    expect([status, body.resultados]).toMatchObject([
      200,
      [
        { indice: 0, ok: true, guia, repetida: false },
        { indice: 1, ok: true, guia: free, repetida: true },
        { indice: 2, ok: false, error: { codigo: 'guia_desconocida' } },
      ],
    ])
    expect((await retirar({ guias: [guia] })).body.resultados[0].repetida).toBe(true)
    expect((await view(guia)).asignada_a).toBeNull()
    const { rows } = await environment.db.pool.query(
      `select sobre, antes, despues from bitacora where accion = 'retirarAsignaciones' and sobre = any($1)`,
      [[guia, free]],
    )
    expect(rows).toEqual([
      {
        sobre: guia,
        antes: { repartidor: ownMobile.repartidor, fecha: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
        despues: { repartidor: null, fecha: null },
      },
    ])
  })

  it('leaves what was assigned to another courier meanwhile', async () => {
    const [ownGuia, ofOther] = [await fresh(), await fresh()]
    await asignar([ownGuia], ownMobile)
    await asignar([ofOther], other)
    const { resultados } = (await retirar({ guias: [ownGuia, ofOther], repartidor: ownMobile.repartidor })).body
    expect(resultados).toMatchObject([
      { ok: true, repetida: false },
      { ok: false, error: { codigo: 'carrera_perdida', mensaje: expect.stringContaining('otro repartidor') } },
    ])
    expect((await view(ofOther)).asignada_a.repartidor).toBe(other.repartidor)
  })

  it('leaves a parcel in the hands of the courier who took it', async () => {
    const guia = await fresh()
    await asignar([guia], ownMobile)
    await ownMobile.registrar(guia, { estado: 'recolectado', idempotencia: guia })
    await retirar({ guias: [guia] })
    expect(await view(guia)).toMatchObject({ repartidor: { repartidor: ownMobile.repartidor }, asignada_a: null })
  })
})
