import { readFileSync } from 'node:fs'
import type { GuiaIndividual } from '@guias/sdk'
import { guiaDeCampos } from '@guias/sdk/hoja'
import { isOfEndedGuide } from '../src/endedGuide.ts'
import { avisarAdvertencias } from './advertencias.ts'
import { fijarTelefono, OPCIONES_DE_GUIA, opcionDe, opcionDePais } from './campos.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA } from './orden.ts'
import { porque } from './porque.ts'
import { decir, limpio, pintar } from './terminal.ts'

export const crear: Orden = {
  resumen: 'crea una guía',
  uso: [
    'crear --telefono … --departamento … --municipio … [opciones]',
    'crear guia.json',
    'crear -              (la guía, en JSON, por la entrada)',
  ],
  explica: `Crea una guía y escribe su código. Teléfono, departamento, municipio y el lugar
donde se recoge son obligatorios; sin lugar de entrega (--lat y --lng, o
--maps-url) se le pregunta al destinatario por un mensaje.`,
  opciones: {
    ...OPCIONES_DE_GUIA,
    pais: opcionDePais('de un teléfono sin +'),
    estricto: { dice: 'si el lugar es inverosímil, no la crea' },
  },
  posicionales: [0, 1],
  completa: 'archivo',
  ejemplos: [
    `crear --telefono '3148 1676' --departamento Guatemala \\
    --municipio Mixco --external-ref PEDIDO-7 \\
    --recogida-lat 14.58 --recogida-lng -90.54`,
  ],
  async ejecutar(contexto) {
    const [archivo] = contexto.posicionales
    // `--pais` and `--estricto` also apply to a guide that is read from a file.
    const dadas = contexto.dadas.filter((opcion) => opcion !== 'pais' && opcion !== 'estricto')
    if (archivo !== undefined && dadas.length > 0) {
      throw new ErrorDeUso(`La guía viene de ${archivo} o de las opciones, no de ambos: quite --${dadas[0]}.`)
    }
    const pais = contexto.texto('pais')
    const estricto = contexto.si('estricto') ? { estricto: true } : {}
    const guia = archivo === undefined ? deOpciones(contexto) : leerJson(archivo)
    const { datos, repetida } = await contexto
      .api()
      .guias.crear({ ...fijarTelefono(guia as GuiaIndividual, pais), ...estricto }, { signal: contexto.signal })
      .conRespuesta()
    // The SDK has already printed the warnings of a guide that ended.
    const advertencias = datos.advertencias.filter((una) => !isOfEndedGuide(una))
    if (contexto.json) decir(JSON.stringify(datos))
    else {
      const lugar = datos.ubicacion ? `, ubicación ${datos.ubicacion.estado}` : ''
      decir(
        `${pintar('fuerte', limpio(datos.guia))}  ${limpio(datos.estado)}${lugar}${repetida ? '  (ya existía)' : ''}`,
      )
      avisarAdvertencias(advertencias, contexto.dadas)
    }
    // A guide that already ended counts as refused, because nothing will be delivered.
    return advertencias.length < datos.advertencias.length ? SALIDA.rechazo : SALIDA.bien
  },
}

/**
 * Builds the guide from the options. Checks the required options first, so that the error comes before any request.
 *
 * @throws ErrorDeUso naming every missing option
 */
function deOpciones(contexto: Contexto) {
  const hay = (...nombres: string[]) => nombres.every((nombre) => contexto.texto(nombre)?.trim())
  const faltan = ['telefono', 'departamento', 'municipio']
    .filter((nombre) => !hay(nombre))
    .map((nombre) => `--${nombre}`)
  if (!hay('recogida-lat', 'recogida-lng') && !hay('recogida-maps-url')) {
    faltan.push('dónde se recoge (--recogida-lat y --recogida-lng, o --recogida-maps-url)')
  }
  if (hay('lat') !== hay('lng')) faltan.push(hay('lat') ? '--lng' : '--lat')
  if (faltan.length > 0) throw new ErrorDeUso(`Falta ${enumerar(faltan)}. Vea guias crear --help.`)
  return guiaDeCampos((campo) => contexto.texto(opcionDe(campo)))
}

const enumerar = (cosas: string[]) => new Intl.ListFormat('es').format(cosas)

function leerJson(archivo: string): unknown {
  let texto: string
  try {
    texto = readFileSync(archivo === '-' ? 0 : archivo, 'utf8')
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${archivo === '-' ? 'la entrada' : archivo}: ${porque(error)}.`)
  }
  try {
    return JSON.parse(texto.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ErrorDeUso(`${archivo} no es JSON: ${(error as Error).message}`)
  }
}
