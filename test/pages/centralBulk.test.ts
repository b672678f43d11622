import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useIntentos } from '../decisiones/move.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'

const environment = useEnvironment()
const { createGuiaWithIntento, createGuia: fresh } = useIntentos(environment)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

type Campos = readonly (readonly [string, string])[]
const query = (fields: Campos) => new URLSearchParams(fields as [string, string][]).toString()
const chosenGuias = (guias: readonly string[]): Campos => guias.map((guia) => ['guia', guia])
const estadoOf = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body
let telefonos = 0
async function askedGuia(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(
    buildGuiaWithoutDestino({ telefono: `+5023${String(7_000_000 + ++telefonos)}` }),
  )
  await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}

/** Opens the page for these guides, and sends its form as a browser without a program does. */
async function act(accion: string, guias: readonly string[], fields: Record<string, string>, caller = ana) {
  const ver = await createScriptlessBrowser(environment, caller.cookie).visit(
    `/central/varias?${query([['accion', accion], ...chosenGuias(guias)])}`,
  )
  const key = /name="idempotencia" value="([^"]+)"/.exec(ver.texto)?.[1] ?? ''
  const body = query([['accion', accion], ['idempotencia', key], ...chosenGuias(guias), ...Object.entries(fields)])
  const send = async () => {
    const response = await fetch(`${environment.url}/central/varias`, {
      method: 'POST',
      headers: {
        Cookie: caller.cookie,
        Origin: environment.url,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body,
    })
    return { status: response.status, texto: await response.text() }
  }
  return { ver, send }
}
const razon = { razon: 'Llamó el comercio' }

