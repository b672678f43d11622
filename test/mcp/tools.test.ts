import { describe, expect, it } from 'vitest'
import { type JsonObject, operacionesOf } from '../../scripts/documentation/contract.ts'
import { readBundle } from '../../scripts/generate/places.ts'
import { toolsOf } from '../../scripts/generate/tools.ts'
import { partsOf, type Tool } from '../../server/pages/mcp/tool.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useAssistants } from './assistant.ts'

const environment = shareEnvironment()
const createAssistant = useAssistants(environment)
const contract = await readBundle('comercios')
const herramientas = toolsOf(contract)
const one = (name: string) => herramientas.find((tool) => tool.nombre === name)!

describe('the tools', () => {
  it('are the operations of merchants’ keys, each with its summary', async () => {
    const toolOperaciones = operacionesOf(contract).filter(({ definition }) =>
      ((definition.security ?? []) as JsonObject[]).some((schema) => 'llaveDeComercio' in schema),
    )
    expect(toolOperaciones.length).toBeGreaterThan(30)
    const { llave } = await environment.createComercio()
    const { client } = await createAssistant(llave, { write: true })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(toolOperaciones.map(({ id }) => id))
    for (const { definition, id } of toolOperaciones)
      expect(tools.find(({ name }) => name === id)!.description).toContain(definition.summary)
  })

  it('stay short enough for a model’s context, without alternatives at the root', () => {
    expect(JSON.stringify(herramientas).length).toBeLessThan(120_000)
    for (const { input, nombre } of herramientas) {
      expect([nombre, Object.keys(input).sort()]).toEqual([
        nombre,
        ['additionalProperties', 'properties', 'required', 'type'],
      ])
      expect(JSON.stringify(input)).not.toMatch(/"\$ref"|"x-/)
    }
  })

  it('that change what exists ask for its code again', () => {
    for (const { nombre, isWrite, confirma, input } of herramientas) {
      const pide = input.required.includes('confirmar')
      expect([nombre, pide]).toEqual([nombre, isWrite && !nombre.startsWith('crear')])
      if (confirma) expect(input.required).toContain(confirma)
    }
  })
})

describe('partsOf', () => {
  const faltas = (tool: Tool, args: Record<string, unknown>) => {
    try {
      return partsOf(tool, args)
    } catch (error) {
      return (error as { details: { errores: { campo: string; codigo: string }[] } }).details.errores.map(
        ({ campo: field, codigo }) => `${field} ${codigo}`,
      )
    }
  }

  it('puts each argument in its place', () => {
    expect(
      partsOf(one('listarGuias'), { estado: ['en_ruta', 'aceptado'], limite: 5, metadatos: { canal: 'web' } }),
    ).toEqual({ path: {}, query: { estado: ['en_ruta', 'aceptado'], limite: '5', 'metadatos[canal]': 'web' } })
    expect(partsOf(one('cancelarGuia'), { guia: 'A', confirmar: 'A', razon: 'x' })).toEqual({
      path: { guia: 'A' },
      query: {},
      body: { razon: 'x' },
    })
  })

  it('refuses unknown arguments, a path without its code, and another code in confirmar', () => {
    expect(faltas(one('cancelarGuia'), { guia: 'A', confirmar: 'A', motivo: 'x' })).toEqual(['motivo desconocido'])
    expect(faltas(one('cancelarGuia'), { guia: 'A' })).toEqual(['confirmar difiere'])
    expect(faltas(one('cancelarGuia'), { guia: 'A', confirmar: 'B' })).toEqual(['confirmar difiere'])
    expect(faltas(one('cancelarGuia'), { guia: '', confirmar: '' })).toEqual(['guia requerido', 'confirmar difiere'])
    expect(faltas(one('obtenerGuia'), { toString: 'x', guia: 'A' })).toEqual(['toString desconocido'])
    expect(faltas(one('obtenerGuia'), {})).toEqual(['guia requerido'])
  })
})

describe('a call', () => {
  it('gets the operation’s own explanation of what is wrong', async () => {
    const { llave } = await environment.createComercio()
    const { callUrl } = await createAssistant(llave, { write: true })
    expect(await callUrl('crearGuia', { ...buildGuia(), telefono: '12' } as never)).toMatchObject({
      estado: 422,
      datos: { codigo: 'validacion', errores: [{ campo: '/telefono' }] },
    })
    expect(await callUrl('listarGuias', { limite: 1000 })).toMatchObject({
      estado: 400,
      datos: { errores: [{ campo: 'limite' }] },
    })
  })

  it('finds guides by their metadata, and creates many at once', async () => {
    const { llave } = await environment.createComercio()
    const { callUrl } = await createAssistant(llave, { write: true })
    const { recogida, ...guia } = buildGuia({ metadatos: { canal: 'web' } })
    const { datos } = await callUrl('crearLote', { recogida, guias: [guia, buildGuia()] })
    expect(datos).toMatchObject({ creadas: 2, fallidas: 0 })
    const hallada = await callUrl('listarGuias', { metadatos: { canal: 'web' } })
    expect(hallada.datos.datos).toEqual([expect.objectContaining({ guia: datos.resultados[0].guia })])
  })

  it('to an unknown tool is a fault of the protocol', async () => {
    const { llave } = await environment.createComercio()
    const { client } = await createAssistant(llave)
    await expect(client.callTool({ name: 'borrarTodo', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: `${environment.url}/docs/guia/../../.env` })).rejects.toMatchObject({
      code: -32602,
    })
  })
})
