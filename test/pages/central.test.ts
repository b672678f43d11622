import { beforeAll, describe, expect, it } from 'vitest'
import { ACTIONS } from '../../server/pages/central/actions.ts'
import { addDays, dayIn } from '../../server/platform/time/day.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { useIntentos } from '../decisiones/move.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { useOffice } from './office.ts'

const environment = useEnvironment()
const { createGuiaWithIntento, createGuia: fresh } = useIntentos(environment)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

const { createBrowserOf, perform: onPage, performLate } = useOffice(environment)
/** Fills the form of an action on a guide's page and sends it. */
const act = (caller: TestPersona, guia: string, accion: string, fields: Record<string, string>) =>
  onPage(caller, `/central/guias/${guia}`, { accion, ...fields })
const estadoOf = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body
/** A guide whose recipient was asked for the place. */
async function askedGuia(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
  await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}
const call = { razon: 'Llamó la clienta' }
const direcciones = {
  telefono: '+50255551234',
  destinatario: 'Rosa Tum',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: '3a calle 1',
  indicaciones: '',
}

/** For each action: a guide that offers it, what is filled in, and what the guide is afterwards. */
const SCENES: Record<keyof typeof ACTIONS, [() => Promise<string>, Record<string, string>, object]> = {
  reintentar: [
    async () => (await createGuiaWithIntento()).guia,
    { fecha: '', ...call },
    { decision: { estado: 'tomada', accion: 'reintentar', por: 'operador' } },
  ],
  ubicar: [
    () => askedGuia(),
    { lugar: '14.71889, -90.64417', referencia: 'Portón verde', ...call },
    { ubicacion: { estado: 'confirmada', lat: 14.71889, lng: -90.64417, referencia: 'Portón verde' } },
  ],
  corregir: [
    async () => (await comercio.api.guias.crear(buildGuia({ indicaciones: 'Portón rojo' }))).guia,
    { ...direcciones, ...call },
    { ...direcciones, indicaciones: null },
  ],
  registrar: [
    async () => (await fresh(undefined, 'recolectado', 'en_ruta')).guia,
    { paso: 'intento_fallido:destinatario_ausente', descripcion: 'Dejó aviso' },
    { estado: 'intento_fallido', intentos: 1 },
  ],
  entregar: [
    async () => (await fresh(undefined, 'recolectado', 'en_ruta')).guia,
    { descripcion: 'Rosa Tum', razon: 'Vino a la bodega' },
    { estado: 'entregado' },
  ],
  notar: [
    async () => (await fresh()).guia,
    { descripcion: 'Pasa el jueves por la bodega' },
    { secuencia: 1, estado: 'aceptado' },
  ],
  anotar: [
    async () => (await fresh()).guia,
    { descripcion: 'Mejor por la tarde' },
    { secuencia: 2, estado: 'aceptado' },
  ],
  devolver: [async () => (await createGuiaWithIntento()).guia, call, { estado: 'en_devolucion' }],
  cancelar: [async () => (await fresh()).guia, call, { estado: 'cancelado' }],
  deshacer: [async () => (await createDeliveredGuia(environment, comercio)).guia, call, { estado: 'en_ruta' }],
}

describe.each(Object.entries(SCENES))('«%s» on the page of a guide', (accion, [prepare, fields, after]) => {
  it('does it once, in the name of the person, and says so', async () => {
    const guia = await prepare()
    const { respuesta: response, send } = await act(ana, guia, accion, fields)
    expect(response).toMatchObject({
      status: 303,
      destino: `${environment.url}/central/guias/${guia}?hecho=${accion}`,
    })
    const decided = await estadoOf(guia)
    expect(decided).toMatchObject(after)
    expect((await createBrowserOf(ana).visit(`/central/guias/${guia}?hecho=${accion}`)).texto).toContain(
      ACTIONS[accion]!.done,
    )
    const notas = async () => (await environment.asOperador('GET', `/guias/${guia}/notas`)).body.datos
    const storedNotas = await notas()
    const { rows } = await environment.db.pool.query('select distinct autor from evento where guia = $1', [guia])
    const autores = [...rows, ...storedNotas.map(({ autor }: { autor: object }) => autor)].map(({ autor }) => autor)
    expect(autores).toContain(ana.persona)
    await send()
    expect((await estadoOf(guia)).secuencia).toBe(decided.secuencia)
    expect(await notas()).toEqual(storedNotas)
  })

  it('is neither offered nor done without its scope', async () => {
    const bea = await createTestPersona(environment, {
      alcances: ACTIONS[accion]!.scope === 'operar' ? ['ver'] : ['ver', 'operar'],
    })
    const guia = await prepare()
    const before = await estadoOf(guia)
    expect((await createBrowserOf(bea).visit(`/central/guias/${guia}`)).texto).not.toContain(`value="${accion}"`)
    const { respuesta: response } = await act(bea, guia, accion, { secuencia: String(before.secuencia), ...fields })
    expect(response.status).toBe(403)
    expect(await estadoOf(guia)).toEqual(before)
  })
})

