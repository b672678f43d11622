import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment()

it('shows a person with its memberships', async () => {
  const ana = await createTestPersona(environment, { alcances: ['ver'] })
  const { status, body } = await environment.asOperador('GET', `/personas/${ana.persona}`)
  expect([status, body]).toMatchObject([
    200,
    {
      persona: ana.persona,
      correo: ana.correo,
      nombre: 'Ana Pérez',
      membresias: [{ membresia: ana.membresia, alcances: ['ver'] }],
    },
  ])
})

it.each(['per_000000000000', 'x', 'per_0'])('answers 404 for «%s»', async (persona) => {
  const { status, body } = await environment.asOperador('GET', `/personas/${persona}`)
  expect([status, body.codigo]).toEqual([404, 'persona_desconocida'])
})
