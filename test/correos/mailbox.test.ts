import { describe, expect, it } from 'vitest'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

const environment = useEnvironment(undefined, () => ({ MAILBOX: '1' }))
const probar = (para: string) => runInProcess(['correos', 'probar', para], consoleEnvironment(environment))
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
  const mudo = useEnvironment()
  it('keeps mails until it has one of them', async () => {
    const env = { DATABASE_URL: mudo.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: mudo.dataDir }
    expect(await runInProcess(['correos', 'probar', 'ana@ejemplo.com'], env)).toMatchObject({ codigo: 0 })
    const row = async () => (await mudo.db.pool.query('select estado, codigo, contenido from correo')).rows[0]
    await waitUntil(async () => (await row()).codigo === 'sin_servidor')
    expect(await row()).toMatchObject({ estado: 'pendiente' })
    expect((await row()).contenido).not.toBeNull()
    mudo.advance(11 * 60_000)
    await mudo.reset({ MAILBOX: '1' })
    await waitUntil(async () => (await row()).estado === 'enviado')
  })
})