describe('the page of a guide', () => {
  it('gives the parcel to the chosen courier, and names the courier and the giver', async () => {
    const { body: luisa } = await environment.asOperador('POST', '/repartidores', {
      nombre: 'Luisa Chub',
      telefono: '+50255667788',
    })
    const { guia } = await fresh()
    await environment.asOperador('POST', '/asignaciones', { guias: [guia], repartidor: luisa.repartidor })
    const before = (await createBrowserOf(ana).visit(`/central/guias/${guia}`)).texto
    expect(before).toMatch(/Asignada a.*Luisa Chub.*5566 7788.*para hoy/s)
    const fields = { paso: 'recolectado', repartidor: luisa.repartidor, descripcion: '' }
    expect((await act(ana, guia, 'registrar', fields)).respuesta.status).toBe(303)
    expect((await estadoOf(guia)).repartidor).toMatchObject({ nombre: 'Luisa Chub' })
    const { texto: text } = await createBrowserOf(ana).visit(`/central/guias/${guia}`)
    expect(text).toContain('Luisa Chub · registrado por Ana Pérez · asignado por')
    expect(text).toContain('Lo sigue llevando Luisa Chub')
  })

  it('says beside its field that a courier takes a parcel only by two steps', async () => {
    const { body: luisa } = await environment.asOperador('POST', '/repartidores', { nombre: 'Luisa Chub' })
    const { guia } = await fresh(undefined, 'recolectado')
    const fields = { paso: 'en_bodega', repartidor: luisa.repartidor, descripcion: 'Llegó mojado' }
    const { respuesta: response } = await act(ana, guia, 'registrar', fields)
    expect(response.status).toBe(422)
    expect(response.texto).toContain('id="error-registrar-repartidor"')
    expect(response.texto).toContain('<option value="en_bodega" selected>')
    expect(response.texto).toContain('value="Llegó mojado"')
  })

  it('shows why it waits, its history with what people wrote, and its messages', async () => {
    const guia = await createFailedGuia(environment, comercio)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, {
      tipo: 'guia.nota',
      descripcion: 'Trabaja hasta las 14',
    })
    const { texto: text } = await createBrowserOf(ana).visit(`/central/guias/${guia}`)
    for (const message of ['No había nadie', 'Se espera una decisión hasta el', 'Trabaja hasta las 14', 'Ana Pérez'])
      expect(text).toContain(message)
    const other = await createBrowserOf(ana).visit(`/central/guias/${await askedGuia()}`)
    expect(other.texto).toContain('Díganos dónde entregarlo:')
  })

  it('keeps what was typed when the service refuses it, and says what is wrong beside its field', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta: response } = await act(ana, guia, 'corregir', { ...direcciones, telefono: '55<b>', ...call })
    expect(response.status).toBe(422)
    expect(response.texto).toContain('id="error-corregir-telefono"')
    expect(response.texto).toContain('value="55&lt;b&gt;"')
    expect(response.texto).toContain('value="Rosa Tum"')
  })

  it('says that the guide changed since the page was opened', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta: response } = await act(ana, guia, 'corregir', { ...direcciones, ...call, secuencia: '7' })
    expect([response.status, response.texto]).toEqual([409, expect.stringContaining('La guía va por la secuencia')])
  })

  it('asks for a proof of presence before it undoes a state', async () => {
    const bea = await createTestPersona(environment)
    const { guia } = await createGuiaWithIntento()
    await performLate(bea)
    const { respuesta: response } = await act(bea, guia, 'deshacer', call)
    expect(response.texto).toContain(`cuenta/presencia?volver=%2Fcentral%2Fguias%2F${guia.toLowerCase()}`)
    expect((await createBrowserOf(bea).visit(`/central/guias/${guia.toLowerCase()}`)).status).toBe(200)
  })

  it('takes no form of another site, and none that is not its own', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { visit } = createBrowserOf(ana)
    const path = `/central/guias/${guia}`
    const fields = { accion: 'cancelar', ...call }
    expect((await visit(path, fields, { Origin: 'https://malo.example' })).status).toBe(403)
    expect((await visit(path, { accion: 'borrar' })).status).toBe(400)
    expect((await visit(path, { otro: 'x' })).status).toBe(400)
    expect((await estadoOf(guia)).estado).toBe('aceptado')
  })

  it.each(['no-es', '7K3M9QX2A1B4', 'x/y'])('says that there is no guide «%s»', async (codigo) => {
    const { status, texto: text } = await createBrowserOf(ana).visit(`/central/guias/${codigo}`)
    expect([status, text]).toEqual([404, expect.stringContaining('No encontramos esa guía')])
  })
})

