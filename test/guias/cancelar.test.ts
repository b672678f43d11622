import { ErrorConflicto } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from './move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

describe('POST /api/v1/guias/{guia}/cancelar', () => {
  it('cancels an accepted guide, once, with the merchant’s words', async () => {
    const { api, comercio } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    expect(await api.guias.cancelar(guia, { razon: 'El cliente canceló el pedido' })).toMatchObject({
      estado: 'cancelado',
      secuencia: 2,
    })
    expect(await api.guias.cancelar(guia)).toMatchObject({ estado: 'cancelado', secuencia: 2 })
    const { eventos } = await api.guias.obtener(guia)
    expect(eventos.datos[1]).toMatchObject({
      tipo: 'guia.cancelado',
      estado_anterior: 'aceptado',
      descripcion: 'El cliente canceló el pedido',
    })
    expect(JSON.stringify(eventos)).not.toContain(comercio)
  })

  it('refuses once the courier has it, and offers no state that only the courier can ask for', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const refusal = async () => {
      const error = (await api.guias.cancelar(guia).catch((e: unknown) => e)) as ErrorConflicto
      expect(error).toBeInstanceOf(ErrorConflicto)
      expect(error).toMatchObject({ codigo: 'transicion_invalida', transiciones: [] })
      return [error.estado, error.problema.mensaje]
    }
    await mover(guia, 'recolectado')
    expect(await refusal()).toEqual([
      'recolectado',
      'La guía está en recolectado y ya no se puede cancelar: solo se cancela antes de que se recolecte. Si el paquete debe volver, pida la devolución.',
    ])
    await mover(guia, 'en_devolucion', 'devuelto')
    expect(await refusal()).toEqual([
      'devuelto',
      'La guía está en devuelto y ya no se puede cancelar: solo se cancela antes de que se recolecte.',
    ])
  })

  it('refuses an unknown field of its body', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    expect(
      (await environment.request('POST', `/api/v1/guias/${guia}/cancelar`, { llave, body: { motivo: 'x' } })).status,
    ).toBe(422)
  })

  it('has one winner against a collection, 100 times', async () => {
    const { api } = await environment.createComercio()
    const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuia()) })
    for (const { guia } of resultados as { guia: string }[]) {
      const [cancelled, collectionResult] = await Promise.all([
        api.guias.cancelar(guia).then(
          () => true,
          () => false,
        ),
        environment
          .asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
          .then(({ status }) => status === 201),
      ])
      expect([cancelled, collectionResult].filter(Boolean)).toHaveLength(1)
      const { estado, secuencia, eventos } = await api.guias.obtener(guia)
      expect([estado, secuencia, eventos.datos.length]).toEqual([cancelled ? 'cancelado' : 'recolectado', 2, 2])
    }
  })
})
