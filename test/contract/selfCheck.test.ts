import type { RequestHandler } from 'express'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../server/api/contract/load.ts'
import { createSelfCheck } from '../../server/api/contract/selfCheck.ts'

describe('the check that validation is in force', () => {
  const { operaciones, validacion } = loadContract()

  it('passes every operation', async () => {
    const comprobar = createSelfCheck(validacion)
    for (const operacion of operaciones) await comprobar(operacion)
  })

  it('refuses an operation that lets everything through, each time', async () => {
    const comprobar = createSelfCheck({ ...validacion, validate: () => [] })
    for (let vez = 0; vez < 2; vez++)
      await expect(comprobar(operaciones[0]!)).rejects.toThrow(`request to ${operaciones[0]!.id} would pass validation`)
  })

  it('refuses an operation of which one part lets everything through', async () => {
    const operacion = operaciones.find(({ id }) => id === 'registrarEvento')!
    const todos = validacion.validate(operacion)
    expect(todos).toHaveLength(2)
    for (const abierto of todos) {
      const validar = () => todos.map((uno): RequestHandler => (uno === abierto ? (_req, _res, next) => next() : uno))
      await expect(createSelfCheck({ ...validacion, validate: validar })(operacion)).rejects.toThrow(
        'would pass validation',
      )
    }
  })
})
