import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment(undefined, () => ({ TRUST_PROXY: '1' }))
const from = (ip: string) => ({ headers: { 'X-Forwarded-For': ip } })

it('a session on another network goes on, and the audit record has one line for each network', async () => {
  const ana = await createTestPersona(environment)
  await environment.db.pool.query(`update sesion_persona set red = '198.51.100.0/24' where sesion = $1`, [ana.sesion])
  // The same network as the sign-in, whatever the last digits are.
  for (const ip of ['198.51.100.7', '198.51.100.90', '203.0.113.5', '203.0.113.6', '192.0.2.1'])
    await waitUntil(
      async () => (await ana.request('GET', '/operaciones/v1/personas', undefined, from(ip))).status === 200,
    )
  expect((await ana.request('GET', '/operaciones/v1/sesion', undefined, from('203.0.113.7'))).status).toBe(200)
  const lines = () =>
    environment.db.pool.query(
      `select red, sobre, quien from bitacora where accion = 'usarSesionEnOtraRed' and quien = $1
         and red <> '127.0.0.0/24' order by red`,
      [ana.persona],
    )
  await waitUntil(async () => (await lines()).rowCount === 2)
  expect((await lines()).rows).toEqual(
    ['192.0.2.0/24', '203.0.113.0/24'].map((red) => ({ red, sobre: ana.persona, quien: ana.persona })),
  )
})

it('a session that only the pages of the account use from another network has its line, too', async () => {
  const ana = await createTestPersona(environment)
  await environment.db.pool.query(`update sesion_persona set red = '198.51.100.0/24' where sesion = $1`, [ana.sesion])
  for (const [path, ip] of [
    ['/cuenta', '198.51.100.7'],
    ['/cuenta', '203.0.113.5'],
    ['/cuenta', '203.0.113.6'],
    ['/cuenta/presencia', '192.0.2.1'],
  ] as const)
    await fetch(environment.url + path, {
      redirect: 'manual',
      headers: { Cookie: ana.cookie, ...from(ip).headers },
    })
  const lines = () =>
    environment.db.pool.query(
      `select red from bitacora where accion = 'usarSesionEnOtraRed' and quien = $1 and red <> '127.0.0.0/24' order by red`,
      [ana.persona],
    )
  await waitUntil(async () => (await lines()).rowCount === 2)
  expect((await lines()).rows).toEqual([{ red: '192.0.2.0/24' }, { red: '203.0.113.0/24' }])
})
