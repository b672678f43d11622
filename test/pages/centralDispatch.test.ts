import { beforeAll, describe, expect, it } from 'vitest'
import { addDays, dayInWords } from '../../server/platform/time/day.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const entorno = useEnvironment({}, () => ({ TIME_ZONE: 'UTC', WORKERS: '0' }))
let comercio: Comercio
let ana: TestPersona
let bea: TestPersona
let carlos: Mobile
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ana = await createTestPersona(entorno)
  bea = await createTestPersona(entorno, { alcances: ['ver'] })
  carlos = await createMobile(entorno)
})

const navegadorDe = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(entorno, cookie)
const nueva = async (municipio = 'Mixco', de = comercio) => (await de.api.guias.crear(buildGuia({ municipio }))).guia
const asignadaA = async (guia: string) => (await entorno.operar('GET', `/guias/${guia}`)).cuerpo.asignada_a
const asignar = (guias: string[], { repartidor }: Pick<Mobile, 'repartidor'>, fecha?: string) =>
  entorno.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const hoy = () => entorno.clock().toISOString().slice(0, 10)
const ofrecidas = (texto: string) =>
  [...texto.matchAll(/name="guias" value="([0-9A-Z]{12})"( checked)?/g)].map(([, guia, marcada]) => [guia, !!marcada])
const codigos = (texto: string) => ofrecidas(texto).map(([guia]) => guia)
const formulario = (guias: string[], mas: Record<string, string>): [string, string][] => [
  ...guias.map((guia): [string, string] => ['guias', guia]),
  ...Object.entries(mas),
]

describe('the page on which guides are assigned', () => {
  it('filters by state, merchant and municipality, and leaves out what is assigned', async () => {
    const otro = await entorno.nuevoComercio()
    const [mixco, chinautla, asignada] = [
      await nueva('Mixco', otro),
      await nueva('Chinautla', otro),
      await nueva('Mixco', otro),
    ]
    await asignar([asignada], carlos)
    const { visit: ir } = navegadorDe(ana)
    const de = `estado=aceptado&comercio=${otro.comercio}`
    const todas = await ir(`/central/reparto/asignar?${de}`)
    expect([todas.status, codigos(todas.texto).toSorted()]).toEqual([200, [mixco, chinautla].toSorted()])
    expect(todas.texto).toMatch(/<option value="Chinautla">Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/)
    const deUno = (await ir(`/central/reparto/asignar?${de}&municipio=Chinautla`)).texto
    expect(codigos(deUno)).toEqual([chinautla])
    // The other municipalities stay to be chosen.
    expect(deUno).toMatch(
      /<option value="Chinautla" selected>Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/,
    )
    const conAsignadas = await ir(`/central/reparto/asignar?${de}&cuales=todas&municipio=Mixco`)
    expect(codigos(conAsignadas.texto).toSorted()).toEqual([mixco, asignada].toSorted())
    expect(conAsignadas.texto).toContain('Carlos Méndez<br>')
    expect((await ir(`/central/reparto/asignar?estado=en_transito&comercio=${otro.comercio}`)).texto).toContain(
      'No hay ninguno así',
    )
    expect(await ir('/central/reparto/asignar?estado=perdido')).toMatchObject({ status: 303 })
  })

  it('ticks all guides without a program, and assigns the ticked ones for a day, in the name of the person', async () => {
    const otro = await entorno.nuevoComercio()
    const [una, segunda, cancelada] = [
      await nueva('Mixco', otro),
      await nueva('Mixco', otro),
      await nueva('Mixco', otro),
    ]
    const { visit: ir } = navegadorDe(ana)
    const lugar = `/central/reparto/asignar?estado=aceptado&comercio=${otro.comercio}`
    const abierta = await ir(lugar)
    expect(ofrecidas(abierta.texto).every(([, marcada]) => !marcada)).toBe(true)
    const marcar = /href="([^"]*)">Marcar todos/.exec(abierta.texto)![1]!.replaceAll('&amp;', '&')
    const marcada = await ir(new URL(marcar, `${entorno.url}/central/reparto/asignar`).href)
    expect(ofrecidas(marcada.texto)).toHaveLength(3)
    expect(ofrecidas(marcada.texto).every(([, si]) => si)).toBe(true)
    await otro.api.guias.cancelar(cancelada)
    const fecha = addDays(hoy(), 1)
    const envio = formulario([una, segunda, cancelada], { accion: 'asignar', repartidor: carlos.repartidor, fecha })
    const { status, texto } = await ir(lugar, envio)
    expect(status).toBe(200)
    expect(texto).toContain(`2 paquetes quedaron asignados a Carlos Méndez para el ${dayInWords(fecha)}.`)
    expect(texto).toMatch(/Un paquete no cambió.*La guía está en cancelado y ya no se asigna/s)
    expect(codigos(texto)).toEqual([])
    for (const guia of [una, segunda])
      expect(await asignadaA(guia)).toMatchObject({
        repartidor: carlos.repartidor,
        fecha,
        autor: { autor: ana.persona },
      })
    const deLaGuia = (await ir(`/central/guias/${una}`)).texto
    for (const dicho of ['Asignada a', 'para mañana', 'La asignó Ana Pérez']) expect(deLaGuia).toContain(dicho)
    await carlos.registrar(una, { estado: 'recolectado', idempotencia: una })
    expect((await ir(`/central/guias/${una}`)).texto).toContain('Carlos Méndez · asignado por Ana Pérez')
  })

  it('keeps what was ticked when the service refuses it, and says what is wrong', async () => {
    const guia = await nueva()
    const { visit: ir } = navegadorDe(ana)
    const lugar = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const mal = await ir(
      lugar,
      formulario([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: '2020-01-01' }),
    )
    expect(mal.status).toBe(422)
    expect(mal.texto).toContain('id="error-fecha"')
    expect(ofrecidas(mal.texto)).toContainEqual([guia, true])
    const nada = await ir(lugar, formulario([], { accion: 'asignar', repartidor: carlos.repartidor, fecha: hoy() }))
    expect([nada.status, nada.texto]).toEqual([422, expect.stringContaining('Marque al menos un paquete.')])
    expect(await asignadaA(guia)).toBeNull()
    // Taking back is the courier's page, and fields of no form are refused.
    for (const otra of [{ accion: 'retirar' }, { accion: 'asignar', otro: 'x' }, { accion: '' }])
      expect((await ir(lugar, formulario([guia], otra as Record<string, string>))).status).toBe(400)
  })

  it('offers no form without its scope, and does nothing', async () => {
    const guia = await nueva()
    const { visit: ir } = navegadorDe(bea)
    const lugar = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const { status, texto } = await ir(lugar)
    expect([status, codigos(texto)]).toEqual([200, []])
    expect(texto).toContain('Con sus permisos, aquí solo puede ver.')
    expect((await ir('/central/reparto')).texto).not.toContain('Asignar paquetes')
    const envio = formulario([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: hoy() })
    for (const donde of [lugar, `/central/reparto/${carlos.repartidor}`])
      expect((await ir(donde, envio)).status).toBe(403)
    expect(await asignadaA(guia)).toBeNull()
  })
})

