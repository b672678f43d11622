import { expect, it } from 'vitest'
import { documentosConWorkerMuerto } from './pruebas.ts'

it('proofs that a killed worker held are finished by another one', async () => {
  const { fallas } = await documentosConWorkerMuerto({ veces: 1, tamano: 24 })
  expect(fallas).toEqual([])
})
