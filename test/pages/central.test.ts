import { beforeAll, describe, expect, it } from 'vitest'
import { ACTIONS } from '../../server/pages/central/actions.ts'
import { createDeliveredGuia, createFailedGuia } from '../archivos/images.ts'
import { useIntentos } from '../decisiones/move.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { useOffice } from './office.ts'

const entorno = useEnvironment()
const { conIntento, createGuia: nueva } = useIntentos(entorno)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ana = await createTestPersona(entorno)
})

const { createBrowserOf: navegadorDe, perform: enPagina, performLate: hacerTarde } = useOffice(entorno)
/** Fills the form of an action on a guide's page and sends it. */
const hacer = (quien: TestPersona, guia: string, accion: string, campos: Record<string, string>) =>
  enPagina(quien, `/central/guias/${guia}`, { accion, ...campos })
const estadoDe = async (guia: string) => (await entorno.operar('GET', `/guias/${guia}`)).cuerpo
/** A guide whose recipient was asked for the place. */
async function preguntada(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino())
  await hasta(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
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
    async () => (await nueva(undefined, 'recolectado', 'en_ruta')).guia,
    { paso: 'intento_fallido:destinatario_ausente', descripcion: 'Dejó aviso' },
    { estado: 'intento_fallido', intentos: 1 },
  ],
  entregar: [
    async () => (await nueva(undefined, 'recolectado', 'en_ruta')).guia,
    { descripcion: 'Rosa Tum', razon: 'Vino a la bodega' },
    { estado: 'entregado' },
  ],
  notar: [
    async () => (await nueva()).guia,
    { descripcion: 'Pasa el jueves por la bodega' },
    { secuencia: 1, estado: 'aceptado' },
  ],
  anotar: [
    async () => (await nueva()).guia,
    { descripcion: 'Mejor por la tarde' },
    { secuencia: 2, estado: 'aceptado' },
  ],
  devolver: [async () => (await conIntento()).guia, llamada, { estado: 'en_devolucion' }],
  cancelar: [async () => (await nueva()).guia, llamada, { estado: 'cancelado' }],
  deshacer: [async () => (await createDeliveredGuia(entorno, comercio)).guia, llamada, { estado: 'en_ruta' }],
}

describe.each(Object.entries(ESCENAS))('«%s» on the page of a guide', (accion, [preparar, campos, despues]) => {
  it('does it once, in the name of the person, and says so', async () => {
    const guia = await preparar()
    const { respuesta, send: enviar } = await hacer(ana, guia, accion, campos)
    expect(respuesta).toMatchObject({ status: 303, destino: `${entorno.url}/central/guias/${guia}?hecho=${accion}` })
    const hecha = await estadoDe(guia)
    expect(hecha).toMatchObject(despues)
    expect((await navegadorDe(ana).visit(`/central/guias/${guia}?hecho=${accion}`)).texto).toContain(
      ACTIONS[accion]!.done,
    )
    const notas = async () => (await entorno.operar('GET', `/guias/${guia}/notas`)).cuerpo.datos
    const escritas = await notas()
    const { rows } = await entorno.db.pool.query('select distinct autor from evento where guia = $1', [guia])
    const autores = [...rows, ...escritas.map(({ autor }: { autor: object }) => autor)].map(({ autor }) => autor)
    expect(autores).toContain(ana.persona)
    await enviar()
    expect((await estadoDe(guia)).secuencia).toBe(hecha.secuencia)
    expect(await notas()).toEqual(escritas)
  })

  it('is neither offered nor done without its scope', async () => {
    const bea = await createTestPersona(entorno, {
      alcances: ACTIONS[accion]!.scope === 'operar' ? ['ver'] : ['ver', 'operar'],
    })
    const guia = await preparar()
    const antes = await estadoDe(guia)
    expect((await navegadorDe(bea).visit(`/central/guias/${guia}`)).texto).not.toContain(`value="${accion}"`)
    const { respuesta } = await hacer(bea, guia, accion, { secuencia: String(antes.secuencia), ...campos })
    expect(respuesta.status).toBe(403)
    expect(await estadoDe(guia)).toEqual(antes)
  })
})

