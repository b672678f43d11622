// The order in which the pump reads due deliveries of one guide. A backlog is read in parts, so the order must hold
// between parts, too.

import { expect, it } from 'vitest'
import { retryGuiaOf } from '../../../server/domain/decisiones/decidir.ts'
import { sendToMailbox } from '../../../server/domain/mensajeria/mailbox.ts'
import { readDue } from '../../../server/domain/webhooks/sending/due.ts'
import { createIdGenerator } from '../../../server/platform/codes/codes.ts'
import { type Comercio, useEnvironment } from '../../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino } from '../../factories.ts'
import { buildMensajeDeps } from '../../mensajeria/channel.ts'
import { nobody } from '../webhooks.ts'

// No process sends the deliveries, so that the tests read them.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const deps = (clock: () => Date) => ({
  ...buildMensajeDeps(environment),
  clock,
  newId: createIdGenerator(clock),
  channelOf: () => 'buzon' as const,
})

/** A merchant with an endpoint that may be sent to. */
async function withEndpoint() {
  const comercio = await environment.createComercio()
  const { webhook } = await comercio.api.webhooks.crear(nobody())
  await environment.db.pool.query('update webhook set comprobado_en = now() where webhook = $1', [webhook])
  return { comercio, api: comercio.api, webhook }
}

/** Reads the due deliveries one by one; returns the types of their events. */
async function readOneByOne({ id, modo }: Comercio, webhook: string): Promise<string[]> {
  const readAvisos: { evento: string; tipo: string }[] = []
  for (;;) {
    const salvo = readAvisos.map(({ evento }) => evento)
    const requestData = { comercio_id: id, modo, webhook, count: 1, salvo }
    const [[one] = []] = await readDue(deps(environment.clock), [requestData], environment.clock())
    if (!one) return readAvisos.map(({ tipo }) => tipo)
    readAvisos.push(one.aviso)
  }
}

it('is that of the events if a decision corrects fields first', async () => {
  const { comercio, api, webhook } = await withEndpoint()
  const { guia } = await api.guias.crear(buildGuia())
  for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'])
    await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport(estado))
  environment.advance(5_000)
  // Each reading of the clock is later than the one before, and none is in the future.
  let lecturas = 0
  const clock = () => new Date(environment.clock().getTime() - 1_000 + ++lecturas)
  const caller = { por: 'comercio', origen: 'comercio', ambito: 'todos', autor: null, pais: null } as const
  await retryGuiaOf(deps(clock), caller, guia, { campos: { contenido: 'Dos cajas' } }, async () => {})
  expect(await readOneByOne(comercio, webhook)).toEqual([
    'guia.aceptado',
    'guia.recolectado',
    'guia.en_ruta',
    'guia.intento_fallido',
    'guia.decision_pendiente',
    'guia.corregida',
    'guia.decision_tomada',
  ])
})

it('is that of the events if a statement waited for the guide after it read the clock', async () => {
  const { comercio, api, webhook } = await withEndpoint()
  const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
  await api.guias.corregir(guia, { contenido: 'Dos cajas' })
  const { rows } = await environment.db.pool.query('select id, comercio_id from mensaje where guia = $1', [guia])
  await sendToMailbox(
    deps(() => new Date(environment.clock().getTime() - 5_000)),
    rows,
  )
  expect(await readOneByOne(comercio, webhook)).toEqual(['guia.aceptado', 'guia.corregida', 'ubicacion.solicitada'])
})
