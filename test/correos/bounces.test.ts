import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { readBounce } from '../../server/platform/mail/bounce.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { useEnvironment } from '../environment.ts'
import { createComercioPersona, createTestPersona, requestCode, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { waitUntil } from '../factories.ts'
import { openMailServer, parseCorreo } from './server.ts'

let mailServer: Awaited<ReturnType<typeof openMailServer>>
const environment = useEnvironment(undefined, async () => {
  mailServer = await openMailServer()
  return { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, MAIL_FROM: 'avisos@mensajeria.example' }
})

/** A report as Postfix writes it, shortened. */
const report = (messageId: string, action = 'failed', status = '5.1.1') =>
  [
    'From: MAILER-DAEMON@mx.example (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
    'Message-Id: <20261129.ABC@mx.example>',
    '',
    '--B',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Final-Recipient: rfc822; ana@ejemplo.com',
    `Action: ${action}`,
    `Status: ${status}`,
    'Diagnostic-Code: smtp; 550 5.1.1 <ana@ejemplo.com>: User unknown',
    '',
    '--B',
    'Content-Type: text/rfc822-headers',
    '',
    'From: Guías <avisos@mensajeria.example>',
    `Message-ID: ${messageId}`,
    '',
    '--B--',
  ].join('\r\n')

/** Gives a report to the console, as a mail server would. */
async function deliver(text: string) {
  const file = join(inject('runFolder'), randomUUID())
  writeFileSync(file, text)
  const { codigo, output } = await runInProcess(['correos', 'rebote', file, '--json'], consoleEnvironment(environment))
  return { codigo, ...JSON.parse(output) }
}
const isBounced = async ({ persona }: TestPersona) =>
  (await environment.asOperador('GET', `/personas/${persona}`)).body.correo_rebotado_en !== null
/** Identity of the newest mail that the mail server took for a person. */
const lastMessageId = ({ correo }: TestPersona) => {
  const mail = mailServer.receivedCorreos.findLast(({ to }) => to === correo)
  return mail && parseCorreo(mail).readHeader('Message-ID')
}

describe('a person whose mails bounce', () => {
  // First, because the console has a clock of its own.
  it('is shown with a bounce that came later, once, and another person is not', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createComercioPersona(environment)]
    const messageId = await waitUntil(async () => lastMessageId(ana))
    await environment.waitForQuiet()
    expect(await deliver(report(messageId))).toEqual({ codigo: 0, rebotados: 1 })
    expect([await isBounced(ana), await isBounced(eva)]).toEqual([true, false])
    expect(await deliver(report(messageId))).toEqual({ codigo: 0, rebotados: 0 })
    const { rows } = await environment.db.pool.query(
      `select codigo from correo where estado = 'rebotado' order by id desc limit 1`,
    )
    expect(rows).toEqual([{ codigo: 'dsn_5.1.1' }])
  })

  it('is not shown for a delay, for a mail of somebody else, or for an answer of a person', async () => {
    const ana = await createTestPersona(environment)
    const messageId = await waitUntil(async () => lastMessageId(ana))
    await environment.waitForQuiet()
    for (const text of [
      report(messageId, 'delayed', '4.4.1'),
      report(messageId, 'delivered', '2.0.0'),
      report(`<${randomUUID()}@mensajeria.example>`),
      `In-Reply-To: ${messageId}\r\n\r\nAction: failed`,
      '',
    ])
      expect(await deliver(text)).toEqual({ codigo: 0, rebotados: 0 })
    expect(await isBounced(ana)).toBe(false)
  })

  it('is shown with it, from a refusal at once until another mail leaves', async () => {
    const ana = await createTestPersona(environment)
    await environment.waitForQuiet()
    expect(await isBounced(ana)).toBe(false)
    mailServer.recipientRefusalStatus = 550
    await requestCode(environment, ana.correo)
    await waitUntil(() => isBounced(ana))
    mailServer.recipientRefusalStatus = 0
    const { datos } = (await environment.asOperador('GET', '/personas')).body
    expect(datos[0]).toMatchObject({ persona: ana.persona, correo_rebotado_en: expect.any(String) })
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    expect((await visit('/central/equipo')).texto).toContain('sus correos rebotan')
    expect((await visit(`/central/equipo/${ana.persona}`)).texto).toContain('El último correo rebotó el')
    environment.advance(1_000)
    await requestCode(environment, ana.correo)
    await waitUntil(async () => !(await isBounced(ana)))
  })
})

describe('a report', () => {
  const id = randomUUID()
  it.each([
    ['folded', report(`\r\n <${id}@x>`)],
    ['with line ends of Unix', report(`<${id}@x>`).replaceAll('\r', '')],
    ['in other letters', report(`<${id.toUpperCase()}@x>`).replace('Action: f', 'ACTION:F')],
  ])('%s is read', (_shape, text) => {
    expect(readBounce(text)).toEqual({ ids: [id], status: '5.1.1' })
  })

  it('about many mails gives ten of them', () => {
    const lines = Array.from({ length: 1_000 }, () => `Message-ID: <${randomUUID()}@x>`)
    expect(readBounce(`${report(`<${id}@x>`)}\r\n${lines.join('\r\n')}`)?.ids).toHaveLength(10)
  })
})
