import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it } from 'vitest'
import { CLOCK_ENVIRONMENT } from '../clockEnvironment.ts'
import { compartirEntorno } from '../entorno.ts'
import { usarReceptores } from '../webhooks/receptor.ts'
import { conectarPor, usarAsistentes } from './asistente.ts'
import { pasarElDia } from './jornada.ts'

const entorno = compartirEntorno()
const nuevoReceptor = usarReceptores()
const nuevoAsistente = usarAsistentes(entorno)

it.each(['auto', 'legacy'] as const)('a whole day over HTTP works in the protocol’s %s era', async (mode) => {
  const { llave, api } = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor()
  const asistente = await nuevoAsistente(llave, { escribir: true, mode })
  expect(asistente.client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  const guia = await pasarElDia(asistente, receptor.url)
  expect(await api.guias.obtener(guia)).toMatchObject({
    estado: 'entregado',
    direccion: '4a calle 12-30, zona 4, Mixco',
  })
  expect(receptor.recibidos.map(({ json }) => json.tipo)).toContain('guia.entregado')
})

it('a whole day over stdio works with the package’s program', async () => {
  const { llave, api } = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor()
  const transporte = new StdioClientTransport({
    command: process.execPath,
    args: [new URL('../../sdk/mcp/bin/guias-mcp.js', import.meta.url).pathname, '--escribir'],
    env: { GUIAS_LLAVE: llave, GUIAS_URL: entorno.url, PATH: process.env.PATH ?? '', ...CLOCK_ENVIRONMENT },
    stderr: 'pipe',
  })
  const asistente = await conectarPor(transporte)
  try {
    const guia = await pasarElDia(asistente, receptor.url)
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'entregado' })
  } finally {
    await asistente.client.close()
  }
})
