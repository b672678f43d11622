import { expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, SESION } from './persona.ts'

const environment = useEnvironment()
const withSesion = readOperations(readDocument()).filter(
  ({ security, acceptsSesion }) => acceptsSesion || security?.scheme === 'sesionDePersona',
)

/** The merchants' contract says nothing of sessions. */
const codigoOf = (path: string) => (path.startsWith('/api/') ? 'alcance_insuficiente' : 'segundo_factor_requerido')

it('a session without the second factor adds one, looks at itself and ends, and does nothing else', async () => {
  const ana = await createTestPersona(environment, { withApp: false })
  const allowedOperaciones: string[] = []
  expect(withSesion.length).toBeGreaterThan(70)
  for (const { id, method, path, skipsSecondFactor } of withSesion) {
    if (skipsSecondFactor) {
      allowedOperaciones.push(id)
      continue
    }
    const { status, body } = await ana.request(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'))
    expect([id, status, body.codigo]).toEqual([id, 403, codigoOf(path)])
    expect(body.mensaje).toContain('necesita además un segundo factor')
  }
  expect(allowedOperaciones.sort()).toEqual([
    'agregarPasskey',
    'agregarTotp',
    'cerrarSesionDePersona',
    'listarPasskeys',
    'obtenerSegundoFactor',
    'obtenerSesionDePersona',
    'pedirRegistroDePasskey',
    'pedirRegistroDeTotp',
    'probarPresencia',
    'probarPresenciaConPasskey',
  ])
  expect((await ana.request('GET', `${SESION}/passkeys`)).status).toBe(200)
  expect((await ana.request('DELETE', SESION)).status).toBe(204)
})

it('a session of a merchant’s person needs the second factor from the invitation to the courier company on', async () => {
  const { comercio } = await environment.createComercio()
  const ana = await createTestPersona(environment, { comercio, alcances: ['despacho'] })
  expect((await ana.request('GET', '/api/v1/guias')).status).toBe(200)
  const company = await createTestPersona(environment, { correo: ana.correo, alcances: ['ver'] })
  await expect.poll(async () => (await ana.request('GET', '/api/v1/guias')).body.codigo).toBe('alcance_insuficiente')
  expect((await ana.request('GET', '/operaciones/v1/sesiones')).body.codigo).toBe('segundo_factor_requerido')
  expect((await company.request('GET', '/operaciones/v1/comercios')).status).toBe(200)
})
