import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio('live')
  ana = await createTestPersona(environment)
})

const ver = async (path: string, caller = ana) =>
  (await createScriptlessBrowser(environment, caller.cookie).visit(path)).texto
/** A live endpoint that fails since yesterday, with one delivery that waits. */
async function createFailedAviso(motivo = ''): Promise<string> {
  const webhook = `wh_${Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0')}`
  const estado = motivo === '' ? 'activo' : 'deshabilitado'
  await environment.db.pool.query(
    `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, motivo, estado_en, fallas, primera_falla_en,
       creado_en, actualizado_en, comprobado_en)
     values ($1, 'live', $2, $3, array['*'], $4, nullif($5, ''), now(), 37, now() - interval '1 day', now(), now(), now())`,
    [comercio.id, webhook, `https://${webhook.toLowerCase()}.ejemplo.com/secreto`, estado, motivo],
  )
  await comercio.api.guias.crear(buildGuia())
  await environment.db.pool.query(
    `update webhook_aviso set ultimo_error = 'http', ultimo_status = 503, intentos = 1 where webhook = $1`,
    [webhook],
  )
  return webhook.toLowerCase()
}
const fallida = async () => {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Rosa Tum' }))
  await environment.db.pool.query(
    `update guia set ubicacion_estado = 'fallida', ubicacion_extra = ubicacion_extra || jsonb_build_object('solicitud',
       ubicacion_extra -> 'solicitud' || '{"estado": "fallido", "motivo": "Ese número no tiene WhatsApp."}') where guia = $1`,
    [guia],
  )
  return guia
}

describe('the page of what could not be told', () => {
  it('says so while all receive', async () => {
    const text = await ver('/central/avisos')
    for (const message of ['Todos reciben', 'Todos llegaron']) expect(text).toContain(message)
  })

  it('shows the endpoints that fail: whose, where, since when, the last fault and what waits', async () => {
    const [server, other] = [await createFailedAviso(), await createFailedAviso('respondio_410')]
    const text = await ver('/central/avisos')
    expect(text).toMatch(
      new RegExp(`Tienda La Ceiba.*${server}\\.ejemplo\\.com.*Contestó \\(503\\).*37 intentos.*[1-9] avisos?<`, 's'),
    )
    for (const message of [`${other}.ejemplo.com`, 'Deshabilitado', 'Se sigue intentando'])
      expect(text).toContain(message)
    expect(text).not.toContain('/secreto')
    expect(await ver('/central')).toContain(`${server}.ejemplo.com`)
  })

  it('shows the messages that did not arrive with their reason, and sends them again', async () => {
    const guia = await fallida()
    const text = await ver('/central/avisos')
    for (const message of [
      'Rosa Tum',
      'Ese número no tiene WhatsApp.',
      `accion=reenviar&amp;guia=${guia}&amp;volver=avisos`,
    ])
      expect(text).toContain(message)
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const askedQuestion = await visit(`/central/varias?accion=reenviar&guia=${guia}&volver=avisos`)
    expect(askedQuestion.texto).toContain('Reenviar a 1 guía')
    const fields = { accion: 'reenviar', idempotencia: 'una', volver: 'avisos', guia }
    expect((await visit('/central/varias', fields)).texto).toMatch(
      /Se hizo en 1 guía\..*central\/avisos">Volver a la lista/s,
    )
    expect((await environment.asOperador('GET', `/mensajes?guia=${guia}`)).body.datos).toHaveLength(2)
  })

  it('offers no action to a person who may only see', async () => {
    const guia = await fallida()
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    for (const path of ['/central', '/central/avisos']) {
      const text = await ver(path, bea)
      expect(text).toContain(`guias/${guia}"`)
      expect(text).not.toContain('central/varias')
    }
  })
})

describe('the first page', () => {
  it('shows what does not move since when, with the action beside it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta'])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado })
    expect(await ver('/central')).not.toContain('No se mueven')
    await environment.advance(24 * HOUR_MS)
    const bea = await createTestPersona(environment)
    const text = await ver('/central', bea)
    expect(text).toMatch(/No se mueven.*Así desde/s)
    expect(text).toContain(`accion=registrar&amp;guia=${guia}`)
  })
})

describe('decisions that could not be asked', () => {
  const { createComercio } = useQuestions(environment)

  it('are on the page with the reason, to be decided there, and not while all were asked', async () => {
    expect(await ver('/central/avisos')).not.toContain('Decisiones que no se pudieron preguntar')
    const shop = await createComercio({}, 'live')
    const { guia } = await shop.api.guias.crear(buildGuia())
    for (const step of [
      { estado: 'recolectado' },
      { estado: 'en_ruta' },
      { estado: 'intento_fallido', motivo: 'destinatario_ausente' },
    ])
      await environment.asOperador('POST', `/guias/${guia}/eventos`, step)
    await environment.db.pool.query(
      `update mensaje set estado = 'fallido', motivo = 'Ese número no tiene WhatsApp.'
       where guia = $1 and tipo = 'solicitud_decision'`,
      [guia],
    )
    const eva = await createTestPersona(environment)
    const text = await ver('/central/avisos', eva)
    expect(text).toMatch(/id="preguntas">.*Ese número no tiene WhatsApp\..*accion=reintentar[^"]*">Poner fecha/s)
    expect(text).toContain(`name="guia" value="${guia}"`)
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    expect(await ver('/central/avisos', bea)).not.toContain('Poner fecha')
  })
})
