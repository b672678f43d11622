import { beforeAll, describe, expect, it } from 'vitest'
import { addDays, dayInWords } from '../../server/platform/time/day.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { buildGuia } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const environment = useEnvironment({}, () => ({ TIME_ZONE: 'UTC', WORKERS: '0' }))
let comercio: Comercio
let ana: TestPersona
let bea: TestPersona
let carlos: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
  bea = await createTestPersona(environment, { alcances: ['ver'] })
  carlos = await createMobile(environment)
})

const navegadorDe = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(environment, cookie)
const fresh = async (municipio = 'Mixco', de = comercio) => (await de.api.guias.crear(buildGuia({ municipio }))).guia
const asignadaA = async (guia: string) => (await environment.operar('GET', `/guias/${guia}`)).cuerpo.asignada_a
const asignar = (guias: string[], { repartidor }: Pick<Mobile, 'repartidor'>, fecha?: string) =>
  environment.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const today = () => environment.clock().toISOString().slice(0, 10)
const ofrecidas = (text: string) =>
  [...text.matchAll(/name="guias" value="([0-9A-Z]{12})"( checked)?/g)].map(([, guia, marcada]) => [guia, !!marcada])
const codigos = (text: string) => ofrecidas(text).map(([guia]) => guia)
const formulario = (guias: string[], more: Record<string, string>): [string, string][] => [
  ...guias.map((guia): [string, string] => ['guias', guia]),
  ...Object.entries(more),
]

