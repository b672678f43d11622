import { VERSION } from '@guias/sdk'
import { leerArgumentos, masParecida } from './argumentos.ts'
import { ayudaDeGrupo, ayudaDeOrden, ayudaDeTodo, esGrupo } from './ayuda.ts'
import { cancelar } from './cancelar.ts'
import { crearCompletar } from './completar.ts'
import { crearContexto } from './contexto.ts'
import { corregir } from './corregir.ts'
import { crear } from './crear.ts'
import { devolver, reintentar } from './decidir.ts'
import { leerDireccion } from './direccion.ts'
import { disparar } from './disparar.ts'
import { explicar, type Pedida } from './errores.ts'
import { escuchar } from './escuchar.ts'
import { etiquetas } from './etiquetas.ts'
import { listar } from './listar.ts'
import { lote } from './lote.ts'
import { ErrorDeUso, type Orden, type Ordenes, SALIDA } from './orden.ts'
import { prueba } from './prueba.ts'
import { rastrear } from './rastrear.ts'
import { reenviarSolicitud } from './reenviarSolicitud.ts'
import { alCerrarse, avisar, decir } from './terminal.ts'
import { ubicar } from './ubicar.ts'
import { ver } from './ver.ts'
import { webhooks } from './webhooks.ts'

const ORDENES: Ordenes = {
  crear,
  lote,
  listar,
  ver,
  ubicar,
  'reenviar-solicitud': reenviarSolicitud,
  corregir,
  reintentar,
  devolver,
  cancelar,
  etiquetas,
  prueba,
  rastrear,
  webhooks,
  escuchar,
  disparar,
  completar: crearCompletar(() => ORDENES),
}

async function principal(args: string[], pedida: Pedida): Promise<number> {
  const [nombre, ...resto] = args
  if (nombre === undefined) {
    avisar(ayudaDeTodo(ORDENES))
    return SALIDA.uso
  }
  if (nombre === '-h' || nombre === '--help' || nombre === '--version') {
    decir(nombre === '--version' ? VERSION : ayudaDeTodo(ORDENES))
    return SALIDA.bien
  }
  const una = elegir(ORDENES, nombre, '')
  if (!esGrupo(una)) return ejecutar(nombre, una, resto, pedida)
  const [segundo, ...demas] = resto
  if (segundo === undefined || segundo === '-h' || segundo === '--help') {
    const ayuda = ayudaDeGrupo(nombre, una)
    if (segundo) decir(ayuda)
    else avisar(ayuda)
    return segundo ? SALIDA.bien : SALIDA.uso
  }
  return ejecutar(`${nombre} ${segundo}`, elegir(una.ordenes, segundo, `${nombre} `), demas, pedida)
}

function elegir<T>(ordenes: Readonly<Record<string, T>>, nombre: string, antes: string): T {
  const una = Object.hasOwn(ordenes, nombre) ? ordenes[nombre] : undefined
  if (una) return una
  if (nombre.startsWith('-'))
    throw new ErrorDeUso(`Primero va la orden, y después sus opciones: guias ${antes}<orden> ${nombre}.`)
  const nombres = Object.keys(ordenes)
  const parecida = masParecida(nombre, nombres)
  throw new ErrorDeUso(
    `No conozco la orden «${antes}${nombre}». ${parecida ? `¿Quiso decir «guias ${antes}${parecida}»?` : `Las que hay: ${nombres.join(', ')}.`}`,
  )
}

async function ejecutar(nombre: string, orden: Orden, args: string[], pedida: Pedida): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    decir(ayudaDeOrden(orden))
    return SALIDA.bien
  }
  const { valores, posicionales } = leerArgumentos(nombre, orden, args)
  pedida.direccion = leerDireccion(valores)
  pedida.dadas = Object.keys(orden.opciones).filter((opcion) => valores[opcion] !== undefined)
  if (orden.muestra) alCerrarse(() => process.exit(SALIDA.bien))
  return orden.ejecutar(crearContexto(valores, posicionales, pedida.dadas))
}

alCerrarse(() => {})
const args = process.argv.slice(2)
const pedida: Pedida = { json: args.includes('--json'), direccion: undefined, dadas: [] }
process.exitCode = await principal(args, pedida).catch((error: unknown) => explicar(error, pedida))
