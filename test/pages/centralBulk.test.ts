import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useIntentos } from '../decisiones/move.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'

const entorno = useEnvironment()
const { conIntento, createGuia: nueva } = useIntentos(entorno)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ana = await createTestPersona(entorno)
})

type Campos = readonly (readonly [string, string])[]
const consulta = (campos: Campos) => new URLSearchParams(campos as [string, string][]).toString()
const elegidas = (guias: readonly string[]): Campos => guias.map((guia) => ['guia', guia])
const estadoDe = async (guia: string) => (await entorno.operar('GET', `/guias/${guia}`)).cuerpo
let telefonos = 0
async function preguntada(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(
    buildGuiaWithoutDestino({ telefono: `+5023${String(7_000_000 + ++telefonos)}` }),
  )
  await hasta(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}

/** Opens the page for these guides, and sends its form as a browser without a program does. */
async function hacer(accion: string, guias: readonly string[], campos: Record<string, string>, quien = ana) {
  const ver = await createScriptlessBrowser(entorno, quien.cookie).visit(
    `/central/varias?${consulta([['accion', accion], ...elegidas(guias)])}`,
  )
  const clave = /name="idempotencia" value="([^"]+)"/.exec(ver.texto)?.[1] ?? ''
  const cuerpo = consulta([['accion', accion], ['idempotencia', clave], ...elegidas(guias), ...Object.entries(campos)])
  const enviar = async () => {
    const respuesta = await fetch(`${entorno.url}/central/varias`, {
      method: 'POST',
      headers: {
        Cookie: quien.cookie,
        Origin: entorno.url,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: cuerpo,
    })
    return { status: respuesta.status, texto: await respuesta.text() }
  }
  return { ver, send: enviar }
}
const razon = { razon: 'Llamó el comercio' }

