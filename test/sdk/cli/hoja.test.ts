import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COLUMNAS, ErrorDeHoja, leerHoja } from '@guias/sdk/hoja'
import { describe, expect, it } from 'vitest'
import { OPCIONES_DE_GUIA, opcionDe } from '../../../sdk/cli/campos.ts'
import { falla } from '../servidor.ts'
import { ARGS_DE_RECOGIDA, nuevaRef, usarCli } from './correr.ts'

const cli = usarCli()
const { escribir, guias } = cli

const utf8 = (texto: string) => new TextEncoder().encode(texto)
const utf16 = (texto: string, grande: boolean) => {
  const bytes = Buffer.from(`\uFEFF${texto}`, 'utf16le')
  return grande ? bytes.swap16() : bytes
}
async function leer(origen: Parameters<typeof leerHoja>[0], opciones?: Parameters<typeof leerHoja>[1]) {
  const { filas, ...hoja } = await leerHoja(origen, opciones)
  return { ...hoja, filas: await Array.fromAsync(filas) }
}

const TIENDA = `sep=;\r\nPedido;Nombre;Celular;Departamento;Ciudad;Latitud;Longitud\r\n;;;;;;\r\n\r\nA-1;"Ana; María";3148 1676;Guatemala;Mixco;14,63;-90,6\r\n`
const GUIA = {
  ...{ external_ref: 'A-1', destinatario: 'Ana; María', telefono: '3148 1676', departamento: 'Guatemala' },
  ...{ municipio: 'Mixco', lat: 14.63, lng: -90.6 },
}

describe('@guias/sdk/hoja', () => {
  it.each<[string, Parameters<typeof leerHoja>[0]]>([
    ['bytes', utf8(TIENDA)],
    ['a file of a page', new Blob([utf8(TIENDA)])],
    ['UTF-16, little endian', utf16(TIENDA, false)],
    ['UTF-16, big endian', utf16(TIENDA, true)],
    [
      'single bytes',
      (async function* () {
        for (const byte of utf16(TIENDA, true)) yield Uint8Array.of(byte)
      })(),
    ],
  ])('reads what Excel writes for a shop, from %s', async (_, origen) => {
    const { separador, columnas, filas } = await leer(origen)
    expect([separador, columnas[0], columnas.length]).toEqual([';', 'Pedido', 7])
    expect(filas).toEqual([
      { fila: 4, valores: ['A-1', 'Ana; María', '3148 1676', 'Guatemala', 'Mixco', '14,63', '-90,6'], guia: GUIA },
    ])
  })

  it.each([
    ['N.º de pedido', 'external_ref'],
    ['No. Pedido', 'external_ref'],
    ['# Pedido', 'external_ref'],
    ['NOMBRE DEL CLIENTE', 'destinatario'],
    ['Teléfono', 'telefono'],
    ['Dirección de entrega', 'direccion'],
    ['Observaciones', 'indicaciones'],
    ['Producto', 'contenido'],
    ['Link', 'maps_url'],
  ])('knows the column «%s»', async (titulo, campo) => {
    const { filas } = await leer(utf8(`${titulo},Municipio\nx,Mixco\n`))
    expect(filas[0]!.guia).toEqual({ [campo]: 'x', municipio: 'Mixco' })
  })

  it('has a column for each option of a guide', () => {
    const columnas = COLUMNAS.filter((una) => una !== 'pais').map(opcionDe)
    expect(columnas.sort()).toEqual(Object.keys(OPCIONES_DE_GUIA).sort())
  })

  it.each<[string, string, ErrorDeHoja['motivo'], RegExp]>([
    ['nothing', '', 'vacia', /vacía/],
    ['an unknown column', 'telefono,Color\n', 'columnas', /«Color».*Las que conozco: telefono/],
    ['two columns that are one', 'telefono,Celular\n', 'columna_repetida', /«telefono» y «Celular» son la misma/],
    ['a row that is too long', 'telefono\n1\n\n1,2\n', 'fila', /^fila 4: trae 2 campos/],
    ['quotes that are never closed', '"telefono\n', 'fila', /^fila 1: .*no se cierran/],
  ])('says why it does not read %s', async (_, texto, motivo, mensaje) => {
    const error = await falla<ErrorDeHoja>(leer(utf8(texto)))
    expect([error instanceof ErrorDeHoja, error.motivo, error.message]).toEqual([
      true,
      motivo,
      expect.stringMatching(mensaje),
    ])
  })

  it('reads another encoding only when it is told to', async () => {
    const latina = Uint8Array.of(...utf8('municipio\nPet'), 0xe9, ...utf8('n\n'))
    expect(await falla<ErrorDeHoja>(leer(latina))).toMatchObject({ motivo: 'codificacion' })
    expect((await leer(latina, { codificacion: 'windows-1252' })).filas[0]!.guia).toEqual({ municipio: 'Petén' })
    expect((await falla<ErrorDeHoja>(leer(latina, { codificacion: 'nada' }))).message).toContain('pruebe utf-8')
  })
})

describe('guias lote, of a shop’s own sheet', () => {
  // The sheet has a column «Guia» of its own.
  it('writes the results beside the sheet’s own columns, with its separator', async () => {
    const [una, otra] = [nuevaRef(), nuevaRef()]
    const texto = `sep=;\r\nPedido;Nombre;Teléfono;Departamento;Municipio;Guia\r\n${una};"Ana; hija";31481676;Guatemala;Mixco;"Luis ""Güicho"""\r\n;;;;;\r\n${otra};Eva;5512345.0;Guatemala;Mixco;\r\n`
    const archivo = await escribir('tienda.csv', utf16(texto, false))
    const dada = await guias(['lote', archivo, '--ignorar-otras', ...ARGS_DE_RECOGIDA])
    expect(dada).toMatchObject({
      codigo: 1,
      salida: expect.stringMatching(/^2 leídas: 1 creadas, 1 fallidas/),
      errores: expect.stringMatching(/fila 4: telefono: es un número con decimales/),
    })
    const [cabecera, primera, segunda] = (await readFile(join(cli.carpeta, 'tienda.resultados.csv'), 'utf8')).split(
      '\r\n',
    )
    expect(cabecera).toBe(
      '\uFEFFPedido;Nombre;Teléfono;Departamento;Municipio;Guia;fila;external_ref;ok;guia;estado;repetida;error;detalle;advertencias',
    )
    const suya = `${una};"Ana; hija";31481676;Guatemala;Mixco;"Luis ""Güicho""";2;${una};sí;`
    expect(primera!.startsWith(suya)).toBe(true)
    expect(segunda).toMatch(new RegExp(`^${otra};Eva;5512345\\.0;Guatemala;Mixco;;4;${otra};no;;;;validacion;`))
    const etiquetas = await guias(['etiquetas', '--archivo', 'tienda.resultados.csv'])
    expect(etiquetas).toMatchObject({ codigo: 0, salida: 'etiquetas.pdf  1 etiqueta\n' })
  })
})
