import type { Franja, Guia, ReintentoDeGuia } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { avisarAdvertencias } from './advertencias.ts'
import { fijarTelefono, OPCIONES_DE_GUIA, opcionDe, opcionDePais } from './campos.ts'
import { conCada, leerCodigos, OPCION_DE_CODIGOS } from './codigos.ts'
import { type Contexto, ErrorDeUso, type Opciones, type Orden, SALIDA } from './orden.ts'
import { avisar, confirmar, decir, limpio, pintar } from './terminal.ts'

const DE_ENTREGA = Object.fromEntries(
  Object.entries(OPCIONES_DE_GUIA).filter(([opcion]) => !/^(external-ref|metadatos|recogida)/.test(opcion)),
) as Opciones

const decirGuia = ({ json }: Pick<Contexto, 'json'>, guia: Guia) =>
  decir(
    json
      ? JSON.stringify(guia)
      : `${pintar('fuerte', limpio(guia.guia))}  ${limpio(guia.estado)}, ${limpio(guia.decision?.accion ?? '')} ${limpio(guia.decision?.fecha ?? guia.decision?.estado ?? '')}`.trimEnd(),
  )

export const reintentar: Orden = {
  resumen: 'decide que una entrega fallida se intente otra vez',
  uso: ['reintentar <guia> [opciones]'],
  explica: `Tras un intento fallido, decide que el paquete se lleve otra vez, y corrige los
datos que se dan. Vale la primera decisión.`,
  opciones: {
    fecha: { valor: '<día>', dice: 'qué día, AAAA-MM-DD; el primero que se puede, si falta' },
    franja: { valor: '<horas>', dice: 'entre qué horas, por ejemplo 14:00-18:00' },
    ...DE_ENTREGA,
    pais: opcionDePais('de un teléfono sin +'),
    estricto: { dice: 'si el lugar quedaría inverosímil, no lo acepta' },
    secuencia: { valor: '<número>', dice: 'solo si la guía aún va por esa secuencia' },
  },
  posicionales: [1, 1],
  ejemplos: [
    'reintentar 7K3M9QX2A1B4 --fecha 0001-01-04 --franja 14:00-18:00',
    "reintentar 7K3M9QX2A1B4 --telefono '5987 1234'",
  ],
  async ejecutar(contexto) {
    const [codigo = ''] = contexto.posicionales
    const [fecha, franja, secuencia] = ['fecha', 'franja', 'secuencia'].map((opcion) => contexto.texto(opcion))
    const reintento = {
      ...fijarTelefono(
        guiaDeCampos((campo) => contexto.texto(opcionDe(campo))),
        contexto.texto('pais'),
      ),
      ...(fecha === undefined ? {} : { fecha }),
      ...(franja === undefined ? {} : { franja: leerFranja(franja) }),
      ...(secuencia === undefined ? {} : { secuencia: Number(secuencia) }),
      ...(contexto.si('estricto') ? { estricto: true } : {}),
    } as ReintentoDeGuia
    const guia = await contexto.api().guias.reintentar(codigo, reintento, { signal: contexto.signal })
    decirGuia(contexto, guia)
    if (!contexto.json) avisarAdvertencias(guia.advertencias, contexto.dadas)
    return SALIDA.bien
  },
}

function leerFranja(texto: string): Franja {
  const [desde, hasta, ...resto] = texto.split('-')
  if (!desde || !hasta || resto.length > 0) throw new ErrorDeUso('--franja va como 14:00-18:00.')
  return { desde, hasta }
}

export const devolver: Orden = {
  resumen: 'pide que un paquete vuelva',
  uso: ['devolver <guia>… --razon <texto> [opciones]', 'devolver --archivo codigos.txt --razon <texto> [opciones]'],
  explica: `Decide que el paquete vuelva al comercio. Si viaja, vuelve con su próxima
lectura. En una terminal pregunta antes; fuera de ella hace falta --si.`,
  opciones: {
    si: { dice: 'lo pide sin preguntar' },
    razon: { valor: '<texto>', dice: 'por qué; queda en el historial' },
    ...OPCION_DE_CODIGOS,
  },
  posicionales: [0, Number.POSITIVE_INFINITY],
  ejemplos: ["devolver 7K3M9QX2A1B4 --razon 'El cliente ya no lo quiere'"],
  async ejecutar(contexto) {
    const { signal } = contexto
    const razon = contexto.texto('razon')
    if (razon === undefined) throw new ErrorDeUso("Falta --razon, por ejemplo --razon 'El cliente ya no lo quiere'.")
    const codigos = await leerCodigos(contexto)
    const que = codigos.length === 1 ? `la guía ${limpio(codigos[0]!)}` : `${codigos.length} guías`
    if (!(await confirmar(`¿Devolver ${que}?`, contexto.si('si'), signal))) {
      avisar('No se devolvió nada.')
      return SALIDA.interrumpida
    }
    const { guias } = contexto.api()
    const fallidas = await conCada(codigos, contexto, async (codigo) => {
      decirGuia(contexto, await guias.devolver(codigo, { razon }, { signal }))
    })
    if (fallidas > 0 && !contexto.json) avisar(`${codigos.length - fallidas} decididas, ${fallidas} no.`)
    return fallidas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}
