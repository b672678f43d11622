import { describe, expect, it } from 'vitest'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

const environment = useEnvironment(undefined, () => ({ MAILBOX: '1' }))
const probar = (recipient: string) => runInProcess(['correos', 'probar', recipient], consoleEnvironment(environment))
const readBuzon = async () => (await fetch(`${environment.url}/buzon`)).text()

describe('the local mailbox', () => {
  it('shows mails when no mail server is configured', async () => {
    expect(await readBuzon()).not.toContain('Correos')
    expect(await probar("o'hara+<b>@ejemplo.com")).toMatchObject({ codigo: 1 })
    expect(await probar("o'hara+b@ejemplo.com")).toMatchObject({ codigo: 0 })
    await waitUntil(async () => (await readBuzon()).includes('Para o&#39;hara+b@ejemplo.com · enviado'))
    const page = await readBuzon()
    expect(page).toContain('<h3>Prueba de correo de Guías</h3>')
    expect(page.match(/<li class="tarjeta">/g)).toHaveLength(1)
  })
})

describe('a service without mail server and mailbox', () => {
  const silentServer = useEnvironment()
  it('keeps mails until it has one of them', async () => {
    const env = { DATABASE_URL: silentServer.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: silentServer.dataDir }
    expect(await runInProcess(['correos', 'probar', 'ana@ejemplo.com'], env)).toMatchObject({ codigo: 0 })
    const row = async () => (await silentServer.db.pool.query('select estado, codigo, contenido from correo')).rows[0]
    await waitUntil(async () => (await row()).codigo === 'sin_servidor')
    expect(await row()).toMatchObject({ estado: 'pendiente' })
    expect((await row()).contenido).not.toBeNull()
    silentServer.advance(11 * 60_000)
    await silentServer.reset({ MAILBOX: '1' })
    await waitUntil(async () => (await row()).estado === 'enviado')
  })
})
