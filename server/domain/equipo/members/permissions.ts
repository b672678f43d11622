import type { AlcanceDePersona } from '../../../generated/contract/types/index.ts'

/** Name of a scope on pages and in mails, and a sentence that says what it permits. */
interface Permission {
  nombre: string
  allows: string
}

/** Name and description of each scope. `docs/palabras.md` lists the same texts, and a test compares the two. */
export const PERMISSIONS: Readonly<Record<AlcanceDePersona, Permission>> = {
  ver: { nombre: 'Ver', allows: 'Ver guías, pruebas de entrega, mensajes, comercios y repartidores.' },
  operar: { nombre: 'Operar', allows: 'Registrar lo que les pasa a las guías, como una entrega o un intento.' },
  caja: { nombre: 'Caja', allows: 'Manejar lo que tiene que ver con dinero.' },
  administrar: {
    nombre: 'Administrar',
    allows: 'Invitar y quitar personas, y manejar comercios, llaves, operadores y repartidores.',
  },
  propietario: { nombre: 'Propietario', allows: 'Hacer todo lo del comercio.' },
  despacho: { nombre: 'Despacho', allows: 'Crear y cambiar guías, imprimir etiquetas y ver pruebas de entrega.' },
  cobros: { nombre: 'Cobros', allows: 'Manejar lo que tiene que ver con dinero; por ahora, ver guías.' },
  lectura: { nombre: 'Lectura', allows: 'Ver guías y pruebas de entrega, sin cambiar nada.' },
}

const LIST_FORMAT = new Intl.ListFormat('es')

/** Returns the names of scopes within a sentence: «ver y operar». */
export const permissionNames = (alcances: readonly AlcanceDePersona[]): string =>
  LIST_FORMAT.format(alcances.map((alcance) => PERMISSIONS[alcance].nombre.toLowerCase()))
