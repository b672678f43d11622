import { readFileSync } from 'node:fs'
import type { GuiaIndividual } from '@guias/sdk'
import { decirAdvertencia } from './advertencias.ts'
import { CAMPOS, fijarTelefono, leerGuia } from './campos.ts'
import { ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio, pintar, pintarAviso } from './terminal.ts'

const opcionDe = (campo: string) => campo.replaceAll('_', '-')

export const crear: Orden = {
  resumen: 'crea una guía',
  ayuda: `Uso: guias crear --telefono 31481676 --departamento … --municipio … [opciones]
     guias crear guia.json
     guias crear -              (la guía, en JSON, por la entrada)

Crea una guía y escribe su código. Con --external-ref (su número de pedido), repetir la orden no crea otra.

Opciones de la guía:
  --estricto                                   si el lugar es inverosímil, no la crea
  --telefono, --departamento, --municipio      obligatorias
  --pais <GT>                                  el país de un teléfono sin +; si falta, el de su cuenta
  --external-ref, --destinatario, --direccion, --indicaciones, --contenido
  --lat y --lng, o --maps-url                  el lugar de entrega; sin él se le pregunta al destinatario
  --recogida-nombre, --recogida-lat, --recogida-lng, --recogida-maps-url
                                               dónde se recoge; obligatorio por uno de los dos medios`,
  opciones: {
    ...Object.fromEntries(CAMPOS.map((campo) => [opcionDe(campo), { type: 'string' } as const])),
    estricto: { type: 'boolean' },
  },
  posicionales: [0, 1],
  async ejecutar(contexto) {
    const [archivo] = contexto.posicionales
    // The country says how to read a telephone, wherever that stands.
    const dadas = CAMPOS.filter((campo) => campo !== 'pais' && contexto.texto(opcionDe(campo)) !== undefined)
    if (archivo !== undefined && dadas.length > 0) {
      throw new ErrorDeUso(
        `La guía viene de ${archivo} o de las opciones, no de ambos: quite --${opcionDe(dadas[0]!)}.`,
      )
    }
    const pais = contexto.texto('pais')
    const estricto = contexto.si('estricto') ? { estricto: true } : {}
    const guia = archivo === undefined ? leerGuia((campo) => contexto.texto(opcionDe(campo))) : leerJson(archivo)
    const { datos, repetida } = await contexto
      .api()
      .guias.crear({ ...fijarTelefono(guia as GuiaIndividual, pais), ...estricto }, { signal: contexto.signal })
      .conRespuesta()
    if (contexto.json) decir(JSON.stringify(datos))
    else {
      const lugar = datos.ubicacion ? `, ubicación ${datos.ubicacion.estado}` : ''
      decir(
        `${pintar('fuerte', limpio(datos.guia))}  ${limpio(datos.estado)}${lugar}${repetida ? '  (ya existía)' : ''}`,
      )
      for (const advertencia of datos.advertencias)
        avisar(`${pintarAviso('amarillo', 'Revise')} ${decirAdvertencia(advertencia)}`)
    }
    return SALIDA.bien
  },
}

function leerJson(archivo: string): unknown {
  let texto: string
  try {
    texto = readFileSync(archivo === '-' ? 0 : archivo, 'utf8')
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${archivo}: ${(error as Error).message}`)
  }
  try {
    return JSON.parse(texto.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ErrorDeUso(`${archivo} no es JSON: ${(error as Error).message}`)
  }
}