describe('several guides at once, without a program', () => {
  it('asks once, names their number, and tells the verdict of each', async () => {
    const [una, otra, recolectada] = [
      (await nueva()).guia,
      (await nueva()).guia,
      (await nueva(undefined, 'recolectado')).guia,
    ]
    const { ver, send: enviar } = await hacer('cancelar', [una!, otra!, recolectada!], razon)
    expect(ver.texto).toContain('Cancelar la guía: 3 guías')
    expect((await estadoDe(una!)).estado).toBe('aceptado')
    const { status, texto } = await enviar()
    expect([status, texto]).toEqual([200, expect.stringContaining('Se hizo en 2 guías, y en 1 no se pudo.')])
    expect(texto).toMatch(new RegExp(`id="negadas".*guias/${recolectada}".*La guía está en recolectado`, 's'))
    expect([(await estadoDe(una!)).estado, (await estadoDe(recolectada!)).estado]).toEqual(['cancelado', 'recolectado'])
  })

  it.each([
    ['reintentar', async () => (await conIntento()).guia, { fecha: '', ...razon }, { decision: { estado: 'tomada' } }],
    ['devolver', async () => (await conIntento()).guia, razon, { estado: 'en_devolucion' }],
    [
      'registrar',
      async () => (await nueva()).guia,
      { paso: 'recolectado', descripcion: '' },
      { estado: 'recolectado' },
    ],
  ] as const)('does «%s» once for each form, in the name of the person', async (accion, preparar, campos, despues) => {
    const guias = [await preparar(), await preparar()]
    const { send: enviar } = await hacer(accion, guias, campos)
    expect((await enviar()).texto).toContain('Se hizo en 2 guías.')
    const hechas = await Promise.all(guias.map(estadoDe))
    expect(hechas).toMatchObject([despues, despues])
    expect((await enviar()).texto).toContain('Se hizo en 2 guías.')
    expect(await Promise.all(guias.map(estadoDe))).toEqual(hechas)
    const { rows } = await entorno.db.pool.query('select distinct autor from evento where guia = $1', [guias[0]])
    expect(rows.map(({ autor }) => autor)).toContain(ana.persona)
  })

  it('sends each recipient one message more, however often the form comes', async () => {
    const guias = [await preguntada(), await preguntada()]
    const { send: enviar } = await hacer('reenviar', guias, {})
    for (let veces = 0; veces < 2; veces++) expect((await enviar()).texto).toContain('Se hizo en 2 guías.')
    for (const guia of guias)
      expect((await entorno.operar('GET', `/mensajes?guia=${guia}`)).cuerpo.datos).toHaveLength(2)
  })

  it('takes all guides of the page with one box, and leads back to it', async () => {
    const otro = await entorno.nuevoComercio()
    const guias = await Promise.all(
      Array.from({ length: 3 }, async () => (await otro.api.guias.crear(buildGuia())).guia),
    )
    const { visit: ir } = createScriptlessBrowser(entorno, ana.cookie)
    const lista = await ir(`/central/guias?comercio=${otro.comercio}&cuantas=100`)
    const pagina = /name="pagina" value="([^"]+)"/.exec(lista.texto)![1]!
    expect(pagina.split(' ').sort()).toEqual(guias.toSorted())
    const volver = /name="volver" value="([^"]+)"/.exec(lista.texto)![1]!.replaceAll('&amp;', '&')
    const campos = [
      ['accion', 'cancelar'],
      ['todas', '1'],
      ['pagina', pagina],
      ['volver', volver],
    ] as const
    const { texto } = await ir(`/central/varias?${consulta(campos)}`)
    expect(texto).toContain('Cancelar la guía: 3 guías')
    const ruta = /href="[^"]*(\/central\/guias\?[^"]+)">Volver</.exec(texto)![1]!.replaceAll('&amp;', '&')
    expect((await ir(ruta)).texto).toContain(`value="${pagina}"`)
    const fuera = await ir(`/central/varias?accion=cancelar&guia=${guias[0]}&volver=//malo.example`)
    expect(fuera.texto).toMatch(/href="[^"]*\/central">Volver</)
  })

  it.each([
    ['no guide', '?accion=cancelar', 422, 'No eligió ninguna guía'],
    ['no action', '?accion=deshacer&guia=7K3M9QX2A1B4', 422, 'Elija qué hacer'],
    [
      'too many',
      `?accion=cancelar&${consulta(elegidas(Array.from({ length: 101 }, () => newGuideCode())))}`,
      422,
      'Son 101',
    ],
  ])('says what is wrong with %s', async (_que, ruta, esperado, dicho) => {
    const { status, texto } = await createScriptlessBrowser(entorno, ana.cookie).visit(`/central/varias${ruta}`)
    expect([status, texto]).toEqual([esperado, expect.stringContaining(dicho)])
  })

  it('is for those who may operate, from the page itself', async () => {
    const bea = await createTestPersona(entorno, { alcances: ['ver'] })
    const { guia } = await nueva()
    const { ver, send: enviar } = await hacer('cancelar', [guia], razon, bea)
    expect([ver.status, (await enviar()).status]).toEqual([403, 403])
    expect((await createScriptlessBrowser(entorno, bea.cookie).visit('/central/guias')).texto).not.toContain(
      'name="guia"',
    )
    const { visit: ir } = createScriptlessBrowser(entorno, ana.cookie)
    const ajena = await ir('/central/varias', { accion: 'cancelar', guia }, { Origin: 'https://malo.example' })
    expect(ajena.status).toBe(403)
    expect((await ir('/central/varias', { accion: 'cancelar', otra: 'x' })).status).toBe(400)
    expect((await estadoDe(guia)).estado).toBe('aceptado')
  })
})

