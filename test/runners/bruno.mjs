// Imports a Postman collection as Bruno does, and writes it as the folder that Bruno's command line runs.
// node bruno.mjs <collection.json> <folder> <key>
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postmanToBruno } from '@usebruno/converters'
import { stringifyCollection, stringifyFolder, stringifyRequest } from '@usebruno/filestore'

const [, , file, folder, llave] = process.argv
const FORMAT = { format: 'bru' }
const formatTwoDigits = (i) => String(i + 1).padStart(2, '0')
const writeText = (path, text) => writeFileSync(join(folder, path), text)

const { collection } = await postmanToBruno(JSON.parse(readFileSync(file, 'utf8')))
const settings = { version: '1', name: collection.name, type: 'collection' }
mkdirSync(join(folder, 'environments'), { recursive: true })
writeText('bruno.json', JSON.stringify(settings))
writeText('collection.bru', stringifyCollection(collection.root, settings, FORMAT))
writeText('environments/prueba.bru', `vars {\n  GUIAS_LLAVE: ${llave}\n}\n`)
for (const [i, { name, items }] of collection.items.entries()) {
  const subfolder = formatTwoDigits(i)
  mkdirSync(join(folder, subfolder))
  writeText(`${subfolder}/folder.bru`, stringifyFolder({ meta: { name, seq: i + 1 } }, FORMAT))
  for (const [j, item] of items.entries())
    writeText(`${subfolder}/${formatTwoDigits(j)}.bru`, stringifyRequest({ ...item, seq: j + 1 }, FORMAT))
}
