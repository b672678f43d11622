import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { ROOT } from '../../server/platform/root.ts'

const documento = readDocument()
const operaciones = readOperations(documento)

it('every operation of operators takes a session with the scope of the key', () => {
  const llaveOperations = Object.values(documento.paths)
    .flatMap((byMethod) => Object.values(byMethod))
    .filter(({ security }) => security?.some((schemas) => 'llaveDeOperacion' in schemas))
  expect(llaveOperations.length).toBeGreaterThan(30)
  for (const { operationId, security } of llaveOperations) {
    const { llaveDeOperacion } = security![0]!
    expect([operationId, security]).toEqual([
      operationId,
      [{ llaveDeOperacion }, { sesionDePersona: llaveDeOperacion }],
    ])
  }
})

it('every operation of merchants takes a session, and none of other documents does', () => {
  for (const { id, path, security, acceptsSesion: withSesion } of operaciones) {
    const llaveOperations = security?.scheme === 'llaveDeComercio' || security?.scheme === 'llaveDeOperacion'
    expect([id, withSesion]).toEqual([id, llaveOperations])
    if (withSesion) expect(path).toMatch(/^\/(api|operaciones)\/v1\//)
  }
})

it('each operation that changes keys, operators or persons, except cerrarSesionesDePersona, asks for presence', () => {
  const accessOperations = operaciones
    .filter(({ path, method, security }) => {
      const cambia = method !== 'get' && security?.scheme === 'llaveDeOperacion'
      return cambia && /llaves|operadores|personas|membresias|invitaciones/.test(path)
    })
    .map(({ id, needsPresence: presencia }) => [id, presencia])
  expect(accessOperations.length).toBeGreaterThan(8)
  expect(accessOperations.filter(([, presencia]) => !presencia)).toEqual([['cerrarSesionesDePersona', false]])
})

it('each operation that decides for another person asks for presence, and takes no key', () => {
  const decidingOperations = operaciones.filter(({ path }) => /aprobaciones\/.*\/(aprobar|rechazar)$/.test(path))
  expect(
    decidingOperations.map(({ id, needsPresence: presencia, security }) => [id, presencia, security?.scheme]),
  ).toEqual([
    ['darAprobacion', true, 'sesionDePersona'],
    ['rechazarAprobacion', true, 'sesionDePersona'],
  ])
})

it('the published documentation of merchants says nothing of sessions', () => {
  const publishedContract = readFileSync(new URL('server/generated/contract/documentation/contrato.json', ROOT), 'utf8')
  expect(publishedContract).not.toMatch(/sesionDePersona|guias_sesion|x-presencia/)
})
