import { beforeAll, describe, expect, it } from 'vitest'
import { ACTIONS } from '../../server/pages/central/actions.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { useIntentos } from '../decisiones/move.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { useOffice } from './office.ts'

const environment = useEnvironment()
const { conIntento, createGuia: fresh } = useIntentos(environment)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

const { createBrowserOf: navegadorDe, perform: enPagina, performLate: hacerTarde } = useOffice(environment)
/** Fills the form of an action on a guide's page and sends it. */
const act = (caller: TestPersona, guia: string, accion: string, campos: Record<string, string>) =>
  enPagina(caller, `/central/guias/${guia}`, { accion, ...campos })
const estadoDe = async (guia: string) => (await environment.operar('GET', `/guias/${guia}`)).cuerpo
/** A guide whose recipient was asked for the place. */
async function preguntada(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
  await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}
const llamada = { razon: 'Llamó la clienta' }
const direcciones = {
  telefono: '+50255551234',
  destinatario: 'Rosa Tum',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: '3a calle 1',
  indicaciones: '',
}

/** For each action: a guide that offers it, what is filled in, and what the guide is afterwards. */
const ESCENAS: Record<keyof typeof ACTIONS, [() => Promise<string>, Record<string, string>, object]> = {
  reintentar: [
    async () => (await conIntento()).guia,
    { fecha: '', ...llamada },
    { decision: { estado: 'tomada', accion: 'reintentar', por: 'operador' } },
  ],
  ubicar: [
    () => preguntada(),
    { lugar: '14.71889, -90.64417', referencia: 'Portón verde', ...llamada },
    { ubicacion: { estado: 'confirmada', lat: 14.71889, lng: -90.64417, referencia: 'Portón verde' } },
  ],
  corregir: [
    async () => (await comercio.api.guias.crear(buildGuia({ indicaciones: 'Portón rojo' }))).guia,
    { ...direcciones, ...llamada },
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
  devolver: [async () => (await conIntento()).guia, llamada, { estado: 'en_devolucion' }],
  cancelar: [async () => (await fresh()).guia, llamada, { estado: 'cancelado' }],
  deshacer: [async () => (await createDeliveredGuia(environment, comercio)).guia, llamada, { estado: 'en_ruta' }],
}

describe.each(Object.entries(ESCENAS))('«%s» on the page of a guide', (accion, [prepare, campos, after]) => {
  it('does it once, in the name of the person, and says so', async () => {
    const guia = await prepare()
    const { respuesta, send } = await act(ana, guia, accion, campos)
    expect(respuesta).toMatchObject({
      status: 303,
      destino: `${environment.url}/central/guias/${guia}?hecho=${accion}`,
    })
    const hecha = await estadoDe(guia)
    expect(hecha).toMatchObject(after)
    expect((await navegadorDe(ana).visit(`/central/guias/${guia}?hecho=${accion}`)).texto).toContain(
      ACTIONS[accion]!.done,
    )
    const notas = async () => (await environment.operar('GET', `/guias/${guia}/notas`)).cuerpo.datos
    const escritas = await notas()
    const { rows } = await environment.db.pool.query('select distinct autor from evento where guia = $1', [guia])
    const autores = [...rows, ...escritas.map(({ autor }: { autor: object }) => autor)].map(({ autor }) => autor)
    expect(autores).toContain(ana.persona)
    await send()
    expect((await estadoDe(guia)).secuencia).toBe(hecha.secuencia)
    expect(await notas()).toEqual(escritas)
  })

  it('is neither offered nor done without its scope', async () => {
    const bea = await createTestPersona(environment, {
      alcances: ACTIONS[accion]!.scope === 'operar' ? ['ver'] : ['ver', 'operar'],
    })
    const guia = await prepare()
    const before = await estadoDe(guia)
    expect((await navegadorDe(bea).visit(`/central/guias/${guia}`)).texto).not.toContain(`value="${accion}"`)
    const { respuesta } = await act(bea, guia, accion, { secuencia: String(before.secuencia), ...campos })
    expect(respuesta.status).toBe(403)
    expect(await estadoDe(guia)).toEqual(before)
  })
})

describe('the page of a guide', () => {
  it('gives the parcel to the chosen courier, and names the courier and the giver', async () => {
    const { cuerpo: luisa } = await environment.operar('POST', '/repartidores', {
      nombre: 'Luisa Chub',
      telefono: '+50255667788',
    })
    const { guia } = await fresh()
    await environment.operar('POST', '/asignaciones', { guias: [guia], repartidor: luisa.repartidor })
    const before = (await navegadorDe(ana).visit(`/central/guias/${guia}`)).texto
    expect(before).toMatch(/Asignada a.*Luisa Chub.*5566 7788.*para hoy/s)
    const campos = { paso: 'recolectado', repartidor: luisa.repartidor, descripcion: '' }
    expect((await act(ana, guia, 'registrar', campos)).respuesta.status).toBe(303)
    expect((await estadoDe(guia)).repartidor).toMatchObject({ nombre: 'Luisa Chub' })
    const { texto } = await navegadorDe(ana).visit(`/central/guias/${guia}`)
    expect(texto).toContain('Luisa Chub · registrado por Ana Pérez · asignado por')
    expect(texto).toContain('Lo sigue llevando Luisa Chub')
  })

  it('says beside its field that a courier takes a parcel only by two steps', async () => {
    const { cuerpo: luisa } = await environment.operar('POST', '/repartidores', { nombre: 'Luisa Chub' })
    const { guia } = await fresh(undefined, 'recolectado')
    const campos = { paso: 'en_bodega', repartidor: luisa.repartidor, descripcion: 'Llegó mojado' }
    const { respuesta } = await act(ana, guia, 'registrar', campos)
    expect(respuesta.status).toBe(422)
    expect(respuesta.texto).toContain('id="error-registrar-repartidor"')
    expect(respuesta.texto).toContain('<option value="en_bodega" selected>')
    expect(respuesta.texto).toContain('value="Llegó mojado"')
  })

  it('shows why it waits, its history with what people wrote, and its messages', async () => {
    const guia = await createFailedGuia(environment, comercio)
    await environment.operar('POST', `/guias/${guia}/eventos`, {
      tipo: 'guia.nota',
      descripcion: 'Trabaja hasta las 14',
    })
    const { texto } = await navegadorDe(ana).visit(`/central/guias/${guia}`)
    for (const dicho of ['No había nadie', 'Se espera una decisión hasta el', 'Trabaja hasta las 14', 'Ana Pérez'])
      expect(texto).toContain(dicho)
    const other = await navegadorDe(ana).visit(`/central/guias/${await preguntada()}`)
    expect(other.texto).toContain('Díganos dónde entregarlo:')
  })

  it('keeps what was typed when the service refuses it, and says what is wrong beside its field', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta } = await act(ana, guia, 'corregir', { ...direcciones, telefono: '55<b>', ...llamada })
    expect(respuesta.status).toBe(422)
    expect(respuesta.texto).toContain('id="error-corregir-telefono"')
    expect(respuesta.texto).toContain('value="55&lt;b&gt;"')
    expect(respuesta.texto).toContain('value="Rosa Tum"')
  })

  it('says that the guide changed since the page was opened', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta } = await act(ana, guia, 'corregir', { ...direcciones, ...llamada, secuencia: '7' })
    expect([respuesta.status, respuesta.texto]).toEqual([409, expect.stringContaining('La guía va por la secuencia')])
  })

  it('asks for a proof of presence before it undoes a state', async () => {
    const bea = await createTestPersona(environment)
    const { guia } = await conIntento()
    await hacerTarde(bea)
    const { respuesta } = await act(bea, guia, 'deshacer', llamada)
    expect(respuesta.texto).toContain(`cuenta/presencia?volver=%2Fcentral%2Fguias%2F${guia.toLowerCase()}`)
    expect((await navegadorDe(bea).visit(`/central/guias/${guia.toLowerCase()}`)).status).toBe(200)
  })

  it('takes no form of another site, and none that is not its own', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { visit: ir } = navegadorDe(ana)
    const path = `/central/guias/${guia}`
    const campos = { accion: 'cancelar', ...llamada }
    expect((await ir(path, campos, { Origin: 'https://malo.example' })).status).toBe(403)
    expect((await ir(path, { accion: 'borrar' })).status).toBe(400)
    expect((await ir(path, { otro: 'x' })).status).toBe(400)
    expect((await estadoDe(guia)).estado).toBe('aceptado')
  })

  it.each(['no-es', '7K3M9QX2A1B4', 'x/y'])('says that there is no guide «%s»', async (codigo) => {
    const { status, texto } = await navegadorDe(ana).visit(`/central/guias/${codigo}`)
    expect([status, texto]).toEqual([404, expect.stringContaining('No encontramos esa guía')])
  })
})