describe('the page on which guides are assigned', () => {
  it('filters by state, merchant and municipality, and leaves out what is assigned', async () => {
    const other = await environment.createComercio()
    const [mixco, chinautla, asignada] = [
      await fresh('Mixco', other),
      await fresh('Chinautla', other),
      await fresh('Mixco', other),
    ]
    await asignar([asignada], carlos)
    const { visit: ir } = navegadorDe(ana)
    const de = `estado=aceptado&comercio=${other.comercio}`
    const all = await ir(`/central/reparto/asignar?${de}`)
    expect([all.status, codigos(all.texto).toSorted()]).toEqual([200, [mixco, chinautla].toSorted()])
    expect(all.texto).toMatch(/<option value="Chinautla">Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/)
    const deUno = (await ir(`/central/reparto/asignar?${de}&municipio=Chinautla`)).texto
    expect(codigos(deUno)).toEqual([chinautla])
    // The other municipalities stay to be chosen.
    expect(deUno).toMatch(
      /<option value="Chinautla" selected>Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/,
    )
    const conAsignadas = await ir(`/central/reparto/asignar?${de}&cuales=todas&municipio=Mixco`)
    expect(codigos(conAsignadas.texto).toSorted()).toEqual([mixco, asignada].toSorted())
    expect(conAsignadas.texto).toContain('Carlos Méndez<br>')
    expect((await ir(`/central/reparto/asignar?estado=en_transito&comercio=${other.comercio}`)).texto).toContain(
      'No hay ninguno así',
    )
    expect(await ir('/central/reparto/asignar?estado=perdido')).toMatchObject({ status: 303 })
  })

  it('ticks all guides without a program, and assigns the ticked ones for a day, in the name of the person', async () => {
    const other = await environment.createComercio()
    const [one, second, cancelled] = [
      await fresh('Mixco', other),
      await fresh('Mixco', other),
      await fresh('Mixco', other),
    ]
    const { visit: ir } = navegadorDe(ana)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${other.comercio}`
    const abierta = await ir(place)
    expect(ofrecidas(abierta.texto).every(([, marcada]) => !marcada)).toBe(true)
    const marcar = /href="([^"]*)">Marcar todos/.exec(abierta.texto)![1]!.replaceAll('&amp;', '&')
    const marcada = await ir(new URL(marcar, `${environment.url}/central/reparto/asignar`).href)
    expect(ofrecidas(marcada.texto)).toHaveLength(3)
    expect(ofrecidas(marcada.texto).every(([, si]) => si)).toBe(true)
    await other.api.guias.cancelar(cancelled)
    const fecha = addDays(today(), 1)
    const envio = formulario([one, second, cancelled], { accion: 'asignar', repartidor: carlos.repartidor, fecha })
    const { status, texto } = await ir(place, envio)
    expect(status).toBe(200)
    expect(texto).toContain(`2 paquetes quedaron asignados a Carlos Méndez para el ${dayInWords(fecha)}.`)
    expect(texto).toMatch(/Un paquete no cambió.*La guía está en cancelado y ya no se asigna/s)
    expect(codigos(texto)).toEqual([])
    for (const guia of [one, second])
      expect(await asignadaA(guia)).toMatchObject({
        repartidor: carlos.repartidor,
        fecha,
        autor: { autor: ana.persona },
      })
    const deLaGuia = (await ir(`/central/guias/${one}`)).texto
    for (const dicho of ['Asignada a', 'para mañana', 'La asignó Ana Pérez']) expect(deLaGuia).toContain(dicho)
    await carlos.registrar(one, { estado: 'recolectado', idempotencia: one })
    expect((await ir(`/central/guias/${one}`)).texto).toContain('Carlos Méndez · asignado por Ana Pérez')
  })

  it('keeps what was ticked when the service refuses it, and says what is wrong', async () => {
    const guia = await fresh()
    const { visit: ir } = navegadorDe(ana)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const bad = await ir(
      place,
      formulario([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: '2020-01-01' }),
    )
    expect(bad.status).toBe(422)
    expect(bad.texto).toContain('id="error-fecha"')
    expect(ofrecidas(bad.texto)).toContainEqual([guia, true])
    const nothing = await ir(
      place,
      formulario([], { accion: 'asignar', repartidor: carlos.repartidor, fecha: today() }),
    )
    expect([nothing.status, nothing.texto]).toEqual([422, expect.stringContaining('Marque al menos un paquete.')])
    expect(await asignadaA(guia)).toBeNull()
    // Taking back is the courier's page, and fields of no form are refused.
    for (const other of [{ accion: 'retirar' }, { accion: 'asignar', otro: 'x' }, { accion: '' }])
      expect((await ir(place, formulario([guia], other as Record<string, string>))).status).toBe(400)
  })

  it('offers no form without its scope, and does nothing', async () => {
    const guia = await fresh()
    const { visit: ir } = navegadorDe(bea)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const { status, texto } = await ir(place)
    expect([status, codigos(texto)]).toEqual([200, []])
    expect(texto).toContain('Con sus permisos, aquí solo puede ver.')
    expect((await ir('/central/reparto')).texto).not.toContain('Asignar paquetes')
    const envio = formulario([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: today() })
    for (const donde of [place, `/central/reparto/${carlos.repartidor}`])
      expect((await ir(donde, envio)).status).toBe(403)
    expect(await asignadaA(guia)).toBeNull()
  })
})

describe('the page of a courier', () => {
  it('counts on the list, reassigns, and takes back', async () => {
    const luis = (await environment.operar('POST', '/repartidores', { nombre: 'Luis Batz' })).cuerpo
    const eva = (await environment.operar('POST', '/repartidores', { nombre: 'Eva Tum' })).cuerpo
    const [one, second, third] = [await fresh(), await fresh(), await fresh()]
    await asignar([one, second], luis)
    await asignar([third], luis, addDays(today(), 5))
    const { visit: ir } = navegadorDe(ana)
    expect((await ir('/central/reparto')).texto).toMatch(/Luis Batz<small>le faltan 2 asignados/)
    const place = `/central/reparto/${luis.repartidor}`
    const abierta = await ir(place)
    expect(codigos(abierta.texto).toSorted()).toEqual([one, second, third].toSorted())
    const cambio = await ir(place, formulario([one], { accion: 'asignar', repartidor: eva.repartidor, fecha: today() }))
    expect(cambio.texto).toContain(`Un paquete quedó asignado a Eva Tum para el ${dayInWords(today())}.`)
    expect(codigos(cambio.texto)).not.toContain(one)
    // The page was opened before: what went to another courier stays there.
    const retiro = await ir(place, formulario([one, second], { accion: 'retirar', repartidor: '', fecha: today() }))
    expect(retiro.texto).toContain('Un paquete quedó sin asignar.')
    expect(retiro.texto).toMatch(/Un paquete no cambió.*ya está asignada a otro repartidor/s)
    expect([await asignadaA(one), await asignadaA(second)]).toMatchObject([{ nombre: 'Eva Tum' }, null])
  })
})
