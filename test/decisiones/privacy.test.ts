// Personal data of a recipient's decision: export and erasure.

import { describe, expect, it } from 'vitest'
import { registerEntrega } from '../archivos/images.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { useEnvironment } from '../environment.ts'
import { findTablesWith } from '../personas/tables.ts'
import { CON_ROSA, useQuestions } from './questions.ts'

const environment = useEnvironment()
const { createAskedGuia: askedGuia, ver, send, mensajes } = useQuestions(environment)
const OWN_DATA = /Rosa Caal|casa verde/

const persona = async (kind: string, telefono: string, ...more: string[]) => {
  const { output } = await runInProcess(
    ['persona', kind, '--telefono', telefono, '--json', ...more],
    consoleEnvironment(environment),
  )
  return JSON.parse(output)
}

describe('a decision of a recipient', () => {
  it('is exported with its message, and forgotten with the neighbour and the link', async () => {
    const { guia, api, enlace, scan } = await askedGuia()
    await send(enlace, CON_ROSA)
    const { telefono } = await api.guias.obtener(guia)
    expect(await findTablesWith(environment.db, OWN_DATA)).toEqual(['public.guia'])
    const text = JSON.stringify(await persona('exportar', telefono!))
    for (const message of ['Rosa Caal', 'casa verde de enfrente', 'solicitud_decision']) expect(text).toContain(message)
    await scan('en_ruta')
    await registerEntrega(environment, guia)
    await persona('olvidar', telefono!, '--si')
    expect(await findTablesWith(environment.db, OWN_DATA)).toEqual([])
    expect(await findTablesWith(environment.db, new RegExp(telefono!.slice(1)))).toEqual([])
    expect((await mensajes(guia))[0]).toMatchObject({ telefono: null, estado: 'enviado', proveedor_id: null })
    expect((await ver(enlace)).status).toBe(404)
    const { rows } = await environment.db.pool.query(
      'select cambios from evento where guia = $1 and cambios is not null',
      [guia],
    )
    expect(rows).toEqual([])
  })

  it('from a former telephone is erased with that telephone, and data of the present recipient stay', async () => {
    const { guia, api, enlace } = await askedGuia()
    const { telefono } = await api.guias.obtener(guia)
    await send(enlace, CON_ROSA)
    await api.guias.corregir(guia, { telefono: '+50259871234', indicaciones: 'Tocar dos veces' })
    expect(JSON.stringify((await persona('exportar', telefono!)).anteriores)).toMatch(OWN_DATA)
    await persona('olvidar', telefono!, '--si')
    expect(JSON.stringify((await persona('exportar', telefono!)).anteriores)).not.toMatch(OWN_DATA)
    expect((await api.guias.obtener(guia)).indicaciones).toBe('Tocar dos veces')
  })
})
