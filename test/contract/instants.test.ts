// An instant without its zone, without its hour, or with a plus sign that became a space gets a message of its own.
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

const WITHOUT_TIME = ['2026-11-20', expect.stringMatching(/^le faltan la hora y la zona: 2026-11-20T00:00:00-06:00 /)]
const WITHOUT_TIME_ZONE = [
  '2026-11-20T10:30:00',
  expect.stringMatching(/^le falta la zona: escriba 2026-11-20T10:30:00-06:00 /),
]

/** Parameters of the merchants' lists that are instants: `guias?creado_desde`. */
const INSTANTS = readOperations(readDocument()).flatMap(({ path, parameters }) =>
  path.startsWith('/api/v1/') && !path.includes('{')
    ? parameters.flatMap(({ name, schema }) =>
        JSON.stringify(schema).includes('"date-time"') ? [`${path.slice('/api/v1/'.length)}?${name}`] : [],
      )
    : [],
)

it('finds the instants of lists', () => {
  expect(INSTANTS).toEqual(expect.arrayContaining(['guias?creado_desde', 'eventos?desde']))
})

describe('an instant in a query string', () => {
  it.each(INSTANTS)('for %s gets one message for each mistake', async (filtro) => {
    const { llave } = await environment.createComercio()
    const [, field] = filtro.split('?')
    for (const [written, mensaje] of [
      WITHOUT_TIME,
      WITHOUT_TIME_ZONE,
      ['2026-11-20T10:30:00+02:00', expect.stringMatching(/llegó como un espacio: .* 2026-11-20T10:30:00%2B02:00$/)],
      ['ayer', expect.stringContaining('AAAA-MM-DDThh:mm:ssZ')],
    ]) {
      const { status, body } = await environment.request('GET', `/api/v1/${filtro}=${written}`, { llave })
      expect([status, body.errores]).toEqual([400, [{ campo: field, codigo: 'formato_invalido', mensaje }]])
    }
    for (const good of ['2026-11-20T10:30:00%2B02:00', '2026-11-20T00:00:00-06:00'])
      expect((await environment.request('GET', `/api/v1/${filtro}=${good}`, { llave })).status).toBe(200)
  })
})

describe('an instant in a body', () => {
  it('has one message for each mistake', async () => {
    const comercio = await environment.createComercio()
    const { webhook } = await comercio.api.webhooks.crear({ url: 'https://1.1.1.1/avisos' })
    for (const [desde, mensaje] of [
      WITHOUT_TIME,
      WITHOUT_TIME_ZONE,
      ['2026-11-20T10:30:00 02:00', expect.stringMatching(/espacio donde va el \+ .* 2026-11-20T10:30:00\+02:00$/)],
    ]) {
      const { status, body } = await environment.request('POST', `/api/v1/webhooks/${webhook}/recuperar`, {
        llave: comercio.llave,
        body: { desde },
      })
      expect([status, body.errores]).toEqual([422, [{ campo: '/desde', codigo: 'formato_invalido', mensaje }]])
    }
  })

  it('tells a day with an hour to leave it away', async () => {
    const { llave } = await environment.createComercio()
    const { body } = await environment.request('POST', '/api/v1/guias/7K3M9QX2A1B4/reintentar', {
      llave,
      body: { fecha: '2026-02-30' },
    })
    expect(body.errores).toEqual([
      { campo: '/fecha', codigo: 'formato_invalido', mensaje: expect.stringMatching(/^2026-02-30 no es un día/) },
    ])
  })
})
