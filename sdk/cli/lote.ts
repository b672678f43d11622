import { closeSync, createReadStream, openSync, statSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { TextDecoder } from 'node:util'
import {
  type AvanceDeMuchas,
  ErrorAbortado,
  ErrorAlcance,
  ErrorApi,
  ErrorNoAutenticado,
  type GuiaParaCrear,
  type Recogida,
  type ResultadoDeMuchas,
} from '@guias/sdk'
import { decirAdvertencia } from './advertencias.ts'
import { CAMPOS, CAMPOS_DE_RECOGIDA, fijarTelefono, leerGuia, leerRecogida, normalizar } from './campos.ts'
import { escribirCsv, leerCsv } from './csv.ts'
import { type Contexto, ErrorDeUso, numero, type Orden, SALIDA } from './orden.ts'
import { avisar, barra, decir, limpio, pintarAviso } from './terminal.ts'

const opcionDe = (campo: string) => campo.replaceAll('_', '-')

/** A batch has time: about half a minute for what passes. */
const REINTENTOS = 8

/** About what a request takes: read by more, the progress would show what is only read. */
const PEDAZO = 8_192

/** So many in a row that had no answer, and the rest is not tried: it would fail for hours. */
const SEGUIDAS = 300

export const lote: Orden = {
  resumen: 'crea todas las guías de un archivo CSV o JSON',
  ayuda: `Uso: guias lote pedidos.csv [opciones]
     guias lote pedidos.json      (una lista, o { "recogida": …, "guias": […] })
     guias lote pedidos.jsonl     (una guía por línea)

Crea las guías del archivo, sea del tamaño que sea, y escribe qué fue de cada una en pedidos.resultados.csv. Si se
interrumpe, ejecútelo otra vez: con external_ref en cada fila, las que ya existen vuelven como repetidas.

El CSV lleva los nombres en la primera línea; separan «,», «;» o tabuladores. Columnas:
  telefono, departamento, municipio            obligatorias
  external_ref                                 su número de pedido
  pais                                         el de un teléfono sin +
  destinatario, direccion, indicaciones, contenido, lat, lng, maps_url
  recogida_nombre, recogida_lat, recogida_lng, recogida_maps_url

Opciones:
  --recogida-nombre, --recogida-lat, --recogida-lng, --recogida-maps-url
                            dónde se recogen las que no lo dicen
  --pais <GT>               el país de los teléfonos sin + de las que no lo dicen; si falta, el de su cuenta
  --estricto                no crea las guías cuyo lugar es inverosímil
  --referencias <prefijo>   da a las filas sin external_ref la de <prefijo>-<número de fila>; con el mismo prefijo y
                            el mismo archivo, repetir no duplica
  --ignorar-otras           pasa por alto las columnas que no conoce
  --codificacion <nombre>   si no es UTF-8; la de Excel suele ser windows-1252
  --resultados <archivo>    dónde escribir los resultados
  --concurrencia <n>        solicitudes a la vez; 2 si falta`,
  opciones: {
    ...Object.fromEntries(CAMPOS_DE_RECOGIDA.map((campo) => [opcionDe(campo), { type: 'string' } as const])),
    pais: { type: 'string' },
    estricto: { type: 'boolean' },
    referencias: { type: 'string' },
    'ignorar-otras': { type: 'boolean' },
    codificacion: { type: 'string' },
    resultados: { type: 'string' },
    concurrencia: { type: 'string' },
  },
  posicionales: [1, 1],
  async ejecutar(contexto) {
    const [archivo = ''] = contexto.posicionales
    const bytes = tamanoDe(archivo)
    const deArchivo = archivo.slice(0, archivo.length - extname(archivo).length)
    const resultados = contexto.texto('resultados') ?? join(dirname(archivo), `${basename(deArchivo)}.resultados.csv`)
    if (resultados === archivo) throw new ErrorDeUso('--resultados borraría el archivo de las guías: elija otro.')
    const concurrencia = numero(contexto, 'concurrencia', 2, 1)
    const api = contexto.api()
    const origen = await abrir(archivo, contexto)

    const linea = barra()
    const creacion = api.guias.crearMuchas(preparar(origen.filas, contexto), {
      recogida: leerRecogida((campo) => contexto.texto(opcionDe(campo))) ?? origen.recogida,
      ...(contexto.si('estricto') ? { estricto: true } : {}),
      concurrencia,
      signal: contexto.signal,
      reintentos: REINTENTOS,
      alAvanzar: (avance) => linea.mostrar(origen.leidos() / bytes, contar(avance)),
    })

    const salida = abrirResultados(resultados)
    const sigue = `Lo que se sabe está en ${resultados}; ejecútelo otra vez para seguir: nada se duplica.`
    let [seguidas, porCorregir] = [0, 0]
    try {
      // With the mark by which Excel knows UTF-8.
      writeSync(salida, '\uFEFF')
      writeSync(
        salida,
        escribirCsv(['fila', 'external_ref', 'ok', 'guia', 'estado', 'repetida', 'error', 'detalle', 'advertencias']),
      )
      for await (const resultado of creacion) {
        anotar(resultado, salida, contexto, linea)
        if (
          !resultado.ok &&
          (resultado.error instanceof ErrorNoAutenticado || resultado.error instanceof ErrorAlcance)
        ) {
          throw resultado.error
        }
        seguidas = !resultado.ok && resultado.pasajera ? seguidas + 1 : 0
        if (!resultado.ok && !resultado.pasajera) porCorregir++
        if (seguidas < SEGUIDAS) continue
        linea.borrar()
        avisar(`El servicio no contesta: lo dejo aquí. ${sigue}`)
        return SALIDA.conexion
      }
    } catch (error) {
      linea.borrar()
      if (!(error instanceof ErrorAbortado)) throw error
      avisar(`Interrumpido. ${sigue}`)
      return SALIDA.interrumpida
    } finally {
      closeSync(salida)
    }
    linea.borrar()
    const { leidas, creadas, repetidas, fallidas } = creacion.avance
    if (contexto.json) decir(JSON.stringify({ leidas, creadas, repetidas, fallidas, resultados }))
    else decir(`${leidas} leídas: ${contar(creacion.avance)}. Resultados: ${resultados}`)
    return porCorregir > 0 ? SALIDA.rechazo : fallidas > 0 ? SALIDA.conexion : SALIDA.bien
  },
}

const contar = ({ creadas, repetidas, fallidas }: AvanceDeMuchas) =>
  `${creadas} creadas, ${repetidas > 0 ? `${repetidas} ya existían, ` : ''}${fallidas} fallidas`

interface Fila extends GuiaParaCrear {
  [FILA]: number
}
/** A symbol: it goes with the guide and never into its JSON. */
const FILA = Symbol('fila')

interface Origen {
  filas: AsyncIterable<Fila>
  recogida?: Recogida | undefined
  /** How many bytes of the file have been read. */
  leidos(): number
}

function tamanoDe(archivo: string): number {
  try {
    const estado = statSync(archivo)
    if (estado.isFile()) return estado.size
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${archivo}: ${(error as Error).message}`)
  }
  throw new ErrorDeUso(`${archivo} no es un archivo.`)
}

async function abrir(archivo: string, contexto: Contexto): Promise<Origen> {
  const tipo = extname(archivo).toLowerCase()
  if (tipo === '.json') return abrirJson(archivo)
  let leidos = 0
  const trozos = leerTexto(archivo, contexto.texto('codificacion') ?? 'utf-8', (cuantos) => {
    leidos += cuantos
  })
  if (tipo === '.jsonl' || tipo === '.ndjson') return { filas: deJsonl(trozos, archivo), leidos: () => leidos }
  if (tipo !== '.csv' && tipo !== '.txt' && tipo !== '.tsv') {
    throw new ErrorDeUso(`No sé leer ${archivo}: debe ser .csv, .json o .jsonl. Guarde la hoja de cálculo como CSV.`)
  }
  const filas = leerCsv(trozos)
  const campos = await leerCabecera(filas, archivo, contexto.si('ignorar-otras'))
  return { filas: deCsv(filas, campos, archivo), leidos: () => leidos }
}

async function abrirJson(archivo: string): Promise<Origen> {
  const texto = await readFile(archivo, 'utf8')
  let datos: unknown
  try {
    datos = JSON.parse(texto.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ErrorDeUso(`${archivo} no es JSON: ${(error as Error).message}`)
  }
  const { guias, recogida } = (Array.isArray(datos) ? { guias: datos } : datos) as {
    guias?: unknown
    recogida?: Recogida
  }
  if (!Array.isArray(guias)) throw new ErrorDeUso(`${archivo} debe ser una lista de guías, o { "guias": […] }.`)
  let leidas = 0
  const filas = (async function* () {
    for (const [i, guia] of guias.entries()) {
      leidas = i + 1
      yield conFila(guia, i + 1)
    }
  })()
  return { filas, recogida, leidos: () => (texto.length * leidas) / guias.length }
}

async function* leerTexto(archivo: string, codificacion: string, alLeer: (bytes: number) => void) {
  let decodificador: TextDecoder
  try {
    decodificador = new TextDecoder(codificacion, { fatal: true })
  } catch {
    throw new ErrorDeUso(`No conozco la codificación «${codificacion}»: pruebe utf-8 o windows-1252.`)
  }
  try {
    for await (const trozo of createReadStream(archivo, { highWaterMark: PEDAZO })) {
      alLeer(trozo.length)
      yield decodificador.decode(trozo, { stream: true })
    }
    yield decodificador.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ErrorDeUso(
      `${archivo} no está en ${codificacion}: guárdelo como «CSV UTF-8», o pase --codificacion windows-1252 si viene de Excel.`,
    )
  }
}

async function leerCabecera(filas: AsyncGenerator<string[], void, undefined>, archivo: string, ignorar: boolean) {
  const { value } = await filas.next()
  if (!value) throw new ErrorDeUso(`${archivo} está vacío.`)
  const campos = value.map(normalizar)
  const ajenos = campos.filter((campo) => !CAMPOS.includes(campo))
  if (ajenos.length > 0 && !ignorar) {
    throw new ErrorDeUso(
      `No conozco ${ajenos.length === 1 ? 'la columna' : 'las columnas'} «${ajenos.map(limpio).join('», «')}». Renómbrelas, o pase --ignorar-otras. Las que conozco: ${CAMPOS.join(', ')}.`,
    )
  }
  const repetido = campos.find((campo, i) => CAMPOS.includes(campo) && campos.indexOf(campo) !== i)
  if (repetido) throw new ErrorDeUso(`La columna «${repetido}» está dos veces: deje una.`)
  return campos
}

async function* deCsv(filas: AsyncIterable<string[]>, campos: string[], archivo: string) {
  let fila = 1
  try {
    for await (const valores of filas) {
      fila++
      if (valores.slice(campos.length).some((valor) => valor !== '')) {
        throw new SyntaxError(`trae ${valores.length} campos y la primera línea ${campos.length}`)
      }
      yield conFila(
        leerGuia((campo) => valores[campos.indexOf(campo)]),
        fila,
      )
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ErrorDeUso(
      `${archivo}, fila ${fila}: ${error.message}. Corríjala y ejecútelo otra vez: lo que ya se creó no se duplica.`,
    )
  }
}

async function* deJsonl(trozos: AsyncIterable<string>, archivo: string) {
  let resto = ''
  let fila = 0
  const leer = (linea: string) => {
    fila++
    if (linea.trim() === '') return []
    try {
      return [conFila(JSON.parse(linea.replace(/^\uFEFF/, '')), fila)]
    } catch (error) {
      throw new ErrorDeUso(`${archivo}, línea ${fila}: no es JSON: ${(error as Error).message}`)
    }
  }
  for await (const trozo of trozos) {
    const lineas = (resto + trozo).split('\n')
    resto = lineas.pop() ?? ''
    for (const linea of lineas) yield* leer(linea)
  }
  yield* leer(resto)
}

const conFila = (guia: unknown, fila: number): Fila =>
  typeof guia === 'object' && guia !== null
    ? Object.assign(guia as GuiaParaCrear, { [FILA]: fila })
    : ({ valor: guia, [FILA]: fila } as unknown as Fila)

/** Gives rows a reference of their place in the file, for a row that is corrected is still the same one; and reads telephones. */
async function* preparar(filas: AsyncIterable<Fila>, contexto: Contexto) {
  const prefijo = contexto.texto('referencias')
  for await (const fila of filas) {
    if (prefijo !== undefined && !fila.external_ref) fila.external_ref = `${prefijo}-${fila[FILA]}`
    yield fijarTelefono(fila, contexto.texto('pais'))
  }
}

function abrirResultados(ruta: string): number {
  try {
    return openSync(ruta, 'w')
  } catch (error) {
    throw new ErrorDeUso(`No se pudo escribir ${ruta}: ${(error as Error).message}`)
  }
}

/** At once and row by row: whatever ends this process, what is known stands there. */
function anotar(
  resultado: ResultadoDeMuchas<Fila>,
  salida: number,
  contexto: Contexto,
  linea: ReturnType<typeof barra>,
) {
  const { entrada } = resultado
  const fila = entrada[FILA]
  const external_ref = String(entrada.external_ref ?? '')
  if (resultado.ok) {
    const { guia, estado, repetida, advertencias } = resultado
    const dichas = advertencias.map(decirAdvertencia)
    writeSync(
      salida,
      escribirCsv([fila, external_ref, 'sí', guia, estado, repetida ? 'sí' : 'no', '', '', dichas.join('; ')]),
    )
    if (contexto.json) decir(JSON.stringify({ fila, external_ref, ok: true, guia, estado, repetida, advertencias }))
    else if (dichas.length > 0) {
      linea.borrar()
      for (const dicha of dichas) avisar(`${pintarAviso('amarillo', `fila ${fila}`)} ${limpio(external_ref)} ${dicha}`)
    }
    return
  }
  const { error } = resultado
  const codigo = error instanceof ErrorApi ? error.codigo : error.name
  const errores = error instanceof ErrorApi ? error.errores.map(({ campo, mensaje }) => `${campo} ${mensaje}`) : []
  const detalle = limpio(errores.length > 0 ? errores.join('; ') : error.message)
  writeSync(salida, escribirCsv([fila, external_ref, 'no', '', '', '', codigo, detalle, '']))
  if (contexto.json) decir(JSON.stringify({ fila, external_ref, ok: false, error: codigo, detalle }))
  else {
    linea.borrar()
    avisar(`${pintarAviso('rojo', `fila ${fila}`)} ${limpio(external_ref)} ${codigo}: ${detalle}`)
  }
}
