import { type Recursos as Conjunto, leerRecursos as leer } from '../recursos.ts'
import { type Enlazados, ICONO } from './vista.ts'

const ARCHIVOS = ['navegador.js', 'estilo.css', 'mapa.js', 'mapa.css', 'icono.svg'] as const
type Archivo = (typeof ARCHIVOS)[number]
type Recursos = Conjunto<Archivo>

export const PREFIJO = 'u-recursos/'

export const leerRecursos = (): Recursos => leer('', ARCHIVOS, { 'icono.svg': ICONO })

/** `raiz`: the way from the page up to where the service begins, such as `../`. */
export function enlazar(recursos: Recursos, raiz: string, conMapa: boolean): Enlazados {
  const en = (archivo: Archivo) => raiz + PREFIJO + recursos.get(archivo)!.nombre
  return {
    estilo: en('estilo.css'),
    navegador: en('navegador.js'),
    icono: en('icono.svg'),
    mapa: conMapa ? { modulo: en('mapa.js'), estilo: en('mapa.css') } : undefined,
  }
}