describe('several guides at once, without a program', () => {
  it('asks once, names their number, and tells the verdict of each', async () => {
    const [one, other, collectionResult] = [
      (await fresh()).guia,
      (await fresh()).guia,
      (await fresh(undefined, 'recolectado')).guia,
    ]
    const { ver, send } = await act('cancelar', [one!, other!, collectionResult!], razon)
    expect(ver.texto).toContain('Cancelar la guía: 3 guías')
    expect((await estadoOf(one!)).estado).toBe('aceptado')
    const { status, texto: text } = await send()
    expect([status, text]).toEqual([200, expect.stringContaining('Se hizo en 2 guías, y en 1 no se pudo.')])
    expect(text).toMatch(new RegExp(`id="negadas".*guias/${collectionResult}".*La guía está en recolectado`, 's'))
    expect([(await estadoOf(one!)).estado, (await estadoOf(collectionResult!)).estado]).toEqual([
      'cancelado',
      'recolectado',
    ])
  })

  it.each([
    [
      'reintentar',
      async () => (await createGuiaWithIntento()).guia,
      { fecha: '', ...razon },
      { decision: { estado: 'tomada' } },
    ],
    ['devolver', async () => (await createGuiaWithIntento()).guia, razon, { estado: 'en_devolucion' }],
    [
      'registrar',
      async () => (await fresh()).guia,
      { paso: 'recolectado', descripcion: '' },
      { estado: 'recolectado' },
    ],
  ] as const)('does «%s» once for each form, in the name of the person', async (accion, prepare, fields, after) => {
    const guias = [await prepare(), await prepare()]
    const { send } = await act(accion, guias, fields)
    expect((await send()).texto).toContain('Se hizo en 2 guías.')
    const hechas = await Promise.all(guias.map(estadoOf))
    expect(hechas).toMatchObject([after, after])
    expect((await send()).texto).toContain('Se hizo en 2 guías.')
    expect(await Promise.all(guias.map(estadoOf))).toEqual(hechas)
    const { rows } = await environment.db.pool.query('select distinct autor from evento where guia = $1', [guias[0]])
    expect(rows.map(({ autor }) => autor)).toContain(ana.persona)
  })

  it('sends each recipient one message more, however often the form comes', async () => {
    const guias = [await askedGuia(), await askedGuia()]
    const { send } = await act('reenviar', guias, {})
    for (let times = 0; times < 2; times++) expect((await send()).texto).toContain('Se hizo en 2 guías.')
    for (const guia of guias)
      expect((await environment.asOperador('GET', `/mensajes?guia=${guia}`)).body.datos).toHaveLength(2)
  })

  it('takes all guides of the page with one box, and leads back to it', async () => {
    const other = await environment.createComercio()
    const guias = await Promise.all(
      Array.from({ length: 3 }, async () => (await other.api.guias.crear(buildGuia())).guia),
    )
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const list = await visit(`/central/guias?comercio=${other.comercio}&cuantas=100`)
    const page = /name="pagina" value="([^"]+)"/.exec(list.texto)![1]!
    expect(page.split(' ').sort()).toEqual(guias.toSorted())
    const returnPath = /name="volver" value="([^"]+)"/.exec(list.texto)![1]!.replaceAll('&amp;', '&')
    const fields = [
      ['accion', 'cancelar'],
      ['todas', '1'],
      ['pagina', page],
      ['volver', returnPath],
    ] as const
    const { texto: text } = await visit(`/central/varias?${query(fields)}`)
    expect(text).toContain('Cancelar la guía: 3 guías')
    const path = /href="[^"]*(\/central\/guias\?[^"]+)">Volver</.exec(text)![1]!.replaceAll('&amp;', '&')
    expect((await visit(path)).texto).toContain(`value="${page}"`)
    const fuera = await visit(`/central/varias?accion=cancelar&guia=${guias[0]}&volver=//malo.example`)
    expect(fuera.texto).toMatch(/href="[^"]*\/central">Volver</)
  })

  it.each([
    ['no guide', '?accion=cancelar', 422, 'No eligió ninguna guía'],
    ['no action', '?accion=deshacer&guia=7K3M9QX2A1B4', 422, 'Elija qué hacer'],
    [
      'too many',
      `?accion=cancelar&${query(chosenGuias(Array.from({ length: 101 }, () => newGuideCode())))}`,
      422,
      'Son 101',
    ],
  ])('says what is wrong with %s', async (_description, path, expected, message) => {
    const { status, texto: text } = await createScriptlessBrowser(environment, ana.cookie).visit(
      `/central/varias${path}`,
    )
    expect([status, text]).toEqual([expected, expect.stringContaining(message)])
  })

  it('is for those who may operate, from the page itself', async () => {
    const bea = await createTestPersona(environment, { alcances: ['ver'] })
    const { guia } = await fresh()
    const { ver, send } = await act('cancelar', [guia], razon, bea)
    expect([ver.status, (await send()).status]).toEqual([403, 403])
    expect((await createScriptlessBrowser(environment, bea.cookie).visit('/central/guias')).texto).not.toContain(
      'name="guia"',
    )
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const foreign = await visit('/central/varias', { accion: 'cancelar', guia }, { Origin: 'https://malo.example' })
    expect(foreign.status).toBe(403)
    expect((await visit('/central/varias', { accion: 'cancelar', otra: 'x' })).status).toBe(400)
    expect((await estadoOf(guia)).estado).toBe('aceptado')
  })
})