describe('the first page', () => {
  it('counts the guides of each state, and shows what waits for a person', async () => {
    const vivo = await environment.createComercio('live')
    const { visit: ir } = navegadorDe(ana)
    const guia = await createFailedGuia(environment, vivo)
    const sinLugar = await vivo.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Zoila Pérez' }))
    await environment.db.pool.query(`update guia set ubicacion_estado = 'vencida' where guia = $1`, [sinLugar.guia])
    const { status, texto } = await ir('/central')
    expect(status).toBe(200)
    expect(texto).toMatch(/central\/guias\?estado=intento_fallido"><b>1<\/b>/)
    for (const dicho of [`guias/${guia}"`, `guias/${sinLugar.guia}"`, 'Zoila Pérez', 'Esperan una decisión'])
      expect(texto).toContain(dicho)
  })
})

describe('the pages of the couriers', () => {
  it('show who there is, and what each carries', async () => {
    const { visit: ir } = navegadorDe(ana)
    const { repartidor } = (await environment.operar('POST', '/repartidores', { nombre: 'Luis Batz' })).cuerpo
    const lleva = `/central/reparto/${repartidor}`
    const list = await ir('/central/reparto')
    expect(list.texto).toContain('Luis Batz')
    expect((await ir(lleva)).texto).toContain('No lleva nada')
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await environment.operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado', repartidor })
    const { texto } = await ir(lleva)
    for (const dicho of ['Lleva 1 paquete.', `guias/${guia}"`]) expect(texto).toContain(dicho)
    expect((await ir('/central/reparto/rep_000000000000')).status).toBe(404)
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
      const { status, texto } = await navegadorDe(other).visit('/central/guias')
      expect([status, texto]).toEqual([403, expect.stringContaining('Esta página es de la oficina')])
      expect((await navegadorDe(other).visit('/cuenta')).texto).not.toContain('Ir a la central')
    }
    expect((await navegadorDe(ana).visit('/cuenta')).texto).toMatch(/href="[^"]*central"((?!<\/a>).)*Ir a la central/s)
  })

  it('leads a person without a second factor to the account, which asks for one', async () => {
    const bea = await createTestPersona(environment, { conApp: false })
    for (const path of ['/central', '/central/guias', '/central/guias/7K3M9QX2A1B4'])
      expect(await navegadorDe(bea).visit(path)).toMatchObject({ status: 303, a: '/cuenta' })
    expect((await navegadorDe(bea).visit('/cuenta')).texto).toContain('Falta su segundo factor')
  })

  it('leads to a code, and finds a name as it sounds', async () => {
    const { visit: ir } = navegadorDe(ana)
    const { guia } = await comercio.api.guias.crear(buildGuia({ destinatario: 'Ximena Barrientos' }))
    const codigo = guia.replace(/(.{4})(?=.)/g, '$1-').toLowerCase()
    expect(await ir(`/central/guias?q=${codigo}`)).toMatchObject({ status: 303, a: `/central/guias/${guia}` })
    await waitUntil(async () => (await ir('/central/guias?q=simena+varrientos')).texto.includes('Ximena Barrientos'))
    expect((await ir('/central/guias?q=nadie+asi')).texto).toContain('No hay ninguna')
    expect((await ir(`/central/guias?q=${'x'.repeat(101)}`)).status).toBe(422)
  })

  it('filters by merchant and state, page by page', async () => {
    const { visit: ir } = navegadorDe(ana)
    const other = await environment.createComercio()
    const created = await Promise.all(Array.from({ length: 26 }, () => other.api.guias.crear(buildGuia())))
    const codigos = (text: string) => [...text.matchAll(/central\/guias\/([0-9A-Z]{12})"/g)].map(([, one]) => one)
    const first = await ir(`/central/guias?comercio=${other.comercio}&estado=aceptado`)
    expect(codigos(first.texto)).toHaveLength(25)
    const next = /href="[^"]*(\/central\/guias\?[^"]*cursor=[^"]+)"/.exec(first.texto)![1]!
    const second = await ir(next.replaceAll('&amp;', '&'))
    expect(new Set([...codigos(first.texto), ...codigos(second.texto)])).toEqual(
      new Set(created.map(({ guia }) => guia)),
    )
    expect((await ir(`/central/guias?comercio=${other.comercio}&estado=devuelto`)).texto).toContain('No hay ninguna')
    const bad = await ir('/central/guias?estado=perdido')
    expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('role="alert"')])
  })

  it('names merchants that are older than the hundred of the filter', async () => {
    const { visit: ir } = navegadorDe(ana)
    const old = (await environment.operar('POST', '/comercios', { nombre: 'Abarrotería Vieja' })).cuerpo.comercio
    const { llave } = (await environment.operar('POST', `/comercios/${old}/llaves`, { modo: 'test' })).cuerpo
    const { guia } = (await environment.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })).cuerpo
    for (const path of ['/central/guias', `/central/guias/${guia}`])
      expect((await ir(path)).texto).toContain('Abarrotería Vieja')
    await environment.db.pool.query(
      `insert into comercio (id, comercio, nombre, creado_en)
       select overlay('ffffffff-ffff-7fff-bfff-000000000000' placing lpad(to_hex(n), 12, '0') from 25)::uuid,
         'com_' || lpad(upper(to_hex(n)), 12, '0'), 'Nuevo ' || n, now() from generate_series(1, 100) n`,
    )
    const { texto } = await ir(`/central/guias?comercio=${old}`)
    expect(texto).toContain(`<option value="${old}" selected>Abarrotería Vieja</option>`)
    expect(texto).toMatch(new RegExp(`guias/${guia}".*Abarrotería Vieja`, 's'))
  })
})

describe('a session that asks too often', () => {
  it('is told when to go on', async () => {
    const { visit: ir } = navegadorDe(await createTestPersona(environment))
    const hojas = await Promise.all(Array.from({ length: 150 }, () => ir('/central')))
    const wait = hojas.find(({ status }) => status !== 200)!
    expect([wait.status, wait.texto]).toEqual([429, expect.stringContaining('Espere un momento')])
    expect(Number(wait.cabeceras.get('retry-after'))).toBeGreaterThan(0)
  })
})