describe('the first page', () => {
  it('counts the guides of each state, and shows what waits for a person', async () => {
    const liveEntry = await environment.createComercio('live')
    const { visit } = createBrowserOf(ana)
    const guia = await createFailedGuia(environment, liveEntry)
    const guiaWithoutPlace = await liveEntry.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Zoila Pérez' }))
    await environment.db.pool.query(`update guia set ubicacion_estado = 'vencida' where guia = $1`, [
      guiaWithoutPlace.guia,
    ])
    const { status, texto: text } = await visit('/central')
    expect(status).toBe(200)
    expect(text).toMatch(/central\/guias\?estado=intento_fallido"><b>1<\/b>/)
    for (const message of [`guias/${guia}"`, `guias/${guiaWithoutPlace.guia}"`, 'Zoila Pérez', 'Esperan una decisión'])
      expect(text).toContain(message)
  })
})

describe('the pages of the couriers', () => {
  it('show who there is, and what each carries', async () => {
    const { visit } = createBrowserOf(ana)
    const { repartidor } = (await environment.asOperador('POST', '/repartidores', { nombre: 'Luis Batz' })).body
    const lleva = `/central/reparto/${repartidor}`
    const list = await visit('/central/reparto')
    expect(list.texto).toContain('Luis Batz')
    expect((await visit(lleva)).texto).toContain('No lleva nada')
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado', repartidor })
    const { texto: text } = await visit(lleva)
    for (const message of ['Lleva 1 paquete.', `guias/${guia}"`]) expect(text).toContain(message)
    expect((await visit('/central/reparto/rep_000000000000')).status).toBe(404)
  })
})

describe('the list of guides', () => {
  it('is for people of the office alone', async () => {
    expect(await createScriptlessBrowser(environment).visit('/central/guias')).toMatchObject({
      status: 303,
      a: '/entrar',
    })
    const shop = await createTestPersona(environment, { comercio: comercio.comercio, alcances: ['propietario'] })
    const caja = await createTestPersona(environment, { alcances: ['caja'] })
    for (const other of [shop, caja]) {
      const { status, texto: text } = await createBrowserOf(other).visit('/central/guias')
      expect([status, text]).toEqual([403, expect.stringContaining('Esta página es de la oficina')])
      expect((await createBrowserOf(other).visit('/cuenta')).texto).not.toContain('Ir a la central')
    }
    expect((await createBrowserOf(ana).visit('/cuenta')).texto).toMatch(
      /href="[^"]*central"((?!<\/a>).)*Ir a la central/s,
    )
  })

  it('leads a person without a second factor to the account, which asks for one', async () => {
    const bea = await createTestPersona(environment, { withApp: false })
    for (const path of ['/central', '/central/guias', '/central/guias/7K3M9QX2A1B4'])
      expect(await createBrowserOf(bea).visit(path)).toMatchObject({ status: 303, a: '/cuenta' })
    expect((await createBrowserOf(bea).visit('/cuenta')).texto).toContain('Falta su segundo factor')
  })

  it('leads to a code, and finds a name as it sounds', async () => {
    const { visit } = createBrowserOf(ana)
    const { guia } = await comercio.api.guias.crear(buildGuia({ destinatario: 'Ximena Barrientos' }))
    const codigo = guia.replace(/(.{4})(?=.)/g, '$1-').toLowerCase()
    expect(await visit(`/central/guias?q=${codigo}`)).toMatchObject({ status: 303, a: `/central/guias/${guia}` })
    await waitUntil(async () => (await visit('/central/guias?q=simena+varrientos')).texto.includes('Ximena Barrientos'))
    expect((await visit('/central/guias?q=nadie+asi')).texto).toContain('No hay ninguna')
    expect((await visit(`/central/guias?q=${'x'.repeat(101)}`)).status).toBe(422)
  })

  it('filters by merchant and state, page by page', async () => {
    const { visit } = createBrowserOf(ana)
    const other = await environment.createComercio()
    const created = await Promise.all(Array.from({ length: 26 }, () => other.api.guias.crear(buildGuia())))
    const codigos = (text: string) => [...text.matchAll(/central\/guias\/([0-9A-Z]{12})"/g)].map(([, one]) => one)
    const first = await visit(`/central/guias?comercio=${other.comercio}&estado=aceptado`)
    expect(codigos(first.texto)).toHaveLength(25)
    const next = /href="[^"]*(\/central\/guias\?[^"]*cursor=[^"]+)"/.exec(first.texto)![1]!
    const second = await visit(next.replaceAll('&amp;', '&'))
    expect(new Set([...codigos(first.texto), ...codigos(second.texto)])).toEqual(
      new Set(created.map(({ guia }) => guia)),
    )
    expect((await visit(`/central/guias?comercio=${other.comercio}&estado=devuelto`)).texto).toContain('No hay ninguna')
    const bad = await visit('/central/guias?estado=perdido')
    expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('role="alert"')])
  })

  it('names merchants that are older than the hundred of the filter', async () => {
    const { visit } = createBrowserOf(ana)
    const old = (await environment.asOperador('POST', '/comercios', { nombre: 'Abarrotería Vieja' })).body.comercio
    const { llave } = (await environment.asOperador('POST', `/comercios/${old}/llaves`, { modo: 'test' })).body
    const { guia } = (await environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })).body
    for (const path of ['/central/guias', `/central/guias/${guia}`])
      expect((await visit(path)).texto).toContain('Abarrotería Vieja')
    await environment.db.pool.query(
      `insert into comercio (id, comercio, nombre, creado_en)
       select overlay('ffffffff-ffff-7fff-bfff-000000000000' placing lpad(to_hex(n), 12, '0') from 25)::uuid,
         'com_' || lpad(upper(to_hex(n)), 12, '0'), 'Nuevo ' || n, now() from generate_series(1, 100) n`,
    )
    const { texto: text } = await visit(`/central/guias?comercio=${old}`)
    expect(text).toContain(`<option value="${old}" selected>Abarrotería Vieja</option>`)
    expect(text).toMatch(new RegExp(`guias/${guia}".*Abarrotería Vieja`, 's'))
  })
})