describe('the page of a guide', () => {
  it('gives the parcel to the chosen courier, and names the courier and the giver', async () => {
    const { cuerpo: luisa } = await entorno.operar('POST', '/repartidores', {
      nombre: 'Luisa Chub',
      telefono: '+50255667788',
    })
    const { guia } = await nueva()
    await entorno.operar('POST', '/asignaciones', { guias: [guia], repartidor: luisa.repartidor })
    const antes = (await navegadorDe(ana).visit(`/central/guias/${guia}`)).texto
    expect(antes).toMatch(/Asignada a.*Luisa Chub.*5566 7788.*para hoy/s)
    const campos = { paso: 'recolectado', repartidor: luisa.repartidor, descripcion: '' }
    expect((await hacer(ana, guia, 'registrar', campos)).respuesta.status).toBe(303)
    expect((await estadoDe(guia)).repartidor).toMatchObject({ nombre: 'Luisa Chub' })
    const { texto } = await navegadorDe(ana).visit(`/central/guias/${guia}`)
    expect(texto).toContain('Luisa Chub · registrado por Ana Pérez · asignado por')
    expect(texto).toContain('Lo sigue llevando Luisa Chub')
  })

  it('says beside its field that a courier takes a parcel only by two steps', async () => {
    const { cuerpo: luisa } = await entorno.operar('POST', '/repartidores', { nombre: 'Luisa Chub' })
    const { guia } = await nueva(undefined, 'recolectado')
    const campos = { paso: 'en_bodega', repartidor: luisa.repartidor, descripcion: 'Llegó mojado' }
    const { respuesta } = await hacer(ana, guia, 'registrar', campos)
    expect(respuesta.status).toBe(422)
    expect(respuesta.texto).toContain('id="error-registrar-repartidor"')
    expect(respuesta.texto).toContain('<option value="en_bodega" selected>')
    expect(respuesta.texto).toContain('value="Llegó mojado"')
  })

  it('shows why it waits, its history with what people wrote, and its messages', async () => {
    const guia = await createFailedGuia(entorno, comercio)
    await entorno.operar('POST', `/guias/${guia}/eventos`, { tipo: 'guia.nota', descripcion: 'Trabaja hasta las 14' })
    const { texto } = await navegadorDe(ana).visit(`/central/guias/${guia}`)
    for (const dicho of ['No había nadie', 'Se espera una decisión hasta el', 'Trabaja hasta las 14', 'Ana Pérez'])
      expect(texto).toContain(dicho)
    const otra = await navegadorDe(ana).visit(`/central/guias/${await preguntada()}`)
    expect(otra.texto).toContain('Díganos dónde entregarlo:')
  })

  it('keeps what was typed when the service refuses it, and says what is wrong beside its field', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta } = await hacer(ana, guia, 'corregir', { ...direcciones, telefono: '55<b>', ...llamada })
    expect(respuesta.status).toBe(422)
    expect(respuesta.texto).toContain('id="error-corregir-telefono"')
    expect(respuesta.texto).toContain('value="55&lt;b&gt;"')
    expect(respuesta.texto).toContain('value="Rosa Tum"')
  })

  it('says that the guide changed since the page was opened', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { respuesta } = await hacer(ana, guia, 'corregir', { ...direcciones, ...llamada, secuencia: '7' })
    expect([respuesta.status, respuesta.texto]).toEqual([409, expect.stringContaining('La guía va por la secuencia')])
  })

  it('asks for a proof of presence before it undoes a state', async () => {
    const bea = await createTestPersona(entorno)
    const { guia } = await conIntento()
    await hacerTarde(bea)
    const { respuesta } = await hacer(bea, guia, 'deshacer', llamada)
    expect(respuesta.texto).toContain(`cuenta/presencia?volver=%2Fcentral%2Fguias%2F${guia.toLowerCase()}`)
    expect((await navegadorDe(bea).visit(`/central/guias/${guia.toLowerCase()}`)).status).toBe(200)
  })

  it('takes no form of another site, and none that is not its own', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { visit: ir } = navegadorDe(ana)
    const ruta = `/central/guias/${guia}`
    const campos = { accion: 'cancelar', ...llamada }
    expect((await ir(ruta, campos, { Origin: 'https://malo.example' })).status).toBe(403)
    expect((await ir(ruta, { accion: 'borrar' })).status).toBe(400)
    expect((await ir(ruta, { otro: 'x' })).status).toBe(400)
    expect((await estadoDe(guia)).estado).toBe('aceptado')
  })

  it.each(['no-es', '7K3M9QX2A1B4', 'x/y'])('says that there is no guide «%s»', async (codigo) => {
    const { status, texto } = await navegadorDe(ana).visit(`/central/guias/${codigo}`)
    expect([status, texto]).toEqual([404, expect.stringContaining('No encontramos esa guía')])
  })
})

describe('the first page', () => {
  it('counts the guides of each state, and shows what waits for a person', async () => {
    const vivo = await entorno.nuevoComercio('live')
    const { visit: ir } = navegadorDe(ana)
    const guia = await createFailedGuia(entorno, vivo)
    const sinLugar = await vivo.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Zoila Pérez' }))
    await entorno.db.pool.query(`update guia set ubicacion_estado = 'vencida' where guia = $1`, [sinLugar.guia])
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
    const { repartidor } = (await entorno.operar('POST', '/repartidores', { nombre: 'Luis Batz' })).cuerpo
    const lleva = `/central/reparto/${repartidor}`
    const lista = await ir('/central/reparto')
    expect(lista.texto).toContain('Luis Batz')
    expect((await ir(lleva)).texto).toContain('No lleva nada')
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'recolectado', repartidor })
    const { texto } = await ir(lleva)
    for (const dicho of ['Lleva 1 paquete.', `guias/${guia}"`]) expect(texto).toContain(dicho)
    expect((await ir('/central/reparto/rep_000000000000')).status).toBe(404)
  })
})

