import { closeSync, openSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import {
  type AvanceDeMuchas,
  ErrorAbortado,
  ErrorAlcance,
  ErrorApi,
  ErrorConflicto,
  ErrorNoAutenticado,
  type ResultadoDeMuchas,
} from '@guias/sdk'
import { escribirCsv, type FallaDeFila, leerRecogida } from '@guias/sdk/hoja'
import { isOfEndedGuide } from '../src/endedGuide.ts'
import { decirAdvertencia } from './advertencias.ts'
import { abrirLote, FALLAS, FILA, type Fila, type Origen, tamanoDe, VALORES } from './archivoDeLote.ts'
import { fijarTelefono, OPCIONES_DE_RECOGIDA, opcionDe, opcionDePais } from './campos.ts'
import { decirFalla, nombrarCampo } from './errores.ts'
import { Grupos } from './grupos.ts'
import { type Contexto, ErrorDeUso, entero, type Orden, SALIDA } from './orden.ts'
import { porque } from './porque.ts'
import { avisar, decir, limpio, pintarAviso, progreso } from './terminal.ts'

/**
 * Retries of each request, in total about half a minute. A batch can wait that long for a temporary failure to pass.
 */
const REINTENTOS = 8

/** Consecutive temporary failures after which the batch stops. Otherwise the remaining guides would fail for hours. */
const SEGUIDAS = 300

export const lote: Orden = {
  resumen: 'crea todas las guías de un archivo CSV o JSON',
  uso: [
    'lote pedidos.csv [opciones]',
    'lote pedidos.json      (una lista, o { "recogida": …, "guias": […] })',
    'lote pedidos.jsonl     (una guía por línea)',
  ],
  explica: `Crea las guías del archivo, sea del tamaño que sea, y escribe qué fue de cada
una en pedidos.resultados.csv; si ya hay uno, en pedidos.resultados-2.csv: nunca
borra otro. Si se interrumpe, ejecútelo otra vez: con external_ref en cada fila,
las que ya existen vuelven como repetidas. Las fallas iguales se cuentan juntas.

El CSV lleva los nombres en la primera línea («Pedido», «Nombre» y «Latitud»
también sirven); separan «,», «;», «|» o tabuladores. Los resultados llevan primero
sus columnas, con su mismo separador. Las filas vacías se saltan.
Con unas comillas mal puestas no se crea ninguna. Una fila dañada por la hoja de
cálculo (5512345.0, 1.23E+12, #REF!) o con la external_ref de otra no se crea.
Columnas obligatorias: telefono, departamento, municipio. Además: external_ref
(su número de pedido), pais, destinatario, direccion, indicaciones, contenido,
lat, lng, maps_url, recogida_nombre, recogida_lat, recogida_lng,
recogida_maps_url, recogida_contacto, recogida_telefono (sin +, del país de su
cuenta), recogida_direccion, recogida_indicaciones y metadatos (datos suyos,
como canal=web; tienda=12).`,
  opciones: {
    ...OPCIONES_DE_RECOGIDA,
    pais: opcionDePais('de los teléfonos sin + de las que no lo dicen'),
    departamento: { valor: '<nombre>', dice: 'departamento de las filas que no lo dicen' },
    estricto: { dice: 'no crea las guías cuyo lugar es inverosímil' },
    referencias: {
      valor: '<prefijo>',
      dice: 'da a las filas sin external_ref la de <prefijo>-<número de fila>; con el mismo prefijo y el mismo archivo, repetir no duplica',
    },
    columnas: {
      valor: '<nombre=campo>',
      dice: 'qué campo es una columna que se llama de otro modo: Tel.=telefono; varias, separadas por comas',
      varias: true,
    },
    'ignorar-otras': { dice: 'pasa por alto las columnas que no conoce' },
    codificacion: {
      valor: '<nombre>',
      dice: 'si no es UTF-8 ni UTF-16; la de Excel suele ser windows-1252',
      valores: ['utf-8', 'windows-1252'],
    },
    resultados: { valor: '<ruta>', dice: 'dónde escribir los resultados; un archivo que no exista' },
    concurrencia: { valor: '<n>', dice: 'solicitudes a la vez; 2 si falta' },
  },
  posicionales: [1, 1],
  completa: 'archivo',
  ejemplos: [
    'lote pedidos.csv --recogida-lat 14.58 --recogida-lng -90.54',
    'etiquetas --archivo pedidos.resultados.csv',
  ],
  async ejecutar(contexto) {
    const [archivo = ''] = contexto.posicionales
    const bytes = tamanoDe(archivo)
    const concurrencia = entero(contexto, 'concurrencia', 2, 1)
    const api = contexto.api()
    const origen = await abrirLote(archivo, contexto)
    const avance = progreso(contexto.json)
    const creacion = api.guias.crearMuchas(preparar(origen.filas, contexto), {
      recogida: leerRecogida((campo) => contexto.texto(opcionDe(campo))) ?? origen.recogida,
      ...(contexto.si('estricto') ? { estricto: true } : {}),
      aGuia: exigirSana,
      concurrencia,
      signal: contexto.signal,
      reintentos: REINTENTOS,
      alAvanzar: (ahora) => avance.mostrar(origen.leidos() / bytes, hechas(ahora), contar(ahora)),
    })
    const resultados = new Resultados(archivo, origen, contexto)
    const parada = await anotarTodas(creacion, resultados).finally(() => {
      avance.borrar()
      resultados.cerrar()
    })
    const sigue = `Lo que se sabe está en ${resultados.ruta}; ejecútelo otra vez para seguir: nada se duplica.`
    if (parada === 'interrumpida') {
      avisar(`Interrumpido. ${sigue}`)
      return SALIDA.interrumpida
    }
    if (parada === 'sin respuesta') {
      avisar(`El servicio no contesta: lo dejo aquí. ${sigue}`)
      return SALIDA.rechazo
    }
    const { leidas, creadas, fallidas } = creacion.avance
    const { terminadas } = resultados
    const repetidas = creacion.avance.repetidas - terminadas
    const cuentas = { leidas, creadas, repetidas, terminadas, fallidas }
    if (contexto.json) decir(JSON.stringify({ ...cuentas, resultados: resultados.ruta }))
    else decir(`${leidas} leídas: ${contar(cuentas)}. Resultados: ${resultados.ruta}`)
    return fallidas + terminadas > 0 ? SALIDA.rechazo : SALIDA.bien
  },
}

const hechas = ({ creadas, repetidas, fallidas }: AvanceDeMuchas) => creadas + repetidas + fallidas

/** Counts of a batch. The SDK counts guides that ended without a delivery among `repetidas`; this program counts them apart. */
interface Cuentas extends Pick<AvanceDeMuchas, 'creadas' | 'repetidas' | 'fallidas'> {
  terminadas?: number
}

const contar = ({ creadas, repetidas, terminadas = 0, fallidas }: Cuentas) =>
  [
    `${creadas} creadas`,
    ...(repetidas > 0 ? [`${repetidas} ya existían`] : []),
    ...(terminadas > 0 ? [`${terminadas} ya existían y terminaron sin entrega`] : []),
    `${fallidas} fallidas`,
  ].join(', ')

/** Tells whether the error is caused by the key, so that every guide would get the same error. */
const esDeTodas = (error: unknown) => error instanceof ErrorNoAutenticado || error instanceof ErrorAlcance

/**
 * Writes the result of every guide, as the SDK yields them.
 *
 * @returns the reason why the batch stopped early; undefined if it is complete
 * @throws an error that every other guide would get too
 */
async function anotarTodas(creacion: AsyncIterable<ResultadoDeMuchas<Fila>>, resultados: Resultados) {
  let seguidas = 0
  try {
    for await (const resultado of creacion) {
      resultados.anotar(resultado)
      if (!resultado.ok && esDeTodas(resultado.error)) throw resultado.error
      seguidas = !resultado.ok && resultado.pasajera ? seguidas + 1 : 0
      if (seguidas === SEGUIDAS) return 'sin respuesta'
    }
  } catch (error) {
    if (!(error instanceof ErrorAbortado)) throw error
    return 'interrumpida'
  }
  return undefined
}

/**
 * Gives each row without a reference the reference `<prefix>-<row number>`, and converts phone numbers to E.164. The
 * row number stays the same when the merchant corrects the row.
 */
async function* preparar(filas: AsyncIterable<Fila>, contexto: Contexto) {
  const prefijo = contexto.texto('referencias')
  const departamento = contexto.texto('departamento')
  for await (const fila of filas) {
    if (prefijo !== undefined && !fila.external_ref) fila.external_ref = `${prefijo}-${fila[FILA]}`
    if (departamento !== undefined && !fila.departamento) fila.departamento = departamento
    yield fijarTelefono(fila, contexto.texto('pais'))
  }
}

/** Error of a row that is never sent, because a spreadsheet damaged it. */
class ErrorDeFila extends Error {
  override name = 'ErrorDeFila'
  readonly fallas: readonly FallaDeFila[]

  constructor(fallas: readonly FallaDeFila[]) {
    super('The row is damaged')
    this.fallas = fallas
  }
}

function exigirSana(fila: Fila): Fila {
  if (fila[FALLAS]) throw new ErrorDeFila(fila[FALLAS])
  return fila
}

const CABECERA = ['fila', 'external_ref', 'ok', 'guia', 'estado', 'repetida', 'error', 'detalle', 'advertencias']

/**
 * Results of all rows. Each result is written to the file at once, so that nothing is lost if the process ends. The
 * screen shows failures and warnings in groups.
 */
class Resultados {
  readonly ruta: string
  /**
   * Number of guides that already existed and are cancelled. Their rows count as failed, because nothing will be
   * delivered.
   */
  terminadas = 0
  readonly #salida: number
  readonly #columnas: number
  readonly #separador: string
  readonly #contexto: Contexto
  readonly #fallas = new Grupos()
  readonly #advertencias = new Grupos()

  constructor(archivo: string, { columnas, separador }: Origen, contexto: Contexto) {
    const [ruta, salida] = abrirNuevo(archivo, contexto.texto('resultados'))
    this.ruta = ruta
    this.#salida = salida
    this.#contexto = contexto
    // Excel recognises UTF-8 by the byte order mark.
    this.#columnas = columnas.length
    this.#separador = separador
    writeSync(salida, `\uFEFF${escribirCsv([...columnas, ...CABECERA], separador)}`)
  }

  anotar(resultado: ResultadoDeMuchas<Fila>) {
    const fila = resultado.entrada[FILA]
    const external_ref = String(resultado.entrada.external_ref ?? '')
    if (resultado.ok) {
      const { guia, estado, repetida, advertencias } = resultado
      const ended = advertencias.find(isOfEndedGuide)
      const dichas = advertencias
        .filter((una) => una !== ended)
        .map((una) => ({ clase: `${una.codigo} ${una.campo}`, texto: decirAdvertencia(una) }))
      for (const { clase, texto } of dichas) this.#advertencias.anotar(clase, texto, fila)
      const todas = dichas.map(({ texto }) => texto).join('; ')
      const [ok, codigo, detalle] = ended ? ['no', ended.codigo, ended.mensaje] : ['sí', '', '']
      if (ended) {
        this.terminadas++
        this.#fallas.anotar(codigo, detalle, fila)
      }
      this.#escribir(resultado.entrada, [
        fila,
        external_ref,
        ok,
        guia,
        estado,
        repetida ? 'sí' : 'no',
        codigo,
        detalle,
        todas,
      ])
      const porQue = ended ? { error: codigo, detalle } : {}
      this.#decir({ fila, external_ref, ok: !ended, guia, estado, repetida, ...porQue, advertencias })
      return
    }
    const { codigo, fallas, ...conflict } = leerFalla(resultado, this.#contexto)
    if (!esDeTodas(resultado.error)) for (const { clase, texto } of fallas) this.#fallas.anotar(clase, texto, fila)
    const detalle = fallas.map(({ texto }) => texto).join('; ')
    this.#escribir(resultado.entrada, [fila, external_ref, 'no', '', '', '', codigo, detalle, ''])
    this.#decir({ fila, external_ref, ok: false, error: codigo, detalle, ...conflict })
  }

  /** Writes a row of results: the row's original columns, then the result of its guide. */
  #escribir(entrada: Fila, campos: (string | number)[]) {
    const suyos = Array.from({ length: this.#columnas }, (_, i) => entrada[VALORES]?.[i] ?? '')
    writeSync(this.#salida, escribirCsv([...suyos, ...campos], this.#separador))
  }

  #decir(resultado: object) {
    if (this.#contexto.json) decir(JSON.stringify(resultado))
  }

  /**
   * Closes the file. Then prints the failures and the warnings, in groups of equal messages, unless the output is JSON.
   */
  cerrar() {
    closeSync(this.#salida)
    if (this.#contexto.json) return
    for (const linea of this.#fallas.lineas()) avisar(`${pintarAviso('rojo', 'Falla')}   ${linea}`)
    for (const linea of this.#advertencias.lineas()) avisar(`${pintarAviso('amarillo', 'Revise')}  ${linea}`)
  }
}

interface Dicha {
  clase: string
  texto: string
}

/** Failure of a row. A conflict also has the guide that has the reference, and the fields that differ. */
interface RowFailure {
  codigo: string
  fallas: readonly Dicha[]
  guia_existente?: string
  campos?: readonly string[]
}

function leerFalla(
  { error, entrada }: Extract<ResultadoDeMuchas<Fila>, { ok: false }>,
  contexto: Contexto,
): RowFailure {
  if (error instanceof ErrorConflicto && error.guia !== null && error.errores.length > 0) {
    const campos = error.errores.map(({ campo }) => nombrarCampo(campo))
    const reference = limpio(String(entrada.external_ref ?? ''))
    const texto = `${reference} ya es la referencia de la guía ${limpio(error.guia)}, creada con otros datos (${limpio(campos.join(', '))}): si es otro envío, ponga otra; si no, cambie la guía con guias corregir`
    const { codigo } = error
    return { codigo, fallas: [{ clase: codigo, texto }], guia_existente: error.guia, campos }
  }
  if (error instanceof ErrorApi && error.errores.length > 0) {
    const fallas = error.errores.map((falla): Dicha => {
      const clase = `${falla.codigo} ${falla.campo}`
      const falta = falla.codigo === 'requerido' && falla.mensaje.startsWith('falta;')
      return { clase, texto: falta ? `falta ${nombrarCampo(falla.campo)}` : decirFalla(falla) }
    })
    return { codigo: error.codigo, fallas }
  }
  if (error.cause instanceof ErrorDeFila) {
    const fallas = error.cause.fallas.map(
      ({ campo, mensaje }): Dicha => ({
        clase: `dañada ${campo}`,
        texto: decirFalla({ campo, mensaje }),
      }),
    )
    return { codigo: 'validacion', fallas }
  }
  const codigo = error instanceof ErrorApi ? error.codigo : error.name
  const sinReferencia = error.name === 'ErrorGuias' && !entrada.external_ref
  const texto = sinReferencia
    ? 'falta external_ref, sin la que repetir duplicaría: ponga su número de pedido, o pase --referencias <prefijo>'
    : limpio(error instanceof ErrorApi ? error.problema.mensaje : contexto.decirError(error))
  return { codigo, fallas: [{ clase: codigo, texto }] satisfies Dicha[] }
}

/**
 * Creates a results file and never overwrites one, because earlier results contain guide codes. Without `dada`, the
 * first free name is used.
 *
 * @throws ErrorDeUso if the file `dada` exists or if the file cannot be created
 */
function abrirNuevo(archivo: string, dada: string | undefined): [ruta: string, salida: number] {
  const base = join(dirname(archivo), `${basename(archivo, extname(archivo))}.resultados`)
  for (let vez = 1; ; vez++) {
    const ruta = dada ?? `${base}${vez > 1 ? `-${vez}` : ''}.csv`
    try {
      return [ruta, openSync(ruta, 'wx')]
    } catch (error) {
      const existe = (error as NodeJS.ErrnoException).code === 'EEXIST'
      if (existe && dada === undefined) continue
      throw new ErrorDeUso(
        existe
          ? `${ruta} ya existe y puede llevar los códigos de otras guías: dé otro nombre a --resultados, o quítelo de ahí.`
          : `No se pudo escribir ${ruta}: ${porque(error)}.`,
      )
    }
  }
}
