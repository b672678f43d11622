import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await entorno.nuevoComercio('live')
  ana = await createTestPersona(entorno)
})

const ver = async (ruta: string, quien = ana) =>
  (await createScriptlessBrowser(entorno, quien.cookie).visit(ruta)).texto
/** A live endpoint that fails since yesterday, with one delivery that waits. */
async function conFalla(motivo = ''): Promise<string> {
  const webhook = `wh_${Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0')}`
  const estado = motivo === '' ? 'activo' : 'deshabilitado'
  await entorno.db.pool.query(
    `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, motivo, estado_en, fallas, primera_falla_en,
       creado_en, actualizado_en, comprobado_en)
     values ($1, 'live', $2, $3, array['*'], $4, nullif($5, ''), now(), 37, now() - interval '1 day', now(), now(), now())`,
    [comercio.id, webhook, `https://${webhook.toLowerCase()}.ejemplo.com/secreto`, estado, motivo],
  )
  await comercio.api.guias.crear(buildGuia())
  await entorno.db.pool.query(
    `update webhook_aviso set ultimo_error = 'http', ultimo_status = 503, intentos = 1 where webhook = $1`,
    [webhook],
  )
  return webhook.toLowerCase()
}
const fallida = async () => {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Rosa Tum' }))
  await entorno.db.pool.query(
    `update guia set ubicacion_estado = 'fallida', ubicacion_extra = ubicacion_extra || jsonb_build_object('solicitud',
       ubicacion_extra -> 'solicitud' || '{"estado": "fallido", "motivo": "Ese número no tiene WhatsApp."}') where guia = $1`,
    [guia],
  )
  return guia
}

describe('the page of what could not be told', () => {
  it('says so while all receive', async () => {
    const texto = await ver('/central/avisos')
    for (const dicho of ['Todos reciben', 'Todos llegaron']) expect(texto).toContain(dicho)
  })

  it('shows the endpoints that fail: whose, where, since when, the last fault and what waits', async () => {
    const [servidor, otro] = [await conFalla(), await conFalla('respondio_410')]
    const texto = await ver('/central/avisos')
    expect(texto).toMatch(
      new RegExp(`Tienda La Ceiba.*${servidor}\\.ejemplo\\.com.*Contestó \\(503\\).*37 intentos.*[1-9] avisos?<`, 's'),
    )
    for (const dicho of [`${otro}.ejemplo.com`, 'Deshabilitado', 'Se sigue intentando']) expect(texto).toContain(dicho)
    expect(texto).not.toContain('/secreto')
    expect(await ver('/central')).toContain(`${servidor}.ejemplo.com`)
  })

  it('shows the messages that did not arrive with their reason, and sends them again', async () => {
    const guia = await fallida()
    const texto = await ver('/central/avisos')
    for (const dicho of [
      'Rosa Tum',
      'Ese número no tiene WhatsApp.',
      `accion=reenviar&amp;guia=${guia}&amp;volver=avisos`,
    ])
      expect(texto).toContain(dicho)
    const { visit: ir } = createScriptlessBrowser(entorno, ana.cookie)
    const pregunta = await ir(`/central/varias?accion=reenviar&guia=${guia}&volver=avisos`)
    expect(pregunta.texto).toContain('Reenviar a 1 guía')
    const campos = { accion: 'reenviar', idempotencia: 'una', volver: 'avisos', guia }
    expect((await ir('/central/varias', campos)).texto).toMatch(
      /Se hizo en 1 guía\..*central\/avisos">Volver a la lista/s,
    )
    expect((await entorno.operar('GET', `/mensajes?guia=${guia}`)).cuerpo.datos).toHaveLength(2)
  })

  it('offers no action to a person who may only see', async () => {
    const guia = await fallida()
    const bea = await createTestPersona(entorno, { alcances: ['ver'] })
    for (const ruta of ['/central', '/central/avisos']) {
      const texto = await ver(ruta, bea)
      expect(texto).toContain(`guias/${guia}"`)
      expect(texto).not.toContain('central/varias')
    }
  })
})

describe('the first page', () => {
  it('shows what does not move since when, with the action beside it', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta']) await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })
    expect(await ver('/central')).not.toContain('No se mueven')
    await entorno.advance(24 * HOUR_MS)
    const bea = await createTestPersona(entorno)
    const texto = await ver('/central', bea)
    expect(texto).toMatch(/No se mueven.*Así desde/s)
    expect(texto).toContain(`accion=registrar&amp;guia=${guia}`)
  })
})