describe.skipIf(!hasBrowser)('a hundred guides, in a browser', () => {
  const open = async (javaScriptEnabled = true) => {
    const [name = '', value = ''] = ana.cookie.split('=')
    const context = await openContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled })
    await context.addCookies([{ name, value, url: environment.url }])
    return context.newPage()
  }
  const hundred = async () => {
    const otherComercio = await environment.createComercio()
    const { creadas } = await otherComercio.api.guias.crearLote({
      guias: Array.from({ length: 100 }, () => buildGuia()),
    })
    expect(creadas).toBe(100)
    const { rows } = await environment.db.pool.query<{ guia: string }>('select guia from guia where comercio_id = $1', [
      otherComercio.id,
    ])
    return { otherComercio, guias: rows.map(({ guia }) => guia) }
  }
  const canceladas = async (id: string) =>
    (await environment.db.pool.query(`select from guia where comercio_id = $1 and estado = 'cancelado'`, [id])).rowCount

  it('are changed a slice at a time, with the progress, and the refused ones are listed', async () => {
    const { otherComercio, guias } = await hundred()
    for (const guia of guias.slice(0, 3))
      await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    const page = await open()
    let [now, maximo, solicitudes] = [0, 0, 0]
    await page.route('**/central/varias', async (path) => {
      solicitudes++
      maximo = Math.max(maximo, ++now)
      await path.continue()
    })
    page.on('requestfinished', (one) => void (one.method() === 'POST' && now--))
    await page.goto(`${environment.url}/central/guias?comercio=${otherComercio.comercio}&cuantas=100`)
    await page.getByLabel('Todas las de aquí (100)').check()
    expect(await page.locator('[name=guia]:checked').count()).toBe(100)
    await page.getByLabel('Qué hacer con las elegidas').selectOption('Cancelar la guía')
    await page.getByRole('button', { name: 'Seguir' }).click()
    await page.getByLabel('Por qué').fill('Cerró la tienda')
    await page.getByRole('button', { name: 'Cancelar 100 guías' }).click()
    await page.getByText('Listo. Se hizo en 97, y en 3 no se pudo.').waitFor()
    expect([solicitudes, maximo]).toEqual([10, 1])
    expect(await page.locator('#avance progress').getAttribute('max')).toBe('100')
    expect(await page.locator('#avance li').count()).toBe(3)
    expect(await canceladas(otherComercio.id)).toBe(97)
    await page.context().close()
  })

  it('stop when asked, go on, and survive a lost answer without doing anything twice', async () => {
    const { otherComercio } = await hundred()
    const page = await open()
    let solicitudes = 0
    await page.route('**/central/varias', async (path) => {
      solicitudes++
      // The third slice is done, and its answer is lost.
      if (solicitudes === 3) {
        await path.fetch()
        return path.abort()
      }
      if (solicitudes === 6) await page.getByRole('button', { name: 'Detener' }).click()
      return path.continue()
    })
    await page.goto(`${environment.url}/central/guias?comercio=${otherComercio.comercio}&cuantas=100`)
    await page.getByLabel('Todas las de aquí (100)').check()
    await page.getByLabel('Qué hacer con las elegidas').selectOption('Registrar un paso')
    await page.getByRole('button', { name: 'Seguir' }).click()
    await page.getByLabel('Qué pasó').selectOption('Recolectado')
    await page.getByRole('button', { name: 'Registrar en 100 guías' }).click()
    await page.getByText('Se cortó la conexión: faltan 80.').waitFor()
    await page.getByRole('button', { name: 'Seguir' }).click()
    await page.getByText('Se detuvo: faltan 50.').waitFor()
    await page.getByRole('button', { name: 'Seguir' }).click()
    await page.getByText('Listo. Se hizo en 100.').waitFor()
    const { rows } = await environment.db.pool.query(
      `select max(secuencia) as mayor, count(*)::int as count from guia where comercio_id = $1 and estado = 'recolectado'`,
      [otherComercio.id],
    )
    expect(rows).toEqual([{ mayor: 2, count: 100 }])
    await page.context().close()
  })

  it('are changed by one form without a program', async () => {
    const { otherComercio } = await hundred()
    const page = await open(false)
    await page.goto(`${environment.url}/central/guias?comercio=${otherComercio.comercio}&cuantas=100`)
    await page.getByLabel('Todas las de aquí (100)').check()
    await page.getByLabel('Qué hacer con las elegidas').selectOption('Cancelar la guía')
    await page.getByRole('button', { name: 'Seguir' }).click()
    await page.getByLabel('Por qué').fill('Cerró la tienda')
    await page.getByRole('button', { name: 'Cancelar 100 guías' }).click()
    await page.getByText('Se hizo en 100 guías.').waitFor()
    expect(await canceladas(otherComercio.id)).toBe(100)
    await page.context().close()
  })
})
