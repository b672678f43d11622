import type { CorreccionDeGuia } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { avisarAdvertencias } from './advertencias.ts'
import { fijarTelefono, OPCIONES_DE_GUIA, opcionDe, opcionDePais } from './campos.ts'
import { ErrorDeUso, type Opciones, type Orden, SALIDA } from './orden.ts'
import { decir, limpio, pintar } from './terminal.ts'

const { 'external-ref': _referencia, metadatos: _metadatos, ...DE_CORRECCION } = OPCIONES_DE_GUIA
/** Options whose members `--borrar` can clear. */
const BORRABLES = [
  'destinatario',
  'direccion',
  'indicaciones',
  'contenido',
  'recogida-nombre',
  'recogida-contacto',
  'recogida-telefono',
  'recogida-direccion',
  'recogida-indicaciones',
]

export const corregir: Orden = {
  resumen: 'corrige los datos de una guía',
  uso: ['corregir <guia> --telefono … --direccion … [opciones]'],
  explica: `Cambia los datos que se dan y ninguno más, hasta que la guía sale a ruta y otra
vez tras un intento fallido; la recogida, mientras nadie la recolectó. Repetir
la misma corrección no cambia nada.`,
  opciones: {
    ...(DE_CORRECCION as Opciones),
    borrar: {
      valor: '<campos>',
      dice: `deja sin valor, separados por comas: ${BORRABLES.join(', ')}`,
      valores: BORRABLES,
      varias: true,
    },
    pais: opcionDePais('de un teléfono sin +'),
    estricto: { dice: 'si el lugar quedaría inverosímil, no la corrige' },
    secuencia: { valor: '<número>', dice: 'solo si la guía aún va por esa secuencia' },
  },
  posicionales: [1, 1],
  ejemplos: ["corregir 7K3M9QX2A1B4 --telefono '5987 1234' --direccion 'Calle 2'"],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const secuencia = contexto.texto('secuencia')
    const dada = fijarTelefono(
      guiaDeCampos((campo) => contexto.texto(opcionDe(campo))),
      contexto.texto('pais'),
    )
    const { recogida, ...borrados } = leerBorrados(contexto.textos('borrar') ?? [])
    const correccion = {
      ...dada,
      ...borrados,
      ...(recogida ? { recogida: { ...dada.recogida, ...recogida } } : {}),
      ...(secuencia === undefined ? {} : { secuencia: Number(secuencia) }),
    } as CorreccionDeGuia
    if (Object.keys(correccion).every((campo) => campo === 'pais' || campo === 'secuencia'))
      throw new ErrorDeUso('Falta qué corregir, por ejemplo --telefono. Vea guias corregir --help.')
    const estricto = contexto.si('estricto') ? { estricto: true } : {}
    const { signal } = contexto
    const guia = await contexto.api().guias.corregir(codigo, { ...correccion, ...estricto }, { signal })
    if (contexto.json) decir(JSON.stringify(guia))
    else {
      decir(`${pintar('fuerte', limpio(guia.guia))}  ${limpio(guia.estado)}, secuencia ${guia.secuencia}`)
      avisarAdvertencias(guia.advertencias, contexto.dadas)
    }
    return SALIDA.bien
  },
}

type Borrados = Record<string, null>
const DE_RECOGIDA = 'recogida-'

/** Returns the members to clear, with the value null. Members of the pickup are in an object of their own. */
function leerBorrados(opciones: readonly string[]): { recogida?: Borrados } {
  const borrados: Borrados = {}
  const recogida: Borrados = {}
  for (const opcion of opciones) {
    const [de, nombre] = opcion.startsWith(DE_RECOGIDA)
      ? [recogida, opcion.slice(DE_RECOGIDA.length)]
      : [borrados, opcion]
    de[nombre.replaceAll('-', '_')] = null
  }
  return { ...borrados, ...(Object.keys(recogida).length > 0 ? { recogida } : {}) }
}
