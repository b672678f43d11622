import type { Guia, Guias, UbicacionParaConfirmar } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { avisarAdvertencias } from './advertencias.ts'
import { opcionDe } from './campos.ts'
import { abrirTabla, canonico, conCada, leerCodigos, leerEntrada } from './codigos.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio, pintar } from './terminal.ts'

export const ubicar: Orden = {
  resumen: 'dice dónde se entregan sus guías',
  uso: [
    'ubicar <guia> --lat … --lng … [opciones]',
    'ubicar --archivo lugares.csv',
    'ubicar <guia>… --aceptar-sugerencias   (o --archivo con los códigos)',
  ],
  explica: `Confirma o corrige el lugar de entrega, hasta que la guía sale a ruta. El archivo
lleva las columnas guia y lat y lng, o maps_url; y, si quiere, referencia. Con
--aceptar-sugerencias confirma el punto que sugieren las advertencias de cada
guía (la que creyó ver lat y lng al revés, por ejemplo); deja como está la que
no tiene ninguno.`,
  opciones: {
    lat: { valor: '<grados>', dice: 'latitud del lugar de entrega' },
    lng: { valor: '<grados>', dice: 'longitud; aquí es negativa' },
    'maps-url': { valor: '<url>', dice: 'el lugar, en un enlace de mapa' },
    referencia: { valor: '<texto>', dice: 'cómo reconocer el lugar' },
    'aceptar-sugerencias': { dice: 'confirma el punto que sugieren las advertencias' },
    archivo: { valor: '<ruta>', dice: 'las guías y sus lugares, en CSV; «-» es la entrada' },
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: [
    'ubicar 7K3M9QX2A1B4 --lat 14.70811 --lng -90.50042',
    'ubicar --archivo pedidos.resultados.csv --aceptar-sugerencias',
  ],
  async ejecutar(contexto) {
    const sugeridos = contexto.si('aceptar-sugerencias')
    const lugares = sugeridos
      ? new Map((await leerCodigos(contexto)).map((codigo) => [codigo, undefined]))
      : await leerLugares(contexto)
    const { guias } = contexto.api()
    let sin = 0
    const fallidas = await conCada([...lugares.keys()], contexto, async (codigo) => {
      const lugar = lugares.get(codigo) ?? (await sugerido(guias, codigo, contexto.signal))
      if (lugar) mostrar(await guias.confirmarUbicacion(codigo, lugar, { signal: contexto.signal }), contexto)
      else {
        sin++
        const mensaje = 'no tiene ninguna sugerencia de lugar: queda como está'
        avisar(contexto.json ? JSON.stringify({ guia: codigo, mensaje }) : `${limpio(codigo)}  ${mensaje}`)
      }
    })
    if (lugares.size > 1 && !contexto.json)
      avisar(`${lugares.size - fallidas - sin} ubicadas${sin > 0 ? `, ${sin} sin sugerencia` : ''}, ${fallidas} no.`)
    return fallidas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}

function mostrar({ ubicacion, advertencias, ...guia }: Guia, { json, dadas }: Contexto) {
  if (json) {
    decir(JSON.stringify({ ...guia, ubicacion, advertencias }))
    return
  }
  const punto = ubicacion.lat === null ? '' : `  ${ubicacion.lat}, ${ubicacion.lng}`
  decir(`${pintar('fuerte', limpio(guia.guia))}  ubicación ${limpio(ubicacion.estado)}${punto}`)
  avisarAdvertencias(advertencias, dadas)
}

/** Returns the point that the warnings of a guide suggest for its destination; undefined if they suggest none. */
async function sugerido(guias: Guias['guias'], codigo: string, signal: AbortSignal) {
  const { advertencias } = await guias.obtener(codigo, { limite: 1, signal })
  for (const { campo, sugerencia } of advertencias) {
    if (campo?.startsWith('/recogida') || typeof sugerencia !== 'object' || !sugerencia || !('lat' in sugerencia))
      continue
    return { lat: sugerencia.lat, lng: sugerencia.lng }
  }
  return undefined
}

/**
 * Reads the places from the options or from a table.
 *
 * @throws ErrorDeUso if a guide, a place or a column is missing
 */
async function leerLugares(contexto: Contexto): Promise<Map<string, UbicacionParaConfirmar>> {
  const archivo = contexto.texto('archivo')
  const opciones = contexto.dadas.filter((una) => una !== 'archivo')
  if (archivo === undefined) {
    const [codigo, ...otros] = contexto.posicionales
    if (codigo === undefined) throw new ErrorDeUso('Falta el código de la guía, o --archivo.')
    if (otros.length > 0)
      throw new ErrorDeUso('Un lugar es de una guía: para varias use --archivo, o --aceptar-sugerencias.')
    return new Map([[codigo, lugarDe((campo) => contexto.texto(opcionDe(campo)), '')]])
  }
  if (contexto.posicionales.length > 0 || opciones.length > 0)
    throw new ErrorDeUso('Las guías y los lugares vienen de --archivo o de la orden, no de ambos: quite uno.')
  return deTabla(await leerEntrada(archivo), archivo)
}

async function deTabla(bytes: Uint8Array, archivo: string): Promise<Map<string, UbicacionParaConfirmar>> {
  const lugares = new Map<string, UbicacionParaConfirmar>()
  const filasDe = new Map<string, number>()
  const { campos, filas } = await abrirTabla(bytes, archivo)
  if (!campos.includes('guia')) throw new ErrorDeUso(`${archivo} debe tener las columnas guia, lat y lng, o maps_url.`)
  for await (const { fila, valores } of filas) {
    const cual = (campo: string) => valores[campos.lastIndexOf(campo)]
    const guia = cual('guia')?.trim()
    if (!guia) continue
    const otra = filasDe.get(canonico(guia))
    if (otra !== undefined)
      throw new ErrorDeUso(`${archivo}, fila ${fila}: la guía ${limpio(guia)} ya está en la fila ${otra}: deje una.`)
    filasDe.set(canonico(guia), fila)
    lugares.set(guia, lugarDe(cual, `${archivo}, fila ${fila}: `))
  }
  if (lugares.size > 0) return lugares
  throw new ErrorDeUso(`${archivo} no trae ningún código de guía.`)
}

function lugarDe(valor: (campo: string) => string | undefined, donde: string): UbicacionParaConfirmar {
  const { lat, lng, maps_url } = guiaDeCampos(valor)
  const referencia = valor('referencia')?.trim()
  if ((lat === undefined || lng === undefined) && !maps_url)
    throw new ErrorDeUso(`${donde}Falta el lugar: lat y lng, o el enlace de mapa. Vea guias ubicar --help.`)
  const punto = maps_url ? { maps_url } : { lat, lng }
  return { ...punto, ...(referencia ? { referencia } : {}) } as UbicacionParaConfirmar
}