describe.skipIf(!hasBrowser)('a hundred guides, in a browser', () => {
  const abrir = async (javaScriptEnabled = true) => {
    const [name = '', value = ''] = ana.cookie.split('=')
    const contexto = await openContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled })
    await contexto.addCookies([{ name, value, url: entorno.url }])
    return contexto.newPage()
  }
  const cien = async () => {
    const otro = await entorno.nuevoComercio()
    const { creadas } = await otro.api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuia()) })
    expect(creadas).toBe(100)
    const { rows } = await entorno.db.pool.query<{ guia: string }>('select guia from guia where comercio_id = $1', [
      otro.id,
    ])
    return { otro, guias: rows.map(({ guia }) => guia) }
  }
  const canceladas = async (id: string) =>
    (await entorno.db.pool.query(`select from guia where comercio_id = $1 and estado = 'cancelado'`, [id])).rowCount

  it('are changed a slice at a time, with the progress, and the refused ones are listed', async () => {
    const { otro, guias } = await cien()
    for (const guia of guias.slice(0, 3))
      await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
    const pagina = await abrir()
    let [ahora, maximo, solicitudes] = [0, 0, 0]
    await pagina.route('**/central/varias', async (ruta) => {
      solicitudes++
      maximo = Math.max(maximo, ++ahora)
      await ruta.continue()
    })
    pagina.on('requestfinished', (una) => void (una.method() === 'POST' && ahora--))
    await pagina.goto(`${entorno.url}/central/guias?comercio=${otro.comercio}&cuantas=100`)
    await pagina.getByLabel('Todas las de aquí (100)').check()
    expect(await pagina.locator('[name=guia]:checked').count()).toBe(100)
    await pagina.getByLabel('Qué hacer con las elegidas').selectOption('Cancelar la guía')
    await pagina.getByRole('button', { name: 'Seguir' }).click()
    await pagina.getByLabel('Por qué').fill('Cerró la tienda')
    await pagina.getByRole('button', { name: 'Cancelar 100 guías' }).click()
    await pagina.getByText('Listo. Se hizo en 97, y en 3 no se pudo.').waitFor()
    expect([solicitudes, maximo]).toEqual([10, 1])
    expect(await pagina.locator('#avance progress').getAttribute('max')).toBe('100')
    expect(await pagina.locator('#avance li').count()).toBe(3)
    expect(await canceladas(otro.id)).toBe(97)
    await pagina.context().close()
  })

  it('stop when asked, go on, and survive a lost answer without doing anything twice', async () => {
    const { otro } = await cien()
    const pagina = await abrir()
    let solicitudes = 0
    await pagina.route('**/central/varias', async (ruta) => {
      solicitudes++
      // The third slice is done, and its answer is lost.
      if (solicitudes === 3) {
        await ruta.fetch()
        return ruta.abort()
      }
      if (solicitudes === 6) await pagina.getByRole('button', { name: 'Detener' }).click()
      return ruta.continue()
    })
    await pagina.goto(`${entorno.url}/central/guias?comercio=${otro.comercio}&cuantas=100`)
    await pagina.getByLabel('Todas las de aquí (100)').check()
    await pagina.getByLabel('Qué hacer con las elegidas').selectOption('Registrar un paso')
    await pagina.getByRole('button', { name: 'Seguir' }).click()
    await pagina.getByLabel('Qué pasó').selectOption('Recolectado')
    await pagina.getByRole('button', { name: 'Registrar en 100 guías' }).click()
    await pagina.getByText('Se cortó la conexión: faltan 80.').waitFor()
    await pagina.getByRole('button', { name: 'Seguir' }).click()
    await pagina.getByText('Se detuvo: faltan 50.').waitFor()
    await pagina.getByRole('button', { name: 'Seguir' }).click()
    await pagina.getByText('Listo. Se hizo en 100.').waitFor()
    const { rows } = await entorno.db.pool.query(
      `select max(secuencia) as mayor, count(*)::int as count from guia where comercio_id = $1 and estado = 'recolectado'`,
      [otro.id],
    )
    expect(rows).toEqual([{ mayor: 2, count: 100 }])
    await pagina.context().close()
  })

  it('are changed by one form without a program', async () => {
    const { otro } = await cien()
    const pagina = await abrir(false)
    await pagina.goto(`${entorno.url}/central/guias?comercio=${otro.comercio}&cuantas=100`)
    await pagina.getByLabel('Todas las de aquí (100)').check()
    await pagina.getByLabel('Qué hacer con las elegidas').selectOption('Cancelar la guía')
    await pagina.getByRole('button', { name: 'Seguir' }).click()
    await pagina.getByLabel('Por qué').fill('Cerró la tienda')
    await pagina.getByRole('button', { name: 'Cancelar 100 guías' }).click()
    await pagina.getByText('Se hizo en 100 guías.').waitFor()
    expect(await canceladas(otro.id)).toBe(100)
    await pagina.context().close()
  })
})
