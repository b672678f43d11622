import type { CorreccionDeGuia } from '@guias/sdk'
import { decirAdvertencia } from './advertencias.ts'
import { fijarTelefono, guiaDeCampos, OPCIONES_DE_GUIA, opcionDe, opcionDePais } from './campos.ts'
import { ErrorDeUso, type Opciones, type Orden, SALIDA } from './orden.ts'
import { avisar, decir, limpio, pintar, pintarAviso } from './terminal.ts'

const { 'external-ref': _referencia, metadatos: _metadatos, ...DE_CORRECCION } = OPCIONES_DE_GUIA
/** Members that `--borrar` can clear. */
const BORRABLES = ['destinatario', 'direccion', 'indicaciones', 'contenido']

export const corregir: Orden = {
  resumen: 'corrige los datos de una guía',
  uso: ['corregir <guia> --telefono … --direccion … [opciones]'],
  explica: `Cambia los datos que se dan y ninguno más, hasta que la guía sale a ruta y otra
vez tras un intento fallido; la recogida, mientras nadie la recolectó. Repetir
la misma corrección no cambia nada.`,
  opciones: {
    ...(DE_CORRECCION as Opciones),
    borrar: {
      valor: '<campo>',
      dice: 'deja sin valor destinatario, direccion, indicaciones o contenido',
      valores: BORRABLES,
    },
    pais: opcionDePais('de un teléfono sin +'),
    estricto: { dice: 'si el lugar quedaría inverosímil, no la corrige' },
    secuencia: { valor: '<número>', dice: 'solo si la guía aún va por esa secuencia' },
  },
  posicionales: [1, 1],
  ejemplos: ["corregir 7K3M9QX2A1B4 --telefono '5987 1234' --direccion 'Calle 2'"],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const borrar = contexto.texto('borrar')
    const secuencia = contexto.texto('secuencia')
    const correccion = {
      ...fijarTelefono(
        guiaDeCampos((campo) => contexto.texto(opcionDe(campo))),
        contexto.texto('pais'),
      ),
      ...(borrar === undefined ? {} : { [borrar]: null }),
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
      for (const advertencia of guia.advertencias)
        avisar(`${pintarAviso('amarillo', 'Revise')} ${decirAdvertencia(advertencia, contexto.dadas)}`)
    }
    return SALIDA.bien
  },
}
