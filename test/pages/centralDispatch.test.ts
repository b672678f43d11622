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

const createBrowserOf = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(environment, cookie)
const fresh = async (municipio = 'Mixco', query = comercio) =>
  (await query.api.guias.crear(buildGuia({ municipio }))).guia
const asignadaA = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body.asignada_a
const asignar = (guias: string[], { repartidor }: Pick<Mobile, 'repartidor'>, fecha?: string) =>
  environment.asOperador('POST', '/asignaciones', { guias, repartidor, fecha })
const today = () => environment.clock().toISOString().slice(0, 10)
const readOfferedGuias = (text: string) =>
  [...text.matchAll(/name="guias" value="([0-9A-Z]{12})"( checked)?/g)].map(([, guia, markedEntry]) => [
    guia,
    !!markedEntry,
  ])
const codigos = (text: string) => readOfferedGuias(text).map(([guia]) => guia)
const buildForm = (guias: string[], more: Record<string, string>): [string, string][] => [
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
    const { visit } = createBrowserOf(ana)
    const query = `estado=aceptado&comercio=${other.comercio}`
    const all = await visit(`/central/reparto/asignar?${query}`)
    expect([all.status, codigos(all.texto).toSorted()]).toEqual([200, [mixco, chinautla].toSorted()])
    expect(all.texto).toMatch(/<option value="Chinautla">Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/)
    const ofOne = (await visit(`/central/reparto/asignar?${query}&municipio=Chinautla`)).texto
    expect(codigos(ofOne)).toEqual([chinautla])
    // The other municipalities stay to be chosen, each with what is left to assign.
    expect(ofOne).toMatch(
      /<option value="Chinautla" selected>Chinautla \(1\)<\/option><option value="Mixco">Mixco \(1\)/,
    )
    const pageOfAsignadas = await visit(`/central/reparto/asignar?${query}&cuales=todas&municipio=Mixco`)
    expect(codigos(pageOfAsignadas.texto).toSorted()).toEqual([mixco, asignada].toSorted())
    expect(pageOfAsignadas.texto).toContain('Carlos Méndez<br>')
    expect((await visit(`/central/reparto/asignar?estado=en_transito&comercio=${other.comercio}`)).texto).toContain(
      'No hay ninguno así',
    )
    expect(await visit('/central/reparto/asignar?estado=perdido')).toMatchObject({ status: 303 })
  })

  it('ticks all guides without a program, and assigns the ticked ones for a day, in the name of the person', async () => {
    const other = await environment.createComercio()
    const [one, second, cancelled] = [
      await fresh('Mixco', other),
      await fresh('Mixco', other),
      await fresh('Mixco', other),
    ]
    const { visit } = createBrowserOf(ana)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${other.comercio}`
    const opened = await visit(place)
    expect(readOfferedGuias(opened.texto).every(([, markedEntry]) => !markedEntry)).toBe(true)
    const marcar = /href="([^"]*)">Marcar todos/.exec(opened.texto)![1]!.replaceAll('&amp;', '&')
    const markedEntry = await visit(new URL(marcar, `${environment.url}/central/reparto/asignar`).href)
    expect(readOfferedGuias(markedEntry.texto)).toHaveLength(3)
    expect(readOfferedGuias(markedEntry.texto).every(([, si]) => si)).toBe(true)
    await other.api.guias.cancelar(cancelled)
    const fecha = addDays(today(), 1)
    const submission = buildForm([one, second, cancelled], { accion: 'asignar', repartidor: carlos.repartidor, fecha })
    const { status, texto: text } = await visit(place, submission)
    expect(status).toBe(200)
    expect(text).toContain(`2 paquetes quedaron asignados a Carlos Méndez para el ${dayInWords(fecha)}.`)
    expect(text).toMatch(/Un paquete no cambió.*La guía está en cancelado y ya no se asigna/s)
    expect(codigos(text)).toEqual([])
    for (const guia of [one, second])
      expect(await asignadaA(guia)).toMatchObject({
        repartidor: carlos.repartidor,
        fecha,
        autor: { autor: ana.persona },
      })
    const ofGuia = (await visit(`/central/guias/${one}`)).texto
    for (const message of ['Asignada a', 'para mañana', 'La asignó Ana Pérez']) expect(ofGuia).toContain(message)
    await carlos.registrar(one, { estado: 'recolectado', idempotencia: one })
    expect((await visit(`/central/guias/${one}`)).texto).toContain('Carlos Méndez · asignado por Ana Pérez')
  })

  it('keeps what was ticked when the service refuses it, and says what is wrong', async () => {
    const guia = await fresh()
    const { visit } = createBrowserOf(ana)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const bad = await visit(
      place,
      buildForm([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: '2020-01-01' }),
    )
    expect(bad.status).toBe(422)
    expect(bad.texto).toContain('id="error-fecha"')
    expect(readOfferedGuias(bad.texto)).toContainEqual([guia, true])
    const nothing = await visit(
      place,
      buildForm([], { accion: 'asignar', repartidor: carlos.repartidor, fecha: today() }),
    )
    expect([nothing.status, nothing.texto]).toEqual([422, expect.stringContaining('Marque al menos un paquete.')])
    expect(await asignadaA(guia)).toBeNull()
    // Taking back is the courier's page, and fields of no form are refused.
    for (const other of [{ accion: 'retirar' }, { accion: 'asignar', otro: 'x' }, { accion: '' }])
      expect((await visit(place, buildForm([guia], other as Record<string, string>))).status).toBe(400)
  })

  it('offers no form without its scope, and does nothing', async () => {
    const guia = await fresh()
    const { visit } = createBrowserOf(bea)
    const place = `/central/reparto/asignar?estado=aceptado&comercio=${comercio.comercio}`
    const { status, texto: text } = await visit(place)
    expect([status, codigos(text)]).toEqual([200, []])
    expect(text).toContain('Con sus permisos, aquí solo puede ver.')
    expect((await visit('/central/reparto')).texto).not.toContain('Asignar paquetes')
    const submission = buildForm([guia], { accion: 'asignar', repartidor: carlos.repartidor, fecha: today() })
    for (const donde of [place, `/central/reparto/${carlos.repartidor}`])
      expect((await visit(donde, submission)).status).toBe(403)
    expect(await asignadaA(guia)).toBeNull()
  })
})

describe('the page of a courier', () => {
  it('counts on the list, reassigns, and takes back', async () => {
    const luis = (await environment.asOperador('POST', '/repartidores', { nombre: 'Luis Batz' })).body
    const eva = (await environment.asOperador('POST', '/repartidores', { nombre: 'Eva Tum' })).body
    const [one, second, third] = [await fresh(), await fresh(), await fresh()]
    await asignar([one, second], luis)
    await asignar([third], luis, addDays(today(), 5))
    const { visit } = createBrowserOf(ana)
    expect((await visit('/central/reparto')).texto).toMatch(/Luis Batz<small>le faltan 2 asignados/)
    const place = `/central/reparto/${luis.repartidor}`
    const opened = await visit(place)
    expect(codigos(opened.texto).toSorted()).toEqual([one, second, third].toSorted())
    const cambio = await visit(
      place,
      buildForm([one], { accion: 'asignar', repartidor: eva.repartidor, fecha: today() }),
    )
    expect(cambio.texto).toContain(`Un paquete quedó asignado a Eva Tum para el ${dayInWords(today())}.`)
    expect(codigos(cambio.texto)).not.toContain(one)
    // The page was opened before: what went to another courier stays there.
    const withdrawal = await visit(
      place,
      buildForm([one, second], { accion: 'retirar', repartidor: '', fecha: today() }),
    )
    expect(withdrawal.texto).toContain('Un paquete quedó sin asignar.')
    expect(withdrawal.texto).toMatch(/Un paquete no cambió.*ya está asignada a otro repartidor/s)
    expect([await asignadaA(one), await asignadaA(second)]).toMatchObject([{ nombre: 'Eva Tum' }, null])
  })
})