describe('the list of guides', () => {
  it('is for people of the office alone', async () => {
    expect(await createScriptlessBrowser(entorno).visit('/central/guias')).toMatchObject({ status: 303, a: '/entrar' })
    const tienda = await createTestPersona(entorno, { comercio: comercio.comercio, alcances: ['propietario'] })
    const caja = await createTestPersona(entorno, { alcances: ['caja'] })
    for (const otra of [tienda, caja]) {
      const { status, texto } = await navegadorDe(otra).visit('/central/guias')
      expect([status, texto]).toEqual([403, expect.stringContaining('Esta página es de la oficina')])
      expect((await navegadorDe(otra).visit('/cuenta')).texto).not.toContain('Ir a la central')
    }
    expect((await navegadorDe(ana).visit('/cuenta')).texto).toMatch(/href="[^"]*central"((?!<\/a>).)*Ir a la central/s)
  })

  it('leads a person without a second factor to the account, which asks for one', async () => {
    const bea = await createTestPersona(entorno, { conApp: false })
    for (const ruta of ['/central', '/central/guias', '/central/guias/7K3M9QX2A1B4'])
      expect(await navegadorDe(bea).visit(ruta)).toMatchObject({ status: 303, a: '/cuenta' })
    expect((await navegadorDe(bea).visit('/cuenta')).texto).toContain('Falta su segundo factor')
  })

  it('leads to a code, and finds a name as it sounds', async () => {
    const { visit: ir } = navegadorDe(ana)
    const { guia } = await comercio.api.guias.crear(buildGuia({ destinatario: 'Ximena Barrientos' }))
    const codigo = guia.replace(/(.{4})(?=.)/g, '$1-').toLowerCase()
    expect(await ir(`/central/guias?q=${codigo}`)).toMatchObject({ status: 303, a: `/central/guias/${guia}` })
    await hasta(async () => (await ir('/central/guias?q=simena+varrientos')).texto.includes('Ximena Barrientos'))
    expect((await ir('/central/guias?q=nadie+asi')).texto).toContain('No hay ninguna')
    expect((await ir(`/central/guias?q=${'x'.repeat(101)}`)).status).toBe(422)
  })

  it('filters by merchant and state, page by page', async () => {
    const { visit: ir } = navegadorDe(ana)
    const otro = await entorno.nuevoComercio()
    const creadas = await Promise.all(Array.from({ length: 26 }, () => otro.api.guias.crear(buildGuia())))
    const codigos = (texto: string) => [...texto.matchAll(/central\/guias\/([0-9A-Z]{12})"/g)].map(([, uno]) => uno)
    const primera = await ir(`/central/guias?comercio=${otro.comercio}&estado=aceptado`)
    expect(codigos(primera.texto)).toHaveLength(25)
    const siguiente = /href="[^"]*(\/central\/guias\?[^"]*cursor=[^"]+)"/.exec(primera.texto)![1]!
    const segunda = await ir(siguiente.replaceAll('&amp;', '&'))
    expect(new Set([...codigos(primera.texto), ...codigos(segunda.texto)])).toEqual(
      new Set(creadas.map(({ guia }) => guia)),
    )
    expect((await ir(`/central/guias?comercio=${otro.comercio}&estado=devuelto`)).texto).toContain('No hay ninguna')
    const mal = await ir('/central/guias?estado=perdido')
    expect([mal.status, mal.texto]).toEqual([422, expect.stringContaining('role="alert"')])
  })

  it('names merchants that are older than the hundred of the filter', async () => {
    const { visit: ir } = navegadorDe(ana)
    const viejo = (await entorno.operar('POST', '/comercios', { nombre: 'Abarrotería Vieja' })).cuerpo.comercio
    const { llave } = (await entorno.operar('POST', `/comercios/${viejo}/llaves`, { modo: 'test' })).cuerpo
    const { guia } = (await entorno.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })).cuerpo
    for (const ruta of ['/central/guias', `/central/guias/${guia}`])
      expect((await ir(ruta)).texto).toContain('Abarrotería Vieja')
    await entorno.db.pool.query(
      `insert into comercio (id, comercio, nombre, creado_en)
       select overlay('ffffffff-ffff-7fff-bfff-000000000000' placing lpad(to_hex(n), 12, '0') from 25)::uuid,
         'com_' || lpad(upper(to_hex(n)), 12, '0'), 'Nuevo ' || n, now() from generate_series(1, 100) n`,
    )
    const { texto } = await ir(`/central/guias?comercio=${viejo}`)
    expect(texto).toContain(`<option value="${viejo}" selected>Abarrotería Vieja</option>`)
    expect(texto).toMatch(new RegExp(`guias/${guia}".*Abarrotería Vieja`, 's'))
  })
})

describe('a session that asks too often', () => {
  it('is told when to go on', async () => {
    const { visit: ir } = navegadorDe(await createTestPersona(entorno))
    const hojas = await Promise.all(Array.from({ length: 150 }, () => ir('/central')))
    const espera = hojas.find(({ status }) => status !== 200)!
    expect([espera.status, espera.texto]).toEqual([429, expect.stringContaining('Espere un momento')])
    expect(Number(espera.cabeceras.get('retry-after'))).toBeGreaterThan(0)
  })
})
