import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { firmarWebhook } from '@guias/sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { ahora, CUERPO, ID, OTRO, SECRETO } from './firmas.ts'

const raiz = new URL('../../', import.meta.url)

describe('the example receiver', () => {
  const hijos: ChildProcess[] = []
  afterAll(() => {
    for (const hijo of hijos) hijo.kill()
  })

  function arrancar(env: Record<string, string>) {
    const hijo = spawn(process.execPath, [fileURLToPath(new URL('sdk/ejemplos/receptor.mjs', raiz))], {
      env: { PATH: process.env.PATH, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    hijos.push(hijo)
    let salida = ''
    for (const flujo of [hijo.stdout, hijo.stderr]) {
      flujo.setEncoding('utf8').on('data', (trozo: string) => {
        salida += trozo
      })
    }
    /** What it says, once it has said that. */
    const diga = (que: string) => expect.poll(() => salida).toContain(que)
    return { hijo, diga, salida: () => salida }
  }

  it('takes a good one, refuses a tampered one, works once for a repeated one', async () => {
    const { hijo, diga, salida } = arrancar({ GUIAS_SECRETO: `${OTRO},${SECRETO}` })
    await diga('escucho en')
    const url = /http:\S+/.exec(salida())?.[0] as string
    const enviar = async (cuerpo: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
      const res = await fetch(url, {
        method: 'POST',
        body: cuerpo,
        headers: { 'content-type': 'application/json', ...headers },
      })
      return [res.status, await res.text()]
    }
    const firmadas = await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })

    expect(await enviar(CUERPO, firmadas)).toEqual([204, ''])
    await diga(`atendido ${ID} guia.entregado: guía 7K3M9QX2A1B4, entregado (7)`)

    expect(await enviar(CUERPO.replace('"secuencia":7', '"secuencia":8'), firmadas)).toEqual([400, ''])
    await diga('rechazado (firma)')

    expect(
      await enviar(CUERPO, await firmarWebhook(CUERPO, { id: ID, timestamp: ahora() + 1, secreto: SECRETO })),
    ).toEqual([204, ''])
    await diga(`repetido ${ID}`)

    const prueba = JSON.stringify({ id: 'evt_P_0', tipo: 'webhook.prueba', creado_en: '', datos: { webhook: {} } })
    expect(await enviar(prueba, await firmarWebhook(prueba, { id: 'evt_P_0', secreto: OTRO }))).toEqual([204, ''])
    await diga('atendido evt_P_0 webhook.prueba')

    expect((await fetch(url)).status).toBe(405)
    expect((await enviar(CUERPO, {}))[0]).toBe(400)
    const grande = randomBytes(1024 * 1024 + 1)
    expect(await enviar(new Uint8Array(grande), firmadas).catch(() => [413])).toContain(413)

    // Cut in the middle of the body: the next is served all the same.
    const cortada = connect(Number(new URL(url).port), '127.0.0.1')
    cortada.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    await once(cortada, 'connect')
    cortada.destroy()
    await diga('la conexión se cortó')
    expect(await enviar(CUERPO, firmadas)).toEqual([204, ''])

    expect(salida().match(/^atendido/gm)).toHaveLength(2)
    expect(salida()).not.toContain('whsec_')
    expect(hijo.exitCode).toBeNull()
  })

  it('does not start with a secret that is none', async () => {
    const { hijo, diga } = arrancar({ GUIAS_SECRETO: 'whsec_corto' })
    const [codigo] = await once(hijo, 'exit')
    expect(codigo).toBe(1)
    await diga('GUIAS_SECRETO: El secreto no es de un webhook')
  })
})
