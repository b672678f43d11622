import { createClient } from '@hey-api/openapi-ts'
import { coleccionDe } from '../documentacion/coleccion.ts'
import type { Objeto } from '../documentacion/contrato.ts'
import { conFragmentos, exigirFragmentosUsados } from '../documentacion/fragmentos.ts'
import { conGuia } from '../documentacion/guia.ts'
import { conMuestras } from '../documentacion/muestras.ts'
import { conRfc9457 } from '../documentacion/rfc9457.ts'
import { correrEnRaiz } from './correr.ts'
import { indiceDeOperaciones } from './indiceDeOperaciones.ts'
import { CARPETA, escribir, exigirArchivo, leerBundle } from './lugares.ts'
import { paraElServidor, paraPublicar, paraServir, sinProblemasAjenos } from './publicar.ts'
import { DOCUMENTOS, unirContratos } from './unirContratos.ts'
import { vocabulario } from './vocabulario.ts'

/**
 * Writes the bundles of the three APIs. Merges them into the server's contract, and writes its types and its
 * vocabulary.
 */
export async function generarContrato() {
  await correrEnRaiz('redocly', ['bundle'])
  const completos: Objeto[] = []
  for (const documento of DOCUMENTOS) {
    const bundle = await leerBundle(documento)
    const completo = conFragmentos(conRfc9457(documento === 'comercios' ? conMuestras(conGuia(bundle)) : bundle))
    completos.push(completo)
    const suyo = documento === 'comercios' ? sinProblemasAjenos(completo) : completo
    await escribir(`${documento}.json`, JSON.stringify(paraPublicar(suyo), null, 2))
  }
  exigirFragmentosUsados()
  await escribir('coleccion.json', JSON.stringify(coleccionDe(await leerBundle('comercios')), null, 2))
  await escribirServido(await leerBundle('comercios'))
  const contrato = paraElServidor(unirContratos(completos))
  await escribir('contrato.json', JSON.stringify(contrato))
  await escribir('operaciones.ts', indiceDeOperaciones(contrato))
  await escribir('vocabulario.ts', vocabulario(contrato))
  await generarTipos(contrato)
}

/** Writes the merchants' contract as the service serves it (`/openapi.json`, `/openapi.yaml`). */
async function escribirServido(publicado: Objeto) {
  await escribir('openapi.json', JSON.stringify(paraServir(publicado), null, 2))
  const [json = '', yaml = ''] = ['json', 'yaml'].map((tipo) => new URL(`openapi.${tipo}`, CARPETA).pathname)
  await correrEnRaiz('redocly', ['bundle', json, '--output', yaml])
  await exigirArchivo('server/generado/contrato/openapi.yaml')
}

async function generarTipos(contrato: Objeto) {
  const opciones = { logs: { level: 'silent' as const }, parser: { transforms: { readWrite: false } } }
  await createClient({
    ...opciones,
    input: contrato as never,
    output: { path: new URL('tipos', CARPETA).pathname, module: { extension: '.ts' } },
    plugins: ['@hey-api/typescript'],
  })
  await exigirArchivo('server/generado/contrato/tipos/types.gen.ts')
}
