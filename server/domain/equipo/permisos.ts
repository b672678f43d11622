import type { AlcanceDePersona } from '../../generado/contrato/tipos/index.ts'

/** Name of a scope on pages and in mails, and a sentence that says what it permits. */
interface Permiso {
  nombre: string
  permite: string
}

/** Name and description of each scope. `docs/palabras.md` lists the same texts, and a test compares the two. */
export const PERMISOS: Readonly<Record<AlcanceDePersona, Permiso>> = {
  ver: { nombre: 'Ver', permite: 'Ver guías, pruebas de entrega, mensajes, comercios y repartidores.' },
  operar: { nombre: 'Operar', permite: 'Registrar lo que les pasa a las guías, como una entrega o un intento.' },
  caja: { nombre: 'Caja', permite: 'Manejar lo que tiene que ver con dinero.' },
  administrar: {
    nombre: 'Administrar',
    permite: 'Invitar y quitar personas, y manejar comercios, llaves, operadores y repartidores.',
  },
  propietario: { nombre: 'Propietario', permite: 'Hacer todo lo del comercio.' },
  despacho: { nombre: 'Despacho', permite: 'Crear y cambiar guías, imprimir etiquetas y ver pruebas de entrega.' },
  cobros: { nombre: 'Cobros', permite: 'Manejar lo que tiene que ver con dinero; por ahora, ver guías.' },
  lectura: { nombre: 'Lectura', permite: 'Ver guías y pruebas de entrega, sin cambiar nada.' },
}

const LISTA = new Intl.ListFormat('es')

/** Returns the names of scopes within a sentence: «ver y operar». */
export const nombresDePermisos = (alcances: readonly AlcanceDePersona[]): string =>
  LISTA.format(alcances.map((alcance) => PERMISOS[alcance].nombre.toLowerCase()))