describe('the page of a courier', () => {
  it('counts on the list, reassigns, and takes back', async () => {
    const luis = (await entorno.operar('POST', '/repartidores', { nombre: 'Luis Batz' })).cuerpo
    const eva = (await entorno.operar('POST', '/repartidores', { nombre: 'Eva Tum' })).cuerpo
    const [una, segunda, tercera] = [await nueva(), await nueva(), await nueva()]
    await asignar([una, segunda], luis)
    await asignar([tercera], luis, addDays(hoy(), 5))
    const { visit: ir } = navegadorDe(ana)
    expect((await ir('/central/reparto')).texto).toMatch(/Luis Batz<small>le faltan 2 asignados/)
    const lugar = `/central/reparto/${luis.repartidor}`
    const abierta = await ir(lugar)
    expect(codigos(abierta.texto).toSorted()).toEqual([una, segunda, tercera].toSorted())
    const cambio = await ir(lugar, formulario([una], { accion: 'asignar', repartidor: eva.repartidor, fecha: hoy() }))
    expect(cambio.texto).toContain(`Un paquete quedó asignado a Eva Tum para el ${dayInWords(hoy())}.`)
    expect(codigos(cambio.texto)).not.toContain(una)
    // The page was opened before: what went to another courier stays there.
    const retiro = await ir(lugar, formulario([una, segunda], { accion: 'retirar', repartidor: '', fecha: hoy() }))
    expect(retiro.texto).toContain('Un paquete quedó sin asignar.')
    expect(retiro.texto).toMatch(/Un paquete no cambió.*ya está asignada a otro repartidor/s)
    expect([await asignadaA(una), await asignadaA(segunda)]).toMatchObject([{ nombre: 'Eva Tum' }, null])
  })
})
