// Imports a Postman collection as Bruno does, and writes it as the folder that Bruno's command line runs.
// node bruno.mjs <collection.json> <folder> <key>
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postmanToBruno } from '@usebruno/converters'
import { stringifyCollection, stringifyFolder, stringifyRequest } from '@usebruno/filestore'

const [, , archivo, carpeta, llave] = process.argv
const FORMATO = { format: 'bru' }
const dosCifras = (i) => String(i + 1).padStart(2, '0')
const escribir = (ruta, texto) => writeFileSync(join(carpeta, ruta), texto)

const { collection } = await postmanToBruno(JSON.parse(readFileSync(archivo, 'utf8')))
const ajustes = { version: '1', name: collection.name, type: 'collection' }
mkdirSync(join(carpeta, 'environments'), { recursive: true })
escribir('bruno.json', JSON.stringify(ajustes))
escribir('collection.bru', stringifyCollection(collection.root, ajustes, FORMATO))
escribir('environments/prueba.bru', `vars {\n  GUIAS_LLAVE: ${llave}\n}\n`)
for (const [i, { name, items }] of collection.items.entries()) {
  const suya = dosCifras(i)
  mkdirSync(join(carpeta, suya))
  escribir(`${suya}/folder.bru`, stringifyFolder({ meta: { name, seq: i + 1 } }, FORMATO))
  for (const [j, item] of items.entries())
    escribir(`${suya}/${dosCifras(j)}.bru`, stringifyRequest({ ...item, seq: j + 1 }, FORMATO))
}