describe('the list of guides as a file', () => {
  const download = async (query: string) => {
    const response = await fetch(`${environment.url}/central/guias.csv?${query}`, { headers: { Cookie: ana.cookie } })
    return { headers: response.headers, lines: (await response.text()).split('\r\n') }
  }

  it('has the guides that the page shows, for a spreadsheet that computes nothing', async () => {
    const shop = await environment.createComercio()
    const guias = [
      await shop.api.guias.crear(
        buildGuia({ destinatario: '=1+1', direccion: 'Casa "5", zona 1', telefono: '+50255501234' }),
      ),
      await shop.api.guias.crear(buildGuia({ telefono: '+50377771234' })),
    ]
    const { headers, lines } = await download(`comercio=${shop.comercio}`)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="guias-\d{4}-\d\d-\d\d\.csv"$/)
    expect(lines[0]).toMatch(/^\uFEFF?Código,Estado,Comercio,/)
    expect(lines).toHaveLength(1 + guias.length + 1)
    expect(lines[2]).toContain(`,'=1+1,5550 1234,`)
    expect(lines[2]).toContain(',"Casa ""5"", zona 1",')
    expect(lines[1]).toContain(`,'+503 7777 1234,`)
    const page = await createBrowserOf(ana).visit(`/central/guias?comercio=${shop.comercio}`)
    expect(page.texto).toContain(`guias.csv?q=&amp;estado=&amp;comercio=${shop.comercio}`)
  })

  it('is filtered by a missing place, as the page is', async () => {
    const shop = await environment.createComercio()
    const { guia } = await shop.api.guias.crear(buildGuiaWithoutDestino())
    await shop.api.guias.crear(buildGuia())
    await shop.api.guias.cancelar((await shop.api.guias.crear(buildGuiaWithoutDestino())).guia)
    const query = `comercio=${shop.comercio}&lugar=falta`
    expect((await download(query)).lines).toHaveLength(3)
    const { texto: text } = await createBrowserOf(ana).visit(`/central/guias?${query}`)
    expect([...text.matchAll(/name="guia" value="(\w+)"/g)].map(([, one]) => one)).toEqual([guia])
  })

  it('is filtered by the day of creation, as the page is', async () => {
    const shop = await environment.createComercio()
    const { creado_en: createdAt } = await shop.api.guias.crear(buildGuia())
    const day = dayIn(new Date(createdAt), 'America/Guatemala')
    const count = async (day: string) => (await download(`comercio=${shop.comercio}&dia=${day}`)).lines.length - 2
    expect([await count(day), await count(addDays(day, 1)), await count(addDays(day, -1))]).toEqual([1, 0, 0])
    const page = async (day: string) =>
      (await createBrowserOf(ana).visit(`/central/guias?comercio=${shop.comercio}&dia=${day}`)).texto
    expect(await page(day)).toContain(`value="${day}"`)
    expect(await page(addDays(day, 1))).toContain('No hay ninguna')
  })
})

describe('a session that asks too often', () => {
  it('is told when to go on', async () => {
    const { visit } = createBrowserOf(await createTestPersona(environment))
    const sheets = await Promise.all(Array.from({ length: 150 }, () => visit('/central')))
    const wait = sheets.find(({ status }) => status !== 200)!
    expect([wait.status, wait.texto]).toEqual([429, expect.stringContaining('Espere un momento')])
    expect(Number(wait.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
